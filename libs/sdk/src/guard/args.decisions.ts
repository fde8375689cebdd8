// Validates the arguments of a call against its contract's `args_schema`.
//
// Boundary: the part of JSON Schema that contracts use: type, properties, required, additionalProperties, items, enum,
// const, bounds of numbers and lengths, pattern, local $ref and allOf. A keyword outside it is a problem of its own, so
// that nothing is waved through unread.
import { canonicalJson } from '@recourse/kernel';
import type { Json, Rejection } from '@recourse/kernel';

/** Kind of a problem of arguments. */
export type ArgsProblemCode = 'ARGS_TYPE' | 'ARGS_MISSING' | 'ARGS_UNKNOWN' | 'ARGS_VALUE' | 'ARGS_SCHEMA_UNSUPPORTED';
/** One problem of arguments, with the path it is at. */
export type ArgsProblem = Rejection<ArgsProblemCode> & { readonly path: string };

type Schema = Readonly<Record<string, Json>>;
interface Place {
  readonly value: Json;
  readonly schema: Json;
  readonly path: string;
  readonly root: Json;
}

const ANNOTATIONS: readonly string[] = [
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'examples',
  'default',
  'format',
  'deprecated',
  'readOnly',
  'writeOnly',
];
const DEPTH_MAX = 64;

/** Lists every problem of the arguments; empty when they fit. */
export function checkArgs(args: Json, schema: Json): readonly ArgsProblem[] {
  return check({ value: args, schema, path: '', root: schema }, 0);
}

function check(place: Place, depth: number): readonly ArgsProblem[] {
  const { schema, path } = place;
  if (schema === true) return [];
  if (depth > DEPTH_MAX) return [problem('ARGS_SCHEMA_UNSUPPORTED', path, 'the schema nests too deep')];
  if (!isObject(schema)) return [problem('ARGS_SCHEMA_UNSUPPORTED', path, 'the schema is no object')];
  return Object.entries(schema).flatMap(([keyword, operand]) => {
    if (ANNOTATIONS.includes(keyword)) return [];
    const rule = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    return rule === undefined
      ? [problem('ARGS_SCHEMA_UNSUPPORTED', path, `the keyword ${keyword} is not supported`)]
      : rule(operand, place, depth);
  });
}

type Keyword = (operand: Json, place: Place, depth: number) => readonly ArgsProblem[];

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (operand, { value, path }) =>
    unless(
      list(operand).some((type) => isOfType(value, type)),
      'ARGS_TYPE',
      path,
      `is not ${textsOf(operand).join(' or ')}`,
    ),
  enum: (operand, { value, path }) =>
    unless(
      list(operand).some((each) => same(each, value)),
      'ARGS_VALUE',
      path,
      'is none of the values allowed',
    ),
  const: (operand, { value, path }) => unless(same(operand, value), 'ARGS_VALUE', path, 'is not the value demanded'),
  minimum: (operand, place) => bound(place, operand, (number, limit) => number >= limit, 'is too small'),
  maximum: (operand, place) => bound(place, operand, (number, limit) => number <= limit, 'is too large'),
  exclusiveMinimum: (operand, place) => bound(place, operand, (number, limit) => number > limit, 'is too small'),
  exclusiveMaximum: (operand, place) => bound(place, operand, (number, limit) => number < limit, 'is too large'),
  minLength: (operand, place) => length(place, operand, (size, limit) => size >= limit, 'is too short'),
  maxLength: (operand, place) => length(place, operand, (size, limit) => size <= limit, 'is too long'),
  minItems: (operand, place) => length(place, operand, (size, limit) => size >= limit, 'has too few items', true),
  maxItems: (operand, place) => length(place, operand, (size, limit) => size <= limit, 'has too many items', true),
  pattern: (operand, { value, path }) =>
    unless(
      typeof value !== 'string' || typeof operand !== 'string' || new RegExp(operand, 'u').test(value),
      'ARGS_VALUE',
      path,
      'does not match the pattern',
    ),
  required: (operand, { value, path }) =>
    isObject(value)
      ? textsOf(operand).flatMap((name) =>
          unless(Object.hasOwn(value, name), 'ARGS_MISSING', `${path}/${name}`, 'is missing'),
        )
      : [],
  properties: (operand, place, depth) =>
    isObject(place.value) && isObject(operand) ? members(operand, place.value, place, depth) : [],
  additionalProperties: (operand, place, depth) =>
    isObject(place.value) ? others(operand, place.value, place, depth) : [],
  items: (operand, place, depth) =>
    Array.isArray(place.value)
      ? (place.value as readonly Json[]).flatMap((value, index) =>
          check({ ...place, value, schema: operand, path: `${place.path}/${String(index)}` }, depth + 1),
        )
      : [],
  allOf: (operand, place, depth) => list(operand).flatMap((schema) => check({ ...place, schema }, depth + 1)),
  $ref: (operand, place, depth) => {
    const schema = typeof operand === 'string' && operand.startsWith('#/') ? target(place.root, operand) : undefined;
    return schema === undefined
      ? [problem('ARGS_SCHEMA_UNSUPPORTED', place.path, 'the reference leads nowhere')]
      : check({ ...place, schema }, depth + 1);
  },
};

