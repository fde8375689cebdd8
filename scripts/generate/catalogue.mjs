// The schema catalogue: reads schemas/<context>/<Name>.avsc and schemas/topics.json, and says what is wrong with them.
//
// Shape of a catalogue:
//   types    Map<full name, { fullName, context, name, file, schema }>   every named type that has a file
//   topics   the list in topics.json
//   inline   (full name) -> self-contained Avro schema: references inlined at first use, docs stripped, full names
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const PRIMITIVES = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);
const NAMED = new Set(['record', 'enum', 'fixed']);
/** Folders under schemas/ that hold no sources. */
const NOT_SOURCES = new Set(['history', 'vectors']);
const TOPIC_KINDS = new Set(['wire', 'log', 'derived']);

export function loadCatalogue(folder) {
  const types = new Map();
  const unreadable = [];
  for (const context of contexts(folder)) {
    for (const file of readdirSync(join(folder, context))
      .filter((name) => name.endsWith('.avsc'))
      .sort()) {
      const path = `schemas/${context}/${file}`;
      try {
        const schema = JSON.parse(readFileSync(join(folder, context, file), 'utf8'));
        const fullName = fullNameOf(schema.name ?? '', schema.namespace ?? '');
        if (types.has(fullName)) unreadable.push(`${path}: ${fullName} is defined twice`);
        types.set(fullName, { fullName, context, name: shortName(fullName), file: path, schema });
      } catch (error) {
        unreadable.push(`${path}: ${error.message}`);
      }
    }
  }
  const topicsFile = join(folder, 'topics.json');
  const topics = existsSync(topicsFile) ? JSON.parse(readFileSync(topicsFile, 'utf8')).topics : [];
  const inline = (fullName) => inlined(fullName, '', types, new Set());
  return { types, topics, unreadable, inline };
}

const contexts = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !NOT_SOURCES.has(entry.name))
        .map((entry) => entry.name)
        .sort()
    : [];

export const shortName = (fullName) => fullName.slice(fullName.lastIndexOf('.') + 1);
export const namespaceOf = (fullName) => fullName.slice(0, Math.max(0, fullName.lastIndexOf('.')));
export const fullNameOf = (name, namespace) => (name.includes('.') || namespace === '' ? name : `${namespace}.${name}`);

/** Full names of the records that travel on their own: whatever a topic lists. */
export function messageNames({ topics }) {
  return [...new Set(topics.flatMap((topic) => topic.records))].sort();
}

function inlined(schema, namespace, types, seen) {
  if (typeof schema === 'string') {
    if (PRIMITIVES.has(schema)) return schema;
    const fullName = fullNameOf(schema, namespace);
    if (seen.has(fullName)) return fullName;
    const type = types.get(fullName);
    if (type === undefined) throw new Error(`unknown type ${fullName}`);
    return inlined(type.schema, namespaceOf(fullName), types, seen);
  }
  if (Array.isArray(schema)) return schema.map((branch) => inlined(branch, namespace, types, seen));
  if (NAMED.has(schema.type)) return inlinedNamed(schema, namespace, types, seen);
  if (schema.type === 'array') return { type: 'array', items: inlined(schema.items, namespace, types, seen) };
  if (schema.type === 'map') return { type: 'map', values: inlined(schema.values, namespace, types, seen) };
  if (PRIMITIVES.has(schema.type))
    return schema.logicalType === undefined ? schema.type : { type: schema.type, logicalType: schema.logicalType };
  return inlined(schema.type, namespace, types, seen);
}

function inlinedNamed(schema, outer, types, seen) {
  const name = fullNameOf(schema.name, schema.namespace ?? outer);
  seen.add(name);
  const base = { type: schema.type, name, ...(schema.aliases === undefined ? {} : { aliases: schema.aliases }) };
  if (schema.type === 'fixed') return { ...base, size: schema.size };
  if (schema.type === 'enum')
    return { ...base, symbols: schema.symbols, ...(schema.default === undefined ? {} : { default: schema.default }) };
  const fields = schema.fields.map((field) => ({
    name: field.name,
    type: inlined(field.type, namespaceOf(name), types, seen),
    ...('default' in field ? { default: field.default } : {}),
    ...(field.aliases === undefined ? {} : { aliases: field.aliases }),
  }));
  return { ...base, fields };
}

/** Every problem of the sources at once, each with its file. */
export function checkCatalogue(catalogue) {
  const { types, topics, unreadable } = catalogue;
  const problems = [...unreadable];
  const short = new Map();
  for (const type of types.values()) {
    problems.push(...typeProblems(type, catalogue).map((problem) => `${type.file}: ${problem}`));
    const twin = short.get(type.name);
    if (twin !== undefined)
      problems.push(
        `${type.file}: short name ${type.name} is taken by ${twin}; short names are unique over all contexts`,
      );
    short.set(type.name, type.file);
  }
  for (const topic of topics)
    problems.push(...topicProblems(topic, types).map((problem) => `schemas/topics.json: ${topic.name}: ${problem}`));
  return problems;
}

function typeProblems(type, { inline }) {
  const { schema, context, name, file } = type;
  const problems = [];
  if (!NAMED.has(schema.type)) return [`type must be record, enum or fixed, is ${JSON.stringify(schema.type)}`];
  if (!file.endsWith(`/${name}.avsc`)) problems.push(`file name and type name ${name} differ`);
  if (namespaceOf(type.fullName) !== `recourse.${context.replaceAll('-', '_')}`)
    problems.push(`namespace must be recourse.${context.replaceAll('-', '_')}, is ${namespaceOf(type.fullName)}`);
  if (!schema.doc) problems.push('has no doc');
  if (schema.type === 'record') problems.push(...undocumented(schema, ''));
  try {
    inline(type.fullName);
  } catch (error) {
    problems.push(error.message);
  }
  return problems;
}

function undocumented(record, path) {
  return record.fields.flatMap((field) => {
    const here = `${path}${field.name}`;
    const nested =
      typeof field.type === 'object' && field.type.type === 'record' ? undocumented(field.type, `${here}.`) : [];
    return field.doc ? nested : [`field ${here} has no doc`, ...nested];
  });
}

function topicProblems(topic, types) {
  const problems = [];
  if (!TOPIC_KINDS.has(topic.kind)) problems.push(`kind must be wire, log or derived, is ${topic.kind}`);
  if (!Array.isArray(topic.records) || topic.records.length === 0) return [...problems, 'has no records'];
  for (const fullName of topic.records) {
    const type = types.get(fullName);
    if (type?.schema.type !== 'record') {
      problems.push(`${fullName} is no record with a file`);
      continue;
    }
    const [seq, prevHash] = type.schema.fields;
    if (topic.kind !== 'wire' && !(seq?.name === 'seq' && prevHash?.name === 'prev_hash'))
      problems.push(`${fullName} does not begin with seq and prev_hash`);
  }
  return problems;
}
