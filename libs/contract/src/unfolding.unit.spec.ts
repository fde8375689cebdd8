// Schemas and documents of strangers, small to send and large to unfold: each is judged in the time of its own length.
import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { checkArgs, schemaProblem } from './args.js';
import { draftsFrom } from './draft/sources.js';
import { declaredNames, isClosed, isInteger, requiredNames, schemaAt } from './json-pointer.js';

const OPTIONS = { adapter: 'crm', owner: null, currency: 'EUR' };
const times = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one);

/** Sixty levels of two references each: 2^60 places. */
const folded: Json = {
  type: 'object',
  $ref: '#/$defs/a0',
  $defs: {
    ...Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`a${at}`, { allOf: times(2, { $ref: `#/$defs/a${at + 1}` }) }]),
    ),
    a60: { properties: { last: { type: 'integer' } }, required: ['last'], additionalProperties: false },
  },
};
/** Refers to itself eight times over. */
const circular: Json = {
  type: 'object',
  $defs: { a: { allOf: times(8, { $ref: '#/$defs/a' }) } },
  allOf: [{ $ref: '#/$defs/a' }],
};

describe('a schema that unfolds without end', () => {
  it('is read once, whatever refers to it', () => {
    expect(declaredNames(folded)).toEqual(['last']);
    expect(requiredNames(folded)).toEqual(['last']);
    expect(isClosed(folded)).toBe(true);
    expect(schemaAt(folded, '/last')).toEqual({ type: 'integer' });
    expect(isInteger({ $ref: '#/$defs/a0' }, folded)).toBe(false);
  });

  it('has no more names than it declares, where it leads to itself', () => {
    expect(declaredNames(circular)).toBeNull();
    expect(schemaAt(circular, '/none')).toBeUndefined();
    expect(schemaAt({ type: 'object', allOf: [{ $ref: '#' }] }, '/zz')).toBeUndefined();
  });

  it('is compiled once, however often it is referred to', () => {
    const properties = (count: number, of: Json): Json =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, of]));
    const wide: Json = {
      type: 'object',
      $defs: { b: { type: 'object', properties: properties(300, { type: 'integer' }) } },
      properties: properties(300, { $ref: '#/$defs/b' }),
    };
    expect(schemaProblem(wide)).toBeNull();
    expect(checkArgs({ p7: { p9: 'x' } }, wide)).toMatchObject([{ code: 'ARGS_TYPE', path: '/p7/p9' }]);
  });

  it('is refused where a place would be judged without end', () => {
    const node = (keyword: string, count: number): Json => ({
      type: 'object',
      $defs: {
        node: {
          type: 'object',
          allOf: times(
            count,
            keyword === 'properties'
              ? { properties: { next: { $ref: '#/$defs/node' } } }
              : { [keyword]: { $ref: '#/$defs/node' } },
          ),
        },
      },
      $ref: '#/$defs/node',
    });
    const branching: Json = { type: 'object', anyOf: times(2_000, { minProperties: 1 }) };
    for (const schema of [folded, node('properties', 2), node('additionalProperties', 2), branching])
      expect(schemaProblem(schema)).toMatch(/more often than anybody can wait/);
    const dependent: Json = {
      type: 'object',
      properties: { next: { $ref: '#' } },
      dependentSchemas: { next: { properties: { next: { $ref: '#' } } } },
    };
    expect(schemaProblem(dependent)).toMatch(/more often than anybody can wait/);
    // The same in patterns, in lists and in parts that are put together.
    const lists: Json = {
      type: 'object',
      $defs: { n: { anyOf: [{ items: { $ref: '#/$defs/n' } }, { prefixItems: [{ $ref: '#/$defs/n' }] }] } },
      patternProperties: { '^a': { $ref: '#/$defs/n' }, a$: { $ref: '#/$defs/n' } },
    };
    expect(schemaProblem(lists)).toMatch(/more often than anybody can wait/);
    expect(schemaProblem({ type: 'object', $dynamicRef: '#node' })).toContain('$dynamicRef');
  });

  it('is refused where counting itself would take too long', () => {
    // Each level is judged by all parts that name something below, and names all of it.
    const names = (of: Json): Json =>
      Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`p${at.toString(36)}`, of]));
    const level = (depth: number): Json =>
      depth === 6 ? {} : { allOf: [...times(800, {}), { properties: names({ $ref: `#/$defs/l${depth + 1}` }) }] };
    const $defs = Object.fromEntries(Array.from({ length: 7 }, (_, depth) => [`l${depth}`, level(depth)]));
    // As it comes in: no two of its parts are the same object.
    const sent = JSON.parse(JSON.stringify({ type: 'object', $ref: '#/$defs/l0', $defs })) as Json;
    expect(schemaProblem(sent)).toMatch(/more often than anybody can wait/);
  });

  it('may lead to itself where the value goes on, and list its alternatives', () => {
    const tree: Json = {
      type: 'object',
      properties: { left: { $ref: '#' }, right: { $ref: '#' }, tags: { type: 'array', items: { $ref: '#' } } },
    };
    const countries: Json = {
      type: 'object',
      properties: { country: { oneOf: Array.from({ length: 249 }, (_, at) => ({ const: at })) } },
    };
    expect([schemaProblem(tree), schemaProblem(countries)]).toEqual([null, null]);
    expect(checkArgs({ left: { right: { left: 1 } } }, tree)).toMatchObject([{ path: '/left/right/left' }]);
  });

  it('judges a large value in the time of its length, and none that is larger', () => {
    const unique: Json = { type: 'object', properties: { all: { type: 'array', uniqueItems: true } } };
    const all = Array.from({ length: 60_000 }, (_, at) => ({ at }));
    expect(checkArgs({ all }, unique)).toEqual([]);
    expect(checkArgs({ all: [...all, { at: 7 }] }, unique)).toMatchObject([
      { code: 'ARGS_VALUE', path: '/all', message: '/all must NOT have duplicate items' },
    ]);
    const wide: Json = { type: 'object', additionalProperties: { anyOf: times(900, { type: 'integer' }) } };
    expect(checkArgs({ a: 1 }, wide)).toEqual([]);
    expect(checkArgs(Object.fromEntries(all.map(({ at }) => [String(at), at])), wide)).toMatchObject([
      { code: 'ARGS_VALUE', path: '' },
    ]);
  });

  it('is refused where its patterns are', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`p${at}`, { pattern: `[ab]{900}${at}` }]),
    );
    expect(schemaProblem({ type: 'object', properties })).toMatch(/patterns/);
    expect(schemaProblem({ type: 'object', patternProperties: { '((a{10}){10}){10}': {}, '^x': {} } })).toBeNull();
  });
});

describe('a document that unfolds without end', () => {
  const draft = (document: Json) => draftsFrom('openapi', document, OPTIONS);

  it('is written out as far as it goes', () => {
    const body = { $ref: '#/A' };
    const A = times(12, { $ref: '#/A' });
    const drafts = draft({ openapi: '3.0.0', A, paths: { '/a': { post: { requestBody: body } } } });
    expect(drafts).toHaveLength(1);
  });

  it('is asked for its own operations alone', () => {
    const paths = { '/a': { toString: {}, hasOwnProperty: {}, __proto__: {}, get: { operationId: 'read' } } };
    expect(draft({ openapi: '3.0.0', paths })).toHaveLength(1);
  });
});
