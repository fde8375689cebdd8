// References of a schema: what is counted and compared is what is judged, whoever wrote the schema.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '@recourse/kernel';
import { checkArgs, schemaProblem } from './args.js';
import { unfitArgs } from './binding.js';
import { parseContract } from './body.js';
import { refundContract } from './fixtures.testing.js';
import { pointerOf } from './json-pointer.js';

/** What readers of addresses take for more than it is, among letters. */
const SIGNS = [
  'a',
  'A',
  'é',
  'e\u0301',
  'Ω',
  '😀',
  ' ',
  '\t',
  '\u2028',
  ...Array.from('~/%25#?&^<>[]{}|`"\'@:;=+.\\$!*(),_-'),
];
const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
/** Levels of two references each, more than anybody wants to judge, beside definitions by the same names, written otherwise, that ask for nothing. */
const disguised = (ref: (at: number) => string, decoy: (at: number) => Readonly<Record<string, Json>>): Json => ({
  type: 'object',
  $ref: ref(0),
  $defs: {
    ...Object.assign({}, ...Array.from({ length: 15 }, (_, at) => decoy(at))),
    ...Object.fromEntries(
      Array.from({ length: 14 }, (_, at) => [`a${at}`, { allOf: [{ $ref: ref(at + 1) }, { $ref: ref(at + 1) }] }]),
    ),
    a14: {},
  },
});
const PERCENT = disguised(
  (at) => `#/$defs/%61${at}`,
  (at) => ({ [`%61${at}`]: {} }),
);
const decoyed = (a: Json, more: Readonly<Record<string, Json>> = {}): Json => ({
  type: 'object',
  properties: { of: { $ref: '#/$defs/a' } },
  $defs: { a },
  ...more,
});

