// Lines that no later convenience may cross (D55). D14: the reversibility layer never executes a compensation.
import { describe, expect, it } from '@jest/globals';
import { filesBelow, textOf } from './tree.testing.js';

interface TopicRow {
  readonly name: string;
  readonly kind: string;
  readonly written_by: string;
}

const product = (folder: string): readonly string[] =>
  filesBelow(folder).filter(
    (path) =>
      path.endsWith('.ts') && path.includes('/src/') && !/\/generated\/|\.(spec|contract|testing)\.ts$/.test(path),
  );

/** Code without its comments: what runs. */
const codeOf = (path: string): string =>
  textOf(path)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1');

/** The kind of a leg request that asks for a compensation, as a word and as a field of a request. */
const COMPENSATE = /(['"`])compensate\1/;
const ASKS_FOR_COMPENSATION = /\bkind:\s*(['"`])compensate\1\s*,/;

describe('the mutation ledger (D14)', () => {
  const ledger = product('apps/mutation-ledger');

  it('is looked at', () => {
    expect(ledger.length).toBeGreaterThan(5);
  });

  it('has no producer for compensation requests', () => {
    expect(ledger.filter((path) => COMPENSATE.test(codeOf(path)))).toEqual([]);
  });
});

describe('a compensation request', () => {
  it('is written by the orchestrator and nobody else', () => {
    const authors = ['apps', 'libs', 'examples']
      .flatMap(product)
      .filter((path) => !path.includes('/generated/') && ASKS_FOR_COMPENSATION.test(codeOf(path)));
    expect(authors.length).toBeGreaterThan(0);
    expect(authors.filter((path) => !path.startsWith('apps/recovery-orchestrator/'))).toEqual([]);
  });
});

describe('the inverse of an effect (B13)', () => {
  const orchestrator = product('apps/recovery-orchestrator');
  const writers = (pattern: RegExp): readonly string[] => orchestrator.filter((path) => pattern.test(codeOf(path)));

  it('is bound from its contract where results of other steps were awaited, and is built nowhere in a recovery', () => {
    expect(writers(/\bbindReversal\b/)).toEqual(['apps/recovery-orchestrator/src/rules/step/binding.decisions.ts']);
    expect(writers(/\breversal_args:/)).toEqual(['apps/recovery-orchestrator/src/rules/step/binding.decisions.ts']);
  });

  it('is not looked for in other mutations of the log', () => {
    expect(writers(/\b(?:MutationPlanned|ToolExecuted|ToolPlanned)\b/)).toEqual([]);
  });
});

describe('a log', () => {
  const { topics } = JSON.parse(textOf('schemas/topics.json')) as { readonly topics: readonly TopicRow[] };
  const logs = topics.filter(({ kind }) => kind !== 'wire');
  const services = filesBelow('apps')
    .filter((path) => path.endsWith('/package.json'))
    .map((path) => path.split('/')[1]);

  it.each(logs.map(({ name, written_by }) => [name, written_by]))('%s is written by one service, %s', (_, writer) => {
    expect(services).toContain(writer);
  });
});

describe('the services (F1)', () => {
  const LANGUAGES = /\.(js|mjs|cjs|jsx|py|java|kt|go|rs|rb|cs)$/;

  it('are TypeScript', () => {
    const sources = [...filesBelow('apps'), ...filesBelow('libs')].filter((path) => path.includes('/src/'));
    expect(sources.filter((path) => path.endsWith('.ts')).length).toBeGreaterThan(100);
    expect(sources.filter((path) => LANGUAGES.test(path))).toEqual([]);
    expect(LANGUAGES.test('apps/auditor/src/main.py')).toBe(true);
  });
});
