import { describe, expect, it } from '@jest/globals';
import { murmur2, partitionForKey } from './partition.js';

/** From org.apache.kafka.common.utils.UtilsTest#testMurmur2; kafkajs' DefaultPartitioner agrees (spec in libs/kafka). */
const JAVA = [
  ['21', -973_932_308],
  ['foobar', -790_332_482],
  ['a-little-bit-long-string', -985_981_536],
  ['abc', 479_470_107],
] as const;

describe('the partition of a key', () => {
  it.each(JAVA)('comes from the murmur2 of Java for %s', (key, hash) => {
    expect(murmur2(Buffer.from(key))).toBe(hash);
    expect(partitionForKey(key, 6)).toBe((hash & 0x7fffffff) % 6);
  });

  it('is taken from the UTF-8 bytes of text', () => {
    expect(partitionForKey('größe', 12)).toBe(partitionForKey(Buffer.from('größe', 'utf8'), 12));
  });
});
