// Writes the reference pages that follow from compiled sources: state machines, codes, configuration, the command line; and
// the table of requirements.
//
//   node scripts/reference.mjs            writes what changed; the build must be there (`npm run build`)
//   node scripts/reference.mjs --check    writes nothing; exit 1 with the list of stale pages
//
// Pages come from the tables the product runs on, so they cannot say anything else. The sources of a page that are types alone
// (closed unions of codes) are read from the text. Runs itself again under the pinned Node when started with another.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pinnedNode, root } from './lib/paths.mjs';

const NODE_MAJOR_MIN = 24;
const isCheck = process.argv.includes('--check');
if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
  process.exit(spawnSync(pinnedNode, process.argv.slice(1), { stdio: 'inherit' }).status ?? 1);
}

const { answerFiles } = await import('./generate/answers.mjs');
const { accessPage } = await import('./generate/access-page.mjs');
const { cliPage } = await import('./generate/cli-page.mjs');
const { contractPage, contractSchemaFile } = await import('./generate/contract-page.mjs');
const { clusterFile } = await import('./generate/cluster-file.mjs');
const { configPage } = await import('./generate/config-page.mjs');
const { failuresPage } = await import('./generate/failures-page.mjs');
const { machinesPage } = await import('./generate/machines-page.mjs');
const { reportSchemaFiles } = await import('./generate/report-schemas.mjs');
const { openApiPages } = await import('./generate/openapi.mjs');
const { traceabilityPage } = await import('./generate/traceability-page.mjs');
const { readBreaks } = await import('./lib/break-tables.mjs');
const { readRequirements } = await import('./lib/requirements.mjs');

const built = (path) => import(pathToFileURL(join(root, path)).href);
const source = (path) => readFileSync(join(root, path), 'utf8');
const { VERBS } = await built('libs/messages/dist/index.js');
const answers = answerFiles(root, VERBS);
// The edges tell their documents by these files: what they say has to be built before they are asked.
if (!isCheck && answers.some(isStale)) {
  write(answers.filter(isStale));
  build();
}
const pages = [
  ...answers,
  { path: 'docs/reference/state-machines.md', text: await machinesPage(built) },
  { path: 'docs/reference/failures.md', text: await failuresPage(built, source) },
  { path: 'docs/reference/access.md', text: await accessPage(built) },
  { path: 'docs/reference/config.md', text: await configPage(built) },
  { path: 'docs/reference/contracts.md', text: await contractPage(built) },
  { path: 'schemas/reversal-contract.schema.json', text: await contractSchemaFile(built) },
  ...(await reportSchemaFiles(built)),
  { path: 'deploy/helm/recourse/files/cluster.json', text: await clusterFile(built) },
  { path: 'docs/reference/cli.md', text: await cliPage(built) },
  ...(await openApiPages(built)),
  { path: 'docs/traceability.md', text: traceabilityPage(readRequirements(), await readBreaks()) },
];
const stale = pages.filter(isStale);
if (isCheck && stale.length > 0) {
  console.error('reference: stale pages; run `npm run reference`');
  for (const { path } of stale) console.error(`  ${path}`);
  process.exit(1);
}
if (!isCheck) write(stale);
console.log(`reference: ${pages.length} pages, ${isCheck ? 'all up to date' : `${stale.length} changed`}`);
process.exit();

function isStale({ path, text }) {
  return !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text;
}

function write(files) {
  for (const { path, text } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function build() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
