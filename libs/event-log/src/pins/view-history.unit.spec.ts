// Views as they stood: how far they were read, and when a record came that says no time of its own.
import { describe, expect, it } from '@jest/globals';
import type { ViewSpec } from '../service-core.js';
import { ViewHistory } from './view-history.js';
import type { ViewRecord } from './view-history.js';

const SPEC: ViewSpec = { name: 'falls', topic: 'falls', fold: ({ seq, body }) => [[String(body['key']), { seq }]] };
const record = (partition: number, seq: number, decidedAt: number, at?: number): ViewRecord => ({
  place: { log: 'falls', partition, seq, hash: '' },
  record: {
    ...{ type: 'Fell', body: { key: `${String(partition)}/${String(seq)}` }, seq, decidedAt },
    ...{ hash: Buffer.alloc(32), prevHash: Buffer.alloc(32) },
  },
  ...(at === undefined ? {} : { at }),
});

describe('a view as it stood', () => {
  const history = new ViewHistory(SPEC, [record(0, 1, 10), record(1, 1, 20), record(0, 2, 30)]);

  it('was read in each partition up to the last record of its time', () => {
    expect([0, 1].map((partition) => history.position(partition, history.countAt(25)))).toEqual([1, 1]);
    expect([0, 1].map((partition) => history.position(partition, history.countAt(30)))).toEqual([2, 1]);
    expect(history.position(1, history.countAt(10))).toBe(0);
  });

  it('holds a record that says no time from when its source was decided', () => {
    const derived = new ViewHistory(SPEC, [record(0, 1, 0, 10), record(0, 2, 0, 50)]);
    expect(derived.countAt(20)).toBe(1);
    expect([derived.entry('0/1', 1)?.doc, derived.entry('0/2', 1)]).toEqual([{ seq: 1 }, undefined]);
  });
});
