// docs/requirements.yaml and the tables in test/breaks: every requirement has a row, every row a test that exists, every break
// one place to break. Each check also meets a bad example, so that it cannot go blind.
import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readBreaks } from '../../scripts/lib/break-tables.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { readRequirements, type Requirement } from '../../scripts/lib/requirements.mjs';
import type { Break } from '../breaks/break.js';
import { MUTANTS } from '../simulation/src/index.js';
import {
  breakProblems,
  evidenceProblems,
  idProblems,
  quoteProblems,
  repeated,
  rowProblems,
} from './requirements.decisions.js';
import { titlesOf } from './titles.decisions.js';
import { textOf } from './tree.testing.js';

const texts = new Map<string, string | null>();
const read = (path: string): string | null => {
  const known = texts.get(path);
  if (known !== undefined) return known;
  const text = existsSync(join(root, path)) ? textOf(path) : null;
  texts.set(path, text);
  return text;
};

const rows = readRequirements();
const ids = rows.map(({ id }) => id);
const breaks = await readBreaks();

const SPEC = `
  const cases = [{ name: 'two payers' }];
  describe.each(ways)('a loan, %s', () => {
    it('ends when it is paid', () => {});
    describe('of two', () => {
      it.each(cases)('refuses $name', () => {});
    });
  });`;
const LOAN: Requirement = {
  id: 'A1',
  text: 'a loan ends',
  tests: [{ spec: 'loan.spec.ts', title: 'ends when it is paid' }],
  commands: [],
  checkers: [],
  mutants: [],
  byHand: null,
  notYet: null,
};
const UNPAID: Break = {
  id: 'a1-ends-unpaid',
  requirement: 'A1',
  spec: 'loan.spec.ts',
  test: 'a loan, rebuilt ends when it is paid',
  file: 'loan.ts',
  find: 'if (left > 0) return;',
  replace: '',
};
const small = (path: string): string | null =>
  new Map([
    ['loan.spec.ts', SPEC],
    ['loan.ts', 'if (left > 0)\n  return;\nend();'],
  ]).get(path) ?? null;

describe('the requirements', () => {
  it('have one row each', () => {
    expect(idProblems(ids)).toEqual([]);
  });

  it('that lack a row, or whose row nobody asked for, are noticed', () => {
    expect(idProblems(ids.filter((id) => id !== 'C41'))).toEqual(['C41 has no row']);
    expect(idProblems([...ids, 'C81', 'Q1', 'c7', 'H1/reads'])).toHaveLength(4);
    expect(() => readRequirements('A1:\n  text: one\nA1:\n  text: two\n')).toThrow('Map keys must be unique');
  });

  it('have a test, or say what is not yet so', () => {
    expect(rows.flatMap(rowProblems)).toEqual([]);
  });

  it('with neither are noticed', () => {
    expect(rowProblems({ ...LOAN, tests: [] })).toEqual(['A1 has no test and does not say what is not yet']);
    expect(rowProblems({ ...LOAN, tests: [], notYet: ' ' })).toHaveLength(1);
    expect(rowProblems({ ...LOAN, tests: [], notYet: 'no loans' })).toEqual([]);
  });

  it('quote tests that exist', () => {
    expect(rows.flatMap((row) => quoteProblems(row, read))).toEqual([]);
  });

  it.each([
    ['loan.spec.ts', 'ends when it was paid'],
    ['loan.spec.ts', 'a loan, straight'],
    ['loan.spec.ts', 'of two > ends when it is paid'],
    ['loan.spec.ts', 'refuses three payers'],
    ['loan.spec.ts', '…'],
    ['loan.spec.ts', ''],
    ['other.spec.ts', 'ends when it is paid'],
  ])('that quote of %s "%s" are noticed', (spec, title) => {
    expect(quoteProblems({ ...LOAN, tests: [{ spec, title }] }, small)).toHaveLength(1);
  });

  it.each(['ends when it is paid', 'a loan, …', 'a loan, … > of two > refuses …', 'of two > refuses two payers'])(
    'may quote "%s"',
    (title) => {
      expect(quoteProblems({ ...LOAN, tests: [{ spec: 'loan.spec.ts', title }] }, small)).toEqual([]);
    },
  );

  it('name checkers and mutants of the simulation that exist', () => {
    expect(rows.flatMap((row) => evidenceProblems(row, Object.keys(MUTANTS), read))).toEqual([]);
    expect(evidenceProblems({ ...LOAN, checkers: ['p0.ts'], mutants: ['L0'] }, ['L1'], small)).toHaveLength(2);
  });
});

describe('the breaks', () => {
  it('have ids of their own', () => {
    expect(breaks.length).toBeGreaterThan(0);
    expect(repeated(breaks.map(({ id }) => id))).toEqual([]);
    expect(repeated(['a', 'b', 'a'])).toEqual(['a']);
  });

  it('name a requirement, a spec with that test, and one place in a file', () => {
    expect(breaks.flatMap((row) => breakProblems(row, ids, read))).toEqual([]);
    expect(breakProblems(UNPAID, ['A1'], small)).toEqual([]);
  });

  it.each<Partial<Break>>([
    { requirement: 'A2' },
    { also: ['A1', 'A2'] },
    { spec: 'other.spec.ts' },
    { test: 'a loan, rebuilt ends when it was paid' },
    { test: 'a loan, rebuilt' },
    { file: 'other.ts' },
    { find: 'left > 1' },
    { find: 'e' },
  ])('with %j are noticed', (wrong) => {
    expect(breakProblems({ ...UNPAID, ...wrong }, ['A1'], small)).toHaveLength(1);
  });
});

describe('the titles of a spec', () => {
  it('are read with their groups, and tests called `test` and those of Python', () => {
    const text = "describe('a', () => { test('b', () => {}); it(name, () => {}); it('c'); });";
    expect(titlesOf({ path: 'a.spec.ts', text })).toEqual([
      { kind: 'group', titles: ['a'] },
      { kind: 'test', titles: ['a', 'b'] },
    ]);
    expect(titlesOf({ path: 'test_a.py', text: 'def test_b(c):\n    pass\n' })).toEqual([
      { kind: 'test', titles: ['test_b'] },
    ]);
  });

  it('are read of a table of cases', () => {
    const text = "const CASES: Cases<Store> = { a: 1, 'is empty': f, 'a row': { 'comes back': async () => {} } };";
    expect(titlesOf({ path: 'a.contract.ts', text })).toEqual([
      { kind: 'test', titles: ['is empty'] },
      { kind: 'group', titles: ['a row'] },
      { kind: 'test', titles: ['a row', 'comes back'] },
    ]);
  });
});
