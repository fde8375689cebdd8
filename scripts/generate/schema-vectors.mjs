// Vectors of schemas and values: Parsing Canonical Form, from the Avro specification; two sample records of every message, one
// sparse and one full.
import avsc from 'avsc';
import { frame, sha256, text } from './vector-bytes.mjs';

const FIELD_ORDER = ['name', 'type', 'fields', 'symbols', 'items', 'values', 'size'];

function canonical(schema) {
  if (typeof schema === 'string') return JSON.stringify(schema);
  if (Array.isArray(schema)) return `[${schema.map(canonical).join(',')}]`;
  if (typeof schema.type === 'string' && !['record', 'enum', 'fixed', 'array', 'map'].includes(schema.type))
    return canonical(schema.type);
  const members = FIELD_ORDER.filter((member) => member in schema).map(
    (member) => `"${member}":${canonicalMember(member, schema)}`,
  );
  return `{${members.join(',')}}`;
}

function canonicalMember(member, schema) {
  if (member === 'name')
    return JSON.stringify(
      schema.namespace && !schema.name.includes('.') ? `${schema.namespace}.${schema.name}` : schema.name,
    );
  if (member === 'type') return JSON.stringify(schema.type);
  if (member === 'fields')
    return `[${schema.fields.map((field) => `{"name":${JSON.stringify(field.name)},"type":${canonical(field.type)}}`).join(',')}]`;
  if (member === 'symbols') return JSON.stringify(schema.symbols);
  return member === 'size' ? String(schema.size) : canonical(schema[member]);
}

export const fingerprintOf = (schema) => sha256(text(canonical(schema)));
export const fingerprintVector = ({ message, version, schema }) => ({
  message,
  version,
  fingerprint: fingerprintOf(schema).toString('hex'),
});

export const NOTE = {
  type: 'record',
  name: 'recourse.vectors.Note',
  fields: [
    { name: 'seq', type: 'long' },
    { name: 'prev_hash', type: { type: 'fixed', name: 'recourse.vectors.Digest', size: 32 } },
    { name: 'note', type: 'string' },
  ],
};

const INSTANT = { type: 'long', logicalType: 'timestamp-millis' };
const recordOf = (fields, more = {}) => ({ type: 'record', name: 'recourse.vectors.Trap', ...more, fields });

/** What libraries get wrong, one by one. */
const TRAPS = {
  'a logical type in a union': recordOf([{ name: 'at', type: ['null', INSTANT], default: null }]),
  'a logical type in an array': recordOf([{ name: 'at', type: { type: 'array', items: INSTANT } }]),
  'a logical type on bytes, with attributes of its own': recordOf([
    { name: 'sum', type: { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 } },
  ]),
  'a logical type on a fixed, which stays': recordOf([
    { name: 'id', type: { type: 'fixed', name: 'recourse.vectors.Uuid', size: 16, logicalType: 'uuid' } },
  ]),
  'a default of an enum': recordOf([
    { name: 'kind', type: { type: 'enum', name: 'recourse.vectors.Kind', symbols: ['a', 'b'], default: 'b' } },
  ]),
};

export function canonicalForms() {
  return [...plainForms(), ...Object.entries(TRAPS).map(([trap, schema]) => ({ trap, ...formOf(schema) }))];
}

function plainForms() {
  const schemas = [
    NOTE,
    {
      type: 'record',
      name: 'Sample',
      namespace: 'recourse.vectors',
      doc: 'Docs, defaults, aliases and logical types are no part of the form.',
      aliases: ['Old'],
      fields: [
        { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' }, doc: 'An instant.', default: 0 },
        { name: 'mode', type: { type: 'enum', name: 'recourse.vectors.Mode', symbols: ['a', 'b'], default: 'a' } },
        { name: 'again', type: ['null', 'recourse.vectors.Mode'], default: null },
        { name: 'list', type: { type: 'array', items: { type: 'map', values: 'bytes' } } },
        { name: 'whole', type: { type: 'string' }, order: 'ignore' },
      ],
    },
  ];
  return schemas.map(formOf);
}

function formOf(schema) {
  return { schema, canonical: canonical(schema), fingerprint: fingerprintOf(schema).toString('hex') };
}

export function frames({ message, version, schema }, index) {
  const type = avsc.Type.forSchema(schema, { wrapUnions: 'never' });
  return ['sparse', 'full'].map((variant) => {
    const body = sample(schema, variant === 'full', message, namesIn(schema));
    return {
      message,
      version,
      variant,
      schema_id: index + 1,
      body: inJson(body),
      hex: frame(index + 1, type.toBuffer(body)).toString('hex'),
    };
  });
}

function sample(schema, isFull, path, names) {
  if (typeof schema === 'string' && names.has(schema)) return sample(names.get(schema), isFull, path, names);
  if (Array.isArray(schema))
    return sample(schema.find((branch) => (branch === 'null') !== isFull) ?? schema[0], isFull, path, names);
  const kind = schema.type ?? schema;
  const seed = sha256(text(`${path} ${isFull}`));
  switch (kind) {
    case 'record':
      return Object.fromEntries(
        schema.fields.map((field) => [field.name, sample(field.type, isFull, `${path}.${field.name}`, names)]),
      );
    case 'array':
      return isFull ? [0, 1].map((n) => sample(schema.items, n === 0, `${path}[${n}]`, names)) : [];
    case 'map':
      return isFull ? { 'a key': sample(schema.values, true, `${path}{}`, names) } : {};
    case 'enum': {
      const meant = schema.symbols.filter((symbol) => symbol !== schema.default);
      return meant[isFull ? meant.length - 1 : 0];
    }
    case 'fixed':
      return Buffer.concat([seed, seed]).subarray(0, schema.size);
    case 'bytes':
      return isFull ? seed.subarray(0, 5) : Buffer.alloc(0);
    case 'string':
      return isFull ? `${path.split('.').at(-1)} ü€😀` : '';
    case 'boolean':
      return isFull;
    case 'int':
      return isFull ? -2_147_483_648 : seed.readUInt8(0);
    case 'long':
      return isFull ? Number.MAX_SAFE_INTEGER - 1 - seed.readUInt8(0) : -seed.readUInt8(0);
    case 'float':
    case 'double':
      return isFull ? -0.5 : 1.25;
    default:
      return null;
  }
}

function namesIn(schema, names = new Map()) {
  if (typeof schema !== 'object' || schema === null) return names;
  if (schema.name !== undefined && schema.type !== undefined && ['record', 'enum', 'fixed'].includes(schema.type))
    names.set(schema.name, schema);
  for (const member of Object.values(schema)) namesIn(member, names);
  return names;
}

function inJson(value) {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (Array.isArray(value)) return value.map(inJson);
  return value !== null && typeof value === 'object'
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inJson(member)]))
    : value;
}
