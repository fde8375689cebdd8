// TypeScript for the schemas: one file of interfaces per context, the schema table, the topic table, one index.
import { PRIMITIVES, fullNameOf, messageNames, namespaceOf, shortName } from './catalogue.mjs';

const FOLDER = 'libs/messages/src/generated';
const HEADER = '// Generated from schemas/ by scripts/generate.mjs. Do not edit.\n';
const PRIMITIVE_TS = {
  null: 'null',
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  float: 'number',
  double: 'number',
  bytes: 'Buffer',
  string: 'string',
};

/** Files of the message package, as `{ path, text }`. */
export function typescriptFiles(catalogue) {
  const contexts = [...new Set([...catalogue.types.values()].map((type) => type.context))].sort();
  const modules = contexts.map((context) => contextModule(context, catalogue));
  const topics = topicsModule(catalogue);
  return [
    ...modules.map(({ context, text }) => ({ path: `${FOLDER}/${context}.ts`, text })),
    { path: `${FOLDER}/schemas.ts`, text: schemasModule(catalogue) },
    { path: `${FOLDER}/topics.ts`, text: topics.text },
    { path: `${FOLDER}/index.ts`, text: indexModule(modules, topics) },
  ];
}

function contextModule(context, catalogue) {
  const out = {
    context,
    namespace: `recourse.${context.replaceAll('-', '_')}`,
    catalogue,
    parts: [],
    types: [],
    values: [],
    imports: new Map(),
    done: new Set(),
  };
  for (const type of catalogue.types.values()) if (type.context === context) define(type.schema, out.namespace, out);
  const imports = [...out.imports]
    .sort()
    .map(([from, names]) => `import type { ${[...names].sort().join(', ')} } from './${from}.js';\n`);
  const text = `${HEADER}${imports.join('')}\n${out.parts.join('\n')}`;
  return { context, text, types: out.types, values: out.values };
}

function define(schema, namespace, out) {
  const fullName = fullNameOf(schema.name, schema.namespace ?? namespace);
  if (out.done.has(fullName)) return;
  out.done.add(fullName);
  const name = shortName(fullName);
  out.types.push(name);
  if (schema.type === 'enum') out.parts.push(enumText(name, schema, out));
  else if (schema.type === 'fixed')
    out.parts.push(`${jsdoc(schema.doc, '', `${schema.size} bytes.`)}export type ${name} = Buffer;\n`);
  else out.parts.push(recordText(name, fullName, schema, out));
}

function enumText(name, schema, out) {
  const values = `${constantCase(name)}_VALUES`;
  out.values.push(values);
  const symbols = schema.symbols
    .filter((symbol) => symbol !== schema.default)
    .map((symbol) => `'${symbol}'`)
    .join(', ');
  return `${jsdoc(schema.doc)}export const ${values} = [${symbols}] as const;\nexport type ${name} = (typeof ${values})[number];\n`;
}

function recordText(name, fullName, schema, out) {
  const fields = schema.fields.map(
    (field) =>
      `${jsdoc(field.doc, '  ')}  readonly ${field.name}: ${typeText(field.type, namespaceOf(fullName), out)};\n`,
  );
  return `${jsdoc(schema.doc)}export interface ${name} {\n${fields.join('')}}\n`;
}

function typeText(schema, namespace, out) {
  if (typeof schema === 'string')
    return PRIMITIVES.has(schema) ? PRIMITIVE_TS[schema] : reference(fullNameOf(schema, namespace), out);
  if (Array.isArray(schema)) return unionText(schema, namespace, out);
  if (schema.type === 'array') return `readonly ${grouped(typeText(schema.items, namespace, out))}[]`;
  if (schema.type === 'map') return `Readonly<Record<string, ${typeText(schema.values, namespace, out)}>>`;
  if (['record', 'enum', 'fixed'].includes(schema.type)) {
    define(schema, namespace, out);
    return shortName(fullNameOf(schema.name, schema.namespace ?? namespace));
  }
  return typeText(schema.type, namespace, out);
}

