import { describe, expect, it } from '@jest/globals';
import { visibleIn } from './fetch.kafka.js';
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
