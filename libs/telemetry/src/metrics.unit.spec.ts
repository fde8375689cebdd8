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
});
