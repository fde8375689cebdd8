// npm run breaks: breaks the product on purpose and expects its specs to notice.
//
// Rows stand in test/breaks/<area>.breaks.ts. Each is applied to a copy of the tree, its spec runs there and has to fail; on
// the unbroken copy it has to pass.
//
//   npm run breaks                     all of them
//   npm run breaks -- a23 sdk/src      those whose id, file or spec contains one of these
//   npm run breaks -- --changed        those whose file or spec differs from HEAD, or was touched by HEAD when nothing differs
//   npm run breaks -- --since <ref>    those whose file or spec was touched since <ref>
//   npm run breaks -- --minutes 5      those that can be tried in this time, in their order; says how many it left out
//   npm run breaks -- --json <file>    also writes what came of each, with the names of the tests that failed
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { lastLine } from './lib/counts.mjs';
import { cacheDir, pinnedNode, root } from './lib/paths.mjs';
import { relay } from './lib/run.mjs';
import { table } from './lib/table.mjs';

/** Trees that are broken side by side. */
const COPIES = 2;
const SPEC_WITHIN_MS = 300_000;
const folder = join(root, 'test', 'breaks');
/** What the unbroken tree says of a spec, asked once: several breaks try one spec. */
const unbroken = new Map();

await main(async () => {
  await bootstrap({ stack: false });
  const { breaks, json, endsAt } = chosen(process.argv.slice(2), await readBreaks());
  console.log(`${breaks.length} breaks of ${new Set(breaks.map(({ file }) => file)).size} files`);
  const done = await tryAll(breaks, endsAt);
  if (done.length < breaks.length)
    console.log(`time is up: ${breaks.length - done.length} of ${breaks.length} breaks were not tried`);
  if (json !== null) writeFileSync(json, `${JSON.stringify(done, null, 1)}\n`);
  const missed = done.filter(({ verdict }) => verdict !== 'red');
  if (missed.length > 0)
    console.log(
      `\n${table(
        ['break', 'verdict', 'spec'],
        missed.map(({ id, verdict, spec }) => [id, verdict, spec]),
      )}`,
    );
  console.log(`\n${lastLine({ passed: done.length - missed.length, failed: missed.length })}`);
  return missed.length > 0 ? 1 : 0;
});

/** Node strips the types of the tables, so they need no build. */
async function readBreaks() {
  const files = readdirSync(folder).filter((name) => name.endsWith('.breaks.ts'));
  const code = `const all = []; for (const url of ${JSON.stringify(files.map((name) => pathToFileURL(join(folder, name)).href))}) all.push(...(await import(url)).BREAKS); process.stdout.write(JSON.stringify(all));`;
  const { stdout, stderr, status } = spawnSync(
    pinnedNode,
    ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', code],
    { encoding: 'utf8', maxBuffer: 64_000_000 },
  );
  if (status !== 0) throw new Error(`the tables in test/breaks cannot be read:\n${stderr}`);
  return JSON.parse(stdout);
}

function chosen(args, all) {
  const valueOf = (flag) => (args.includes(flag) ? (args[args.indexOf(flag) + 1] ?? '') : null);
  const [since, json, minutes] = [valueOf('--since'), valueOf('--json'), valueOf('--minutes')];
  const parts = args.filter((arg) => !arg.startsWith('-') && ![since, json, minutes].includes(arg));
  if (minutes !== null && !(Number(minutes) > 0)) throw new Error(`--minutes needs a number above 0, not "${minutes}"`);
  const touched = args.includes('--changed') ? changedFiles() : since === null ? null : touchedSince(since);
  const breaks = all
    .filter(
      ({ id, file, spec }) =>
        parts.length === 0 || parts.some((part) => [id, file, spec].some((text) => text.includes(part))),
    )
    .filter(({ file, spec }) => touched === null || touched.has(file) || touched.has(spec));
  return { breaks, json, endsAt: minutes === null ? Infinity : performance.now() + Number(minutes) * 60_000 };
}

function changedFiles() {
  const changed = new Set([...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '-o', '--exclude-standard')]);
  return changed.size > 0 ? changed : touchedSince('HEAD~1');
}

function touchedSince(ref) {
  return new Set(git('diff', '--name-only', ref));
}

function git(...args) {
  const { stdout, stderr, status } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.split('\n').filter((line) => line !== '');
}

