// docs/security.md: every row of its tables names an attack, an answer, and a test that exists. A bad example shows that it looks.
import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';
import { quoteProblems } from './requirements.decisions.js';
import { securityProblems, securityRows } from './security.decisions.js';
import { textOf } from './tree.testing.js';

const read = (path: string): string | null => (existsSync(join(root, path)) ? textOf(path) : null);
const rows = securityRows(textOf('docs/security.md'));

describe('the table of attacks', () => {
  it('has rows, each with an attack, an answer and a spec', () => {
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.flatMap(securityProblems)).toEqual([]);
  });

  it('quotes tests that exist', () => {
    const problems = rows.flatMap(({ attack, tests }) =>
      quoteProblems(
        { id: attack, text: attack, tests, commands: [], checkers: [], mutants: [], byHand: null, notYet: null },
        read,
      ),
    );
    expect(problems).toEqual([]);
  });

  it('without a spec, an answer or a test is noticed', () => {
    const table = [
      '| Attack | Answer | Spec |',
      '| --- | --- | --- |',
      '| one | refused | |',
      '| two | | [a](../a.spec.ts): holds<br>[b](../b.spec.ts): holds too |',
    ].join('\n');
    const [one, two] = securityRows(table);
    expect([one, two].flatMap((row) => (row === undefined ? ['no row'] : securityProblems(row)))).toEqual([
      'one names no spec',
      'two has no answer',
    ]);
    expect(two?.tests).toEqual([
      { spec: 'a.spec.ts', title: 'holds' },
      { spec: 'b.spec.ts', title: 'holds too' },
    ]);
  });
});
