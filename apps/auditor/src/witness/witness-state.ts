// What a witness signed last of each log, in a folder: on disk before a signature leaves.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '@recourse/kernel';
import { z } from 'zod';
import type { Seen } from './witness.decisions.js';

const seenFile = z.object({ origin: z.string(), size: z.int().min(0), root: z.string().regex(/^[0-9a-f]{64}$/) });

export class WitnessState {
  readonly #seen = new Map<string, Seen>();

  constructor(private readonly folder: string) {
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

  keep(origin: string, { size, root }: Seen): void {
    const path = this.#pathOf(origin);
    const file = openSync(`${path}.new`, 'w', 0o600);
    writeSync(file, JSON.stringify({ origin, size, root: root.toString('hex') }));
    fsyncSync(file);
    closeSync(file);
    renameSync(`${path}.new`, path);
    this.#seen.set(origin, { size, root: Buffer.from(root) });
  }

  #pathOf(origin: string): string {
    return join(this.folder, `${sha256Hex(origin)}.json`);
  }
}
