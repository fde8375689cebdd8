// Our decoders of lz4 and snappy against the client's compressors, and against whatever else somebody may send.
import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { compressionsAlgorithmsByBitmask } from '@platformatic/kafka';
import fc from 'fast-check';
import { decompressed, PLAIN_MAX } from './decompress.kafka.js';

const CODECS = [
  ['snappy', 2],
  ['lz4', 3],
] as const;
const [SNAPPY, LZ4] = [2, 3];
const MIB = 1_024 * 1_024;

function compressed(plain: Buffer, codec: number): Buffer {
  return Buffer.from(compressionsAlgorithmsByBitmask[codec]?.compressSync(plain) ?? '');
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

const NOT_COMPRESSED = 0x80000000;
const [VERSION, INDEPENDENT, BLOCK_CHECKSUM, CONTENT_SIZE, CHECKSUM, DICTIONARY] = [0x40, 0x20, 0x10, 0x08, 0x04, 0x01];

/** A frame of LZ4 by hand: what is in its blocks, by whether it is compressed. */
function lz4Frame(flags: number, blocks: readonly (readonly [Buffer, 'packed' | 'plain'])[], blockMax = 4): Buffer {
  const bodies = blocks.map(([octets, kind]) =>
    Buffer.concat([
      uint32(octets.length + (kind === 'plain' ? NOT_COMPRESSED : 0)),
      octets,
      Buffer.alloc((flags & BLOCK_CHECKSUM) === 0 ? 0 : 4, 7),
    ]),
  );
  const head = Buffer.from([VERSION | flags, blockMax << 4]);
  const size = Buffer.alloc((flags & CONTENT_SIZE) === 0 ? 0 : 8, 0xff);
  const end = Buffer.alloc((flags & CHECKSUM) === 0 ? 0 : 4, 7);
  return Buffer.concat([uint32(0x184d2204), head, size, Buffer.from([0]), ...bodies, uint32(0), end]);
}

/** Four literals, a match of so many so far back, and an end of one literal. */
const repeating = (offset: number, half = 0): Buffer =>
  Buffer.from([0x40 | half, ...Buffer.from('abcd'), offset & 0xff, offset >> 8, 0x10, 0x2e]);

function xerial(...blocks: readonly Buffer[]): Buffer {
  const sized = blocks.flatMap((block) => [uint32(block.length).reverse(), block]);
  return Buffer.concat([Buffer.from('82534e41505059000000000100000001', 'hex'), ...sized]);
}

/** Lets go of what nobody holds any more, so that what is left was kept; a thread beside ours gives the memory back. */
async function collected(): Promise<void> {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  await new Promise((resolve) => setTimeout(resolve, 300));
}

/** Octets of a decoder, or null where it says what is wrong. Errors: whatever is thrown that is no Error. */
function tried(bytes: Buffer, codec: number): Buffer | null {
  try {
    return decompressed(bytes, codec);
  } catch (cause) {
    if (cause instanceof Error) return null;
    throw cause;
  }
}

describe.each(CODECS)('what was compressed with %s', (_name, codec) => {
  const same = (plain: Buffer): boolean => decompressed(compressed(plain, codec), codec).equals(plain);

  it('is what it was', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 3_000 }), (octets) => same(Buffer.from(octets))));
    const words = fc.array(fc.constantFrom('a', 'ab', 'refund ', 'order 4711 '), { maxLength: 400 });
    fc.assert(fc.property(words, (parts) => same(Buffer.from(parts.join('')))));
  });

  it.each([0, 1, 2, 15, 16, 70_000, 200_000])('is what it was with %i octets', (size) => {
    const mixed = Buffer.alloc(size);
    for (let n = 0; n < size; n += 1) mixed[n] = n % 7 === 0 ? (n * 2_654_435_761) >>> 24 : n % 251;
    for (const plain of [Buffer.alloc(size), Buffer.alloc(size, 'the refund of order 4711 '), mixed])
      expect(same(plain)).toBe(true);
  });

  it('is refused or read, and no more, whatever stands at any of its places', () => {
    const whole = compressed(Buffer.from('the refund of order 4711, the refund of order 4712. '.repeat(3)), codec);
    const places = Array.from(whole.entries());
    const lengths = places.flatMap(([at, octet]) =>
      [0x00, 0xff, octet ^ 0x01, octet ^ 0x10, octet ^ 0x80].map((other) => {
        const bytes = Buffer.from(whole);
        bytes[at] = other;
        return tried(bytes, codec)?.length ?? 0;
      }),
    );
    expect(Math.max(...lengths)).toBeLessThanOrEqual(PLAIN_MAX);
    expect(places.filter(([end]) => end > 0 && tried(whole.subarray(0, end), codec) !== null)).toEqual([]);
  });

  it('is refused or read, and no more, where it is only rubbish', () => {
    const head = codec === LZ4 ? lz4Frame(0, []).subarray(0, 7) : Buffer.alloc(0);
    const octets = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(octets, (rest) => (tried(Buffer.concat([head, rest]), codec)?.length ?? 0) <= PLAIN_MAX),
      { numRuns: 300 },
    );
  });

  it('is read as before after many that were broken, which leave no memory behind', async () => {
    // Noise, since what repeats takes a minute to decode so often on a slow machine: the memory it takes is the same.
    const large = compressed(randomBytes(2 * MIB), codec);
    const broken = large.subarray(0, large.length - 3);
    const good = compressed(Buffer.from('the refund of order 4711 '.repeat(50)), codec);
    await collected();
    const before = process.memoryUsage().rss;
    for (let n = 0; n < 300; n += 1) {
      if (tried(broken, codec) !== null) throw new Error('it was read');
      if (n % 50 === 0) await collected();
    }
    expect(String(decompressed(good, codec))).toBe('the refund of order 4711 '.repeat(50));
    await collected();
    expect(process.memoryUsage().rss - before).toBeLessThan(250 * MIB);
  }, 120_000);
});

