// Which partition a key belongs to: murmur2 as Java's and kafkajs' default partitioners do (L14).

const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/**
 * Hashes bytes to a signed 32-bit integer.
 *
 * Source: Austin Appleby's MurmurHash2, with the seed of org.apache.kafka.common.utils.Utils#murmur2.
 */
export function murmur2(data: Uint8Array): number {
  const length = data.length;
  const whole = length & ~3;
  let h = SEED ^ length;
  for (let at = 0; at < whole; at += 4) {
    let k = byte(data, at) | (byte(data, at + 1) << 8) | (byte(data, at + 2) << 16) | (byte(data, at + 3) << 24);
    k = Math.imul(k, M);
    k ^= k >>> 24;
    h = Math.imul(h, M) ^ Math.imul(k, M);
  }
  const rest = length - whole;
  if (rest === 3) h ^= byte(data, whole + 2) << 16;
  if (rest >= 2) h ^= byte(data, whole + 1) << 8;
  if (rest >= 1) h = Math.imul(h ^ byte(data, whole), M);
  h ^= h >>> 13;
  h = Math.imul(h, M);
  return h ^ (h >>> 15);
}

/**
 * Partition of a key.
 *
 * Shape:  an integer in [0, partitionCount). librdkafka agrees only with `partitioner=murmur2_random`.
 */
export function partitionForKey(key: Uint8Array | string, partitionCount: number): number {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'utf8') : key;
  return (murmur2(bytes) & 0x7fffffff) % partitionCount;
}

function byte(data: Uint8Array, at: number): number {
  return data[at] ?? 0;
}

/** A share of a limit over all partitions: at least one. */
export function shareOf(limit: number, partitionCount: number): number {
  return Math.max(1, Math.floor(limit / Math.max(1, partitionCount)));
}
