// What a witness signed last of each log, in a folder: on disk before a signature leaves.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '@recourse/kernel';
import { z } from 'zod';
import type { Seen } from './witness.decisions.js';

const seenFile = z.object({ origin: z.string(), size: z.int().min(0), root: z.string().regex(/^[0-9a-f]{64}$/) });

/** Writes bytes from a place on, or the first of them; answers how many. */
type WriteFrom = (file: number, bytes: Buffer, from: number) => number;

/** What file systems say that sync no folders: a rename is as safe there as they make it. */
const NO_FOLDER_SYNC: ReadonlySet<unknown> = new Set(['EINVAL', 'EISDIR', 'EPERM']);

export class WitnessState {
  readonly #seen = new Map<string, Seen>();

  constructor(
    private readonly folder: string,
    private readonly write: WriteFrom = writeSync,
    private readonly syncFolder: (folder: number) => void = fsyncSync,
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Errors: ZodError or SyntaxError for a file that is damaged; a witness that forgot signs nothing. */
  seenOf(origin: string): Seen | null {
    const known = this.#seen.get(origin);
    if (known !== undefined) return known;
    const path = this.#pathOf(origin);
    if (!existsSync(path)) return null;
    const { size, root } = seenFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    const seen = { size, root: Buffer.from(root, 'hex') };
    this.#seen.set(origin, seen);
    return seen;
  }

  /**
   * Errors: those of the disk. Where it takes no more, what was kept before stands, in memory and there; where it fails to sync the folder,
   *         what is new does: nothing was signed of it, and what is asked next has to extend it.
   */
  keep(origin: string, { size, root }: Seen): void {
    const path = this.#pathOf(origin);
    this.#writeWhole(`${path}.new`, JSON.stringify({ origin, size, root: root.toString('hex') }));
    renameSync(`${path}.new`, path);
    this.#seen.set(origin, { size, root: Buffer.from(root) });
    this.#syncNames();
  }

  /** Keeps the notes by which the heads before were given up; the head that is kept next syncs the folder. Errors: those of the disk. */
  keepGivenUp(origin: string, notes: string): void {
    this.#writeWhole(this.#pathOf(origin).replace(/json$/, 'notes'), notes);
  }

  #syncNames(): void {
    try {
      opened(this.folder, 'r', this.syncFolder);
    } catch (cause) {
      if (!NO_FOLDER_SYNC.has(codeOf(cause))) throw cause;
    }
  }

  /** A disk may take less than it is given, and be full with the next. */
  #writeWhole(path: string, text: string): void {
    const bytes = Buffer.from(text);
    opened(path, 'w', (file) => {
      for (let from = 0; from < bytes.length;) {
        const count = this.write(file, bytes, from);
        if (count === 0) throw new Error(`${path} takes no more than ${String(from)} bytes`);
        from += count;
      }
      fsyncSync(file);
    });
  }

  #pathOf(origin: string): string {
    return join(this.folder, `${sha256Hex(origin)}.json`);
  }
}

function opened(path: string, flags: 'r' | 'w', work: (file: number) => void): void {
  const file = openSync(path, flags, 0o600);
  try {
    work(file);
  } finally {
    closeSync(file);
  }
}

/** Duck-typed: errors of the file system come from another realm under Jest. */
function codeOf(cause: unknown): unknown {
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null;
}
