import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { checkArgs, schemaProblem } from './args.js';

const codes = (args: Json, schema: Json) =>
  checkArgs(args, schema)
    .map(({ code, path }) => `${code} ${path}`)
    .sort();

describe('the arguments of a call', () => {
  const schema = {
    type: 'object',
    required: ['order', 'amount'],
    additionalProperties: false,
    properties: {
      order: { type: 'string', pattern: '^[0-9]+$', maxLength: 6 },
      amount: { $ref: '#/$defs/amount' },
      tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 2 },
    },
    $defs: { amount: { type: 'integer', minimum: 1, exclusiveMaximum: 10 } },
  };

  it('fit', () => {
    expect(codes({ order: '4711', amount: 9, tags: ['a'] }, schema)).toEqual([]);
  });

  it('show every problem at once', () => {
    expect(codes({ order: 'x-1234567', amount: 10, tags: ['a', 'c', 'b'], more: 1 }, schema)).toEqual([
      'ARGS_UNKNOWN /more',
      'ARGS_VALUE /amount',
      'ARGS_VALUE /order',
      'ARGS_VALUE /order',
      'ARGS_VALUE /tags',
      'ARGS_VALUE /tags/1',
    ]);
    expect(codes({}, schema)).toEqual(['ARGS_MISSING /amount', 'ARGS_MISSING /order']);
    expect(codes('text', schema)).toEqual(['ARGS_TYPE ']);
    expect(codes({ order: '1', amount: 1.5 }, schema)).toEqual(['ARGS_TYPE /amount']);
  });

  it.each<[string, Json, Json, Json]>([
    ['anyOf', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, 1, true],
    ['oneOf', { oneOf: [{ type: 'string', maxLength: 2 }, { type: 'null' }] }, null, 'abc'],
    ['not', { not: { const: 'all' } }, 'one', 'all'],
    ['multipleOf', { type: 'number', multipleOf: 0.5 }, 1.5, 1.4],
    ['a list of types', { type: ['integer', 'null'] }, null, '1'],
    ['if and then', { if: { type: 'string' }, then: { minLength: 2 } }, 1, 'a'],
    ['prefixItems', { prefixItems: [{ type: 'string' }], items: false }, ['a'], ['a', 'b']],
    ['uniqueItems', { uniqueItems: true }, [1, 2], [1, 1]],
    ['patternProperties', { patternProperties: { '^n': { type: 'number' } } }, { n: 1 }, { n: 'x' }],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
    ['unevaluatedProperties', { properties: { a: true }, unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
    ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, ['a'], [1]],
    ['remarks', { type: 'string', format: 'email', title: 't', examples: ['a'], 'x-order': 1 }, 'no address', 1],
  ])('are judged under %s', (_, keyword, fitting, unfit) => {
    expect(schemaProblem(keyword)).toBeNull();
    expect(checkArgs(fitting, keyword)).toEqual([]);
    expect(checkArgs(unfit, keyword)).not.toEqual([]);
  });

  it.each<[string, Json]>([
    ['a keyword nobody knows', { minimun: 1 }],
    ['oneOf of nothing', { oneOf: [] }],
    ['a reference to nowhere', { $ref: '#/$defs/none' }],
    ['a reference abroad', { $ref: 'https://example.org/schema.json' }],
    ['a schema that refers to itself', { $ref: '#' }],
    ['endless depth', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }],
    ['a pattern that is none', { pattern: '(' }],
    ['a pattern that looks ahead, which no engine judges in linear time', { pattern: '^(?!all)' }],
    ['a pattern of names that refers back', { patternProperties: { '^(.)\\1': true } }],
    ['$async, which judges later', { $async: true, type: 'object' }],
    ['no object', 'string'],
  ])('are not waved through under %s, and the schema is told to be unusable', (_, unsupported) => {
    expect(checkArgs({}, unsupported)[0]?.code).toBe('ARGS_SCHEMA_UNSUPPORTED');
    expect(schemaProblem(unsupported)).not.toBeNull();
  });

  it('are judged by the name of an argument and by each pattern that takes the name', () => {
    const schema = { properties: { note: { type: 'string' } }, patternProperties: { '^n': { maxLength: 3 } } };
    expect(checkArgs({ note: 'brief' }, schema)).toMatchObject([{ code: 'ARGS_VALUE', path: '/note' }]);
    expect(checkArgs({ note: 1 }, schema)).toMatchObject([{ code: 'ARGS_TYPE', path: '/note' }]);
    expect(checkArgs({ note: 'ok' }, schema)).toEqual([]);
  });

  it('are judged under patterns that would hold up an engine that goes back', () => {
    const hostile = { type: 'string', pattern: '^(a+)+$' };
    expect(schemaProblem(hostile)).toBeNull();
    expect(codes(`${'a'.repeat(24)}b`, hostile)).toEqual(['ARGS_VALUE ']);
    expect(codes('a'.repeat(2_000), hostile)).toEqual([]);
    expect(schemaProblem({ pattern: '^(?!all)' })).toContain('a pattern may not look ahead or behind, nor refer back');
    expect(codes('Ä12', { pattern: '^\\p{Lu}\\d{2}$' })).toEqual([]);
  });

  it('may be anything where the schema says so', () => {
    expect(codes({ a: [null] }, true)).toEqual([]);
    expect(schemaProblem(true)).toBeNull();
  });
});
