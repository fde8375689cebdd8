// What the pages for people name is there: codes, variables, files and scripts. Commands are parsed in apps/cli/src/guides.unit.spec.ts.
import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';
import {
  anchorOf,
  codesIn,
  isKnownVariable,
  pathsIn,
  rollbacksWithValues,
  scriptsIn,
  variablesIn,
} from './guides.decisions.js';
import { filesBelow, textOf } from './tree.testing.js';

/** Capital words of the pages that are no codes of ours. */
const NO_CODES: Readonly<Record<string, string>> = {
  CODE_OF_CONDUCT: 'a file',
  GROUP_JOIN: 'an event of kafkajs',
  LOCAL_WRITE: 'a safety class of drafts',
  VERSION_CONFLICT: 'a kind that a tool throws',
  CALL_TIMEOUT_MS: 'a constant of a worker',
  PROPOSAL_PHASE_AFTER: 'a table of the code',
};

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/proof.md',
  ...filesBelow('docs/guides'),
  ...filesBelow('docs/design'),
].filter((path) => path.endsWith('.md'));
const codes = new Set(codesIn(textOf('docs/reference/failures.md')));
const variables = new Set(
  ['docs/reference/config.md', 'docs/reference/cli.md'].flatMap((page) => variablesIn(textOf(page))),
);
/** Scripts of this repository, and of the project that `recourse init` lays out. */
const scripts = [
  ...[...textOf('package.json').matchAll(/^ {4}"([\w:-]+)": "/gm)],
  ...[...textOf('apps/cli/src/init/manifest.ts').matchAll(/^ +'?([\w-]+)'?: program\(/gm)],
].map(([, name = '']) => name);
/** Variables that suites read, which users never set. */
const measured = new Set(
  filesBelow()
    .filter((path) => /\.(spec|testing)\.ts$|^scripts\//.test(path))
    .flatMap((path) => variablesIn(textOf(path))),
);

describe.each(pages)('the page %s', (page) => {
  const text = textOf(page);

  it('names codes that stand in the table of codes', () => {
    expect(codesIn(text).filter((code) => !codes.has(code) && NO_CODES[code] === undefined)).toEqual([]);
  });

  it('names variables that a program reads', () => {
    const known =
      page.startsWith('docs/guides/') || page === 'README.md' ? variables : new Set([...variables, ...measured]);
    expect(variablesIn(text).filter((name) => !isKnownVariable(name, known))).toEqual([]);
  });

  it('names files that are there, or that a command of the page builds', () => {
    const built = (path: string): boolean => path.includes('/target/');
    expect(pathsIn(text).filter((path) => !existsSync(join(root, anchorOf(path))) && !built(path))).toEqual([]);
  });

  it('runs scripts that there are', () => {
    expect(scriptsIn(text).filter((script) => !scripts.includes(script))).toEqual([]);
  });

  it('rolls no release back with a value, which Helm does not take', () => {
    expect(rollbacksWithValues(text)).toEqual([]);
  });
});

it('a page that names what is not there is noticed', () => {
  const lost = ['docs', 'none.md'].join('/');
  const bad = [
    `See \`NO_SUCH_CODE\`, \`RECOURSE_NOT_READ\`, ${lost} and \`libs/none/<x>/y\``,
    'npm run nothing; $MY_ID, ID_OF=1 npx x "$ID_OF"',
  ].join('; ');
  expect(codesIn(bad)).toEqual(['NO_SUCH_CODE']);
  expect(variablesIn(bad).filter((name) => !isKnownVariable(name, variables))).toEqual(['RECOURSE_NOT_READ']);
  expect([isKnownVariable('RECOURSE_TREND…', variables), isKnownVariable('RECOURSE_NONE…', variables)]).toEqual([
    true,
    false,
  ]);
  expect(pathsIn(bad).map(anchorOf)).toEqual([lost, 'libs/none']);
  expect(scriptsIn(bad)).toEqual(['nothing']);
  const back = 'To go back, `helm rollback`, with `rollout=recreate`, and wait.';
  expect(rollbacksWithValues(`Upgrade. ${back} \`helm rollback\` has none.`)).toEqual([back]);
});
