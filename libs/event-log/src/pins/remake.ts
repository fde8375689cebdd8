// One decision made again, and what it comes to beside the records there are. Pure.
//
// Invariants
//   M1. A remade record is equal only where its bytes hash to the record there is.
//   M2. What only a key of the process could make (sealed payloads, leases) is taken from the record, and named.
import { FRAME_SIZE, leafHash, schemaIdOf } from '@recourse/chain';
import { Failure, InvariantViolation } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { withHashes } from '../sealing/payload-walk.js';
import { isPayload } from '../sealing/sealing.js';
import type { PayloadDoc } from '../sealing/sealing.js';
import type {
  AcceptedRecord,
  DecideContext,
  Decided,
  Decision,
  Doc,
  Input,
  Owns,
  ServiceCore,
} from '../service-core.js';
import { closed, NotPinned, PayloadClosed, stateOver, storedIn, viewsOver } from './pin-state.js';
import type { Looked, RowSource } from './pin-state.js';
import { WITHHELD } from './wire-input.js';

/** What a decision is made over. */
export interface RemakeContext {
  readonly core: ServiceCore;
  readonly rows: RowSource;
  readonly entryOf: (view: string, key: string) => Doc | undefined;
  readonly now: number;
  readonly partition: number;
  readonly partitions: number;
  readonly owns: Owns;
}

export type Remade =
  | {
      readonly kind: 'made';
      readonly decided: readonly Decided[];
      readonly isParked: boolean;
      /** It took the hash of a sealed payload for that of an opened one. */
      readonly isHashed: boolean;
    }
  | { readonly kind: 'payload_sealed' }
  | { readonly kind: 'not_pinned'; readonly what: string }
  | { readonly kind: 'failed'; readonly what: string };

/** Makes a decision; the answer of a command stands behind its records, as the loop writes it. */
export function remake({ core, rows, entryOf, now, partition, partitions, owns }: RemakeContext, input: Input): Remade {
  const looked: Looked = { into: false, atHash: false };
  const shown = (doc: Doc): Doc => closed(doc, looked);
  const context: DecideContext = {
    state: stateOver(rows, core.kinds, shown),
    views: viewsOver(entryOf),
    now,
    partition,
    partitions,
    owns,
  };
  const told = input.source === 'timer' ? input : { ...input, body: shown(input.body) };
  try {
    const decision = core.decide(context, told);
    if (looked.into) return { kind: 'payload_sealed' };
    const decided = recordsOf(decision, input);
    return { kind: 'made', decided, isParked: decision.park !== undefined, isHashed: looked.atHash };
  } catch (cause) {
    if (looked.into || cause instanceof PayloadClosed) return { kind: 'payload_sealed' };
    const what = cause instanceof Error ? cause.message : String(cause);
    return { kind: cause instanceof NotPinned ? 'not_pinned' : 'failed', what };
  }
}

function recordsOf({ records, answer }: Decision, input: Input): readonly Decided[] {
  const stored = records.map(({ type, body }) => ({ type, body: storedIn(body) }));
  if (answer === undefined || input.source === 'timer') return stored;
  const { command_id, body_sha256 } = input.body.envelope as Doc; // only commands are answered
  const { status, httpStatus: http_status, code, body } = answer;
  const fields = { command_id, body_sha256, status, http_status, code, answer: JSON.stringify(body) };
  return [...stored, { type: 'CommandAnswered', body: fields }];
}

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
}

/** Fields that hold what a key of the process made, or the digest of what it seals. */
export type KeyedFields = ReadonlySet<string>;

/**
 * Holds decided records against those there are; the first that is another, and the field of it.
 *
 * Shape: `type` for a record of another type, `count` where there are more or fewer, `bytes` where no field differs.
 */
export function compareRecords(
  decided: readonly Decided[],
  standing: readonly Standing[],
  { codecs, log, keyed }: { readonly codecs: Codecs; readonly log: string; readonly keyed: KeyedFields },
): Compared {
  const taken: string[] = [];
  for (const [at, { type, body }] of decided.entries()) {
    const one = standing[at];
    if (one === undefined) return { differs: { at, field: 'count' }, taken };
    if (one.record.type !== type) return { differs: { at, field: 'type' }, taken };
    const filled = filledFrom(body, one.record.body, keyed);
    taken.push(...filled.taken.map((field) => `${type} ${field}`));
    const field = fieldOf({ type, body: filled.body }, one, { codecs, log });
    if (field !== null) return { differs: { at, field }, taken };
  }
  return { differs: standing.length > decided.length ? { at: decided.length, field: 'count' } : null, taken };
}

function fieldOf(
  { type, body }: Decided,
  { record, key }: Standing,
  { codecs, log }: { readonly codecs: Codecs; readonly log: string },
): string | null {
  const { seq, prevHash: prev_hash, decidedAt: decided_at } = record;
  let value: Buffer;
  try {
    value = codecs.encode(log, type, { ...body, seq, prev_hash, decided_at });
  } catch (cause) {
    if (cause instanceof InvariantViolation) return firstDifference(body, record.body, '') ?? 'bytes';
    throw cause;
  }
  const fingerprint = codecs.fingerprintOf(schemaIdOf(value) ?? -1);
  if (fingerprint === null) throw new Failure('UNKNOWN_SCHEMA', `${type} has no fingerprint`);
  if (leafHash(fingerprint, Buffer.from(key), value.subarray(FRAME_SIZE)).equals(record.hash)) return null;
  const read = codecs.decodeSync(value);
  const said = read.kind === 'decoded' ? (read.body as Doc) : body; // records are objects
  return firstDifference(said, { ...record.body, seq, prev_hash, decided_at }, '') ?? 'bytes';
}

// What only a key could make --------------------------------------------------------------------------------------------------

/** The body with sealed payloads and keyed fields as the record has them, and where they stand. */
function filledFrom(
  body: Doc,
  recorded: Doc,
  keyed: KeyedFields,
): { readonly body: Doc; readonly taken: readonly string[] } {
  const taken: string[] = [];
  const hashes = new Map<string, Buffer>();
  const fill = (mine: unknown, theirs: unknown, path: string): unknown => {
    if (typeof mine !== 'object' || mine === null || mine instanceof Uint8Array) return mine;
    if (Array.isArray(mine))
      return mine.map((one, at) => fill(one, Array.isArray(theirs) ? theirs[at] : undefined, `${path}/${String(at)}`));
    if (typeof theirs !== 'object' || theirs === null) return mine;
    if (isPayload(mine)) return mine.key_id === WITHHELD && isPayload(theirs) ? take(mine, theirs, path) : mine;
    return Object.fromEntries(
      Object.entries(mine).map(([name, member]) => {
        const other = (theirs as Doc)[name];
        const isTaken = keyed.has(name) && firstDifference(member, other, path) !== null;
        if (!isTaken) return [name, fill(member, other, `${path}/${name}`)];
        taken.push(`${path}/${name}`);
        return [name, other];
      }),
    );
  };
  const take = (mine: PayloadDoc, theirs: PayloadDoc, path: string): PayloadDoc => {
    taken.push(path);
    hashes.set(Buffer.from(mine.sha256).toString('latin1'), theirs.sha256);
    return theirs;
  };
  const filled = fill(body, recorded, '') as Doc;
  return { body: withHashes(filled, (hash) => hashes.get(hash)) as Doc, taken };
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

function isObject(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null;
}

function isSameBytes(a: unknown, b: unknown): boolean {
  return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0;
}
