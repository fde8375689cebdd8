// JSON Schema of contracts: what a schema means is said in one place, for the registry that takes it and the guard that obeys it.
//
// Boundary: draft 2020-12, or draft 7 where a schema says so; `format` is a remark, names that begin with `x-` are too. What the
// validator does not know is a problem of the schema, so that nothing is waved through unread.
import { canonicalJson, isJsonObject } from '@recourse/kernel';
import { Ajv } from 'ajv';
import type { ErrorObject, FuncKeywordDefinition, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, Rejection } from '@recourse/kernel';
import { patternSize } from './pattern-size.js';
import { linear } from './patterns.js';
import { judgementsPerPlace } from './schema-cost.js';
import { dialectOf, refProblems } from './schema-refs.js';

/** Kind of a problem of arguments. */
export type ArgsProblemCode = 'ARGS_TYPE' | 'ARGS_MISSING' | 'ARGS_UNKNOWN' | 'ARGS_VALUE' | 'ARGS_SCHEMA_UNSUPPORTED';
/** One problem of arguments, with the path it is at. */
export type ArgsProblem = Rejection<ArgsProblemCode> & { readonly path: string };

/** A schema that can be used, or why it cannot. */
type Compiled =
  | { readonly kind: 'ready'; readonly fits: ValidateFunction; readonly perPlace: number }
  | { readonly kind: 'unusable'; readonly why: string };

const PATTERNS: NonNullable<Options['code']>['regExp'] = Object.assign(
  (pattern: string) => {
    const compiled = linear(pattern);
    // Ajv keeps patterns by their text.
    return { test: (text: string) => compiled.test(text), toString: () => pattern };
  },
  { code: 'PATTERNS' },
);

const OPTIONS: Options = {
  code: { regExp: PATTERNS },
  allErrors: true,
  // Written into each place that refers to it, a schema of a few kilobytes takes minutes to compile.
  inlineRefs: false,
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  // Else names would be tried against patterns by JavaScript's own engine.
  allowMatchingProperties: true,
  validateFormats: false,
  validateSchema: true,
  logger: false,
};
const REMARK = /^x-/;
const DEPTH_MAX = 64;
/** Instructions of all patterns of a schema: compiling so many takes some tens of milliseconds. */
const PATTERNS_MAX = 20_000;
/** Schemas that judge one place of a value: lists of alternatives have hundreds. */
const PER_PLACE_MAX = 1_000;
/** Judgements of a value at the most, place by place: some seconds of a slow machine. */
const JUDGEMENTS_MAX = 5_000_000;
/** Problems of references that are told at once. */
const TOLD_MAX = 5;

/** By schema: compiling costs a millisecond, and a contract is asked about for as long as it is used. */
const COMPILED = new WeakMap<object, Compiled>();
/** Compiled schemas by their text, the latest so many of them. */
const BY_TEXT = new Map<string, Compiled>();
const KEPT_MAX = 500;

/** Lists every problem of a value under a schema; empty when it fits. */
export function checkArgs(args: Json, schema: Json): readonly ArgsProblem[] {
  if (schema === true) return [];
  const compiled = compiledOf(schema);
  if (compiled.kind === 'unusable')
    return [{ code: 'ARGS_SCHEMA_UNSUPPORTED', path: '', message: `the whole cannot be judged: ${compiled.why}` }];
  const placesMax = Math.floor(JUDGEMENTS_MAX / compiled.perPlace);
  if (placesIn(args, placesMax) > placesMax)
    return [told('ARGS_VALUE', '', `has more than ${String(placesMax)} places, more than this schema can judge`)];
  try {
    return compiled.fits(args) ? [] : (compiled.fits.errors ?? []).filter(isOwn).map(problemOf);
  } catch (cause) {
    return [{ code: 'ARGS_SCHEMA_UNSUPPORTED', path: '', message: `the whole cannot be judged: ${textOf(cause)}` }];
  }
}

/** Why nothing can be judged under a schema; null when it can. */
export function schemaProblem(schema: Json): string | null {
  if (schema === true) return null;
  const compiled = compiledOf(schema);
  return compiled.kind === 'ready' ? null : compiled.why;
}

function compiledOf(schema: Json): Compiled {
  if (!isJsonObject(schema)) return { kind: 'unusable', why: 'the schema is no object' };
  const known = COMPILED.get(schema);
  if (known !== undefined) return known;
  const compiled = compile(schema);
  COMPILED.set(schema, compiled);
  return compiled;
}

function compile(schema: Readonly<Record<string, Json>>): Compiled {
  if (isDeeper(schema, DEPTH_MAX)) return { kind: 'unusable', why: 'the schema nests too deep' };
  // A contract that is parsed again brings an equal schema: to compile one takes some ten milliseconds.
  const text = JSON.stringify(schema);
  const known = BY_TEXT.get(text);
  if (known !== undefined) return known;
  const compiled = compileAnew(schema);
  const [oldest] = BY_TEXT.keys();
  if (BY_TEXT.size >= KEPT_MAX && oldest !== undefined) BY_TEXT.delete(oldest);
  BY_TEXT.set(text, compiled);
  return compiled;
}

