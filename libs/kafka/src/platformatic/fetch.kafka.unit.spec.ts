import { describe, expect, it } from '@jest/globals';
import { createRecordsBatch, Reader } from '@platformatic/kafka';
import { PLAIN_MAX } from './decompress.kafka.js';
import { parseFetch, visibleIn } from './fetch.kafka.js';
import type { StoredBatch } from './record-set.kafka.js';

const TRANSACTIONAL = 1 << 4;
const CONTROL = 1 << 5;
const [COMMIT, ABORT] = [Buffer.from([0, 0, 0, 1]), Buffer.from([0, 0, 0, 0])];
const NOBODY = -1n;

const batch = (firstOffset: number, keys: readonly (string | Buffer)[], more: Partial<StoredBatch>): StoredBatch => ({
  firstOffset: BigInt(firstOffset),
  attributes: 0,
  lastOffsetDelta: keys.length - 1,
  firstTimestamp: 1_000,
  producerId: NOBODY,
  cost: 0,
  records: keys.map((key, delta) => ({
    offset: firstOffset + delta,
    key: Buffer.from(key),
    value: null,
    timestamp: 1_000 + delta,
    headers: {},
  })),
  unreadable: null,
  ...more,
});
const seen = (
  position: number,
  batches: readonly StoredBatch[],
  abortedTransactions: { producerId: bigint; firstOffset: bigint }[] | null = null,
): { readonly keys: readonly string[]; readonly nextOffset: number } => {
  const visible = visibleIn({ batches, abortedTransactions }, position);
  return { keys: visible.records.map(({ key }) => String(key)), nextOffset: visible.nextOffset };
};

describe('what a reader sees of a fetch answer', () => {
  it('begins at its position, in the middle of a batch', () => {
    expect(seen(5, [batch(3, ['a', 'b', 'c', 'd'], {}), batch(7, ['e'], {})])).toEqual({
      keys: ['c', 'd', 'e'],
      nextOffset: 8,
    });
    expect(visibleIn({ batches: [batch(3, ['a', 'b'], {})], abortedTransactions: null }, 4).records).toEqual([
      { offset: 4, key: Buffer.from('b'), value: null, timestamp: 1_001, headers: {} },
    ]);
  });

  it('is nothing at the end, and reading stays there', () => {
    expect(seen(5, [])).toEqual({ keys: [], nextOffset: 5 });
  });

  it('has no control records, though reading goes on behind them', () => {
    const committed = [
      batch(0, ['a'], { attributes: TRANSACTIONAL, producerId: 7n }),
      batch(1, [COMMIT], { attributes: TRANSACTIONAL | CONTROL, producerId: 7n }),
    ];
    expect(seen(0, committed)).toEqual({ keys: ['a'], nextOffset: 2 });
  });

  it('has nothing of an aborted transaction, all of its neighbours, and all of the next one of the same producer', () => {
    const answer = [
      batch(0, ['before'], { attributes: TRANSACTIONAL, producerId: 7n }),
      batch(1, [COMMIT], { attributes: TRANSACTIONAL | CONTROL, producerId: 7n }),
      batch(2, ['aborted', 'too'], { attributes: TRANSACTIONAL, producerId: 7n }),
      batch(4, ['of another'], { attributes: TRANSACTIONAL, producerId: 8n }),
      batch(5, ['of nobody'], {}),
      batch(6, [ABORT], { attributes: TRANSACTIONAL | CONTROL, producerId: 7n }),
      batch(7, ['after'], { attributes: TRANSACTIONAL, producerId: 7n }),
    ];
    expect(seen(0, answer, [{ producerId: 7n, firstOffset: 2n }])).toEqual({
      keys: ['before', 'of another', 'of nobody', 'after'],
      nextOffset: 8,
    });
  });
});

/** An answer to Fetch, version 11, about one topic: a set of batches for each of its partitions. */
function answerOf(sets: readonly Buffer[]): Reader {
  const partitions = sets.map((set, partition) => {
    const head = Buffer.alloc(42);
    head.writeInt32BE(partition, 0);
    head.writeInt32BE(-1, 30); // no transaction was aborted
    head.writeInt32BE(set.length, 38);
    return Buffer.concat([head, set]);
  });
  const topic = Buffer.from([0, 4, ...Buffer.from('wire')]);
  const one = Buffer.from([0, 0, 0, 1]);
  return Reader.from(Buffer.concat([Buffer.alloc(10), one, topic, Buffer.from([0, 0, 0, sets.length]), ...partitions]));
}

describe('an answer about several partitions', () => {
  it('is read no further than a batch may go in memory, but for the first batch of each: the rest is asked for again', () => {
    const holding = (value: Buffer): Buffer =>
      Buffer.from(createRecordsBatch([{ topic: 'wire', value }], { compression: 'zstd' }).buffer);
    const [small, large] = [holding(Buffer.from('small')), holding(Buffer.alloc(PLAIN_MAX - 100))];
    const sets = [
      [small, small],
      [large, small],
      [small, small],
      [large, small],
    ];
    const [topic] = parseFetch(0, 1, 11, answerOf(sets.map((set) => Buffer.concat(set))));
    expect(topic?.partitions.map(({ batches, broken }) => [batches.length, broken])).toEqual([
      [2, null],
      [1, null],
      [1, null],
      [1, null],
    ]);
  });
});
