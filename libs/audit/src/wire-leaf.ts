// What the head of a wire commits to: its bytes, in the order of offsets. A wire has no chain and no acceptance rule.
//
// A batch that nobody can read has no records: it is committed by its bytes as they are stored, which begin with its first offset.
//
// Grammar (all integers big-endian)
//   leaf    = SHA-256( %x00 %s"recourse.wire.v1" offset part(key) part(value) )            ; of a record
//           / SHA-256( %x00 %s"recourse.wire.unreadable.v1" part(batch) )                  ; of a batch that cannot be read
//   offset  = uint64
//   part(x) = length x / %xFFFFFFFF           ; length is a uint32; the latter for a part that is not there
import { sha256 } from '@recourse/chain';

const PREFIX = Buffer.from('\0recourse.wire.v1', 'latin1');
const UNREADABLE_PREFIX = Buffer.from('\0recourse.wire.unreadable.v1', 'latin1');
const NOTHING = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/** What was read of a wire: a record, or a batch that cannot be read. */
export interface WireRecord {
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly unreadable?: { readonly bytes: Buffer };
}

/** Leaf of a record of a wire, or of a batch that cannot be read, wherever in it reading began. */
export function wireLeaf({ offset, key, value, unreadable }: WireRecord): Buffer {
  if (unreadable !== undefined) return sha256(Buffer.concat([UNREADABLE_PREFIX, ...part(unreadable.bytes)]));
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
