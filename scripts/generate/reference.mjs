// docs/reference/topics.md: the topic table and the fields of every message.
import { fullNameOf, messageNames, namespaceOf, shortName } from './catalogue.mjs';

/** Reference pages, as `{ path, text }`. */
export function referencePages(catalogue) {
  return [{ path: 'docs/reference/topics.md', text: topicsPage(catalogue) }];
}

function topicsPage(catalogue) {
  const names = messageNames(catalogue);
  const shared = [...catalogue.types.values()].filter((type) => !names.includes(type.fullName));
  return `# Topics and records

Generated from \`schemas/\` by \`scripts/generate.mjs\`; do not edit.

A wire is an input from outside or a request to outside. A log is written by one service and never compacted. A derived topic is a pure function of a log.
Values are Confluent-framed Avro; the subject of a record is \`<topic>-<full name>\`; keys are plain UTF-8.

${topicTable(catalogue)}
## Records

${names.map((name) => typeSection(catalogue.types.get(name), catalogue)).join('\n')}
## Shared types

${shared.map((type) => typeSection(type, catalogue)).join('\n')}`;
}

function topicTable({ topics }) {
  const rows = topics.map((topic) => [
    `\`${topic.name}\``,
    topic.kind,
    topic.key,
    topic.partitioned ? 'many' : 'one',
    topic.written_by,
    topic.read_by,
    retention(topic.config),
    topic.records.map(link).join(', '),
    topic.doc,
  ]);
  return table(
    ['Topic', 'Kind', 'Key', 'Partitions', 'Written by', 'Read by', 'Retention', 'Records', 'Purpose'],
    rows,
  );
}

function retention(config = {}) {
  const ms = Number(config['retention.ms'] ?? Number.NaN);
  if (Number.isNaN(ms)) return '';
  return ms < 0 ? 'for ever' : `${ms / 86_400_000} days`;
}

function typeSection(type, catalogue) {
  const { schema, fullName } = type;
  const topics = catalogue.topics
    .filter((topic) => topic.records.includes(fullName))
    .map((topic) => `\`${topic.name}\``);
  const where = topics.length > 0 ? ` On ${topics.join(', ')}.` : '';
  return `### ${type.name}\n\n\`${fullName}\`, ${schema.type}. ${schema.doc}${where}\n\n${typeBody(schema, fullName, catalogue)}`;
}

function typeBody(schema, fullName, catalogue) {
  if (schema.type === 'enum')
    return `Symbols: ${schema.symbols.map((symbol) => `\`${symbol}\``).join(', ')}.${schema.default === undefined ? '' : ` Readers take unknown symbols as \`${schema.default}\`.`}\n`;
  if (schema.type === 'fixed') return `Size: ${schema.size} bytes.\n`;
  const rows = schema.fields.map((field) => [
    `\`${field.name}\``,
    typeLabel(field.type, namespaceOf(fullName), catalogue),
    'default' in field ? `\`${JSON.stringify(field.default)}\`` : '',
    field.doc,
  ]);
  return table(['Field', 'Type', 'Default', 'Meaning'], rows);
}

function typeLabel(schema, namespace, catalogue) {
  if (typeof schema === 'string') {
    const fullName = fullNameOf(schema, namespace);
    return catalogue.types.has(fullName) ? link(fullName) : schema;
  }
  if (Array.isArray(schema)) {
    const others = schema
      .filter((branch) => branch !== 'null')
      .map((branch) => typeLabel(branch, namespace, catalogue));
    return `${others.join(' or ')}${schema.includes('null') ? ', nullable' : ''}`;
  }
  if (schema.type === 'array') return `list of ${typeLabel(schema.items, namespace, catalogue)}`;
  if (schema.type === 'map') return `map of ${typeLabel(schema.values, namespace, catalogue)}`;
  if (schema.logicalType !== undefined) return schema.logicalType;
  return schema.name === undefined ? typeLabel(schema.type, namespace, catalogue) : `${schema.type} ${schema.name}`;
}

const link = (fullName) => `[${shortName(fullName)}](#${shortName(fullName).toLowerCase()})`;

function table(head, rows) {
  const line = (cells) =>
    `| ${cells
      .map((cell) =>
        String(cell ?? '')
          .replaceAll('|', '\\|')
          .replace(/\s*\n\s*/g, ' '),
      )
      .join(' | ')} |\n`;
  return `${line(head)}${line(head.map(() => '---'))}${rows.map(line).join('')}`;
}
