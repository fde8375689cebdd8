// Heads of trees as auditors sign them: the text of a note (C2SP tlog-checkpoint), with what we add in extension lines.
//
// Grammar:
//   text       = origin LF size LF base64(root) LF *(extension LF)
//   origin     = log-id "/" topic "/" partition ["#" generation]    ; a generation is begun when a person gave up the heads before
//   size       = "0" / non-zero decimal
//   extension  = "head " hex(leaf)        ; hash of the last record; of logs alone
//              / "next " offset           ; where reading goes on behind it
//              / "first " offset          ; where the tree begins; of wires alone
//              / "time " milliseconds     ; when it was signed, by the auditor's clock; never before the head that it extends
import type { KnownHead } from '@recourse/chain';
import { isSignedBy, parseNote } from './note.js';
import type { Note, NoteKey } from './note.js';

/** A partition of a log or of a wire. */
export interface TreeOf {
  readonly logId: string;
  readonly topic: string;
  readonly partition: number;
  /** 0 until a person gives up the heads before. */
  readonly generation: number;
}

/** What an auditor says of one partition. */
export interface TreeHead extends TreeOf {
  readonly size: number;
  readonly root: Buffer;
  /** Hash of the last record of a log; null for wires. */
  readonly head: Buffer | null;
  readonly nextOffset: number;
  /** Offset of the first leaf. */
  readonly firstOffset: number;
  /** Epoch milliseconds. */
  readonly signedAt: number;
}

/** A head with the note it stands in. */
export interface SignedHead extends TreeHead {
  readonly note: string;
}

const ORIGIN = /^([^\s+/#]{1,200})\/([a-z0-9.-]{1,200})\/(\d{1,6})(?:#(\d{1,6}))?$/u;
const SIZE = /^(?:0|[1-9]\d{0,15})$/;
const ROOT_BYTES = 32;
const HASH = /^[0-9a-f]{64}$/;

/** First line of a head. */
export function originOf({ logId, topic, partition, generation }: TreeOf): string {
  return `${logId}/${topic}/${partition}${generation === 0 ? '' : `#${generation}`}`;
}

/** The text that is signed. */
export function headText(head: TreeHead): string {
  const { size, root, head: leaf, nextOffset, firstOffset, signedAt } = head;
  return [
    originOf(head),
    String(size),
    root.toString('base64'),
    ...(leaf === null ? [`first ${firstOffset}`] : [`head ${leaf.toString('hex')}`]),
    `next ${nextOffset}`,
    `time ${signedAt}`,
    '',
  ].join('\n');
}

/** Reads what a head says; null for any other text. */
export function parseHeadText(text: string): TreeHead | null {
  const [origin = '', size = '', encoded = '', ...lines] = text.split('\n');
  const of = treeIn(origin);
  const root = Buffer.from(encoded, 'base64');
  const isTree = SIZE.test(size) && root.length === ROOT_BYTES && root.toString('base64') === encoded;
  const said = lines.pop() === '' ? saidIn(extensionsOf(lines)) : null;
  return of === null || said === null || !isTree ? null : { ...of, size: Number(size), root, ...said };
}

/** Reads the first line of a head; null for any other text. */
export function treeIn(origin: string): TreeOf | null {
  const of = ORIGIN.exec(origin);
  if (of === null) return null;
  const [logId = '', topic = '', partition = '0', generation = '0'] = of.slice(1);
  return { logId, topic, partition: Number(partition), generation: Number(generation) };
}

/** What we add; null where it is not all there. */
function saidIn(
  extensions: ReadonlyMap<string, string>,
): Pick<TreeHead, 'head' | 'nextOffset' | 'firstOffset' | 'signedAt'> | null {
  const leaf = extensions.get('head');
  const nextOffset = numberIn(extensions.get('next'));
  const signedAt = numberIn(extensions.get('time'));
  if (nextOffset === null || signedAt === null || (leaf !== undefined && !HASH.test(leaf))) return null;
  const head = leaf === undefined ? null : Buffer.from(leaf, 'hex');
  return { head, nextOffset, firstOffset: numberIn(extensions.get('first')) ?? 0, signedAt };
}

/** Values of extension lines by their word; a line that says no word of ours is passed over, as the format says. */
function extensionsOf(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const at = line.indexOf(' ');
      return at <= 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

function numberIn(text: string | undefined): number | null {
  if (text === undefined || !SIZE.test(text)) return null;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : null;
}

/** Reads a head that one of these keys signed; null for every other text. */
export function readSignedHead(text: string, keys: readonly NoteKey[]): SignedHead | null {
  const note = parseNote(text);
  if (note === null || !keys.some((key) => isSignedBy(note, key))) return null;
  return headIn(note, text);
}

/** Did each of these witnesses sign the head, too? */
export function isCosigned({ note: text }: Pick<SignedHead, 'note'>, witnesses: readonly NoteKey[]): boolean {
  const note = parseNote(text);
  return note !== null && witnesses.every((key) => isSignedBy(note, key));
}

function headIn(note: Note, text: string): SignedHead | null {
  const head = parseHeadText(note.text);
  return head === null ? null : { ...head, note: text };
}

/** Name of a partition. */
export const treeName = ({ topic, partition }: Pick<TreeOf, 'topic' | 'partition'>): string => `${topic}/${partition}`;

/** A signed head as what a verification of a log compares with; null for the head of a wire. */
export function knownHeadOf({ size, root, head, nextOffset }: TreeHead): KnownHead | null {
  return head === null ? null : { seq: size, hash: head, root, nextOffset };
}
