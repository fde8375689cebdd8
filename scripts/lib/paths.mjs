// Where things are, seen from the repository's root.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** What is fetched or kept between runs: jars, archives, the stack's data. */
export const keepDir = join(root, '.recourse');

/** What may be deleted at any time: test results, virtual environments. */
export const cacheDir = join(root, '.cache');

/** Node 24 out of node_modules; everything of the product runs on it. */
export const pinnedNode = join(root, 'node_modules', '.bin', 'node');

export const defaultDataDir = join(keepDir, 'data');
