// npm run test:red: breaks the product on purpose and expects its tests to notice.
//
// Each test/red/<name>.patch opens with a line `Red: <suite> <part of a spec's path>` and goes on as a unified diff. The
// patch is applied to a copy of the tree, the spec runs there, and has to fail; on the unbroken copy it has to pass.
//
//   node scripts/red.mjs [part of a patch's name ...]
//   node scripts/red.mjs --sixth      a sixth of them, which one by the commit: so every one is tried within a few changes, and that
//                                     all of them apply is looked at each time
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { lastLine } from './lib/counts.mjs';
import { cacheDir, pinnedNode, root } from './lib/paths.mjs';
import { relay } from './lib/run.mjs';
import { specsOf, JEST_SUITES } from './lib/suites.mjs';
import { table } from './lib/table.mjs';

/** Trees that are broken side by side. */
const COPIES = 2;
/** Parts the patches are tried in where one is tried at a time. */
const SHARES = 6;
const SPEC_WITHIN_MS = 300_000;
const folder = join(root, 'test', 'red');
/** What the unbroken tree says of a spec, asked once: several patches break what one spec proves. */
const green = new Map();

await main(async () => {
  await bootstrap({ stack: false });
  const parts = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));
  const all = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.patch') && (parts.length === 0 || parts.some((part) => name.includes(part)))).sort() : [];
  const isSixth = process.argv.includes('--sixth');
  const turn = isSixth ? turnOf() : null;
  const patches = turn === null ? all : all.filter((_, at) => at % SHARES === turn);
  const unfit = isSixth ? all.filter((name) => !patches.includes(name) && !applies(name)) : [];
  if (isSixth) console.log(`part ${turn + 1} of ${SHARES}: ${patches.length} of ${all.length} patches are tried, the others only whether they apply`);
  const done = [...await tryAll(patches), ...unfit.map((name) => ({ name, verdict: 'DOES NOT APPLY', spec: '' }))];
  console.log(`\n${table(['patch', 'verdict', 'spec'], done.map(({ name, verdict, spec }) => [name, verdict, spec]))}`);
  const failed = done.filter((one) => one.verdict !== 'red').length;
  console.log(`\n${lastLine({ passed: done.length - failed, failed })}`);
  return failed > 0 ? 1 : 0;
});

/** The part whose turn it is, by the commit; the first where there is none. */
function turnOf() {
  const { stdout, status } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? Number.parseInt(stdout.slice(0, 8), 16) % SHARES : 0;
}

function applies(name) { return spawnSync('git', ['apply', '--check', '--whitespace=nowarn', join(folder, name)], { cwd: root }).status === 0; }

/** All patches, in their order, on a few copies of the tree at a time. */
async function tryAll(patches) {
  const waiting = patches.map((name, at) => ({ name, at }));
  const done = [];
  let told = 0;
  const work = async (copy) => {
    copyTree(copy);
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const startedAt = performance.now();
      // What could not be run proves nothing; the others are tried all the same.
      done[next.at] = await tryPatch(next.name, copy).catch((error) => ({ name: next.name, verdict: 'COULD NOT RUN', spec: String(error.message).split('\n', 1)[0] }));
      told += 1;
      console.log(`${told} of ${patches.length}  ${next.name}  ${done[next.at].verdict}  ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
    }
    rmSync(copy, { recursive: true, force: true });
  };
  await Promise.all(Array.from({ length: Math.min(COPIES, patches.length) }, (_, index) => work(join(cacheDir, `red-${index + 1}`))));
  return done;
}

async function tryPatch(name, copy) {
  const text = readFileSync(join(folder, name), 'utf8');
  const found = /^Red: (\S+) (\S+)\s*$/m.exec(text);
  if (found === null || JEST_SUITES[found[1]] === undefined) return { name, verdict: 'NO "Red: <suite> <spec>" LINE', spec: '' };
  const [, kind, spec] = found;
  if (!specsOf(kind).some((file) => file.includes(spec))) return { name, verdict: 'NO SUCH SPEC', spec };
  if (!green.has(spec)) green.set(spec, runSpec(kind, spec, copy));
  if (!await green.get(spec)) return { name, verdict: 'RED BEFORE THE BREAK', spec };
  const applied = applyTo(copy, name);
  if (applied.status !== 0) return { name, verdict: `DOES NOT APPLY: ${applied.stderr.trim().split('\n')[0]}`, spec };
  const stayedGreen = await runSpec(kind, spec, copy);
  if (applyTo(copy, name, '--reverse').status !== 0) copyTree(copy);
  return { name, verdict: stayedGreen ? 'STAYED GREEN' : 'red', spec };
}

function applyTo(copy, name, ...flags) {
  return spawnSync('git', ['apply', ...flags, '--whitespace=nowarn', join(folder, name)], { cwd: copy, encoding: 'utf8', env: { ...process.env, GIT_CEILING_DIRECTORIES: cacheDir } });
}

/** All files of the working tree that git would take, without a history: the copy must not find this repository. */
function copyTree(copy) {
  rmSync(copy, { recursive: true, force: true });
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 });
  for (const file of listed.stdout.split('\0').filter((one) => one !== '' && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

async function runSpec(kind, spec, copy) {
  const jest = [
    '--experimental-vm-modules', '--disable-warning=ExperimentalWarning', join(root, 'node_modules', 'jest', 'bin', 'jest.js'), '--forceExit', '--runInBand',
    '--config', join(copy, 'jest.config.mjs'), '--rootDir', copy, '--silent', '--modulePathIgnorePatterns=<rootDir>/.*/dist/', '--testMatch', `**/*${spec}*.spec.ts`, `**/*${spec}*`,
  ];
  const { code, output } = await run(jest, copy);
  // A tree in which the patch broke the loading of the spec proves nothing.
  if (code !== 0 && /Test suite failed to run|No tests found/.test(output)) throw new Error(`${kind} ${spec} could not run in the copy:\n${output.slice(0, 4_000)}`);
  return code === 0;
}

function run(args, cwd) {
  return new Promise((resolve, reject) => {
    const child = relay(spawn(pinnedNode, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], timeout: SPEC_WITHIN_MS }));
    let output = '';
    child.stderr.on('data', (chunk) => { output = (output + chunk.toString()).slice(-20_000); });
    child.once('error', reject);
    child.once('close', (code) => { resolve({ code: code ?? 1, output }); });
  });
}
