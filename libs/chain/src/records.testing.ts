// Log records without a schema, for specs of this package.
import { frameOf } from './framing.js';
import { genesisHead, readRecord } from './acceptance.js';
import type { Head } from './acceptance.js';
import type { StoredRecord } from './log-verifier.js';

export const GENESIS = genesisHead({ logId: 'log-1', topic: 'recourse.mutations', partition: 0, partitionCount: 2 });
export const KNOWN_SCHEMA = 1;
export const UNKNOWN_SCHEMA = 99;
export const OTHER_SCHEMA = 2;
const FINGERPRINTS = new Map([
  [KNOWN_SCHEMA, Buffer.alloc(32, 0xf1)],
  [OTHER_SCHEMA, Buffer.alloc(32, 0xf2)],
]);
export const fingerprintOf = (id: number): Buffer | null => FINGERPRINTS.get(id) ?? null;

/** The Avro long of a number. */
function avroLong(value: number): Buffer {
  const octets: number[] = [];
  let rest = value < 0 ? -2 * value - 1 : 2 * value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) octets.push((rest % 128) + 128);
  return Buffer.from([...octets, rest]);
}

/** A framed record that follows a head; `body` stands for the fields after the first two. */
export function recordAfter(head: Head, body: string, offset = head.seq, schemaId = KNOWN_SCHEMA): StoredRecord {
  const value = Buffer.concat([frameOf(schemaId), avroLong(head.seq + 1), head.hash, Buffer.from(body)]);
  return { offset, key: Buffer.from('run-1'), value };
}

/** Head after a record that is accepted at this head. */
export function headAfter(head: Head, record: StoredRecord): Head {
  const verdict = readRecord(head, record, fingerprintOf);
  if (verdict.kind !== 'accepted') throw new Error(`record ${record.offset} is ${verdict.kind}`);
  return verdict.head;
}

/** A sound log of `count` records, with the head before each and after the last. */
export function soundLog(count: number): {
  readonly records: readonly StoredRecord[];
  readonly heads: readonly Head[];
} {
  const records: StoredRecord[] = [];
  const heads: Head[] = [GENESIS];
  let head = GENESIS;
  for (let n = 0; n < count; n += 1) {
    const record = recordAfter(head, `body ${n}`);
    head = headAfter(head, record);
    records.push(record);
    heads.push(head);
  }
  return { records, heads };
}

/** The same records at offsets 0, 1, 2 … */
export const renumbered = (records: readonly StoredRecord[]): StoredRecord[] =>
  records.map((record, offset) => ({ ...record, offset }));