describe('a frame of lz4', () => {
  it('reaches back into its blocks where they are linked, and not where they stand alone', () => {
    const blocks = [
      [Buffer.from('0123456789'), 'plain'],
      [repeating(14, 2), 'packed'],
    ] as const;
    expect(String(decompressed(lz4Frame(0, blocks), LZ4))).toBe('0123456789abcd012345.');
    expect(() => decompressed(lz4Frame(INDEPENDENT, blocks), LZ4)).toThrow('it repeats what is not there');
  });

  it('never reaches back into the frame before it', () => {
    const frame = lz4Frame(0, [[repeating(4), 'packed']]);
    expect(String(decompressed(Buffer.concat([frame, frame]), LZ4))).toBe('abcdabcd.abcdabcd.');
    const back = lz4Frame(0, [[repeating(5), 'packed']]);
    expect(() => decompressed(Buffer.concat([frame, back]), LZ4)).toThrow('it repeats what is not there');
  });

  it('has its size and its checksums passed over', () => {
    const flags = INDEPENDENT | BLOCK_CHECKSUM | CONTENT_SIZE | CHECKSUM;
    const blocks = [
      [repeating(1, 15 - 4), 'packed'],
      [Buffer.from('plain'), 'plain'],
    ] as const;
    expect(String(decompressed(lz4Frame(flags, blocks), LZ4))).toBe(`abcd${'d'.repeat(15)}.plain`);
  });

  it.each([
    ['an offset of 0', lz4Frame(0, [[repeating(0), 'packed']]), /repeats/],
    ['an offset before its beginning', lz4Frame(0, [[repeating(5), 'packed']]), /repeats/],
    ['literals past its end', lz4Frame(0, [[Buffer.from([0x50, 1, 2]), 'packed']]), /inside/],
    ['a length past its end', lz4Frame(0, [[Buffer.from([0xf0, 0xff, 0xff]), 'packed']]), /inside/],
    ['a match at its end', lz4Frame(0, [[repeating(4).subarray(0, 7), 'packed']]), /inside/],
    ['a block past its end', lz4Frame(0, [[Buffer.alloc(20), 'plain']]).subarray(0, 20), /inside/],
    ['a block that is larger than it may', lz4Frame(0, [[Buffer.alloc(70_000), 'plain']]), /more than it may/],
    ['a dictionary', lz4Frame(DICTIONARY, []), /dictionary/],
    ['blocks of a size nobody knows', lz4Frame(0, [], 3), /nobody knows/],
    ['another version', lz4Frame(0x80, []), /nobody knows/],
  ])('is refused with %s', (_what, bytes, why) => {
    expect(() => decompressed(bytes, LZ4)).toThrow(why);
  });

  it('is refused where it becomes more than is read, in one block or in many', () => {
    const long = Buffer.concat([Buffer.from([0x1f, 0x61, 1, 0]), Buffer.alloc(16_400, 0xff), Buffer.from([0, 0])]);
    expect(() => decompressed(lz4Frame(0, [[long, 'packed']], 7), LZ4).length).not.toThrow();
    const many = Array.from({ length: 9 }, () => [long, 'packed'] as const);
    expect(() => decompressed(lz4Frame(0, many, 7), LZ4)).toThrow('more than 33554432 bytes');
    const longer = Buffer.concat([Buffer.from([0x1f, 0x61, 1, 0]), Buffer.alloc(200_000, 0xff), Buffer.from([0, 0])]);
    expect(() => decompressed(lz4Frame(0, [[longer, 'packed']], 7), LZ4)).toThrow('more than it may');
  });
});

