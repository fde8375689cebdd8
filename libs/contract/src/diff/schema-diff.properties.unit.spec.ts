// Schemas of arguments against what they let in: a change that is no weakening lets nothing in that was refused.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '@recourse/kernel';
import { checkArgs } from '../args.js';
import { argsSchema } from './schema-diff.js';

/** The same schemas every time; others with RECOURSE_SEED. */
const SEED = Number(process.env['RECOURSE_SEED'] ?? 20_261_129);
const RUNS = 4_000;
/** To compile a schema takes some twenty milliseconds. */
const COMPILED = 40;
const NAMES = ['a', 'ab', 'b', 'bc'];
const VALUES = [1, 7, 'x', 'long text'];

type Leaf = boolean | Readonly<Record<string, unknown>>;
interface Schema {
  readonly properties: Readonly<Record<string, Leaf>>;
  readonly patternProperties: Readonly<Record<string, Leaf>>;
  readonly additionalProperties?: Leaf;
  readonly required?: readonly string[];
}

const leaf = fc.constantFrom(
  {},
  true,
  false,
  { type: 'string' },
  { maxLength: 3 },
  { type: 'integer' },
  { maximum: 5 },
);
const some = (names: readonly string[]) => fc.dictionary(fc.constantFrom(...names), leaf, { maxKeys: 3 });
const schemas = fc
  .record({
    properties: some(NAMES),
    patternProperties: some(['^a', 'b', 'c$', '^ab']),
    additionalProperties: fc.constantFrom(undefined, false, false, { maxLength: 3 }),
    required: fc.constantFrom(undefined, ['a']),
  })
  .map((parts) => JSON.parse(JSON.stringify({ type: 'object', ...parts })) as Schema); // without what is undefined
/** Mostly a change of one keyword: of two that have nothing in common there is nothing to learn. */
const pairs = fc
  .tuple(schemas, schemas, fc.constantFrom('properties', 'patternProperties', 'additionalProperties', 'required', null))
  .map(([from, other, changed]) => [from, changed === null ? other : with_(from, changed, other[changed])] as const);
const with_ = (schema: Schema, keyword: keyof Schema, value: unknown): Schema =>
  JSON.parse(JSON.stringify({ ...schema, [keyword]: value })) as Schema; // of another schema
const ARGS = NAMES.flatMap((name) =>
  VALUES.map((value): Readonly<Record<string, string | number>> => ({ [name]: value })),
);

const jsonOf = (schema: Schema): Json => schema as unknown as Json; // it was JSON

/** What a schema means, said a second time. */
function takes(schema: Schema, args: (typeof ARGS)[number]): boolean {
  const { properties, patternProperties, additionalProperties = true, required = [] } = schema;
  return (
    required.every((name) => name in args) &&
    Object.entries(args).every(([name, value]) => {
      const patterns = Object.entries(patternProperties).filter(([pattern]) => new RegExp(pattern).test(name));
      const own = [...(name in properties ? [properties[name]] : []), ...patterns.map(([, said]) => said)];
      return (own.length > 0 ? own : [additionalProperties]).every((said) => fits(said, value));
    })
  );
}

function fits(said: Leaf | undefined, value: string | number): boolean {
  if (typeof said !== 'object') return said !== false;
  const { type, maxLength, maximum } = said;
  if (type !== undefined && typeof value !== (type === 'integer' ? 'number' : type)) return false;
  return typeof value === 'string'
    ? value.length <= Number(maxLength ?? Infinity)
    : value <= Number(maximum ?? Infinity);
}

describe('random schemas of arguments', () => {
  it('let nothing in that was refused, unless the change is called weaker', () => {
    const seen = { weaker: 0, other: 0 };
    fc.assert(
      fc.property(pairs, ([from, to]) => {
        const isWeaker = argsSchema(jsonOf(from), jsonOf(to), '').some(({ kind }) => kind === 'weakening');
        seen[isWeaker ? 'weaker' : 'other'] += 1;
        if (!isWeaker) expect(ARGS.filter((args) => takes(to, args) && !takes(from, args))).toEqual([]);
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(Math.min(seen.weaker, seen.other)).toBeGreaterThan(RUNS / 20);
  });

  it('mean what is said of them here', () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        for (const args of ARGS) expect(checkArgs(args, jsonOf(schema)).length === 0).toBe(takes(schema, args));
      }),
      { numRuns: COMPILED, seed: SEED },
    );
  }, 60_000);
});
