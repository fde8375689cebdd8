// What a record may have been before somebody altered it: the keys and schemas of its log, tried against the hash it has to have.
import { FRAME_SIZE, readHead, schemaIdOf } from './framing.js';
import type { FingerprintOf, Head, RawRecord } from './acceptance.js';
import { leafHash } from './leaf.js';
import type { Alteration } from './log-findings.js';

/** Keys that a record may have had before it got another. */
const KEYS_MAX = 1_024;

export class PastLives {
  readonly #schemas = new Map<number, Buffer>();
  /** Keys of the last records, the oldest written over. They are looked at only where something is wrong. */
  readonly #keys: Buffer[] = [];
  #nextKey = 0;

  constructor(private readonly fingerprintOf: FingerprintOf) {}

  /** Keeps the key and the schema of a record. */
  learn({ key, value }: RawRecord): void {
    if (key !== null) {
      this.#keys[this.#nextKey] = key;
      this.#nextKey = (this.#nextKey + 1) % KEYS_MAX;
    }
    const id = schemaIdOf(value);
    if (id === null || this.#schemas.has(id)) return;
    const fingerprint = this.fingerprintOf(id);
    if (fingerprint !== null) this.#schemas.set(id, fingerprint);
  }

  /** Does it have this hash under a schema that is known? */
  isOfOtherSchema({ key, value }: RawRecord, committed: Buffer): boolean {
    if (key === null || value === null) return false;
    const avro = value.subarray(FRAME_SIZE);
    return [...this.#schemas.values()].some((fingerprint) => leafHash(fingerprint, key, avro).equals(committed));
  }

  /** What was done to a record that has to have this hash, where nothing else of it was altered; nothing where it has it. */
  alterationOf(record: RawRecord, committed: Buffer): Alteration | null {
    if (this.#hashOf(record)?.equals(committed) === true) return null;
    if (this.isOfOtherSchema(record, committed)) return 'schema_swapped';
    const { value } = record;
    const fingerprint = this.#fingerprintOf(value);
    if (value === null || fingerprint === null) return null;
    const avro = value.subarray(FRAME_SIZE);
    const keys = new Map(this.#keys.map((key) => [key.toString('latin1'), key]));
    return [...keys.values()].some((key) => leafHash(fingerprint, key, avro).equals(committed)) ? 'rekeyed' : null;
  }

  /** Hash, in hex, of a record as it would be behind a head; empty where it claims another place. */
  mended({ key, value }: RawRecord, head: Head): string {
    const fingerprint = this.#fingerprintOf(value);
    const claimed = readHead(value);
    if (key === null || value === null || fingerprint === null || claimed?.seq !== head.seq + 1) return '';
    const bytes = Buffer.from(value);
    head.hash.copy(bytes, claimed.prevHash.byteOffset - value.byteOffset);
    return leafHash(fingerprint, key, bytes.subarray(FRAME_SIZE)).toString('hex');
  }

  #hashOf({ key, value }: RawRecord): Buffer | null {
    const fingerprint = this.#fingerprintOf(value);
    return key === null || value === null || fingerprint === null
      ? null
      : leafHash(fingerprint, key, value.subarray(FRAME_SIZE));
  }

  #fingerprintOf(value: Buffer | null): Buffer | null {
    const id = schemaIdOf(value);
    return id === null ? null : this.fingerprintOf(id);
  }
}

/** Forgets what was put into a map first. */
export function forgetFirst(map: Map<string, null>): void {
  const first = map.keys().next();
  if (first.done !== true) map.delete(first.value);
}
