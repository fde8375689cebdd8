// Which files the house script looks at, and their text as Prettier writes it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import prettier from 'prettier';
import { root as ownRoot } from '../paths.mjs';

/**
 * @typedef {'product' | 'example' | 'script' | 'proof' | 'spec' | 'generated'} Kind
 * @typedef {{path: string, kind: Kind, package: string, text: string}} Source
 */

const CODE = /\.(ts|mts|cts|mjs|cjs|js)$/;

/**
 * Says what a file is for. Pure.
 *
 * `product` includes contract suites and testing tools that stand beside the code: they are read and changed with it.
 *
 * @param {string} path relative to the root, with forward slashes
 * @returns {Kind}
 */
export function kindOf(path) {
  if (path.includes('/generated/')) return 'generated';
  if (path.endsWith('.spec.ts') || path.startsWith('test/breaks/')) return 'spec';
  if (/^(apps|libs|deploy)\//.test(path)) return 'product';
  if (path.startsWith('examples/')) return 'example';
  if (path.startsWith('scripts/')) return 'script';
  return 'proof';
}

/** `libs/kafka` of `libs/kafka/src/port.ts`; `scripts` and `(root)` have no packages below them. Pure. */
export function packageOf(path) {
  const [first, second, ...rest] = path.split('/');
  if (second === undefined) return '(root)';
  return first === 'scripts' || rest.length === 0 ? first : `${first}/${second}`;
}

/** @param {string} root @returns {readonly string[]} what git knows of the tree, changed and new files included */
export function filesOf(root) {
  const output = execFileSync('git', ['-C', root, 'ls-files', '-c', '-o', '--exclude-standard', '--deduplicate'], {
    encoding: 'utf8',
    maxBuffer: 64_000_000,
  });
  return output.split('\n').filter((path) => path !== '');
}

/**
 * Reads the code of a checkout, each file formatted with the options of *this* tree, so that two trees compare.
 *
 * @param {string} root
 * @param {readonly string[]} files
 * @returns {Promise<readonly Source[]>}
 */
export async function readSources(root, files) {
  const options = await prettier.resolveConfig(join(ownRoot, 'any.ts'));
  const sources = [];
  for (const path of files.filter((file) => CODE.test(file))) {
    const raw = readIfThere(join(root, path));
    if (raw === null) continue;
    const kind = kindOf(path);
    // Generated files keep the shape that their generator gives them.
    const text = kind === 'generated' ? raw : await prettier.format(raw, { ...options, filepath: path });
    sources.push({ path, kind, package: packageOf(path), text });
  }
  return sources;
}

/** A file that was deleted and not yet committed is still in git's list. */
function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (cause.code === 'ENOENT') return null;
    throw cause;
  }
}