function compileAnew(schema: Readonly<Record<string, Json>>): Compiled {
  // Ajv would answer with a promise, which is no `false`: everything would fit.
  if ('$async' in schema) return { kind: 'unusable', why: '$async: a schema is judged at once' };
  // First of all: what a schema costs is counted by where its references lead.
  const astray = refProblems(schema);
  if (astray.length > 0) return { kind: 'unusable', why: astray.slice(0, TOLD_MAX).join('; ') };
  if (refersToItself(schema, schema)) return { kind: 'unusable', why: 'a reference leads to itself' };
  if (patternsSize(schema) > PATTERNS_MAX) return { kind: 'unusable', why: 'its patterns repeat too much' };
  const perPlace = judgementsPerPlace(schema, PER_PLACE_MAX);
  if (perPlace > PER_PLACE_MAX)
    return { kind: 'unusable', why: 'it judges one place more often than anybody can wait' };
  try {
    const ajv = dialectOf(schema['$schema']) === 'draft-07' ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
    ajv.removeKeyword('uniqueItems').addKeyword(UNIQUE);
    for (const name of namesIn(schema)) if (REMARK.test(name)) ajv.addKeyword(name);
    // Without its name, against which the validator would read `#`.
    const { $id: _name, ...unnamed } = schema;
    return { kind: 'ready', fits: ajv.compile(unnamed), perPlace };
  } catch (cause) {
    return { kind: 'unusable', why: textOf(cause) };
  }
}

/** A chain of references that never comes to a schema. */
function refersToItself(root: Json, at: Json, seen: readonly string[] = []): boolean {
  const ref = isJsonObject(at) ? at['$ref'] : undefined;
  if (typeof ref !== 'string' || (ref !== '#' && !ref.startsWith('#/'))) return false;
  if (seen.includes(ref) || (ref === '#' && at === root)) return true;
  const target = ref
    .slice(2)
    .split('/')
    .filter((name) => name !== '')
    .reduce<Json | undefined>((here, name) => (isJsonObject(here) ? here[name] : undefined), root);
  return target !== undefined && refersToItself(root, target, [...seen, ref]);
}

function isDeeper(value: Json, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  return levels === 0 || Object.values(value).some((one: Json) => isDeeper(one, levels - 1));
}

function patternsSize(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  const own = isJsonObject(value)
    ? [
        value['pattern'],
        ...Object.keys(isJsonObject(value['patternProperties'] ?? null) ? (value['patternProperties'] ?? {}) : {}),
      ]
    : [];
  const sum = own.reduce<number>((all, one) => all + (typeof one === 'string' ? patternSize(one) : 0), 0);
  return Object.values(value).reduce<number>((all, one: Json) => all + patternsSize(one), sum);
}

function namesIn(value: Json, found: Set<string> = new Set()): ReadonlySet<string> {
  if (value === null || typeof value !== 'object') return found;
  for (const [name, one] of Object.entries(value)) {
    found.add(name);
    namesIn(one, found);
  }
  return found;
}

/** Places of a value, itself among them; no further than one beyond the maximum. */
function placesIn(value: Json, max: number): number {
  if (value === null || typeof value !== 'object') return 1;
  let places = 1;
  for (const one of Object.values(value) as readonly Json[]) {
    if (places > max) break;
    places += placesIn(one, max - places);
  }
  return places;
}

/** Ajv compares each item with each: a list of some ten thousand would take seconds. */
const UNIQUE: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must NOT have duplicate items' },
  validate: (isWanted: boolean, items: readonly Json[]) =>
    !isWanted || new Set(items.map((item) => canonicalJson(item))).size === items.length,
};

/** What an error says beside those it is made of. */
function isOwn({ keyword }: ErrorObject): boolean {
  return keyword !== 'if';
}

/** Keywords whose error names a member. */
const NAMED: Readonly<
  Record<string, { readonly code: ArgsProblemCode; readonly param: string; readonly text: string }>
> = {
  required: { code: 'ARGS_MISSING', param: 'missingProperty', text: 'is missing' },
  dependentRequired: { code: 'ARGS_MISSING', param: 'missingProperty', text: 'is missing' },
  additionalProperties: { code: 'ARGS_UNKNOWN', param: 'additionalProperty', text: 'is not declared' },
  unevaluatedProperties: { code: 'ARGS_UNKNOWN', param: 'unevaluatedProperty', text: 'is not declared' },
};

function problemOf({ keyword, instancePath, params, message = 'does not fit' }: ErrorObject): ArgsProblem {
  const named = Object.hasOwn(NAMED, keyword) ? NAMED[keyword] : undefined;
  if (named === undefined) return told(keyword === 'type' ? 'ARGS_TYPE' : 'ARGS_VALUE', instancePath, message);
  return told(
    named.code,
    `${instancePath}/${String((params as Readonly<Record<string, unknown>>)[named.param])}`,
    named.text,
  ); // Ajv gives an object
}

function told(code: ArgsProblemCode, path: string, text: string): ArgsProblem {
  return { code, path, message: `${path === '' ? 'the whole' : path} ${text}` };
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
