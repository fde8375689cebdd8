// Schemas of arguments of two versions: what lets more through, or nobody can weigh, is weaker.
import { describe, expect, it } from '@jest/globals';
import { parseContract } from '../body.js';
import { refundContract } from '../fixtures.testing.js';
import type { ContractJson } from '../fixtures.testing.js';
import type { Contract } from '../shape.js';
import { diffContracts, isWeakening } from './contract-diff.js';

function parsed(json: ContractJson): Contract {
  const read = parseContract(JSON.stringify(json));
  if (!read.ok) throw new Error(read.problems.map((each) => each.message).join('\n'));
  return read.contract;
}
const kinds = (from: ContractJson, to: ContractJson): readonly string[] =>
  diffContracts(parsed(from), parsed(to)).map(({ kind, path }) => `${kind} ${path}`);
const args = (schema: ContractJson): ContractJson => refundContract({ args_schema: { type: 'object', ...schema } });

describe('a schema of arguments', () => {
  const order: ContractJson = { type: 'object', properties: { amount: { $ref: '#/$defs/money' } } };
  const money: ContractJson = { $defs: { money: { type: 'integer' } } };
  const ofOrder = (change: ContractJson): ContractJson =>
    args({ ...money, properties: { order: { ...order, ...change } } });
  const closed = (schema: ContractJson): ContractJson => args({ additionalProperties: false, ...schema });
  const spoken: ContractJson = { allOf: [{ properties: { b: {} } }], unevaluatedProperties: false };
  const names = (before: string, count: number, schema: ContractJson = {}): ContractJson =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${before}${at}`, schema]));
  const one = (schema: ContractJson): ContractJson => args({ properties: { a: schema } });

  it.each<[string, ContractJson, ContractJson, string]>([
    [
      'a part gets a name',
      ofOrder({}),
      ofOrder({ $id: 'https://x.example/', $defs: { money: {} } }),
      '/properties/order/$id',
    ],
    ['the whole gets another name', args({ $id: 'a' }), args({ $id: 'b' }), '/$id'],
    ['an anchor comes', ofOrder({}), ofOrder({ $anchor: 'money' }), '/properties/order/$anchor'],
    ['a moving anchor comes', ofOrder({}), ofOrder({ $dynamicAnchor: 'money' }), '/properties/order/$dynamicAnchor'],
    ['the dialect changes', args({}), args({ $schema: 'http://json-schema.org/draft-07/schema#' }), '/$schema'],
    [
      'nothing may be something else',
      one({ type: 'string' }),
      one({ type: 'string', nullable: true }),
      '/properties/a/nullable',
    ],
    ['a refused argument is let in', args({ properties: { a: false } }), one({ type: 'string' }), '/properties/a'],
    [
      'items of a list are told by one schema',
      one({ items: [{ const: 1 }] }),
      one({ items: { title: 't', minLength: 0 } }),
      '/properties/a/items',
    ],
    [
      'first items are let off',
      one({ items: { type: 'string' } }),
      one({ items: { type: 'string' }, prefixItems: [{}] }),
      '/properties/a/prefixItems',
    ],
    ['fewer need be there', one({ contains: {} }), one({ contains: {}, minContains: 0 }), '/properties/a/minContains'],
    [
      'an argument is let off what holds for all',
      args({ additionalProperties: { type: 'string' } }),
      args({ additionalProperties: { type: 'string' }, properties: { a: {} } }),
      '/properties',
    ],
    [
      'an argument is let in that was refused with all others',
      args({ additionalProperties: false, properties: { a: {} } }),
      args({ additionalProperties: false, properties: { a: {}, b: { type: 'string' } } }),
      '/properties/b',
    ],
    [
      'a member of an argument is let in that was refused with all others',
      one({ additionalProperties: false }),
      one({ additionalProperties: false, properties: { b: { type: 'string' } } }),
      '/properties/a/properties/b',
    ],
    [
      'an argument is spoken of where what nobody has spoken of is refused',
      args({ $ref: '#/$defs/base', unevaluatedProperties: false, $defs: { base: { properties: {} } } }),
      args({ $ref: '#/$defs/base', unevaluatedProperties: false, $defs: { base: { properties: { b: {} } } } }),
      '/$defs/base/properties/b',
    ],
    [
      'a pattern is let off what holds for all',
      args({ additionalProperties: { type: 'string' } }),
      args({ additionalProperties: { type: 'string' }, patternProperties: { a: {} } }),
      '/patternProperties',
    ],
    [
      'more is spoken of',
      args({ unevaluatedProperties: false }),
      args({ unevaluatedProperties: false, allOf: [{ additionalProperties: true }] }),
      '/allOf',
    ],
    [
      'an argument is let off what its name asked, and a pattern lets it in all the same',
      closed({ properties: { note: { maxLength: 5 } }, patternProperties: { '^n': {} } }),
      closed({ patternProperties: { '^n': {} } }),
      '/properties/note',
    ],
    [
      'an argument that its name refused is let in by a pattern',
      closed({ properties: { note: false }, patternProperties: { '^n': {} } }),
      closed({ patternProperties: { '^n': {} } }),
      '/properties/note',
    ],
    [
      'names are let off what a pattern asked, and another lets them in all the same',
      closed({ patternProperties: { '^n': {}, '^no': { maxLength: 5 } } }),
      closed({ patternProperties: { '^n': {} } }),
      '/patternProperties/^no',
    ],
    [
      'an argument is let off what a pattern asked, and its name lets it in all the same',
      closed({ properties: { note: {} }, patternProperties: { '^n': { maxLength: 5 } } }),
      closed({ properties: { note: {} } }),
      '/patternProperties/^n',
    ],
    [
      'an argument is let off what its name asked, and another schema may speak of it',
      args({ ...spoken, properties: { b: { maxLength: 5 } } }),
      args({ ...spoken, properties: {} }),
      '/properties/b',
    ],
    [
      'an argument is let off what its name asked, and nobody can look through so many patterns',
      closed({ properties: names('b', 101, { maxLength: 5 }), patternProperties: names('^n', 100) }),
      closed({ patternProperties: names('^n', 100) }),
      '/properties/b100',
    ],
    ['a keyword comes that nobody knows', args({}), args({ contentSchema: {} }), '/contentSchema'],
  ])('is weaker when %s', (_, from, to, path) => {
    const found = kinds(from, to);
    expect(found.filter((each) => each.startsWith(`weakening /args_schema${path}`))).toHaveLength(1);
  });

  it.each<[string, ContractJson, ContractJson]>([
    ['names the dialect it has', args({}), args({ $schema: 'https://json-schema.org/draft/2020-12/schema' })],
    ['has a remark more', args({}), args({ 'x-order': 1, title: 't', $comment: 'c' })],
    ['asks for more', args({}), args({ allOf: [{ required: ['a'] }], not: { required: ['b'] } })],
    ['names what it takes anyway', args({}), one({ type: 'string' })],
    [
      'refuses by its name what it refused',
      args({ additionalProperties: false }),
      args({ additionalProperties: false, properties: { a: false } }),
    ],
    [
      'refuses an argument that no pattern lets in',
      closed({ properties: { note: { maxLength: 5 } }, patternProperties: { '^x': {} } }),
      closed({ patternProperties: { '^x': {} } }),
    ],
    [
      'asks by a pattern what it asked by the name',
      closed({ properties: { note: { maxLength: 5 } }, patternProperties: { '^n': { maxLength: 5 }, e: {} } }),
      closed({ patternProperties: { '^n': { maxLength: 5 }, e: {} } }),
    ],
    [
      'lets names of a pattern in no more',
      closed({ properties: { x: {} }, patternProperties: { '^n': { maxLength: 5 } } }),
      closed({ properties: { x: {} } }),
    ],
    ['asks something of what could be anything', args({ properties: { a: true } }), one({ type: 'string' })],
  ])('is no weaker when it %s', (_, from, to) => {
    expect(isWeakening(diffContracts(parsed(from), parsed(to)))).toBe(false);
  });
});
