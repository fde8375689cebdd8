// Files of lines, one JSON value each.
import { closeSync, openSync, readSync } from 'node:fs';
import { CliProblem } from '../problem.js';

/** Octets of a file that are read at once; more where a line is longer. */
const CHUNK = 1 << 18;
const LINE_FEED = 0x0a;
/** Longest line, octets: many times the largest record of a broker. */
const LINE_MAX = 1 << 26;

/** Lines of a file, however large it is. Errors: CliProblem(DUMP_UNREADABLE) for a line that nobody wrote. */
export function* linesOf(path: string): Generator<string> {
  for (const block of blocksOf(path)) {
    const lines = block.toString('utf8').split('\n');
    if (lines.at(-1) === '') lines.pop();
    yield* lines;
  }
}

/** Lines of a file that begin with a word; the others are not made strings of. */
export function* linesWith(path: string, word: string): Generator<string> {
  const behindLine = `\n${word}`;
  for (const block of blocksOf(path)) {
    const isFirst = block.subarray(0, Buffer.byteLength(word)).toString('utf8') === word;
    for (let at = isFirst ? 0 : nextIn(block, behindLine, 0); at >= 0; at = nextIn(block, behindLine, at)) {
      const end = block.indexOf(LINE_FEED, at);
      yield block.toString('utf8', at, end < 0 ? block.length : end);
    }
  }
}

/** Where the line begins that comes next behind a place; -1 for none. */
function nextIn(block: Buffer, behindLine: string, at: number): number {
  const found = block.indexOf(behindLine, at);
  return found < 0 ? -1 : found + 1;
}

/** Whole lines, as many as are read at once; the bytes are the caller's until it asks for the next. */
function* blocksOf(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let bytes = Buffer.allocUnsafe(CHUNK);
    let held = 0;
    for (;;) {
      const size = readSync(file, bytes, held, bytes.length - held, null);
      if (size === 0) break;
      const end = held + size;
      const cut = bytes.subarray(held, end).lastIndexOf(LINE_FEED) + 1;
      if (cut > 0) yield bytes.subarray(0, held + cut);
      held = cut > 0 ? size - cut : end;
      if (cut > 0) bytes.copyWithin(0, end - held, end);
      if (held < bytes.length) continue;
      if (held >= LINE_MAX)
        throw new CliProblem('DUMP_UNREADABLE', `${path} has a line of more than ${String(LINE_MAX)} bytes`, 'found', {
          remedy: 'No log holds such a record: take the file away, or dump its log anew.',
        });
      bytes = Buffer.concat([bytes], 2 * bytes.length);
    }
    if (held > 0) yield bytes.subarray(0, held);
  } finally {
    closeSync(file);
  }
}

/** The value of a line; null for one that is no JSON. */
export function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null;
  }
}
