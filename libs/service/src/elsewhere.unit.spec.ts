import { describe, expect, it } from '@jest/globals';
import type { ProjectedHead } from '@recourse/event-log';
import { Elsewhere } from './elsewhere.js';

const LOG = 'recourse.things';
const WIRE = 'recourse.thing-events';
const OTHER = 'recourse.contracts';
const CORE = {
  log: LOG,
  inputs: [
    { topic: WIRE, mode: 'aligned', source: 'wire', types: [] },
    { topic: OTHER, mode: 'broadcast', source: 'log', types: [] },
  ],
} as const;

const headAt = (seq: number, offset: number, partition: number): ProjectedHead => ({
  seq,
  hash: Buffer.alloc(32),
  offset: seq,
  decidedAt: 7_000,
  cursors: [{ topic: WIRE, partition, offset, seq: 0, hash: Buffer.alloc(32) }],
  reactedSeq: seq,
  reactedOffset: seq,
});

/** A service of one log with three partitions, as the rows have it; of the third there are none. */
function service(range = (): Promise<{ low: number; high: number }> => Promise.resolve({ low: 3, high: 60 })) {
  const asked: string[] = [];
  const elsewhere = new Elsewhere({
    cores: [CORE],
    partitionCount: () => Promise.resolve(3),
    head: (_log, partition) => Promise.resolve(partition === 2 ? null : headAt(40 + partition, 8, partition)),
    reader: () =>
      Promise.resolve({
        range: (topic, partition) => {
          asked.push(`${topic}/${String(partition)}`);
          return range();
        },
        close: () => Promise.resolve(),
      }),
    patienceMs: 50,
  });
  return { elsewhere, asked };
}

describe('a partition of another process', () => {
  it('is told of by its rows and by what waits on its wires', async () => {
    const { elsewhere, asked } = service();
    expect(await elsewhere.but([{ log: LOG, partition: 0 }])).toEqual([
      { log: LOG, partition: 1, seq: 41, decided_at: 7_000, unread: 52 },
      { log: LOG, partition: 2, seq: 0, decided_at: null, unread: 57 },
    ]);
    expect(asked).toEqual([`${WIRE}/1`, `${WIRE}/2`]);
  });

  it('is asked about once for all who ask meanwhile, and by few questions at a time', async () => {
    let [asked, open, most] = [0, 0, 0];
    const head = async (): Promise<null> => {
      asked += 1;
      most = Math.max(most, (open += 1));
      await Promise.resolve();
      open -= 1;
      return null;
    };
    const range = () => Promise.resolve({ low: 0, high: 0 });
    const elsewhere = new Elsewhere({
      cores: [CORE],
      partitionCount: () => Promise.resolve(12),
      head,
      reader: () => Promise.resolve({ range, close: () => Promise.resolve() }),
    });
    const all = await Promise.all(Array.from({ length: 100 }, () => elsewhere.but([])));
    expect(all.map((one) => one?.length)).toEqual(all.map(() => 12));
    // The first look, and one that all the others share.
    expect([asked, most]).toEqual([24, 3]);
  });

  it('is asked for nowhere by who owns all', async () => {
    const { elsewhere, asked } = service();
    expect(await elsewhere.but([0, 1, 2].map((partition) => ({ log: LOG, partition })))).toEqual([]);
    expect(asked).toEqual([]);
  });

  it.each([
    ['says that it is away', () => Promise.reject(new Error('away'))],
    ['says nothing', () => new Promise<never>(() => undefined)],
  ])('is not told of while the broker %s, and the status does not fail', async (_how, range) => {
    expect(await service(range).elsewhere.but([])).toBeNull();
  });
});
