// Writes every file that follows from another one: message types and codec tables, reference pages, test vectors.
//
//   node scripts/generate.mjs            writes what changed
//   node scripts/generate.mjs --check    writes nothing; exit 1 with the list of stale files
//   node scripts/generate.mjs --record   also records the current schemas as new versions in schemas/history/
//   --root DIR                           works on another tree (specs use it)
//
// A new message needs --record once, before it is released: the vectors cover recorded versions.
//
// A producer is a function `(catalogue) => [{ path, text }]`. Output depends on the sources alone, so a second run changes
// nothing. Needs Node 20 and avsc.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asyncapiFiles } from './generate/asyncapi.mjs';
import { checkCatalogue, loadCatalogue } from './generate/catalogue.mjs';
import { historyProblems, recordHistory } from './generate/history.mjs';
import { referencePages } from './generate/reference.mjs';
import { typescriptFiles } from './generate/typescript.mjs';
import { vectorFiles } from './generate/vectors.mjs';
import { verbFiles } from './generate/verbs.mjs';

/** Folders in which every file is ours: what no producer wrote is stale. */
const OWNED_FOLDERS = ['libs/messages/src/generated', 'schemas/vectors'];

const argv = process.argv.slice(2);
const rootAt = argv.indexOf('--root');
const root = rootAt >= 0 ? resolve(argv[rootAt + 1]) : dirname(dirname(fileURLToPath(import.meta.url)));
const isCheck = argv.includes('--check');

const catalogue = loadCatalogue(join(root, 'schemas'));
const problems = checkCatalogue(catalogue);
if (problems.length > 0) stop(`${problems.length} problems in schemas/`, problems);

if (argv.includes('--record')) {
  for (const file of recordHistory(root, catalogue)) console.log(`generate: recorded ${file}`);
}
const incompatible = historyProblems(root, catalogue);
if (incompatible.length > 0) {
  stop('schemas are not FULL_TRANSITIVE compatible with their earlier versions', [
    ...incompatible,
    'Nothing released yet? Then delete schemas/history and run `npm run generate -- --record`.',
  ]);
}

const outputs = [
  ...typescriptFiles(catalogue),
  ...verbFiles(catalogue),
  ...referencePages(catalogue),
  ...asyncapiFiles(catalogue),
  ...vectorFiles(root, catalogue),
];
const stale = [
  ...outputs.filter(({ path, text }) => current(path) !== text).map(({ path }) => path),
  ...orphans(outputs),
];
if (isCheck && stale.length > 0) stop('stale generated files; run `npm run generate`', stale);
if (!isCheck) write(outputs, stale);
console.log(`generate: ${outputs.length} files, ${isCheck ? 'all up to date' : `${stale.length} changed`}`);

function current(path) {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function orphans(wanted) {
  const paths = new Set(wanted.map(({ path }) => path));
  return OWNED_FOLDERS.filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((path) => !paths.has(path));
}

function write(wanted, changed) {
  const texts = new Map(wanted.map(({ path, text }) => [path, text]));
  for (const path of changed) {
    const file = join(root, path);
    if (!texts.has(path)) {
      rmSync(file, { recursive: true });
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, texts.get(path));
  }
}

function stop(title, lines) {
  console.error(`generate: ${title}`);
  for (const line of lines) console.error(`  ${line}`);
  process.exit(1);
}
