// A file of signed heads, as an auditor keeps it and hands it out: notes one behind the other, each ended by an empty line.
//
// A note holds an empty line of its own, before its signatures: a note ends at the empty line behind a line that begins with a dash.
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { NOTE_BYTES_MAX } from './note.js';
import type { NoteKey } from './note.js';
import { readSignedHead } from './tree-head.js';
import type { SignedHead } from './tree-head.js';

/** What ends a note: an empty line behind a signature. */
const SIGNATURE = /^— ./u;

/** Of a file, read at once. */
const PIECE_BYTES = 65_536;

/** What a file of heads holds. */
export interface HeadsRead {
  readonly heads: readonly SignedHead[];
  /** Texts that are no head, or that none of the keys signed. */
  readonly refused: number;
}

/** The file's text of these heads. */
export function headsText(heads: readonly Pick<SignedHead, 'note'>[]): string {
  return heads.map(({ note }) => `${note}\n`).join('');
}

/** Text of a file, in pieces. Errors: those of the disk. */
export function* textPieces(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const [bytes, decoder] = [Buffer.alloc(PIECE_BYTES), new StringDecoder('utf8')];
    for (let count = readSync(file, bytes); count > 0; count = readSync(file, bytes))
      yield decoder.write(bytes.subarray(0, count));
  } finally {
    closeSync(file);
  }
}

/** The notes of a file that comes in pieces, wherever those are cut: a file of years is longer than any text may be. */
export function* notesIn(pieces: Iterable<string>): Generator<string> {
  let note = '';
  let last = '';
  for (const line of linesIn(pieces)) {
    if (line === '\n' && SIGNATURE.test(last)) {
      if (note.trim() !== '') yield note;
      [note, last] = ['', ''];
      continue;
    }
    // What is longer than any note is read as none, however it goes on.
    if (note.length <= NOTE_BYTES_MAX) note += line;
    last = line;
  }
  if (note.trim() !== '') yield note;
}

/** Lines with what ends them; the last one may end in nothing. Of one that is longer than any note, so much is kept that it stays so. */
function* linesIn(pieces: Iterable<string>): Generator<string> {
  let rest = '';
  for (const piece of pieces) {
    const lines = `${rest}${piece}`.split('\n');
    rest = (lines.pop() ?? '').slice(0, NOTE_BYTES_MAX + 1);
    for (const line of lines) yield `${line}\n`;
  }
  if (rest !== '') yield rest;
}

/** Reads a file of heads; only those that one of the keys signed count. */
export function readHeads(text: string, keys: readonly NoteKey[]): HeadsRead {
  const heads = Array.from(notesIn([text]), (note) => readSignedHead(note, keys));
  const good = heads.filter((head) => head !== null);
  return { heads: good, refused: heads.length - good.length };
}
