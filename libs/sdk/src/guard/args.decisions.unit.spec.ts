import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { checkArgs } from './args.decisions.js';

const codes = (args: Json, schema: Json) => checkArgs(args, schema).map(({ code, path }) => `${code} ${path}`);

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
      'ARGS_VALUE /order',
      'ARGS_VALUE /order',
      'ARGS_VALUE /amount',
      'ARGS_VALUE /tags/1',
      'ARGS_VALUE /tags',
    ]);
    expect(codes({}, schema)).toEqual(['ARGS_MISSING /order', 'ARGS_MISSING /amount']);
    expect(codes('text', schema)).toEqual(['ARGS_TYPE ']);
    expect(codes({ order: '1', amount: 1.5 }, schema)).toEqual(['ARGS_TYPE /amount']);
  });

  it.each<[string, Json]>([
    ['oneOf', { oneOf: [] }],
    ['a reference to nowhere', { $ref: '#/$defs/none' }],
    ['a schema that refers to itself', { $ref: '#' }],
    ['endless depth', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }],
  ])('are not waved through under %s', (_, unsupported) => {
    expect(checkArgs({}, unsupported)[0]?.code).toBe('ARGS_SCHEMA_UNSUPPORTED');
  });

  it('may be anything where the schema says so', () => {
    expect(codes({ a: [null] }, true)).toEqual([]);
  });
});
