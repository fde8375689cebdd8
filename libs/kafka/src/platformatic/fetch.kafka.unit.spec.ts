import { describe, expect, it } from '@jest/globals';
import { crc32c, createRecordsBatch, Reader, ResponseError } from '@platformatic/kafka';
import { PLAIN_MAX } from './decompress.kafka.js';
import { parsingAs, visibleIn } from './fetch-answer.kafka.js';
import { HiddenBatches, readRecordSet } from './record-set.kafka.js';
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
  isHidden: false,
  ...more,
});
const seen = (
  position: number,
  batches: readonly StoredBatch[],
  abortedTransactions: { producerId: bigint; firstOffset: bigint }[] | null = null,
): { readonly keys: readonly string[]; readonly nextOffset: number } => {
  const hidden = new HiddenBatches(abortedTransactions ?? []);
  const visible = visibleIn({ batches: batches.map((one) => ({ ...one, isHidden: hidden.hides(one) })) }, position);
  return { keys: visible.records.map(({ key }) => String(key)), nextOffset: visible.nextOffset };
};

describe('what a reader sees of a fetch answer', () => {
  it('begins at its position, in the middle of a batch', () => {
    expect(seen(5, [batch(3, ['a', 'b', 'c', 'd'], {}), batch(7, ['e'], {})])).toEqual({
      keys: ['c', 'd', 'e'],
      nextOffset: 8,
    });
    expect(visibleIn({ batches: [batch(3, ['a', 'b'], {})] }, 4).records).toEqual([
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
function answerOf(sets: readonly Buffer[], codes: readonly number[] = []): Reader {
  const partitions = sets.map((stored, partition) => {
    const [head, code] = [Buffer.alloc(42), codes[partition] ?? 0];
    const set = code === 0 ? stored : Buffer.alloc(0);
    head.writeInt32BE(partition, 0);
    head.writeInt16BE(code, 4);
    head.writeInt32BE(-1, 30); // no transaction was aborted
    head.writeInt32BE(set.length, 38);
    return Buffer.concat([head, set]);
  });
  const topic = Buffer.from([0, 4, ...Buffer.from('wire')]);
  const one = Buffer.from([0, 0, 0, 1]);
  return Reader.from(Buffer.concat([Buffer.alloc(10), one, topic, Buffer.from([0, 0, 0, sets.length]), ...partitions]));
}

describe('an answer about several partitions', () => {
  const holding = (value: Buffer): Buffer =>
    Buffer.from(createRecordsBatch([{ topic: 'wire', value }], { compression: 'zstd' }).buffer);
  const [small, large] = [holding(Buffer.from('small')), holding(Buffer.alloc(PLAIN_MAX - 100))];
  const readOf = (sets: readonly (readonly Buffer[])[]): readonly (readonly [number, boolean])[] => {
    const {
      topics: [topic],
    } = parsingAs('committed')(0, 1, 11, answerOf(sets.map((set) => Buffer.concat(set))));
    return (topic?.partitions ?? []).map(({ batches, isUnread }) => [batches.length, isUnread]);
  };

  it('is read no further than a batch may go in memory: of the partitions behind nothing, which are asked for again', () => {
    expect(
      readOf([
        [small, small],
        [large, small],
        [small, small],
        [large, small],
      ]),
    ).toEqual([
      [2, false],
      [1, false],
      [0, true],
      [0, true],
    ]);
  });

  it('is read for one of them, where the first batch of each is large', () => {
    expect(readOf([[large], [large], [large], [large]])).toEqual([
      [1, false],
      [0, true],
      [0, true],
      [0, true],
    ]);
  });

  it('has nothing unread of a partition that has nothing', () => {
    expect(readOf([[large], []])).toEqual([
      [1, false],
      [0, false],
    ]);
  });

  it('says of each what is refused for it alone, and ends with that only where one is out of range', () => {
    const {
      topics: [topic],
    } = parsingAs('committed')(0, 1, 11, answerOf([small, small], [6, 0]));
    expect(topic?.partitions.map(({ code, batches }) => [code, batches.length])).toEqual([
      [6, 0],
      [0, 1],
    ]);
    expect(() => parsingAs('committed')(0, 1, 11, answerOf([small, small], [0, 1]))).toThrow(ResponseError);
  });
});

describe('what a reader sees of an answer as memory', () => {
  it('counts with its headers, however few bytes they take in the log, and with all of the batch it came in', () => {
    const [large, plain] = [Buffer.alloc(1_000_000), Buffer.from('v')];
    const stored = Buffer.from(
      createRecordsBatch(
        [
          { topic: 'wire', value: plain, headers: new Map([[Buffer.from('h'), large]]) },
          { topic: 'wire', value: plain },
        ],
        { compression: 'zstd' },
      ).buffer,
    );
    const { records, octets } = visibleIn(readRecordSet(stored), 1);
    expect([stored.length < 1_000, records.length, octets > large.length]).toEqual([true, 1, true]);
  });
});

describe('a batch of an aborted transaction', () => {
  it('is not decompressed, and costs no memory: reading goes on behind it', () => {
    const aborted = Buffer.from(createRecordsBatch([{ topic: 'wire', value: Buffer.alloc(9_000) }], {}).buffer);
    aborted.writeInt16BE(TRANSACTIONAL, 21);
    aborted.writeBigInt64BE(7n, 43);
    aborted.writeUInt32BE(crc32c(aborted.subarray(21)), 17);
    const { batches } = readRecordSet(aborted, {
      hidden: new HiddenBatches([{ producerId: 7n, firstOffset: 0n }]),
    });
    expect(batches).toMatchObject([{ isHidden: true, records: [], cost: 0 }]);
    expect(visibleIn({ batches }, 0)).toEqual({ records: [], nextOffset: 1, octets: 0 });
  });
});