function unionText(branches, namespace, out) {
  const isNull = (branch) => branch === 'null';
  const texts = branches.filter((branch) => !isNull(branch)).map((branch) => typeText(branch, namespace, out));
  return [...new Set(texts), ...(branches.some(isNull) ? ['null'] : [])].join(' | ');
}

const grouped = (text) => (/[ |]/.test(text) && !/^\w+<.*>$/.test(text) ? `(${text})` : text);

function reference(fullName, out) {
  const type = out.catalogue.types.get(fullName);
  const name = shortName(fullName);
  if (type !== undefined && type.context !== out.context) {
    out.imports.set(type.context, (out.imports.get(type.context) ?? new Set()).add(name));
  }
  return name;
}

function schemasModule(catalogue) {
  const names = messageNames(catalogue);
  const entries = names.map(
    (name) => `  '${name}': '${JSON.stringify(catalogue.inline(name)).replace(/['\\]/g, '\\$&')}',\n`,
  );
  return `${HEADER}
/** Self-contained Avro JSON of every message, by full name: references inlined, docs left out, same canonical form. */
export const SCHEMAS = {
${entries.join('')}} as const satisfies Readonly<Record<string, string>>;

/** Full name of a message. */
export type MessageName = keyof typeof SCHEMAS;
`;
}

function topicsModule({ topics, types }) {
  const imports = new Map();
  const unions = [];
  for (const topic of topics) {
    for (const record of topic.records) {
      const { context } = types.get(record);
      imports.set(context, (imports.get(context) ?? new Set()).add(shortName(record)));
    }
    unions.push({ name: `${pascalCase(topic.name.replace(/^recourse\./, '').replace(/\.?<.*>$/, ''))}Record`, topic });
  }
  const importText = [...imports]
    .sort()
    .map(([from, names]) => `import type { ${[...names].sort().join(', ')} } from './${from}.js';\n`)
    .join('');
  const unionTexts = unions.map(
    ({ name, topic }) =>
      `${jsdoc(`What \`${topic.name}\` holds.`)}export type ${name} =\n${topic.records.map((record) => `  | { readonly type: '${shortName(record)}'; readonly body: ${shortName(record)} }`).join('\n')};\n`,
  );
  const text = `${HEADER}${importText}
/** The topics of schemas/topics.json, with the full names of their records. */
export const TOPICS = ${JSON.stringify(topics, null, 2)} as const;

${unionTexts.join('\n')}
/** Record union by topic name. */
export interface TopicRecords {
${unions.map(({ name, topic }) => `  readonly '${topic.name}': ${name};\n`).join('')}}

/** Name of a topic, as it stands in schemas/topics.json. */
export type TopicName = keyof TopicRecords;
`;
  return { text, types: [...unions.map(({ name }) => name), 'TopicRecords', 'TopicName'] };
}

function indexModule(modules, topics) {
  const lines = modules.flatMap(({ context, types, values }) => [
    ...(values.length > 0 ? [`export { ${[...values].sort().join(', ')} } from './${context}.js';`] : []),
    ...(types.length > 0 ? [`export type { ${[...types].sort().join(', ')} } from './${context}.js';`] : []),
  ]);
  lines.push(`export { SCHEMAS } from './schemas.js';`, `export type { MessageName } from './schemas.js';`);
  lines.push(
    `export { TOPICS } from './topics.js';`,
    `export type { ${[...topics.types].sort().join(', ')} } from './topics.js';`,
  );
  return `${HEADER}${lines.join('\n')}\n`;
}

function jsdoc(doc, indent = '', extra = '') {
  const text = [doc, extra].filter(Boolean).join(' ').replaceAll('*/', '*\\/');
  return text === '' ? '' : `${indent}/** ${text.split('\n').join(`\n${indent} * `)} */\n`;
}

const pascalCase = (name) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
const constantCase = (name) => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
