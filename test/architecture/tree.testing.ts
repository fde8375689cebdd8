// The tree as the architecture specs see it: files that people write, never what was installed, built or fetched.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';

const SKIPPED = new Set([
  'node_modules',
  'dist',
  '.git',
  '.cache',
  '.recourse',
  '.venv',
  '__pycache__',
  '.pytest_cache',
  'coverage',
]);

/** Paths relative to the root, with forward slashes, sorted. */
export function filesBelow(folder = ''): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      if (SKIPPED.has(entry.name)) return [];
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return filesBelow(path);
      return entry.isFile() ? [path] : [];
    })
    .sort();
}

export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
