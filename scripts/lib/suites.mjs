// Which spec belongs to which suite, by its suffix.
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { root } from './paths.mjs';

/**
 * Suites that run on Jest. `stack`: they need Kafka, registry and PostgreSQL, either one stack that is shared by all specs or
 * the `own` ones that each spec starts. `workers`: in how many processes. `tools`: what is fetched first, once.
 */
export const JEST_SUITES = {
  unit: { stack: 'none', workers: 2 },
  contract: { stack: 'shared', workers: 1 },
  simulation: { stack: 'none', workers: 2 },
  integration: { stack: 'shared', workers: 2 },
  e2e: { stack: 'own', workers: 2 },
  deploy: { stack: 'none', workers: 1, tools: 'cluster' },
  console: { stack: 'own', workers: 1 },
};

/** Specs about the tree itself: they are quick, need nothing, and run with the unit specs. */
const TREE_SPECS = ['test/architecture', 'test/issues'];
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.cache', '.recourse', 'red']);

/**
 * Says which suite a spec belongs to. Pure.
 *
 * @param {string} path relative to the root, with forward slashes
 * @returns {keyof typeof JEST_SUITES | null}
 */
export function suiteOf(path) {
  if (!path.endsWith('.spec.ts')) return null;
  const suffix = Object.keys(JEST_SUITES).find((kind) => path.endsWith(`.${kind}.spec.ts`));
  return suffix ?? (TREE_SPECS.some((folder) => path.startsWith(`${folder}/`)) ? 'unit' : null);
}

/** @param {keyof typeof JEST_SUITES} kind @returns {readonly string[]} absolute paths */
export function specsOf(kind) {
  return specsBelow(root).filter((file) => suiteOf(relative(root, file).split(sep).join('/')) === kind);
}

/**
 * Specs that a part of a path names: all of them without parts. Pure.
 *
 * @param {readonly string[]} specs @param {readonly string[]} parts
 * @returns {readonly string[] | null} null where parts were given and none fits: nothing was shown then
 */
export function specsNamed(specs, parts) {
  const named = specs.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));
  return parts.length > 0 && named.length === 0 ? null : named;
}

function specsBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : specsBelow(join(folder, entry.name));
    return entry.name.endsWith('.spec.ts') ? [join(folder, entry.name)] : [];
  });
}
