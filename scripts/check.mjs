// npm run check: the gate while you work, within a minute and without a stack. Types and format of the whole tree; lint of the
// files you touched; unit specs of the packages they belong to, and the specs about the tree.
//
//   --since REF   touched means: differs from REF (default: from where the branch left main; on main, from HEAD)
//
// It leaves out what `npm run verify` adds: lint of everything (a change here can break a rule there), unit specs of packages
// that only use what you touched, contract and simulation specs, boundaries, unused code and generated files.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { formatCheck, runGate, script, tool } from './lib/gate.mjs';
import { cacheDir, root } from './lib/paths.mjs';
import { specFoldersOf, touchedFiles } from './lib/touched.mjs';

await main(async () => {
  await bootstrap({ stack: false });
  const files = touchedFiles(sinceOf(process.argv.slice(2)));
  const linted = files.filter((file) => /\.(ts|tsx|mts|mjs|cjs)$/.test(file) && existsSync(join(root, file)));
  const folders = specFoldersOf(files);
  console.log(
    `${files.length} files touched, ${linted.length} to lint; unit specs of ${folders.join(' ') || 'nothing'}`,
  );
  const steps = [
    { name: 'types', command: tool('tsc', '--noEmit', '-p', 'tsconfig.json') },
    { name: 'page types', command: tool('tsc', '--noEmit', '-p', 'apps/console/tsconfig.json') },
    ...(linted.length > 0 ? [{ name: 'lint', command: lintOf(linted) }] : []),
    { name: 'format', command: formatCheck() },
    ...(folders.length > 0 ? [{ name: 'unit', command: script('jest.mjs', 'unit', ...folders), kind: 'unit' }] : []),
  ];
  return runGate('check', steps, { isWhole: true });
});

function lintOf(files) {
  const cache = ['--cache', '--cache-strategy', 'content', '--cache-location', join(cacheDir, 'eslint')];
  return tool('eslint', '--max-warnings', '0', '--no-warn-ignored', ...cache, ...files);
}

function sinceOf(args) {
  const at = args.indexOf('--since');
  if (at < 0) return null;
  if (args[at + 1] === undefined) throw new Error('--since needs a commit');
  return args[at + 1];
}
