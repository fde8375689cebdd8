// JSON pointers (RFC 6901) into values and into JSON Schemas.
import { isJsonObject } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';

/** Reads a value; undefined when there is none. Shape: '' is the whole, '/a/0' a member of a list. */
export function readPointer(value: Json, pointer: string): Json | undefined {
  let at: Json | undefined = value;
  for (const token of tokensOf(pointer)) {
    if (at === undefined || at === null || typeof at !== 'object') return undefined;
    at = child(at, token);
  }
  return at;
}

/** Writes the pointer of a path. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * Says which schema describes the place a pointer names; undefined when the schema declares no such place.
 *
 * Shape:  follows properties, items, prefixItems, additionalProperties given as a schema, local $ref and allOf.
 *         A place only an anyOf or oneOf declares counts as undeclared: it need not be there.
 */
export function schemaAt(schema: Json, pointer: string): Json | undefined {
  let at: Json | undefined = deref(schema, schema);
  for (const token of tokensOf(pointer)) {
    if (at === undefined) return undefined;
    at = subschema(at, token, schema);
  }
  return at;
}

/** Types that a `type` keyword names: one, or a list. Empty for anything else. */
export function typesIn(type: Json | undefined): readonly string[] {
  const named: readonly Json[] = Array.isArray(type) ? (type as readonly Json[]) : type === undefined ? [] : [type];
  return named.filter((each) => typeof each === 'string');
}

/** True when the schema allows only integers, by itself, through allOf or a reference within `root`. */
export function isInteger(schema: Json, root: Json = schema): boolean {
  return partsOf(root, schema).some((part) => typesIn(part['type']).join() === 'integer');
}

/** Names a schema's object declares by itself or through allOf and local $ref; null when it declares none. */
export function declaredNames(schema: Json): readonly string[] | null {
  const names = partsOf(schema).flatMap((part) => objectKeys(part['properties']));
  return names.length === 0 ? null : [...new Set(names)];
}

/** Names a schema's object demands. */
export function requiredNames(schema: Json): readonly string[] {
  return [
    ...new Set(
      partsOf(schema).flatMap((part) =>
        Array.isArray(part['required'])
          ? (part['required'] as readonly Json[]).filter((name) => typeof name === 'string')
          : [],
      ),
    ),
  ];
}

/** True when the schema takes no other names than those it declares. */
export function isClosed(schema: Json): boolean {
  return partsOf(schema).some((part) => part['additionalProperties'] === false);
}

/** The schema and what allOf and local references add to it, each once: what they unfold to has no bound. */
function partsOf(root: Json, at: Json = root): readonly Readonly<Record<string, Json>>[] {
  const parts = new Set<Readonly<Record<string, Json>>>();
  const open: Json[] = [at];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const part = deref(next, root);
    if (part === undefined || !isJsonObject(part) || parts.has(part)) continue;
    parts.add(part);
    if (Array.isArray(part['allOf'])) open.push(...(part['allOf'] as readonly Json[]).toReversed());
  }
  return [...parts];
}

function objectKeys(value: Json | undefined): readonly string[] {
  return value !== undefined && isJsonObject(value) ? Object.keys(value) : [];
}

function subschema(schema: Json, token: string, root: Json): Json | undefined {
  for (const part of partsOf(root, schema)) {
    const found =
      member(part['properties'], token) ?? itemSchema(part, token) ?? schemaOnly(part['additionalProperties']);
    const at = found === undefined ? undefined : deref(found, root);
    if (at !== undefined) return at;
  }
  return undefined;
}

function itemSchema(schema: Readonly<Record<string, Json>>, token: string): Json | undefined {
  if (!/^(?:0|[1-9][0-9]*)$/.test(token)) return undefined;
  return member(schema['prefixItems'], token) ?? schemaOnly(schema['items']);
}

function deref(schema: Json, root: Json): Json | undefined {
  let at: Json | undefined = schema;
  for (let hops = 0; hops < 16; hops += 1) {
    const target: Json | undefined = isJsonObject(at ?? null)
      ? (at as Readonly<Record<string, Json>>)['$ref']
      : undefined;
    if (typeof target !== 'string') return at;
    if (!target.startsWith('#')) return undefined;
    at = readPointer(root, target.slice(1));
  }
  return undefined;
}

function schemaOnly(value: Json | undefined): Json | undefined {
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

function member(value: Json | undefined, token: string): Json | undefined {
  return value === undefined || value === null || typeof value !== 'object' ? undefined : child(value, token);
}

function child(value: readonly Json[] | { readonly [key: string]: Json }, token: string): Json | undefined {
  if (Array.isArray(value))
    return /^(?:0|[1-9][0-9]*)$/.test(token) ? (value as readonly Json[])[Number(token)] : undefined;
  return Object.hasOwn(value, token) ? (value as Readonly<Record<string, Json>>)[token] : undefined;
}

function tokensOf(pointer: string): readonly string[] {
  return pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}