describe('a reference of a schema', () => {
  it.each<[string, Json, RegExp]>([
    ['percent signs', PERCENT, /^\/\$ref: "#\/\$defs\/%610" is no plain pointer; write it as #\/\$defs\/<name>/],
    [
      'an end that is cut off',
      disguised(
        (at) => `#/$defs/a${at}#`,
        (at) => ({ [`a${at}#`]: {} }),
      ),
      /no plain pointer/,
    ],
    [
      'an end that nobody sees',
      disguised(
        (at) => `#/$defs/a${at}\u2028`,
        (at) => ({ [`a${at}\u2028`]: {} }),
      ),
      /no plain pointer/,
    ],
    ['an empty name', { type: 'object', properties: { '': { $ref: '#/' } } }, /no plain pointer/],
    [
      'an address',
      { $id: 'https://a.example/b', ...(decoyed({ $ref: 'https://a.example/b' }) as object) },
      /\$defs\/a\/\$ref/,
    ],
    ['the name of an anchor', decoyed({ $ref: '#a' }), /no plain pointer/],
    ['no text', decoyed({ $ref: 7 }), /no plain pointer/],
    ['a value', decoyed({ const: {} }, { properties: { of: { $ref: '#/$defs/a/const' } } }), /to no schema/],
    [
      'names of properties',
      decoyed({ properties: {} }, { properties: { of: { $ref: '#/$defs/a/properties' } } }),
      /to no/,
    ],
    ['nothing', decoyed({ $ref: '#/$defs/b' }), /\/\$defs\/a\/\$ref: #\/\$defs\/b leads nowhere/],
  ])('is refused with %s, and told with its place', (_, schema, told) => {
    expect(schemaProblem(schema)).toMatch(told);
    expect(checkArgs({ of: {} }, schema)).toMatchObject([{ code: 'ARGS_SCHEMA_UNSUPPORTED' }]);
  });

  it.each<[string, Json, string]>([
    ['a name', { $id: 'https://a.example/', $defs: { a: {} } }, '$id'],
    ['a name that is a pointer', { $id: '#/$defs/a' }, '$id'],
    ['an anchor', { $anchor: 'a' }, '$anchor'],
    ['an anchor that moves', { $dynamicAnchor: 'a' }, '$dynamicAnchor'],
    ['a reference that moves', { $dynamicRef: '#a' }, '$dynamicRef'],
    ['an older reference that moves', { $recursiveRef: '#' }, '$recursiveRef'],
    ['an older anchor that moves', { $recursiveAnchor: true }, '$recursiveAnchor'],
    ['another dialect', { $schema: DRAFT_7 }, '$schema'],
    ['a vocabulary', { $vocabulary: {} }, '$vocabulary'],
  ])('means the same everywhere: below the root a schema may not have %s', (_, part, keyword) => {
    for (const around of [
      { type: 'object', properties: { order: part } },
      { type: 'object', $schema: DRAFT_7, allOf: [{ items: [part] }] },
      { type: 'object', 'x-remark': { examples: { one: part }, dependentSchemas: part } },
    ])
      expect(schemaProblem(around)).toContain(`/${keyword}: only the root`);
  });

  it('is not moved by a name among the names of a remark', () => {
    const named = { 'x-remark': { dependentSchemas: { $id: '#/$defs/a', allOf: [] } } };
    expect(schemaProblem(decoyed({}, { $schema: DRAFT_7, ...named }))).toContain('dependentSchemas/$id');
  });

  it('is not moved by the name and the dialect of the root, which are let in', () => {
    for (const $id of [
      'https://a.example/refund',
      'https://json-schema.org/draft/2020-12/schema',
      'refund',
      '#/$defs/a',
    ])
      for (const type of ['integer', 'string'] as const) {
        const schema = decoyed({ type }, { $id, $schema: 'https://json-schema.org/draft/2020-12/schema' });
        expect(schemaProblem(schema)).toBeNull();
        expect(checkArgs({ of: 7 }, schema)).toHaveLength(type === 'integer' ? 0 : 1);
      }
    expect(schemaProblem({ type: 'object', $schema: 'https://json-schema.org/draft/2020-12/meta/core' })).toContain(
      '/$schema: there are draft 2020-12 and draft-07',
    );
    expect(schemaProblem({ type: 'object', $id: 7 })).toContain('/$id');
  });

  it('is none where a property has its name, or a value', () => {
    const names: Json = { $id: { type: 'string' }, $ref: { type: 'string' }, $anchor: { type: 'string' }, id: true };
    const value: Json = { $id: 'a', $ref: '%61', $anchor: 'a', $schema: 'b' };
    const schema: Json = {
      type: 'object',
      properties: { ...names, all: { enum: [value], default: value, examples: [value] }, one: { const: value } },
      dependentSchemas: { $id: { required: ['$ref'] } },
      dependentRequired: { $anchor: ['$id'] },
      $defs: { $id: {} },
    };
    expect(schemaProblem(schema)).toBeNull();
    expect(checkArgs({ $id: 'a', $ref: 'b', one: value }, schema)).toEqual([]);
    expect(checkArgs({ $id: 7, $ref: 'b' }, schema)).toMatchObject([{ path: '/$id' }]);
  });

  it('leads where the validator goes, whatever a definition is called', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...SIGNS) }),
        fc.constantFrom('$defs', 'definitions'),
        (name, where) => {
          const schema: Json = {
            type: 'object',
            properties: { of: { $ref: `#${pointerOf([where, name])}` } },
            [where]: Object.fromEntries([
              ...[name.trim(), name.normalize('NFC'), encodeURI(name.toWellFormed())].map((other) => [other, false]),
              [name, { const: 'here' }],
            ]) as Json,
          };
          if (schemaProblem(schema) !== null) return;
          expect(checkArgs({ of: 'here' }, schema)).toEqual([]);
          expect(checkArgs({ of: 'there' }, schema)).toMatchObject([
            { path: '/of', message: '/of must be equal to constant' },
          ]);
        },
      ),
    );
  });
});

describe('a schema that registered before its references were looked at', () => {
  it('judges nothing: the undoing is a person’s, however much of its call is there', () => {
    const step = { from: 'step', capability: 'payments.find_refund', path: '/id' };
    const read = parseContract(
      JSON.stringify(refundContract({ reversal_args: { a: { from: 'args', path: '/a' }, b: step } })),
    );
    const facts = { args: { a: 1 }, result: null, priorValue: null, externalRef: null };
    expect(read.ok && unfitArgs(read.contract, facts, () => PERCENT)).toEqual(['reversal_args']);
    expect(read.ok && unfitArgs(read.contract, facts, () => ({ type: 'object' }))).toEqual([]);
  });
});
