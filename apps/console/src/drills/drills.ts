// The drills that a file of reports holds, as `recourse drill --out` writes it: one JSON document a line, the last one last.
import { open } from 'node:fs/promises';

/** Drills that are shown; a person looks for the last ones. */
export const DRILLS_MAX = 50;
/** What of the end of the file is read: a report of a large adapter takes some 20 KB. */
const TAIL_BYTES = 2 * 1_024 * 1_024;

export interface Drills {
  /** As they were written, the last one first. */
  readonly items: readonly object[];
  /** Lines that are no report. */
  readonly unreadable: number;
}

/** Reads lines. Pure; `isWhole`: the first line is one, and not the end of one. */
export function drillsIn(text: string, isWhole: boolean): Drills {
  const lines = text.split('\n').slice(isWhole ? 0 : 1);
  const read = lines.filter((line) => line.trim() !== '').map(reportIn);
  const items = read.filter((one) => one !== null);
  return { items: items.reverse().slice(0, DRILLS_MAX), unreadable: read.length - items.length };
}

function reportIn(line: string): object | null {
  try {
    const found: unknown = JSON.parse(line);
    return typeof found === 'object' && found !== null && 'drill_id' in found ? found : null;
  } catch {
    return null;
  }
}

/** The last drills of a file; none where nobody has drilled yet. Errors: those of the file system. */
export async function lastDrills(path: string): Promise<Drills> {
  const file = await open(path).catch((cause: unknown) => {
    if (typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'ENOENT') return null;
    throw cause;
  });
  if (file === null) return { items: [], unreadable: 0 };
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return drillsIn(buffer.toString('utf8', 0, bytesRead), from === 0);
  } finally {
    await file.close();
  }
}