function members(properties: Schema, value: Schema, place: Place, depth: number): readonly ArgsProblem[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    return member === undefined
      ? []
      : check({ ...place, value: member, schema, path: `${place.path}/${name}` }, depth + 1);
  });
}

function others(operand: Json, value: Schema, place: Place, depth: number): readonly ArgsProblem[] {
  const declared = isObject(place.schema) ? place.schema['properties'] : undefined;
  const known = isObject(declared) ? Object.keys(declared) : [];
  return Object.entries(value)
    .filter(([name]) => !known.includes(name))
    .flatMap(([name, member]) => {
      const path = `${place.path}/${name}`;
      return operand === false
        ? [problem('ARGS_UNKNOWN', path, 'is not declared')]
        : check({ ...place, value: member, schema: operand, path }, depth + 1);
    });
}

function isOfType(value: Json, type: Json): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type;
    default:
      return false;
  }
}

function bound(
  { value, path }: Place,
  operand: Json,
  fits: (value: number, limit: number) => boolean,
  text: string,
): readonly ArgsProblem[] {
  return unless(
    typeof value !== 'number' || (typeof operand === 'number' && fits(value, operand)),
    'ARGS_VALUE',
    path,
    text,
  );
}

function length(
  { value, path }: Place,
  operand: Json,
  fits: (size: number, limit: number) => boolean,
  text: string,
  ofItems = false,
): readonly ArgsProblem[] {
  const size =
    ofItems && Array.isArray(value)
      ? value.length
      : !ofItems && typeof value === 'string'
        ? Array.from(value).length
        : null;
  return unless(size === null || (typeof operand === 'number' && fits(size, operand)), 'ARGS_VALUE', path, text);
}

function target(root: Json, reference: string): Json | undefined {
  return reference
    .slice(2)
    .split('/')
    .reduce<Json | undefined>(
      (at, name) => (at !== undefined && isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
      root,
    );
}

function unless(fits: boolean, code: ArgsProblemCode, path: string, text: string): readonly ArgsProblem[] {
  return fits ? [] : [problem(code, path, text)];
}

const problem = (code: ArgsProblemCode, path: string, text: string): ArgsProblem => ({
  code,
  path,
  message: `${path === '' ? 'the whole' : path} ${text}`,
});
// Array.isArray does not narrow readonly lists.
const list = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [value]);
const textsOf = (value: Json): readonly string[] => list(value).filter((each) => typeof each === 'string');
const isObject = (value: Json | undefined): value is Schema =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function same(a: Json, b: Json): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
