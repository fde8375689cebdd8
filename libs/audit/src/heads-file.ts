// A file of signed heads, as an auditor keeps it and hands it out: notes one behind the other, each ended by an empty line.
//
// A note holds an empty line of its own, before its signatures: a note ends at the empty line behind a line that begins with a dash.
import type { NoteKey } from './note.js';
import { readSignedHead } from './tree-head.js';
import type { SignedHead } from './tree-head.js';

const END = /(?<=\n— [^\n]+\n)\n/u;

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

/** Reads a file of heads; only those that one of the keys signed count. */
export function readHeads(text: string, keys: readonly NoteKey[]): HeadsRead {
  const notes = text.split(END).filter((note) => note.trim() !== '');
  const heads = notes.map((note) => readSignedHead(note, keys));
  const good = heads.filter((head) => head !== null);
  return { heads: good, refused: heads.length - good.length };
}
