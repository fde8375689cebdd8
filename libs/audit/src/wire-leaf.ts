// What the head of a wire commits to: its bytes, in the order of offsets. A wire has no chain and no acceptance rule.
//
// Grammar (all integers big-endian):
//   leaf    = SHA-256( %x00 %s"recourse.wire.v1" offset part(key) part(value) )
//   offset  = uint64
//   part(x) = length x / %xFFFFFFFF           ; length is a uint32; the latter for a part that is not there
import { sha256 } from '@recourse/chain';

const PREFIX = Buffer.from('\0recourse.wire.v1', 'latin1');
const NOTHING = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/** Leaf of a record of a wire. */
export function wireLeaf(offset: number, key: Buffer | null, value: Buffer | null): Buffer {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(offset));
  return sha256(Buffer.concat([PREFIX, place, ...part(key), ...part(value)]));
}

function part(bytes: Buffer | null): readonly Buffer[] {
  if (bytes === null) return [NOTHING];
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return [length, bytes];
}
