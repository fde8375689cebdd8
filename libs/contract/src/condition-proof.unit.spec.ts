import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '@recourse/kernel';
import { isFixed, isImplied } from './condition-proof.js';
import { conditionProblem, evaluateCondition } from './condition.js';

const fixed = (expression: string): boolean => isFixed(expression, 'observed');

describe('a condition that nothing observed can turn', () => {
  it.each([
    ['a word', 'true'],
    ['a word that never holds', 'false'],
    ['what was bound alone', 'bound.args.refund_id == "re_1"'],
    ['a member compared with itself', 'observed.x == observed.x'],
    ['the same member, written twice', 'observed["x"] == observed.x'],
    ['a member not beyond itself', '!(observed.x < observed.x)'],
    ['a way out', 'true || observed.status == "reversed"'],
    ['a way out behind', 'observed.status == "reversed" || 1 == 1'],
    ['a way out that has to be worked out', 'size("abc") == 3 || observed.x'],
    ['both sides of one thing', 'observed.x == 1 || observed.y || observed.x != 1'],
    ['a denial of both', '!(observed.x && !observed.x)'],
    ['one answer either way', 'observed.x ? true : true'],
    ['a part that decides, of what was bound', '(true || observed.x) && bound.args.y == "z"'],
    ['a loop that asks nothing', 'observed.items.all(i, i == i)'],
    ['a loop over nothing', '[].all(i, observed.x)'],
    ['a list nothing is taken into', 'observed.items.filter(i, false).size() == 0'],
  ])('is found: %s', (_what, expression) => {
    expect([conditionProblem(expression), fixed(expression)]).toEqual([null, true]);
  });

  it.each([
    ['a state', 'observed.status == "reversed"'],
    ['a member that is there', 'has(observed.closed_at)'],
    ['all of it', 'observed == null'],
    ['what it is', 'type(observed) == map'],
    ['what is in it', '!(bound.args.role in observed.roles)'],
    ['a member by its name', 'observed["status"] == "reversed"'],
    ['a list that is not empty', 'observed.items.exists(i, true)'],
    ['a loop whose name hides it', 'observed.items.all(observed, observed.ok)'],
    ['members compared with each other', 'observed.items.all(i, observed.items.all(j, i == j))'],
    ['one side of a thing', 'observed.x == 1 || observed.y != 1'],
    ['a word beside', 'true && observed.ok'],
  ])('is none that reads it: %s', (_what, expression) => {
    expect([conditionProblem(expression), fixed(expression)]).toEqual([null, false]);
  });

  it.each([
    ['loops', `${'[0].all(a,'.repeat(150)}observed.x${')'.repeat(150)}`],
    [
      'turns of and and or',
      `${Array.from({ length: 200 }, (_, at) => `!(a ${at % 2 === 0 ? '&&' : '||'} `).join('')}b${')'.repeat(200)}`,
    ],
    ['what no fact decides', `1${' == 1'.repeat(390)}`],
    ['members', `observed${'.a'.repeat(990)}`],
  ])('is looked for no longer than a condition is long: %s inside each other', (_what, expression) => {
    const began = process.cpuUsage();
    fixed(expression);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  it('is none that does not parse', () => {
    expect(fixed('observed.status ==')).toBe(false);
  });
});

describe('a condition that another says already', () => {
  it.each([
    ['the same in other spaces', 'observed.x==1', 'observed.x == 1'],
    ['the same from the other side', 'bound.args.id == observed.id', 'observed.id == bound.args.id'],
    ['the same in another order', 'observed.a && observed.b', 'observed.b && observed["a"]'],
    ['the same denied twice', '!(observed.x < 1)', 'observed.x >= 1'],
    ['the same loop, with another name', 'observed.l.all(i, i.ok)', 'observed.l.all(j, j.ok)'],
    ['a part of it', 'observed.b', 'observed.a && observed.b'],
    ['it, or something else', 'observed.a || observed.b', 'observed.b'],
    ['what always holds', 'true', 'observed.b'],
  ])('is found: %s', (_what, one, other) => {
    expect(isImplied(one, other)).toBe(true);
  });

  it.each([
    ['more than it', 'observed.a && observed.b', 'observed.b'],
    ['one of its choices', 'observed.b', 'observed.a || observed.b'],
    ['the contrary', 'observed.a != 1', 'observed.a == 1'],
    ['another word', 'observed.a == "b"', 'observed.a == "c"'],
    ['another type of it', 'observed.a == "1"', 'observed.a == 1'],
    ['the order of a difference', 'observed.a < observed.b', 'observed.b < observed.a'],
    ['which loop a name is of', 'observed.a.all(i, observed.b.all(i, i))', 'observed.a.all(i, observed.b.all(j, i))'],
    ['whether it is there', 'has(observed.a)', 'observed.a'],
    ['what does not parse', 'observed.a ==', 'observed.a'],
  ])('is not taken for it: %s', (_what, one, other) => {
    expect(isImplied(one, other)).toBe(false);
  });
});

describe('random conditions', () => {
  const atoms = ['true', 'false', 'observed.a', 'observed.b', 'bound.args.a', 'observed.n == 1', '1 > observed.n'];
  const more = ['observed.n != 1', 'observed.n <= 1', 'observed.n < bound.args.n', 'bound.args.n == 2', '2 == 2'];
  const loops = ['all(i, i)', 'all(i, true)', 'exists(i, i)', 'exists(i, true)', 'all(i, i || observed.a)'];
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(...atoms, ...more, ...loops.map((loop) => `observed.l.${loop}`)),
      tie('tree').map((one) => `!(${one})`),
      fc
        .tuple(tie('tree'), fc.constantFrom('&&', '||', '=='), tie('tree'))
        .map(([a, by, b]) => `((${a}) ${by} (${b}))`),
      fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `((${a}) ? (${b}) : (${c}))`),
    ),
  }));
  const lists: readonly Json[] = [[], [true], [false, true]];
  const bools = [false, true];
  const all: readonly Json[] = bools.flatMap((a) => [0, 1].flatMap((n) => lists.map((l) => ({ a, b: n === 1, n, l }))));
  const bounds: readonly Json[] = bools.map((a) => ({ args: { a, n: a ? 1 : 2 }, external_ref: null }));
  const holds = (expression: string, observed: Json, bound: Json): boolean => {
    const said = evaluateCondition(expression, { observed, bound });
    return said.ok && said.holds;
  };

  it('say the same of all that can be observed where they are called fixed', () => {
    let count = 0;
    fc.assert(
      fc.property(tree, (expression) => {
        if (!fixed(expression)) return true;
        count += 1;
        return bounds.every((bound) => new Set(all.map((observed) => holds(expression, observed, bound))).size === 1);
      }),
      { numRuns: 1_000, seed: 20_261_128 },
    );
    expect(count).toBeGreaterThan(100);
  });

  it('hold wherever the other does where they are called implied', () => {
    let count = 0;
    fc.assert(
      fc.property(tree, tree, fc.constantFrom('&&', '||', ''), (one, more, by) => {
        const other = by === '' ? more : `(${one}) ${by} (${more})`;
        if (!isImplied(one, other)) return true;
        count += 1;
        return bounds.every((bound) =>
          all.every((observed) => !holds(other, observed, bound) || holds(one, observed, bound)),
        );
      }),
      { numRuns: 1_000, seed: 20_261_128 },
    );
    expect(count).toBeGreaterThan(100);
  });
});
