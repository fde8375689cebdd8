// Alarms as auditors sign them, raised and closed, by the key of their heads: the text of a note. No head begins as they do, and they
// begin as no head does.
//
// Grammar:
//   text   = "alarm " origin LF id LF finding LF     ; origin: as heads have it, with the generation that the alarm is about
//          / "closed " log-id LF id LF at LF by LF   ; at: epoch milliseconds, when the auditor took it for closed
//   by     = 1*200 characters, no control            ; a person, or the auditor itself where what it found is over
import { isSignedBy, noteText, parseNote } from './note.js';
import type { NoteKey, NoteSigner } from './note.js';
import { originOf, treeIn } from './tree-head.js';
import type { TreeOf } from './tree-head.js';

/** What an auditor says that it found. */
export interface AlarmSaid extends TreeOf {
  readonly id: string;
  readonly finding: string;
}

/** What an auditor says of an alarm that is over. */
export interface ClosingSaid {
  readonly logId: string;
  readonly id: string;
  /** Epoch milliseconds by the auditor's clock. */
  readonly at: number;
  readonly by: string;
}

/** As whom an auditor closes what is over by itself. */
export const AUDITOR_ACTOR = 'service:auditor';

const ALARM = 'alarm ';
const CLOSED = 'closed ';
const NAME = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const INSTANT = /^(?:0|[1-9]\d{0,15})$/;

/** Can a person of this name close an alarm? One line of a note, and not the auditor's own name. */
export function isPersonsName(by: string): boolean {
  return NAME.test(by) && by.trim() !== '' && by !== AUDITOR_ACTOR;
}

/** Signs an alarm. */
export function alarmNote(alarm: AlarmSaid, signer: NoteSigner): string {
  return signedNote(`${ALARM}${originOf(alarm)}\n${alarm.id}\n${alarm.finding}\n`, signer);
}

/** Signs that an alarm is closed. */
export function closingNote({ logId, id, at, by }: ClosingSaid, signer: NoteSigner): string {
  return signedNote(`${CLOSED}${logId}\n${id}\n${String(at)}\n${by}\n`, signer);
}

/** Reads an alarm that one of these keys signed; null for every other text. */
export function readSignedAlarm(text: string, keys: readonly NoteKey[]): AlarmSaid | null {
  const [first = '', id = '', finding = '', end, ...more] = signedLines(text, keys);
  const of = first.startsWith(ALARM) ? treeIn(first.slice(ALARM.length)) : null;
  return of === null || end !== '' || more.length > 0 ? null : { ...of, id, finding };
}

/** Reads a closing that one of these keys signed; null for every other text. */
export function readSignedClosing(text: string, keys: readonly NoteKey[]): ClosingSaid | null {
  const [first = '', id = '', at = '', by = '', end, ...more] = signedLines(text, keys);
  if (!first.startsWith(CLOSED) || !INSTANT.test(at) || end !== '' || more.length > 0) return null;
  return { logId: first.slice(CLOSED.length), id, at: Number(at), by };
}

function signedNote(text: string, { sign }: NoteSigner): string {
  return noteText({ text, signatures: [sign(text, 0)] });
}

/** Lines of a note that one of these keys signed, and what is behind the last; none of every other text. */
function signedLines(text: string, keys: readonly NoteKey[]): readonly string[] {
  const note = parseNote(text);
  return note !== null && keys.some((key) => isSignedBy(note, key)) ? note.text.split('\n') : [];
}
