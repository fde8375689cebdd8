// What a witness answers who is asked to sign a head: it signs what extends the last one it signed, and nothing else. Pure.
//
// Grammar of a request (C2SP tlog-witness, add-checkpoint):
//   request = "old " size LF *(base64(hash) LF) LF note
//
// Beside it, where the head begins another generation of a tree of which the witness has signed one: the notes, signed by the key of the
// head, of an alarm that contradicts the generation before and of its closing by a person.
import {
  AUDITOR_ACTOR,
  extendsHead,
  notesIn,
  originOf,
  parseNote,
  readSignedAlarm,
  readSignedClosing,
  readSignedHead,
} from '@recourse/audit';
import type { NoteKey, SignedHead } from '@recourse/audit';
import { CONTRADICTING } from '../rules/alarm/alarm.messages.js';

/** What a witness signed last of one log. */
export interface Seen {
  readonly size: number;
  readonly root: Buffer;
}

export interface CosignRequest {
  readonly oldSize: number;
  readonly proof: readonly Buffer[];
  readonly note: string;
}

export type WitnessAnswer =
  | { readonly status: 200; readonly head: SignedHead; readonly origin: string; readonly givenUp: string | null }
  /** It has signed a head of another size: the proof has to begin there. */
  | { readonly status: 409; readonly size: number }
  | { readonly status: 400 | 403 | 422 };

const PROOF_MAX = 63;
/** An auditor signs once, and each of its witnesses does: checking more would leave no time for whoever asks to be signed. */
const SIGNATURES_MAX = 32;
const REQUEST = /^old (0|[1-9]\d{0,15})\n((?:[A-Za-z0-9+/]{43}=\n)*)\n/;

/** Reads a request; null for what is none. */
export function parseRequest(text: string): CosignRequest | null {
  const [whole = '', size = '', hashes = ''] = REQUEST.exec(text) ?? [];
  const proof = hashes
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line, 'base64'));
  const note = text.slice(whole.length);
  const { signatures } = parseNote(note) ?? { signatures: null };
  if (whole === '' || proof.length > PROOF_MAX || signatures === null || signatures.length > SIGNATURES_MAX)
    return null;
  return { oldSize: Number(size), proof, note };
}

/** Writes a request. */
export function requestText({ oldSize, proof, note }: CosignRequest): string {
  return `old ${oldSize}\n${proof.map((hash) => `${hash.toString('base64')}\n`).join('')}\n${note}`;
}

/** What a witness is asked. */
export interface Asked {
  readonly text: string;
  /** Notes that came with it. */
  readonly givenUp: string | null;
}

/** Whether the head is signed; `seenOf` is what was signed last of an origin. */
export function judgeRequest(
  { text, givenUp }: Asked,
  keys: readonly NoteKey[],
  seenOf: (origin: string) => Seen | null,
): WitnessAnswer {
  const request = parseRequest(text);
  if (request === null) return { status: 400 };
  const head = readSignedHead(request.note, keys);
  if (head === null) return { status: 403 };
  const origin = originOf(head);
  const seen = seenOf(origin) ?? NOTHING;
  const isAnew = seen === NOTHING && hasSignedBefore(head, seenOf);
  if (request.oldSize > head.size) return { status: 400 };
  if (request.oldSize !== seen.size) return { status: 409, size: seen.size };
  if (!extendsHead(seen, head, request.proof) || (isAnew && !saysGivenUp(givenUp, head, keys))) return { status: 422 };
  return { status: 200, head, origin, givenUp: isAnew ? givenUp : null };
}

const NOTHING: Seen = { size: 0, root: Buffer.alloc(0) };

/** Has it signed a head of a generation before? */
function hasSignedBefore(head: SignedHead, seenOf: (origin: string) => Seen | null): boolean {
  for (let generation = head.generation - 1; generation >= 0; generation -= 1)
    if (seenOf(originOf({ ...head, generation })) !== null) return true;
  return false;
}

/** Do these notes say that a person closed an alarm which contradicts the generation before a head? */
function saysGivenUp(notes: string | null, head: SignedHead, keys: readonly NoteKey[]): boolean {
  const [raised = '', closed = ''] = notesIn([notes ?? '']);
  const [alarm, closing] = [readSignedAlarm(raised, keys), readSignedClosing(closed, keys)];
  if (alarm === null || closing === null) return false;
  return (
    originOf(alarm) === originOf({ ...head, generation: head.generation - 1 }) &&
    (CONTRADICTING as readonly string[]).includes(alarm.finding) &&
    closing.logId === alarm.logId &&
    closing.id === alarm.id &&
    closing.by !== AUDITOR_ACTOR
  );
}