describe('snappy', () => {
  const raw = compressed(Buffer.from('the refund of order 4711 '.repeat(5)), SNAPPY);

  it('is read as Java’s client frames it, also where frames follow each other', () => {
    const text = 'the refund of order 4711 '.repeat(5);
    expect(String(decompressed(xerial(raw, raw), SNAPPY))).toBe(text.repeat(2));
    expect(String(decompressed(Buffer.concat([xerial(raw), xerial(raw, raw)]), SNAPPY))).toBe(text.repeat(3));
    expect(decompressed(xerial(), SNAPPY)).toHaveLength(0);
  });

  it('reads each kind of literal and of copy', () => {
    const literal = (size: number): Buffer => Buffer.alloc(size, 'refund');
    const claimed = (length: number): number[] => [0x80 | (length & 0x7f), length >> 7];
    const kinds = [
      Buffer.from([...claimed(300), 60 << 2, 255, ...literal(256), 1 | (7 << 2), 6, 2 | (32 << 2), 255, 0]),
      Buffer.from([...claimed(300), 61 << 2, 255, 0, ...literal(256), 3 | (43 << 2), 0, 1, 0, 0]),
      Buffer.from([...claimed(256), 62 << 2, 255, 0, 0, ...literal(256)]),
      Buffer.from([...claimed(256), 63 << 2, 255, 0, 0, 0, ...literal(256)]),
    ];
    for (const bytes of kinds)
      expect(
        decompressed(bytes, SNAPPY).equals(
          Buffer.from(compressionsAlgorithmsByBitmask[SNAPPY]?.decompressSync(bytes) ?? ''),
        ),
      ).toBe(true);
  });

  it.each([
    ['an offset of 0', Buffer.from([8, 0, 0x61, 1 | (3 << 2), 0]), /repeats/],
    ['an offset before its beginning', Buffer.from([8, 0, 0x61, 1 | (3 << 2), 2]), /repeats/],
    ['an offset of gigabytes', Buffer.from([8, 0, 0x61, 3 | (6 << 2), 0xff, 0xff, 0xff, 0xff]), /repeats/],
    ['an offset into the block before it', xerial(raw, Buffer.from([8, 0, 0x61, 1 | (3 << 2), 2])), /repeats/],
    ['literals past its end', Buffer.from([8, 7 << 2, 1, 2]), /inside/],
    ['literals of gigabytes', Buffer.from([8, 63 << 2, 0xff, 0xff, 0xff, 0xff, 1]), /more than it says/],
    ['a length that ends too soon', Buffer.from([8, 61 << 2, 1]), /inside/],
    ['more than it says', Buffer.from([3, 3 << 2, 1, 2, 3, 4]), /more than it says/],
    ['less than it says', Buffer.from([5, 3 << 2, 1, 2, 3, 4]), /less than it says/],
    ['a size without an end', Buffer.alloc(12, 0xff), /does not end/],
    ['a size beyond what is read', Buffer.from([0xff, 0xff, 0xff, 0x7f]), /more than 33554432 bytes/],
    ['a block past its end', xerial(raw).subarray(0, 30), /inside/],
    ['half a head', xerial().subarray(0, 12), /inside/],
    ['nothing', Buffer.alloc(0), /inside/],
  ])('is refused with %s', (_what, bytes, why) => {
    expect(() => decompressed(bytes, SNAPPY)).toThrow(why);
  });
});
