// Are two Avro schemas one, however they are written? A registry may give back another text than it was given.
//
// Source: Avro 1.12, "Names": a name without dots is in the namespace beside it, or in that of the schema around it.
import { isDeepStrictEqual } from 'node:util';

type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

const PRIMITIVE = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);

/** Compares with every name written in full; order of members and spaces do not count. Errors: SyntaxError where one is no JSON. */
export function isSameSchema(one: string, other: string): boolean {
  return one === other || isDeepStrictEqual(inFull(JSON.parse(one) as Json, ''), inFull(JSON.parse(other) as Json, ''));
}

function inFull(schema: Json | undefined, around: string): Json {
  if (typeof schema === 'string') return PRIMITIVE.has(schema) ? schema : fullName(schema, around);
  if (Array.isArray(schema)) return (schema as readonly Json[]).map((branch) => inFull(branch, around));
  if (typeof schema !== 'object' || schema === null) return schema ?? null;
  const { namespace, ...rest } = schema as Readonly<Record<string, Json>>;
  return typeof rest['name'] === 'string'
    ? named(rest, fullName(rest['name'], typeof namespace === 'string' ? namespace : around))
    : parts(rest, around);
}

function named(schema: Readonly<Record<string, Json>>, name: string): Json {
  const inside = name.slice(0, Math.max(0, name.lastIndexOf('.')));
  const { fields } = schema;
  if (!Array.isArray(fields)) return { ...schema, name };
  // Each is an object with a type, in a schema that a registry took.
  const written = (fields as readonly Readonly<Record<string, Json>>[]).map((field) => ({
    ...field,
    type: inFull(field['type'], inside),
  }));
  return { ...schema, name, fields: written };
}

/** Of an array, a map, or a type with something beside it. */
function parts(schema: Readonly<Record<string, Json>>, around: string): Json {
  return Object.fromEntries(
    Object.entries(schema).map(([member, value]) => [
      member,
      ['items', 'values'].includes(member) || (member === 'type' && typeof value === 'object')
        ? inFull(value, around)
        : value,
    ]),
  );
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
}
