// Records that were decided again beside those there are. Pure.
//
// Invariants
//   M1. A remade record is equal only where its bytes hash to the record there is: under our schema, or under one of another version of it,
//       which says what that version could say.
//   M2. What only a key of the process could make (sealed payloads, leases) is taken from the record, and named. What was decided in the clear
//       is taken only where the record's opens to the same.
import { FRAME_SIZE, leafHash, schemaIdOf } from '@recourse/chain';
import { Failure, InvariantViolation } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { withHashes } from '../sealing/payload-walk.js';
import { isPayload } from '../sealing/sealing.js';
import type { PayloadDoc } from '../sealing/sealing.js';
import type { AcceptedRecord, Decided, Doc } from '../service-core.js';
import type { Closed, PayloadKeys } from './payload-keys.js';
import { WITHHELD } from './wire-input.js';

/** A record there is. */
export interface Standing {
  readonly record: AcceptedRecord;
  readonly key: string;
}

export interface Compared {
  /** Null where the bytes are equal. */
  readonly differs: { readonly at: number; readonly field: string } | null;
  /** What was taken from the records. */
  readonly taken: readonly string[];
  /** Why what a record sealed could not be held against what was decided; null where it could. */
  readonly closed: Closed | null;
}

/** Fields that hold what a key of the process made, or the digest of what it seals. */
export type KeyedFields = ReadonlySet<string>;

/** How records are compared. */
export interface Comparing {
  readonly codecs: Codecs;
  readonly log: string;
  readonly keyed: KeyedFields;
  readonly keys: PayloadKeys;
}

/**
 * Holds decided records against those there are; the first that is another, and the field of it.
 *
 * Shape:  `type` for a record of another type, `count` where there are more or fewer, `bytes` where no field differs.
 * Errors: Lacking, for a key that has to be loaded.
 */
export function compareRecords(
  decided: readonly Decided[],
  standing: readonly Standing[],
  comparing: Comparing,
): Compared {
  const taken: string[] = [];
  let closed: Closed | null = null;
  const end = (differs: Compared['differs']): Compared => ({ differs, taken, closed });
  for (const [at, { type, body }] of decided.entries()) {
    const one = standing[at];
    if (one === undefined) return end({ at, field: 'count' });
    if (one.record.type !== type) return end({ at, field: 'type' });
    const filled = new Filling(comparing).fill(body, one.record.body);
    taken.push(...filled.taken.map((field) => `${type} ${field}`));
    closed ??= filled.closed;
    const field = fieldOf({ type, body: filled.body }, one, comparing);
    // What is sealed as a unit keeps its hash in the clear.
    if (field !== null && fieldOf({ type, body: filled.unfollowed }, one, comparing) !== null)
      return end({ at, field });
  }
  return end(standing.length > decided.length ? { at: decided.length, field: 'count' } : null);
}

function fieldOf({ type, body }: Decided, { record, key }: Standing, { codecs, log }: Comparing): string | null {
  const { seq, prevHash: prev_hash, decidedAt: decided_at } = record;
  const whole = { ...body, seq, prev_hash, decided_at };
  let value: Buffer;
  try {
    value = codecs.encode(log, type, whole);
  } catch (cause) {
    if (cause instanceof InvariantViolation) return firstDifference(body, record.body, '') ?? 'bytes';
    throw cause;
  }
  const fingerprint = codecs.fingerprintOf(schemaIdOf(value) ?? -1);
  if (fingerprint === null) throw new Failure('UNKNOWN_SCHEMA', `${type} has no fingerprint`);
  const ours = { fingerprint, bytes: value.subarray(FRAME_SIZE) };
  const isTheRecord = (written: typeof ours): boolean =>
    leafHash(written.fingerprint, Buffer.from(key), written.bytes).equals(record.hash);
  if (isTheRecord(ours) || codecs.asOthersWrite(log, type, whole).some(isTheRecord)) return null;
  const read = codecs.decodeSync(value);
  const said = read.kind === 'decoded' ? (read.body as Doc) : body; // records are objects
  return firstDifference(said, { ...record.body, seq, prev_hash, decided_at }, '') ?? 'bytes';
}