/** The breaks that were tried before the time was up, in their order, on a few copies of the tree at a time. */
async function tryAll(breaks, endsAt) {
  const waiting = [...breaks.entries()];
  const done = [];
  const work = async (copy) => {
    copyTree(copy);
    for (
      let next = waiting.shift();
      next !== undefined;
      next = performance.now() < endsAt ? waiting.shift() : undefined
    ) {
      const [at, one] = next;
      done.push({ at, ...(await tryAndTell(one, copy, () => `${done.length + 1} of ${breaks.length}`)) });
    }
    rmSync(copy, { recursive: true, force: true });
  };
  await Promise.all(
    Array.from({ length: Math.min(COPIES, breaks.length) }, (_, index) => work(join(cacheDir, `breaks-${index + 1}`))),
  );
  return done.sort((a, b) => a.at - b.at).map(({ at: _at, ...result }) => result);
}

async function tryAndTell(one, copy, progress) {
  const startedAt = performance.now();
  // What could not be run proves nothing; the others are tried all the same.
  const result = await tryBreak(one, copy).catch((error) => ({
    verdict: `COULD NOT RUN: ${String(error.message).split('\n', 1)[0]}`,
  }));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${progress()}  ${one.id}  ${result.verdict}  ${seconds} s`);
  return { id: one.id, spec: one.spec, failedTests: [], ...result };
}

async function tryBreak({ spec, test, file, find, replace }, copy) {
  if (!existsSync(join(root, spec))) return { verdict: 'NO SUCH SPEC' };
  const before = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';
  const broken = applyBreak(before, find, replace);
  if (broken === null) return { verdict: 'DOES NOT APPLY: `find` must occur once' };
  if (!unbroken.has(spec)) unbroken.set(spec, runSpec(spec, copy));
  if ((await unbroken.get(spec)).failed.length > 0) return { verdict: 'RED BEFORE THE BREAK' };
  writeFileSync(join(copy, file), broken);
  try {
    const { failed } = await runSpec(spec, copy);
    if (failed.length === 0) return { verdict: 'STAYED GREEN' };
    return test === null || failed.includes(test)
      ? { verdict: 'red', failedTests: failed }
      : { verdict: 'ANOTHER TEST IS RED', failedTests: failed };
  } finally {
    writeFileSync(join(copy, file), before);
  }
}

/** The broken text; null unless `find` occurs exactly once, white space aside. */
function applyBreak(text, find, replace) {
  const pattern = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('\\s+');
  const found = [...text.matchAll(new RegExp(pattern, 'g'))];
  return found.length === 1
    ? text.slice(0, found[0].index) + replace + text.slice(found[0].index + found[0][0].length)
    : null;
}

/** All files of the working tree that git would take, without a history: the copy must not find this repository. */
function copyTree(copy) {
  rmSync(copy, { recursive: true, force: true });
  const files = [...git('ls-files', '-c', '-o', '--exclude-standard')];
  for (const file of files.filter((one) => existsSync(join(root, one)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

/** Full names of the tests that failed; a spec that could not be loaded proves nothing and throws. */
async function runSpec(spec, copy) {
  const results = join(copy, '.breaks-results.json');
  rmSync(results, { force: true });
  const jest = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
    '--forceExit',
    '--runInBand',
    '--silent',
    '--config',
    join(copy, 'jest.config.mjs'),
    '--rootDir',
    copy,
    '--modulePathIgnorePatterns=<rootDir>/.*/dist/',
    '--json',
    '--outputFile',
    results,
    '--runTestsByPath',
    join(copy, spec),
  ];
  const { code, output } = await run(jest, copy);
  if (!existsSync(results)) throw new Error(`${spec} could not run in the copy:\n${output}`);
  const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  if (code !== 0 && tests.every(({ status }) => status !== 'failed'))
    throw new Error(`${spec} could not be loaded: ${testResults[0]?.message?.slice(0, 300) ?? output}`);
  return { failed: tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName) };
}

function run(args, cwd) {
  return new Promise((resolve, reject) => {
    const child = relay(spawn(pinnedNode, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], timeout: SPEC_WITHIN_MS }));
    let output = '';
    child.stderr.on('data', (chunk) => {
      output = (output + chunk.toString()).slice(-20_000);
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
