import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '@recourse/kernel';
import { CONDITION_STEPS_MAX } from './condition-cost.js';
import { costProblem, evaluateExpression } from './condition.js';

const fifty = `[${Array.from({ length: 50 }, (_, index) => index).join()}]`;
/** Loops over fifty, `depth` of them inside each other, none of which ends early. */
const nested = (depth: number): string =>
  depth === 0 ? 'true' : `${fifty}.all(${'abcde'[depth - 1] ?? 'f'}, ${nested(depth - 1)})`;
const items = (count: number): Json => ({ items: Array.from({ length: count }, (_, id) => ({ id, tags: ['x'] })) });
const judged = (expression: string, observed: Json) => evaluateExpression(expression, { observed });
const TOO_COSTLY = { ok: false, detail: `it takes more than ${CONDITION_STEPS_MAX} steps` };

describe('what an expression costs', () => {
  it.each([
    ['five loops over fifty', nested(5)],
    ['three loops over fifty', nested(3)],
    ['three loops over lists of the facts', 'observed.a.all(a, observed.b.all(b, observed.c.exists(c, c == a + b)))'],
    [
      'a loop to make a list, within others',
      'observed.a.map(a, observed.b.map(b, observed.c.filter(c, c == a))).size() > 0',
    ],
  ])('is bound before it is ever judged: %s', (_what, expression) => {
    expect(costProblem(expression)).toMatch(/steps/);
  });

  it.each([
    'observed.status == "settled"',
    'observed.items.all(i, i.id > 0)',
    'observed.items.all(i, bound.args.items.exists(b, b.id == i.id && b.sum <= i.sum))',
    nested(2),
    'this does not (compile',
  ])('is small for what people write: %s', (expression) => {
    expect(costProblem(expression)).toBeNull();
  });
});

describe('an expression that is judged', () => {
  it.each<[string, string, Json]>([
    ['five loops inside each other', nested(5), {}],
    [
      'loops whose errors are swallowed',
      'observed.items.exists(i, observed.items.exists(j, i.no == j.id))',
      items(500),
    ],
    ['two loops over very long lists', 'observed.items.all(i, observed.items.all(j, j.id >= 0))', items(2_000)],
    ['a loop in which a list is compared', 'observed.items.all(i, observed.items == observed.items)', items(600)],
    ['a loop in which a list is searched', 'observed.items.all(i, i in observed.items)', items(1_000)],
    [
      'a loop in which a text is searched',
      'observed.l.all(i, !observed.t.contains("b"))',
      { l: Array(500).fill(1) as Json, t: 'a'.repeat(100_000) },
    ],
    [
      'a pattern that the facts hold, over a text of theirs',
      'observed.t.matches(observed.p)',
      { t: 'ab'.repeat(100_000), p: '[ab]*a[ab]{900}'.repeat(1_000) },
    ],
    ['a short pattern that repeats much', 'observed.t.matches("[ab]*a[ab]{900}")', { t: 'ab'.repeat(100_000) }],
    [
      'a search of a long text for another, outside of any loop',
      'observed.t.contains(observed.p)',
      { t: 'a'.repeat(200_000), p: `b${'a'.repeat(50_000)}` },
    ],
    [
      'a comparison of documents that is written many times over',
      Array(60).fill('observed.a==observed.b').join('||'),
      { a: items(2_000), b: { ...(items(2_000) as object), at: 1 } },
    ],
    [
      'a list that is put together many times over',
      `(${Array(60).fill('observed.items').join('+')}).size() > 0`,
      items(2_000),
    ],
    [
      'a list that is made longer and longer',
      'observed.items.map(i, observed.items + observed.items).size() > 0',
      items(1_000),
    ],
    [
      'a loop that goes over much and ends at once',
      'observed.items.all(i, observed.items.exists(j, true))',
      items(2_000),
    ],
  ])('ends after its last step, and holds nothing: %s', (_what, expression, observed) => {
    expect(judged(expression, observed)).toEqual(TOO_COSTLY);
  });

  it('is judged as before within its limit', () => {
    expect(judged('observed.items.all(i, observed.items.exists(j, j.id == i.id))', items(200))).toMatchObject({
      holds: true,
    });
    expect(judged('observed.items.exists_one(i, i.id == 7)', items(2_000))).toMatchObject({ holds: true });
    expect(judged('observed.items.filter(i, "x" in i.tags).size() == 2000', items(2_000))).toMatchObject({
      holds: true,
    });
    expect(judged('observed.items.map(i, i.id).size() == 2000', items(2_000))).toMatchObject({ holds: true });
    expect(judged(nested(2), {})).toMatchObject({ holds: true });
    expect(judged('observed.items.all(i, i.none == 1)', items(3))).toMatchObject({ ok: false });
  });

  it('compares documents as before within its limit', () => {
    expect(judged('observed.a == observed.b', { a: items(5_000), b: items(5_000) })).toMatchObject({ holds: true });
    expect(judged('observed != [] && observed.items[0] == observed.items[0]', items(900))).toMatchObject({
      holds: true,
    });
  });

  it('searches texts as before within its limit', () => {
    const observed = { t: 'order 4711 is settled', mail: `${'x'.repeat(2_000)}@example.org`, n: 3 };
    for (const expression of [
      'observed.t.contains("settled")',
      'observed.t.matches("[0-9]{4}")',
      'observed.mail.matches("^[^@]+@[a-z.]+$")',
      '!observed.t.matches("^x")',
      'observed.t.matches("(?i)ORDER [0-9]{1,9} is (settled|paid)")',
    ])
      expect([expression, judged(expression, observed)]).toEqual([expression, { ok: true, holds: true }]);
    for (const expression of ['observed.n.contains("3")', 'observed.t.matches(3)', 'observed.t.matches("(")'])
      expect([expression, judged(expression, observed)]).toMatchObject([expression, { ok: false }]);
  });

  it('counts anew each time', () => {
    const half = 'observed.items.all(i, observed.items.all(j, j.id >= 0))';
    for (let times = 0; times < 5; times += 1) expect(judged(half, items(200))).toMatchObject({ holds: true });
  });

  it('says the same with and without a loop around it', () => {
    const scalars = fc.oneof(
      fc.integer({ min: -5, max: 5 }),
      fc.constantFrom('a', 'b', ''),
      fc.boolean(),
      fc.constant(null),
    );
    const compared = fc.constantFrom('observed.a == observed.b', 'observed.a in [observed.b, 1]', 'observed.a != 1');
    fc.assert(
      fc.property(scalars, scalars, compared, (a, b, expression) => {
        expect(judged(`[1].all(x, ${expression})`, { a, b })).toEqual(judged(expression, { a, b }));
      }),
    );
  });
});
