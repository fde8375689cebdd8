// Bytes and hashes of the vectors, from the grammar in libs/chain/src/leaf.ts.
import { createHash } from 'node:crypto';

export const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
export const uint32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const part = (bytes) => Buffer.concat([uint32(bytes.length), bytes]);
export const text = (value) => Buffer.from(value, 'utf8');
export const leafOf = (fingerprint, key, avro) => sha256(Buffer.from([0]), part(fingerprint), part(key), part(avro));
export const genesisOf = ({ log_id, topic, partition, partition_count }) =>
  sha256(
    Buffer.from([2]),
    part(text('recourse.genesis.v1')),
    part(text(log_id)),
    part(text(topic)),
    uint32(partition),
    uint32(partition_count),
  );
export const frame = (id, avro) => Buffer.concat([Buffer.from([0]), uint32(id), avro]);
