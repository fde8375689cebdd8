import { beforeEach, describe, expect, it } from '@jest/globals';
import { Metrics } from '@recourse/telemetry';
import { FirstMet } from './first-met.js';
import { beginCounters, tell } from './runtime-events.js';

const LOG = 'recourse.things';
const WIRE = 'recourse.thing-events';
const SILENT = (): void => undefined;
const LOGGER = { debug: SILENT, info: SILENT, warn: SILENT, error: SILENT };

describe('a counter that an alert reads', () => {
  let metrics: Metrics;
  const lines = async (): Promise<readonly string[]> => (await metrics.text()).split('\n');

  beforeEach(() => {
    metrics = new Metrics();
  });

  it.each(['records_accepted', 'records_void', 'log_records_unvouched', 'appends_unknown', 'projections_fenced'])(
    'is told of a partition before its first event: recourse_%s_total',
    async (name) => {
      const voids = new FirstMet(1_000);
      tell(
        { kind: 'recovered', log: LOG, partition: 3, seq: 7, replayed: 0, voids: [{ offset: 4, timestamp: 999 }] },
        { metrics, logger: LOGGER, voids },
      );
      expect(await lines()).toContain(`recourse_${name}_total{log="${LOG}",partition="3"} 0`);
    },
  );

  it('is told of each wire before a record of it lies on the wrong partition', async () => {
    const inputs = [
      { topic: WIRE, source: 'wire', mode: 'aligned', types: [] },
      { topic: 'recourse.contracts', source: 'log', mode: 'broadcast', types: [] },
    ] as const;
    beginCounters([{ log: LOG, inputs }], metrics);
    const told = (await lines()).filter((line) => line.startsWith('recourse_records_redirected_total{'));
    expect(told).toEqual([`recourse_records_redirected_total{log="${LOG}",topic="${WIRE}"} 0`]);
  });
});

describe('a record that is parked', () => {
  it.each([
    ['a warning', 'CONTRACT_UNKNOWN', undefined],
    ['an error with what was thrown', 'DECIDER_FAILED', new TypeError('no member of undefined')],
  ])('is told as %s, with its place', (_what, reason, thrown) => {
    const told: object[] = [];
    const keep = (level: string) => (said: object) => void told.push({ level, ...said });
    const logger = { ...LOGGER, warn: keep('warn'), error: keep('error') };
    const event = { kind: 'parked', log: LOG, partition: 1, reason, topic: WIRE, offset: 35, thrown } as const;
    tell(event, { metrics: new Metrics(), logger, voids: new FirstMet(1_000) });
    const place = { log: LOG, partition: 1, topic: WIRE, offset: 35, reason };
    expect(told).toEqual([
      thrown === undefined ? { level: 'warn', ...place } : { level: 'error', ...place, err: thrown },
    ]);
  });
});
