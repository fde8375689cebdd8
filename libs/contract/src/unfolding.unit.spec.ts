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
    expect(schemaProblem(folded)).toBeNull();
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
