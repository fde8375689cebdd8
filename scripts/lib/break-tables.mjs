// The tables of breaks in test/breaks, and how a row is applied to a text.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

const folder = join(root, 'test', 'breaks');

/** Rows of all tables, each with the name of its table. Needs a runtime that takes TypeScript: the pinned Node, or Jest. */
export async function readBreaks() {
  const names = readdirSync(folder).filter((name) => name.endsWith('.breaks.ts'));
  const tables = await Promise.all(
    names.map(async (name) => {
      const { BREAKS } = await import(pathToFileURL(join(folder, name)).href);
      return BREAKS.map((row) => ({ ...row, table: name }));
    }),
  );
  return tables.flat();
}

/** How often `find` occurs in a text, white space aside. */
export function occurrences(text, find) {
  return [...text.matchAll(patternOf(find))].length;
}

/** The broken text. Errors: unless `find` occurs exactly once. */
export function applyBreak(text, { find, replace }) {
  const found = [...text.matchAll(patternOf(find))];
  if (found.length !== 1) throw new Error(`\`find\` occurs ${found.length} times; it must occur once`);
  return text.slice(0, found[0].index) + replace + text.slice(found[0].index + found[0][0].length);
}

/** Every run of white space in `find` stands for any run of white space. */
function patternOf(find) {
  const words = find.trim().split(/\s+/);
  return new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+'), 'g');
}
