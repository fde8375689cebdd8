// What is wrong with the requirements and the breaks, as pure functions over rows and texts.
import { occurrences } from '../../scripts/lib/break-tables.mjs';
import { servedBy, type Requirement } from '../../scripts/lib/requirements.mjs';
import type { Break } from '../breaks/break.js';
import type { SourceText } from './tidy.decisions.js';
import { FILLED, titlesOf } from './titles.decisions.js';

/** Ids that must have a row: each letter from 1 to its number. A to F are requirements, P are promises, L the rules of the loop. */
const REQUIRED = { A: 103, B: 20, C: 80, D: 67, E: 50, F: 12, P: 14, L: 17 } as const;

/** Rows of the house: rules that no requirement asks for. */
const HOUSE = /^[a-z][a-z-]+$/;

/** Text of a file by its path from the root; null where there is none. */
export type TextOf = (path: string) => string | null;

const numbered = (letters: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(letters).flatMap(([letter, last]) =>
    Array.from({ length: last }, (_, at) => `${letter}${String(at + 1)}`),
  );

/** Ids that lack a row, and rows whose id means nothing. A part, `A36/reads`, needs the row it is a part of. */
export function idProblems(ids: readonly string[]): readonly string[] {
  const required = numbered(REQUIRED);
  const known = new Set(required);
  const missing = required.filter((id) => !ids.includes(id)).map((id) => `${id} has no row`);
  const stray = ids.filter((id) => {
    const [whole = '', part] = id.split('/');
    return part === undefined ? !known.has(id) && !HOUSE.test(id) : !ids.includes(whole);
  });
  return [...missing, ...stray.map((id) => `${id} is no known id, and no part of a row`)];
}

/** A row shows what it says by a test, by a checker of the simulation, or says what is not yet so. */
export function rowProblems({ id, tests, checkers, notYet }: Requirement): readonly string[] {
  if (tests.length + checkers.length > 0) return [];
  return notYet === null || notYet.trim() === '' ? [`${id} has no test and does not say what is not yet`] : [];
}

/** Quoted tests that their spec does not have. */
export function quoteProblems({ id, tests }: Requirement, textOf: TextOf): readonly string[] {
  return tests.flatMap(({ spec, title }) => {
    const text = textOf(spec);
    if (text === null) return [`${id}: there is no ${spec}`];
    return isQuoteOf({ path: spec, text }, title, textOf) ? [] : [`${id}: ${spec} has no test "${title}"`];
  });
}

/**
 * Whether a quote names a group or a test of a spec: by its title, or by titles from an outer group down to it, `group > test`.
 * What a run fills into a title is quoted as …, or as it stands in the spec or in the cases it imports: as a string.
 */
function isQuoteOf(spec: SourceText, quote: string, textOf: TextOf): boolean {
  const texts = [spec, ...importedSuites(spec, textOf)].map(({ text }) => unescaped(text));
  const isFilledIn = (words: string): boolean => words === '…' || texts.some((text) => isStringIn(text, words));
  return titlesOf(spec)
    .flatMap(({ titles }) => titles.map((_, from) => titles.slice(from).join(' > ')))
    .some((name) => {
      const filled = new RegExp(`^${patternOf(name, '(.+)')}$`).exec(quote)?.slice(1);
      return filled?.every(isFilledIn) === true && /\w/.test(quote);
    });
}

function isStringIn(text: string, words: string): boolean {
  return [`'${words}'`, `"${words}"`, `\`${words}\``].some((literal) => text.includes(literal));
}

function unescaped(text: string): string {
  return text.replace(/\\(['"`\\])/g, '$1');
}

/** What a row of simulation evidence names that is not there. */
export function evidenceProblems(
  { id, checkers, mutants }: Requirement,
  mutantNames: readonly string[],
  textOf: TextOf,
): readonly string[] {
  return [
    ...checkers.filter((path) => textOf(path) === null).map((path) => `${id}: there is no ${path}`),
    ...mutants.filter((name) => !mutantNames.includes(name)).map((name) => `${id}: there is no mutant ${name}`),
  ];
}

/** What is wrong with one break. */
export function breakProblems(row: Break, ids: readonly string[], textOf: TextOf): readonly string[] {
  const lost = servedBy(row).filter((id) => !ids.includes(id));
  const before = textOf(row.file);
  const times = before === null ? 0 : occurrences(before, row.find);
  return [
    ...lost.map((id) => `${row.id}: ${id} has no row in docs/requirements.yaml`),
    ...(before === null ? [`${row.id}: there is no ${row.file}`] : []),
    ...(before !== null && times !== 1 ? [`${row.id}: \`find\` occurs ${String(times)} times in ${row.file}`] : []),
    ...testProblems(row, textOf),
  ];
}

function testProblems({ id, spec, test }: Break, textOf: TextOf): readonly string[] {
  const text = textOf(spec);
  if (text === null) return [`${id}: there is no ${spec}`];
  return mayBeNamed(test, { path: spec, text }, textOf) ? [] : [`${id}: ${spec} has no test "${test}"`];
}

/** Whether a run of a spec may give a test this full name: its titles, joined; suites it imports add theirs below. */
function mayBeNamed(test: string, spec: SourceText, textOf: TextOf): boolean {
  return (
    namesOf(spec).some((name) => new RegExp(`^${patternOf(name)}$`).test(test)) ||
    importedSuites(spec, textOf)
      .flatMap(namesOf)
      .some((name) => new RegExp(`(^| )${patternOf(name)}$`).test(test))
  );
}

function namesOf(spec: SourceText): readonly string[] {
  return titlesOf(spec).flatMap(({ kind, titles }) => (kind === 'test' ? [titles.join(' ')] : []));
}

function patternOf(name: string, filled = '.*'): string {
  return name
    .split(FILLED)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join(filled);
}

function importedSuites({ path, text }: SourceText, textOf: TextOf): readonly SourceText[] {
  const folder = path.split('/').slice(0, -1);
  return [...text.matchAll(/from '(\.[^']*)\.js'/g)].flatMap(([, name = '']) => {
    const suite = `${name.split('/').reduce(step, folder).join('/')}.ts`;
    const found = /\.(contract|testing|cases)\.ts$/.test(suite) ? textOf(suite) : null;
    return found === null ? [] : [{ path: suite, text: found }];
  });
}

function step(folder: readonly string[], part: string): string[] {
  return part === '.' ? [...folder] : part === '..' ? folder.slice(0, -1) : [...folder, part];
}

/** Texts that stand more than once in a list. */
export function repeated(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.filter((text, at) => texts.indexOf(text) !== at))];
}
