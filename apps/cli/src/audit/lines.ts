// Files of lines, one JSON value each.
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** Octets of a file that are read at once. */
const CHUNK = 1 << 20;

/** Lines of a file, however large it is. */
export function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  const [chunk, decoder] = [Buffer.alloc(CHUNK), new StringDecoder('utf8')];
  try {
    let rest = '';
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, size))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    rest += decoder.end();
    if (rest !== '') yield rest;
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
