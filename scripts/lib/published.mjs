// The packages that others install: the SDK and what it stands on.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders below libs/, leaves first. */
export const PUBLISHED = ['kernel', 'chain', 'messages', 'contract', 'lineage', 'kafka', 'sdk'];

/** Does a file belong into an archive? Specs, suites and their helpers do not. */
export function isPublished(path) {
  return !/\.(spec|testing|contract)\.(js|d\.ts)(\.map)?$/.test(path) && !path.endsWith('.tsbuildinfo');
}

/** Packages that the published code of a folder imports, Node's own left out; types count. */
export function importsOf(dist) {
  const found = new Set();
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (!entry.isFile() || !/\.(js|d\.ts)$/.test(path) || !isPublished(path)) continue;
    for (const name of specifiersOf(readFileSync(path, 'utf8'))) {
      if (!name.startsWith('.') && !name.startsWith('node:')) found.add(packageOf(name));
    }
  }
  return found;
}

/** What a module imports or exports from, also as a type. */
export function specifiersOf(text) {
  return [
    ...text.matchAll(
      /^(?:import|export)\b[^'"]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3]);
}

/** The package of an import path. */
export function packageOf(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
