import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { murmur2, partitionForKey } from './murmur2.js';

/** From org.apache.kafka.common.utils.UtilsTest#testMurmur2. */
const JAVA = [
  ['21', -973_932_308],
  ['foobar', -790_332_482],
  ['a-little-bit-long-string', -985_981_536],
  ['a-little-bit-longer-string', -1_486_304_829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58_897_971],
  ['abc', 479_470_107],
] as const;

describe('the hash of a key', () => {
  it.each(JAVA)('of %s is that of Java', (key, hash) => {
    expect(murmur2(Buffer.from(key))).toBe(hash);
  });
});

describe('the partition of a key', () => {
  it('is the one that kafkajs picks', () => {
    const pick = Partitioners.DefaultPartitioner();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.integer({ min: 1, max: 64 }), (bytes, count) => {
        const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
          partitionErrorCode: 0,
          partitionId,
          leader: 0,
          replicas: [0],
          isr: [0],
        }));
        const key = Buffer.from(bytes);
        expect(partitionForKey(key, count)).toBe(
          pick({ topic: 't', partitionMetadata, message: { key, value: null } }),
        );
      }),
    );
  });

  it('of text is that of its UTF-8 bytes', () => {
    expect(partitionForKey('größe', 12)).toBe(partitionForKey(Buffer.from('größe', 'utf8'), 12));
  });
});
