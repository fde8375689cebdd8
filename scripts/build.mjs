// Compiles every package's src/ to dist/ with swc. Types are tsc's business (npm run typecheck).
//
// A file is compiled only when it is newer than its output, so a second run costs a walk of the tree.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const options = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));
const optionsAt = statSync(join(root, '.swcrc')).mtimeMs;

function packages() {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return workspaces
    .flatMap((pattern) =>
      pattern.endsWith('/*')
        ? readdirSync(join(root, pattern.slice(0, -2))).map((name) => join(root, pattern.slice(0, -2), name))
        : [join(root, pattern)],
    )
    .filter((folder) => existsSync(join(folder, 'src')));
}

const files = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() &&
        entry.name.endsWith('.ts') &&
        !entry.name.endsWith('.d.ts') &&
        !entry.name.endsWith('.spec.ts'),
    )
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

/** Where the console's page is built to, below its dist. */
const PAGE = 'page-files';

let compiled = 0;
for (const folder of packages()) {
  const wanted = new Set();
  for (const source of files(join(folder, 'src'))) {
    const target = join(folder, 'dist', relative(join(folder, 'src'), source)).replace(/\.ts$/, '.js');
    wanted.add(target).add(`${target}.map`);
    const newest = Math.max(statSync(source).mtimeMs, optionsAt);
    if (existsSync(target) && statSync(target).mtimeMs > newest) continue;
    const { code, map } = transformSync(readFileSync(source, 'utf8'), {
      ...options,
      swcrc: false,
      filename: source,
      sourceFileName: source,
    });
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, `${code}\n//# sourceMappingURL=${target.split('/').pop()}.map\n`);
    writeFileSync(`${target}.map`, map);
    compiled += 1;
  }
  if (existsSync(join(folder, 'dist'))) {
    for (const entry of readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      const isPage = path.startsWith(join(folder, 'dist', PAGE));
      if (entry.isFile() && !isPage && !wanted.has(path) && /\.js(\.map)?$/.test(path)) rmSync(path);
    }
  }
}
const isPageBuilt = await buildPage();
console.log(`build: ${compiled} files compiled${isPageBuilt ? ', the console bundled' : ''}`);

/** Bundles the console's page when one of its sources is newer than it. Vite is loaded only then. */
async function buildPage() {
  const folder = join(root, 'apps', 'console');
  const built = join(folder, 'dist', PAGE, 'index.html');
  const sources = readdirSync(join(folder, 'page'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const newest = Math.max(...[...sources, join(folder, 'vite.config.mjs'), join(folder, 'package.json')].map(mtimeOf));
  if (existsSync(built) && mtimeOf(built) > newest) return false;
  const { build } = await import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve('vite')).href);
  await build({ configFile: join(folder, 'vite.config.mjs'), root: join(folder, 'page'), logLevel: 'warn' });
  return true;
}

function mtimeOf(path) {
  return statSync(path).mtimeMs;
}
