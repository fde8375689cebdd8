// Alarms as auditors sign them, by the key of their heads: the text of a note. No head begins as it does, and it begins as no head does.
//
// Grammar:
//   text = "alarm " origin LF id LF finding LF     ; origin: as heads have it, with the generation that the alarm is about
import { isSignedBy, noteText, parseNote } from './note.js';
import type { NoteKey, NoteSigner } from './note.js';
import { originOf, treeIn } from './tree-head.js';
import type { TreeOf } from './tree-head.js';

/** What an auditor says that it found. */
export interface AlarmSaid extends TreeOf {
  readonly id: string;
  readonly finding: string;
}

const WORD = 'alarm ';

/** Signs an alarm. */
export function alarmNote(alarm: AlarmSaid, { sign }: NoteSigner): string {
  const text = `${WORD}${originOf(alarm)}\n${alarm.id}\n${alarm.finding}\n`;
  return noteText({ text, signatures: [sign(text, 0)] });
}

/** Reads an alarm that one of these keys signed; null for every other text. */
export function readSignedAlarm(text: string, keys: readonly NoteKey[]): AlarmSaid | null {
  const note = parseNote(text);
  if (note === null || !keys.some((key) => isSignedBy(note, key))) return null;
  const [first = '', id = '', finding = '', end, ...more] = note.text.split('\n');
  const of = first.startsWith(WORD) ? treeIn(first.slice(WORD.length)) : null;
  return of === null || end !== '' || more.length > 0 ? null : { ...of, id, finding };
}