// What only a key could make --------------------------------------------------------------------------------------------------

interface Filled {
  readonly body: Doc;
  /** The same without the hashes that follow what was sealed. */
  readonly unfollowed: Doc;
  /** Where it was taken from the record. */
  readonly taken: readonly string[];
  readonly closed: Closed | null;
}

/** Takes sealed payloads and keyed fields of a body from the record. */
class Filling {
  readonly #taken: string[] = [];
  readonly #hashes = new Map<string, Buffer>();
  #closed: Closed | null = null;

  constructor(private readonly by: Pick<Comparing, 'keyed' | 'keys'>) {}

  fill(body: Doc, recorded: Doc): Filled {
    const unfollowed = this.#filled(body, recorded, '') as Doc;
    const followed = withHashes(unfollowed, (hash) => this.#hashes.get(hash)) as Doc;
    return { body: followed, unfollowed, taken: this.#taken, closed: this.#closed };
  }

  #filled(mine: unknown, theirs: unknown, path: string): unknown {
    if (typeof mine !== 'object' || mine === null || mine instanceof Uint8Array) return mine;
    if (Array.isArray(mine))
      return mine.map((one, at) =>
        this.#filled(one, Array.isArray(theirs) ? theirs[at] : undefined, `${path}/${String(at)}`),
      );
    if (typeof theirs !== 'object' || theirs === null) return mine;
    if (isPayload(mine)) return isPayload(theirs) ? this.#payload(mine, theirs, path) : mine;
    return Object.fromEntries(
      Object.entries(mine).map(([name, member]) => {
        const other = (theirs as Doc)[name];
        const isTaken = this.by.keyed.has(name) && firstDifference(member, other, path) !== null;
        if (!isTaken) return [name, this.#filled(member, other, `${path}/${name}`)];
        this.#taken.push(`${path}/${name}`);
        return [name, other];
      }),
    );
  }

  #payload(mine: PayloadDoc, theirs: PayloadDoc, path: string): PayloadDoc {
    if (mine.key_id === WITHHELD) return this.#take(mine, theirs, path);
    if (mine.encoding !== 'plain' || theirs.encoding !== 'sealed') return mine;
    const opened = this.by.keys.open(theirs);
    if (opened.kind !== 'opened') {
      this.#closed ??= opened.kind;
      return mine;
    }
    const { content_type, body } = opened.payload;
    return content_type === mine.content_type && body.equals(mine.body) ? this.#take(mine, theirs, path) : mine;
  }

  #take(mine: PayloadDoc, theirs: PayloadDoc, path: string): PayloadDoc {
    this.#taken.push(path);
    this.#hashes.set(Buffer.from(mine.sha256).toString('latin1'), theirs.sha256);
    return theirs;
  }
}

/** Path of the first member that is another; null where none is. What is absent is null. */
export function firstDifference(one: unknown, other: unknown, path: string): string | null {
  const [a, b] = [one ?? null, other ?? null];
  if (!isObject(a) || !isObject(b)) return Object.is(a, b) ? null : path;
  if (a instanceof Uint8Array || b instanceof Uint8Array) return isSameBytes(a, b) ? null : path;
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = firstDifference(a[name], b[name], `${path}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

/** The same of what is told alone: members that `told` does not have at all are not looked at; a list has its length. */
export function firstToldOtherwise(told: unknown, made: unknown, path: string): string | null {
  if (!isPlain(told) || !isPlain(made)) return firstDifference(told, made, path);
  if (Array.isArray(told) !== Array.isArray(made)) return path;
  if (Array.isArray(told) && Array.isArray(made) && told.length !== made.length) return path;
  for (const [name, member] of Object.entries(told)) {
    const found = firstToldOtherwise(member, made[name], `${path}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

function isPlain(value: unknown): value is Doc {
  return isObject(value) && !(value instanceof Uint8Array);
}

function isObject(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null;
}

function isSameBytes(a: unknown, b: unknown): boolean {
  return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0;
}
