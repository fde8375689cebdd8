import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import fc from 'fast-check';
import { applyDelta, deltaOf } from './state-delta.js';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>; // the same values under another name
/** States that share names, as successive states do. */
const state = fc.letrec<{ readonly node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(1, 'a', true, null),
    fc.array(fc.nat(3), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), tie('node'), {
      maxKeys: 4,
    }) as fc.Arbitrary<Json>,
  ),
})).node;

describe('a delta', () => {
  it('makes the next state of the one before, or there is none', () => {
    fc.assert(
      fc.property(state, state, (base, next) => {
        const delta = deltaOf(base, next);
        return delta === null || canonicalJson(applyDelta(base, delta)) === canonicalJson(next);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is there for any two states without null: only null cannot be said (RFC 7396)', () => {
    const whole = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.oneof(fc.nat(5), fc.dictionary(fc.constantFrom('a', 'b'), fc.nat(5))),
      { maxKeys: 3 },
    ) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(whole, whole, (base, next) => deltaOf(base, next) !== null),
      { numRuns: 1_000 },
    );
  });

  it.each<[Json, Json, Json]>([
    [{ a: 1 }, { a: 1 }, {}],
    [{ a: 1 }, { a: 2, b: 3 }, { a: 2, b: 3 }],
    [{ a: 1, b: 2 }, { b: 2 }, { a: null }],
    [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 3 } }],
    [{ a: [1, 2] }, { a: [1, 3] }, { a: [1, 3] }],
    [{}, { a: null }, null],
    [{ a: 1 }, { a: null }, null],
    [[1], [2], null],
    [{ a: 1 }, [1], null],
    [1, { a: 1 }, null],
    [{ a: 1 }, { a: { b: null } }, null],
  ])('of %j to %j is %j', (base, next, delta) => {
    expect(deltaOf(base, next)).toEqual(delta);
  });

  it('that is nothing leaves a state as it is, and is the shortest', () => {
    fc.assert(
      fc.property(state, (base) => {
        const delta = deltaOf(base, base);
        return delta === null || canonicalJson(delta) === '{}';
      }),
    );
  });
});

describe('a patch (RFC 7396, appendix A)', () => {
  it.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('of %j by %j gives %j', (base, patch, next) => {
    expect(applyDelta(base, patch)).toEqual(next);
  });

  it('touches no object but its own: names of prototypes are names', () => {
    fc.assert(
      fc.property(json, json, (base, patch) => {
        applyDelta(base, patch);
        return ({} as Readonly<Record<string, unknown>>)['polluted'] === undefined;
      }),
    );
    expect(applyDelta({}, JSON.parse('{"__proto__":{"polluted":true}}') as Json)).toEqual(
      JSON.parse('{"__proto__":{"polluted":true}}'),
    );
    expect(({} as Readonly<Record<string, unknown>>)['polluted']).toBeUndefined();
  });
});
