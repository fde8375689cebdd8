import { describe, expect, it } from '@jest/globals';
import { METRICS } from './metric-table.js';
import { Metrics } from './metrics.js';

/** Labels whose values come from closed sets; anything else would grow with traffic. */
const CLOSED_LABELS = [
  'log',
  'partition',
  'topic',
  'reason',
  'route',
  'outcome',
  'code',
  'tool',
  'status',
  'question',
  'endpoint',
  'witness',
  'unit',
  'standing',
  'within',
  'about',
  'scope',
  'mode',
];

describe('the metrics', () => {
  it('carry no ids in labels', () => {
    for (const { labels } of Object.values(METRICS))
      expect(labels.filter((label) => !CLOSED_LABELS.includes(label))).toEqual([]);
  });

  it('are told in the exposition format', async () => {
    const metrics = new Metrics({ service: 'ledger' });
    metrics.count('recordsVoid', { log: 'recourse.mutations', partition: 0 }, 2);
    metrics.set('cursorLag', { log: 'recourse.mutations', partition: 0, topic: 'recourse.tool-executions' }, 7);
    metrics.observe('appendSeconds', { log: 'recourse.mutations' }, 0.002);
    const text = await metrics.text();
    expect(text).toContain('recourse_records_void_total{log="recourse.mutations",partition="0",service="ledger"} 2');
    expect(text).toContain(
      'recourse_cursor_lag_records{log="recourse.mutations",partition="0",topic="recourse.tool-executions",service="ledger"} 7',
    );
    expect(text).toContain('recourse_append_seconds_count{service="ledger",log="recourse.mutations"} 1');
  });

  it('are made once for whoever asks while they are made or a moment later, and anew then', async () => {
    let now = 0;
    const metrics = new Metrics({}, () => now);
    let made = 0;
    metrics.beforeRead(() => {
      metrics.set('isReady', {}, (made += 1));
    });
    const ready = async (): Promise<readonly unknown[]> =>
      (await Promise.all([metrics.page(), metrics.page()])).map((page) => /^recourse_ready (\d+)$/m.exec(page)?.[1]);
    const told = [];
    for (const at of [0, 249, 250, 251]) {
      now = at;
      told.push(...(await ready()));
    }
    expect(told).toEqual(['1', '1', '1', '1', '2', '2', '2', '2']);
  });
});
