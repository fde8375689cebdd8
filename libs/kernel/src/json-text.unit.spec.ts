import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, excerpt, isTooDeep, JSON_DEPTH_MAX, readJson } from './json-text.js';

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

describe('JSON of strangers', () => {
  it.each([lists(JSON_DEPTH_MAX), objects(JSON_DEPTH_MAX), '1', '"a"', 'null', '[{"a":[1,{"b":null}]}]'])(
    'is read: %s',
    (text) => {
      expect(readJson(text)).toEqual(JSON.parse(text));
    },
  );

  it.each([
    ['lists', lists(JSON_DEPTH_MAX + 1)],
    ['objects', objects(JSON_DEPTH_MAX + 1)],
    ['hundreds of levels', lists(600)],
    ['as many levels as a record holds', lists(131_000)],
    ['both in turn', '[{"a":'.repeat(5_000) + '1' + '}]'.repeat(5_000)],
  ])('is refused where it is too deep: %s', (_what, text) => {
    expect(() => readJson(text)).toThrow('64 levels');
  });

  it.each(['1e400', '[{"a":-1E+999}]', `{"a":${'9'.repeat(310)}}`, '1.5e00400'])(
    'refuses a number that no text of it could say again: %s',
    (text) => {
      expect(() => readJson(text)).toThrow('beyond what anybody reads');
    },
  );

  it.each(['1e308', '[1e-999]', `"${'9'.repeat(400)}"`, '"1e400"', `[${'9'.repeat(300)}]`])('reads %s', (text) => {
    expect(readJson(text)).toEqual(JSON.parse(text));
  });

  it('is as deep as its deepest part', () => {
    expect(isTooDeep({ flat: [1, 2, 3], deep: JSON.parse(lists(JSON_DEPTH_MAX)) as unknown })).toBe(true);
    expect(isTooDeep({ flat: Array(1_000).fill([[]]) })).toBe(false);
  });
});

describe('canonical JSON', () => {
  it('has names in the order of their UTF-16 units, in whatever order they were given', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary' }), { maxLength: 8 });
    fc.assert(
      fc.property(names, (given) => {
        const text = canonicalJson(Object.fromEntries(given.map((name, at) => [name, at])));
        const members = [...given].sort().map((name) => `${JSON.stringify(name)}:${String(given.indexOf(name))}`);
        expect(text).toBe(`{${members.join(',')}}`);
      }),
    );
  });
});

describe('an excerpt of a text', () => {
  it.each([
    ['short', 'short', 10],
    ['long', 'lo', 2],
    ['ab\ud83d\ude00', 'ab\ufffd', 3],
    ['a\u0000b', 'a\\0b', 10],
  ])('of %j is %j of at most %d units: no half character, no NUL', (text, kept, max) => {
    expect(excerpt(text, max)).toBe(kept);
  });
});
