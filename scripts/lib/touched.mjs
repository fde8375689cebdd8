// What a working tree touches: files that differ from where its branch left main, and the packages they belong to.
import { spawnSync } from 'node:child_process';
import { packageOf } from './house/sources.mjs';
import { root } from './paths.mjs';

/**
 * Files that differ from the merge base with main, new ones included; on main itself, from HEAD.
 *
 * @param {string | null} since a commit to compare with instead
 * @returns {readonly string[]} relative to the root, files that are gone left out
 */
export function touchedFiles(since = null) {
  const base = since ?? mergeBase() ?? 'HEAD';
  const changed = git('diff', '--name-only', '--diff-filter=d', base) ?? [];
  return [...new Set([...changed, ...(git('ls-files', '-o', '--exclude-standard') ?? [])])].sort();
}

/** Where this branch left main; null on main, and where there is no main. */
function mergeBase() {
  for (const main of ['origin/main', 'main', 'origin/master', 'master']) {
    const [base] = git('merge-base', 'HEAD', main) ?? [];
    if (base !== undefined) return base;
  }
  return null;
}

/**
 * Folders whose unit specs have to run when these files change. Pure.
 *
 * Shape: specs about the tree run with every change; schemas become code in libs/messages.
 *
 * @param {readonly string[]} files
 * @returns {readonly string[]} ends of folders with a slash, for `scripts/jest.mjs unit`; none without files
 */
export function specFoldersOf(files) {
  if (files.length === 0) return [];
  const packages = files
    .filter((file) => /^(apps|libs|deploy|examples|test)\/[^/]+\/./.test(file))
    .map((file) => `${packageOf(file)}/`);
  const generated = files.some((file) => file.startsWith('schemas/')) ? ['libs/messages/'] : [];
  return [...new Set(['test/architecture/', ...packages, ...generated])].sort();
}

/** Lines that git printed; null when it refused. */
function git(...args) {
  const { stdout, status } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 });
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : null;
}
