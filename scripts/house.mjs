// npm run house: how big the house is, in numbers that can be compared from commit to commit.
//
//   npm run house                      the table
//   npm run house -- --json FILE       also writes the numbers, and the list behind each, as JSON
//   npm run house -- --root DIR        measures another checkout, with the rules and the formatting of this one
//   npm run house -- --list KEY        prints what was counted for one key, one a line
//
// Everything is counted in text as Prettier writes it with this tree's options, formatted in memory, so that an unformatted
// checkout compares. "Code" below is every .ts, .mts, .mjs and .cjs file that git knows, without specs (*.spec.ts and the
// breaks in test/breaks) and without generated files.
//
// product_lines      Lines of code of apps, libs and deploy.
// functions_over_40  Functions with a body of more than 40 lines from the first to the last, in code of apps, libs, deploy,
//                    examples and scripts.
// files_over_300     Files of more than 300 lines, in the same code.
// casts              Expressions `as unknown as`, in the same code and in test.
// red_patch_files    Files below test/red.
// verb_places        Places somebody writes to give operators a verb, counted for `EscalateStep`: top-level statements of code
//                    that name the record or the word `escalate`, imports included; its schema; its line in topics.json.
// action_files       Files of apps and libs whose functions ran in one recovery of the simulation, between the agent's
//                    ToolExecuted and the end of its compensation; memory adapters, testing tools and generated files left
//                    out. Needs a built tree; null without one.
// upward_imports     Imports between the folders of one package's src/ that point against the folders' order, in code of
//                    apps, libs and deploy without testing tools (scripts/lib/house/order.mjs).
// npm_test_s         Seconds that the last whole `npm test` took in that checkout; null when none was noted.
// check_s            The same of `npm run check`.
// packages           Files and lines per package: code, specs.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { blindCasts, functionsOver, linesOf, placesOf, relativeImports } from './lib/house/measure.mjs';
import { upwardImports } from './lib/house/order.mjs';
import { filesOf, readSources } from './lib/house/sources.mjs';
import { pinnedNode, root as ownRoot } from './lib/paths.mjs';
import { table } from './lib/table.mjs';
import { readTimings, timingsFile } from './lib/timings.mjs';

const VERB = { record: 'EscalateStep', word: 'escalate' };
const FUNCTION_LINES_MAX = 40;
const FILE_LINES_MAX = 300;

await main(async () => {
  const { json, list, root } = optionsOf(process.argv.slice(2));
  if (root === ownRoot) await bootstrap({ stack: false });
  const files = filesOf(root);
  const house = measure(root, files, await readSources(root, files));
  if (list !== null) {
    if (!Array.isArray(house.lists[list])) throw new Error(`--list ${list}: choose from ${Object.keys(house.lists)}`);
    console.log(house.lists[list].join('\n'));
    return 0;
  }
  if (json !== null) writeFileSync(json, `${JSON.stringify(house, null, 1)}\n`);
  print(house);
  return 0;
});

function optionsOf(args) {
  const valueOf = (flag) => {
    if (!args.includes(flag)) return null;
    const value = args[args.indexOf(flag) + 1];
    if (value === undefined || value.startsWith('--')) throw new Error(`${flag} needs a value`);
    return value;
  };
  return { json: valueOf('--json'), list: valueOf('--list'), root: resolve(valueOf('--root') ?? ownRoot) };
}

function measure(root, files, sources) {
  const code = sources.filter(({ kind }) => kind !== 'spec' && kind !== 'generated');
  const lists = listsOf(files, code);
  const action = actionFiles(root);
  const timings = readTimings(timingsFile(join(root, '.cache')));
  return {
    product_lines: sumLines(code.filter(({ kind }) => kind === 'product')),
    functions_over_40: lists.functions_over_40.length,
    files_over_300: lists.files_over_300.length,
    casts: lists.casts.length,
    red_patch_files: lists.red_patch_files.length,
    verb_places: lists.verb_places.length,
    action_files: action === null ? null : action.length,
    upward_imports: lists.upward_imports.length,
    npm_test_s: timings.test?.seconds ?? null,
    check_s: timings.check?.seconds ?? null,
    packages: packagesOf(sources),
    lists: { ...lists, action_files: action ?? [] },
  };
}

/** What each number counts, as `path:line` where there is one. */
function listsOf(files, code) {
  const reviewed = code.filter(({ kind }) => kind !== 'proof');
  const layered = code.filter(({ kind, path }) => kind === 'product' && !/\.(testing|contract)\.ts$/.test(path));
  return {
    functions_over_40: reviewed
      .flatMap(({ path, text }) => functionsOver(path, text, FUNCTION_LINES_MAX).map((one) => ({ path, ...one })))
      .sort((a, b) => b.lines - a.lines)
      .map(({ path, line, name, lines }) => `${path}:${line} ${name} (${lines})`),
    files_over_300: reviewed
      .map(({ path, text }) => ({ path, lines: linesOf(text) }))
      .filter(({ lines }) => lines > FILE_LINES_MAX)
      .sort((a, b) => b.lines - a.lines)
      .map(({ path, lines }) => `${path} (${lines})`),
    casts: code.flatMap(({ path, text }) => blindCasts(path, text).map((line) => `${path}:${line}`)),
    red_patch_files: files.filter((path) => path.startsWith('test/red/')),
    verb_places: [
      ...files.filter((path) => /^schemas\/(?!history\/)/.test(path) && path.endsWith(`/${VERB.record}.avsc`)),
      ...files.filter((path) => path === 'schemas/topics.json'),
      ...code.flatMap(({ path, text }) => placesOf(path, text, VERB).map((line) => `${path}:${line}`)),
    ],
    upward_imports: upwardImports(
      layered.map(({ path, text, package: name }) => ({ path, package: name, imports: relativeImports(text) })),
    ).map(({ from, to }) => `${from} > ${to}`),
  };
}

function actionFiles(root) {
  if (!existsSync(join(root, 'test', 'simulation', 'dist', 'one-recovery.js'))) return null;
  const program = fileURLToPath(new URL('lib/house/action.main.mjs', import.meta.url));
  return JSON.parse(execFileSync(pinnedNode, [program, root], { cwd: root, encoding: 'utf8', maxBuffer: 16_000_000 }));
}

function packagesOf(sources) {
  const groups = Map.groupBy(
    sources.filter(({ kind }) => kind !== 'generated'),
    (source) => source.package,
  );
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, members]) => {
      const specs = members.filter(({ kind }) => kind === 'spec');
      const code = members.filter(({ kind }) => kind !== 'spec');
      return {
        name,
        files: code.length,
        lines: sumLines(code),
        spec_files: specs.length,
        spec_lines: sumLines(specs),
      };
    });
}

function sumLines(sources) {
  return sources.reduce((sum, { text }) => sum + linesOf(text), 0);
}

function print({ packages, lists: _lists, ...numbers }) {
  console.log(
    table(
      ['package', 'files', 'lines', 'spec files', 'spec lines'],
      packages.map((one) => [one.name, one.files, one.lines, one.spec_files, one.spec_lines]),
    ),
  );
  console.log(
    `\n${table(
      ['house', 'now'],
      Object.entries(numbers).map(([key, value]) => [key, value ?? '-']),
    )}`,
  );
}
