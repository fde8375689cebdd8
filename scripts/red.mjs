// npm run test:red: breaks the product on purpose and expects its tests to notice.
//
// Each test/red/<name>.patch opens with a line `Red: <suite> <part of a spec's path>` and goes on as a unified diff. The
// patch is applied to a copy of the tree, the spec runs there, and has to fail; on the unbroken copy it has to pass.
//
//   node scripts/red.mjs [part of a patch's name ...]
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { lastLine } from './lib/counts.mjs';
import { cacheDir, pinnedNode, root } from './lib/paths.mjs';
import { specsOf, JEST_SUITES } from './lib/suites.mjs';
import { table } from './lib/table.mjs';

const folder = join(root, 'test', 'red');
const copy = join(cacheDir, 'red');
const green = new Map();

await main(async () => {
  await bootstrap({ stack: false });
  const parts = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));
  const patches = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.patch') && (parts.length === 0 || parts.some((part) => name.includes(part)))).sort() : [];
  const done = patches.map((name, at) => {
    const startedAt = performance.now();
    const tried = tryPatch(name);
    const seconds = (performance.now() - startedAt) / 1_000;
    console.log(`${at + 1} of ${patches.length}  ${name}  ${tried.verdict}  ${seconds.toFixed(1)} s`);
    return tried;
  });
  rmSync(copy, { recursive: true, force: true });
  console.log(`\n${table(['patch', 'verdict', 'spec'], done.map(({ name, verdict, spec }) => [name, verdict, spec]))}`);
  const failed = done.filter((one) => one.verdict !== 'red').length;
  console.log(`\n${lastLine({ passed: done.length - failed, failed })}`);
  return failed > 0 ? 1 : 0;
});

function tryPatch(name) {
  const text = readFileSync(join(folder, name), 'utf8');
  const found = /^Red: (\S+) (\S+)\s*$/m.exec(text);
  if (found === null || JEST_SUITES[found[1]] === undefined) return { name, verdict: 'NO "Red: <suite> <spec>" LINE', spec: '' };
  const [, kind, spec] = found;
  if (!specsOf(kind).some((file) => file.includes(spec))) return { name, verdict: 'NO SUCH SPEC', spec };
  copyTree();
  if (!isGreenUnbroken(kind, spec)) return { name, verdict: 'RED BEFORE THE BREAK', spec };
  const applied = spawnSync('git', ['apply', '--whitespace=nowarn', join(folder, name)], { cwd: copy, encoding: 'utf8', env: { ...process.env, GIT_CEILING_DIRECTORIES: cacheDir } });
  if (applied.status !== 0) return { name, verdict: `DOES NOT APPLY: ${applied.stderr.trim().split('\n')[0]}`, spec };
  return { name, verdict: runSpec(kind, spec) ? 'STAYED GREEN' : 'red', spec };
}

/** The unbroken tree is asked once per spec: several patches break what one spec proves. */
function isGreenUnbroken(kind, spec) {
  if (!green.has(spec)) green.set(spec, runSpec(kind, spec));
  return green.get(spec);
}

/** All files of the working tree that git would take, without a history: the copy must not find this repository. */
function copyTree() {
  rmSync(copy, { recursive: true, force: true });
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 });
  for (const file of listed.stdout.split('\0').filter((one) => one !== '' && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

function runSpec(kind, spec) {
  const jest = [
    '--experimental-vm-modules', '--disable-warning=ExperimentalWarning', join(root, 'node_modules', 'jest', 'bin', 'jest.js'), '--forceExit',
    '--config', join(copy, 'jest.config.mjs'), '--rootDir', copy, '--silent', '--modulePathIgnorePatterns=<rootDir>/.*/dist/', '--testMatch', `**/*${spec}*.spec.ts`, `**/*${spec}*`,
  ];
  const asked = spawnSync(pinnedNode, jest, { cwd: copy, encoding: 'utf8', timeout: 300_000 });
  // A tree in which the patch broke the loading of the spec proves nothing.
  if (asked.status !== 0 && /Test suite failed to run|No tests found/.test(asked.stderr)) throw new Error(`${kind} ${spec} could not run in the copy:\n${asked.stderr.slice(0, 4_000)}`);
  return asked.status === 0;
}
