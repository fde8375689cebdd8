// npm run breaks: breaks the product on purpose and expects its specs to notice.
//
// Rows stand in test/breaks/<area>.breaks.ts. Each is applied to a copy of the tree, its spec runs there and has to fail; on
// the unbroken copy it has to pass.
//
//   npm run breaks                     all of them
//   npm run breaks -- a23 sdk/src D21  those whose id, table, file or spec contains one of these, or that serve that requirement
//   npm run breaks -- --changed        those whose file or spec differs from HEAD, or was touched by HEAD when nothing differs
//   npm run breaks -- --since <ref>    those whose file or spec was touched since <ref>
//   npm run breaks -- --minutes 5      those that can be tried in this time, in their order; says how many it left out
//   npm run breaks -- --json <file>    also writes what came of each, after each, with the names of the tests that failed
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { applyBreak } from './lib/break-tables.mjs';
import { lastLine } from './lib/counts.mjs';
import { cacheDir, pinnedNode, root } from './lib/paths.mjs';
import { servedBy } from './lib/requirements.mjs';
import { relay } from './lib/run.mjs';
import { table } from './lib/table.mjs';

/** Trees that are broken side by side. */
const COPIES = 2;
const SPEC_WITHIN_MS = 300_000;
const tables = new URL('./lib/break-tables.mjs', import.meta.url).href;
/** What the unbroken tree says of a spec, asked once: several breaks try one spec. */
const unbroken = new Map();

await main(async () => {
  const { parts, touched, json, minutes } = options(process.argv.slice(2));
  await bootstrap({ stack: false });
  const breaks = readRows().filter((row) => isNamed(row, parts) && (touched === null || isTouched(row, touched)));
  if (breaks.length === 0 && touched === null)
    throw new Error(`no break is named by ${parts.join(' ')}: see test/breaks`);
  console.log(`${breaks.length} breaks of ${new Set(breaks.map(({ file }) => file)).size} files`);
  const endsAt = performance.now() + minutes * 60_000;
  const done = await tryAll(breaks, { json, endsAt });
  if (done.length < breaks.length)
    console.log(`time is up: ${breaks.length - done.length} of ${breaks.length} breaks were not tried`);
  const missed = done.filter(({ verdict }) => verdict !== 'red');
  if (missed.length > 0)
    console.log(
      `\n${table(
        ['break', 'verdict', 'spec'],
        missed.map(({ id, verdict, spec }) => [id, verdict, spec]),
      )}`,
    );
  for (const { id, why } of missed.filter((one) => one.why !== undefined)) console.log(`\n${id}\n  ${why}`);
  console.log(`\n${lastLine({ passed: done.length - missed.length, failed: missed.length })}`);
  return missed.length > 0 ? 1 : 0;
});

function options(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      changed: { type: 'boolean' },
      since: { type: 'string' },
      minutes: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const { changed = false, since, json = null } = values;
  const minutes = values.minutes === undefined ? Infinity : Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes needs a number above 0, not "${values.minutes}"`);
  const touched = changed ? changedFiles() : since === undefined ? null : touchedSince(since);
  return { parts: positionals, touched, json, minutes };
}

function isNamed(row, parts) {
  const texts = [row.id, row.table, row.file, row.spec];
  return (
    parts.length === 0 ||
    parts.some((part) => texts.some((text) => text.includes(part)) || servedBy(row).includes(part))
  );
}

function isTouched({ file, spec }, touched) {
  return touched.has(file) || touched.has(spec);
}

/** Rows by way of the pinned Node, which takes TypeScript as it is; the Node that started this may be older. */
function readRows() {
  const code = `const { readBreaks } = await import(${JSON.stringify(tables)}); process.stdout.write(JSON.stringify(await readBreaks()));`;
  const { stdout, stderr, status } = spawnSync(
    pinnedNode,
    ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', code],
    { encoding: 'utf8', maxBuffer: 64_000_000 },
  );
  if (status !== 0) throw new Error(`the tables in test/breaks cannot be read:\n${stderr}`);
  return JSON.parse(stdout);
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

/** What came of the breaks that were tried before the time was up, in their order, on a few copies of the tree at a time. */
async function tryAll(breaks, { json, endsAt }) {
  const waiting = [...breaks.entries()];
  const done = [];
  const results = () => [...done].sort((a, b) => a.at - b.at).map(({ at: _at, ...result }) => result);
  const next = () => (done.length === 0 || performance.now() < endsAt ? waiting.shift() : undefined);
  const work = async (copy) => {
    copyTree(copy);
    for (let one = next(); one !== undefined; one = next()) {
      const [at, row] = one;
      done.push({ at, ...(await tryAndTell(row, copy, () => `${done.length + 1} of ${breaks.length}`)) });
      if (json !== null) writeFileSync(json, `${JSON.stringify(results(), null, 1)}\n`);
    }
    rmSync(copy, { recursive: true, force: true });
  };
  await Promise.all(
    Array.from({ length: Math.min(COPIES, breaks.length) }, (_, index) => work(join(cacheDir, `breaks-${index + 1}`))),
  );
  return results();
}

async function tryAndTell(row, copy, progress) {
  const startedAt = performance.now();
  // What could not be run proves nothing; the others are tried all the same.
  const result = await tryBreak(row, copy).catch(({ message }) => ({ verdict: 'COULD NOT RUN', why: message }));
  console.log(`${progress()}  ${row.id}  ${result.verdict}  ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return { id: row.id, spec: row.spec, failedTests: [], ...result };
}

/** Breaks one copy, runs the spec in it and mends it. Errors: when the row names what is not there, or the spec cannot run. */
async function tryBreak(row, copy) {
  const { spec, test, file } = row;
  if (!test) throw new Error('the row names no test: give it the full name of the one that has to fail');
  for (const path of [spec, file])
    if (!existsSync(join(copy, path))) throw new Error(`there is no ${path}: mend the row`);
  // The tree may change while this runs; the copy does not.
  const before = readFileSync(join(copy, file), 'utf8');
  const broken = applyBreak(before, row);
  if (!unbroken.has(spec)) unbroken.set(spec, runSpec(spec, copy));
  const already = await unbroken.get(spec);
  if (already.length > 0) return { verdict: 'RED BEFORE THE BREAK', why: listed(already), failedTests: already };
  writeFileSync(join(copy, file), broken);
  try {
    const failedTests = await runSpec(spec, copy);
    if (failedTests.length === 0) return { verdict: 'STAYED GREEN', why: `${spec} does not notice it` };
    if (failedTests.includes(test)) return { verdict: 'red', failedTests };
    return { verdict: 'ANOTHER TEST IS RED', why: `not "${test}" but\n${listed(failedTests)}`, failedTests };
  } finally {
    writeFileSync(join(copy, file), before);
  }
}

function listed(names) {
  const more = names.length > 5 ? [`… and ${names.length - 5} more`] : [];
  return [...names.slice(0, 5), ...more].map((name) => `    ${name}`).join('\n');
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
  return tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
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
