// Items of the input queue: one a record, whatever becomes of it.
import { readHead, readRecord } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import type { FetchedRecord, Unreadable } from '@recourse/kafka';
import type { Speaker } from '@recourse/kernel';
import type { Codecs, DecodedRecord } from '@recourse/messages';
import { muteProblem, recordsOf, shortName, speakerProblem } from '@recourse/messages';
import { LOOP_COMMANDS } from './fold.js';
import { BATCH_UNREADABLE } from './parking.decisions.js';
import type { Problem } from './parking.decisions.js';
import { SPEAKER_MISMATCH } from './refusals.js';
import type { RefusedItem } from './refusals.js';
import type { Doc, InputSpec, RecordInput } from './service-core.js';
import type { StoredCursor } from './store.port.js';

/** One record as the loop decides it; every item moves a cursor. */
export interface QueueItem {
  readonly cursor: StoredCursor;
  /** False for Progress, void records and the like: passing them alone is worth no record (L3). */
  readonly isMeaningful: boolean;
  readonly what:
    | { readonly kind: 'skip' }
    | { readonly kind: 'record'; readonly input: RecordInput; readonly raw: FetchedRecord }
    | {
        readonly kind: 'bad';
        readonly reason: string;
        readonly detail: string;
        readonly raw: FetchedRecord;
        readonly topic: string;
        readonly partition: number;
      }
    | RefusedItem;
}

/** A record and where it lies. */
interface Placed {
  readonly raw: FetchedRecord;
  readonly topic: string;
  readonly partition: number;
}

const UNVOUCHED = 'it carries no signature that speaks for anybody; register the key of its sender in the keyring';

/** What lies where records should be is parked, under its offset. */
export function unreadableItem(cursor: StoredCursor, { raw, ...at }: Placed, { detail, bytes }: Unreadable): QueueItem {
  const what = { kind: 'bad', reason: BATCH_UNREADABLE, detail, raw: { ...raw, value: bytes }, ...at } as const;
  return { cursor, isMeaningful: true, what };
}

/** What nobody may have said is dropped; the loop records that it was. */
function refusedItem(
  cursor: StoredCursor,
  { raw, ...at }: Placed,
  why: Pick<RefusedItem, 'reason' | 'detail' | 'signingKey'>,
): QueueItem {
  const what: RefusedItem = { kind: 'refused', ...at, ...why, offset: raw.offset, value: raw.value };
  return { cursor, isMeaningful: true, what };
}

/** Null for what a key vouches for, and where nobody asks for one. */
export function unvouchedItem(cursor: StoredCursor, at: Placed): QueueItem | null {
  const { voucher } = at.raw;
  return voucher?.kind === 'refused'
    ? refusedItem(cursor, at, { reason: voucher.reason, detail: UNVOUCHED, signingKey: voucher.keyId })
    : null;
}

/** Null for what the key of a record may say. */
export function mismatchItem(
  cursor: StoredCursor,
  at: Placed,
  { speaker, type, body }: { readonly speaker: Speaker; readonly type: string; readonly body: unknown },
): QueueItem | null {
  const mismatch = speakerProblem(speaker, type, body as Doc); // what a decoder makes of a record
  return mismatch === null
    ? null
    : refusedItem(cursor, at, { reason: SPEAKER_MISMATCH, detail: mismatch, signingKey: speaker.keyId });
}

/** What no decider can read is parked; from a key that may say nothing on its topic it is nothing that anybody is to look at. */
export function badItem(cursor: StoredCursor, at: Placed, { reason, detail }: Problem): QueueItem {
  const { voucher } = at.raw;
  const mute = voucher?.kind === 'vouched' ? muteProblem(voucher.speaker, typesOn(at.topic)) : null;
  if (voucher?.kind === 'vouched' && mute !== null)
    return refusedItem(cursor, at, { reason: SPEAKER_MISMATCH, detail: mute, signingKey: voucher.speaker.keyId });
  return { cursor, isMeaningful: true, what: { kind: 'bad', reason, detail, ...at } };
}

/** What lies where a decider reads; a wire has no place in a chain. */
export function inputOf(
  source: RecordInput['source'],
  { raw, topic, partition }: Omit<Placed, 'raw'> & { readonly raw: Pick<FetchedRecord, 'offset' | 'key'> },
  { type, body, asWritten }: Pick<DecodedRecord, 'type' | 'body' | 'asWritten'>,
  { seq, hash }: Pick<RecordInput, 'seq' | 'hash'>,
): RecordInput {
  const key = raw.key?.toString('utf8') ?? '';
  const input = { source, topic, partition, offset: raw.offset, key, type, body: body as Doc, seq, hash }; // what a decoder makes of a record
  return asWritten === undefined ? input : { ...input, asWritten };
}

/** Place of what a wire carries: none. */
export const NO_PLACE: Head = { seq: 0, hash: Buffer.alloc(32) };

/** Place in its log of a record that was accepted there, as its bytes say it again; null where they say none. */
export function placeOf(
  record: Pick<FetchedRecord, 'key' | 'value'>,
  fingerprintOf: Codecs['fingerprintOf'],
): Head | null {
  const said = readHead(record.value);
  if (said === null) return null;
  const verdict = readRecord({ seq: said.seq - 1, hash: said.prevHash }, record, fingerprintOf);
  return verdict.kind === 'accepted' ? verdict.head : null;
}

/** What a topic carries and this core does not take is for another log of the service that reads the same topic. */
export function takes(spec: InputSpec, { type }: { readonly type: string }): boolean {
  return spec.types.includes(type) || LOOP_COMMANDS.has(type);
}

/** Why a record of another type is not taken. */
export function unexpected(topic: string): Problem {
  return { reason: 'UNEXPECTED_TYPE', detail: `this topic takes ${typesOn(topic).join(', ')}` };
}

function typesOn(topic: string): readonly string[] {
  return recordsOf(topic).map(shortName);
}
