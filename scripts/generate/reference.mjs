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
${forReaders()}
## Records

${names.map((name) => typeSection(catalogue.types.get(name), catalogue)).join('\n')}
## Shared types

${shared.map((type) => typeSection(type, catalogue)).join('\n')}`;
}

/** What a reader or a writer in another language has to get right, with the vectors that tell whether it did. */
function forReaders() {
  return `## Bytes

Vectors for each of these are in [schemas/vectors](../../schemas/vectors); \`test/interop/reference_reader.py\` is a small reader that passes them.

| What | How | Vectors |
| --- | --- | --- |
| partition of a key | \`(murmur2(key bytes) & 0x7fffffff) mod partitions\`, murmur2 as Java's Kafka client has it (seed \`0x9747b28c\`) | \`partitions.json\` |
| value | \`%x00\`, the schema id as uint32, then Avro binary; big-endian | \`frames.json\` |
| instants | \`timestamp-millis\` is a long of epoch milliseconds, and any long: a source may state one beyond the year 9999. A library that makes dates of them fails at it, so parse schemas with \`logicalType\` taken out; the fingerprint stays the same | \`frames.json\` |
| \`seq\` and \`prev_hash\` | the first two fields of every log record: an Avro long (zigzag, 1 to 10 octets), then 32 octets; read without a schema | \`acceptance.json\` |
| fingerprint of a schema | SHA-256 of its Parsing Canonical Form; not CRC-64-AVRO, not the registry's id | \`canonical-forms.json\`, \`fingerprints.json\` |
| hash of a record | \`SHA-256(%x00, part(fingerprint), part(key), part(Avro bytes without the five octets before them))\`; \`part\` is a uint32 length and the bytes | \`leaf-hashes.json\` |
| \`prev_hash\` of the first record | \`SHA-256(%x02, part("recourse.genesis.v1"), part(log id), part(topic), uint32 partition, uint32 partition count)\`; the log id is the installation's, \`RECOURSE_LOG_ID\` | \`genesis-hashes.json\` |
| which records count | \`seq\` is the head's plus one and \`prev_hash\` is the head's hash; all others are void | \`acceptance.json\` |
| signatures | the header \`recourse-signature\`, of each record of a wire and of the first of each batch of a log ([keys](../guides/keys.md#sign-in-another-language)); where wires are strict nothing else is believed | \`signatures.json\` |
| tree of a log | RFC 6962 over the hashes of its records, as signed heads state it | \`merkle-roots.json\` |
| effect key and mutation id | SHA-256 over canonical JSON (RFC 8785) | \`effect-keys.json\` |

### Where fingerprints go wrong

One wrong octet makes every record after the first void. What libraries get wrong; vectors name the first in \`trap\`, and \`Sample\` has the others:

- **Logical types are no part of the form.** \`{"type": "long", "logicalType": "timestamp-millis"}\` is \`"long"\`, also in a union or an array. Libraries that print a parsed schema keep them, or leave \`{"type":"long"}\`.
- **Names are full names.** A name without a dot takes the namespace of the record around it, and \`namespace\` itself is left out.
- **Only** \`name\`, \`type\`, \`fields\`, \`symbols\`, \`items\`, \`values\` and \`size\` stay, in this order; docs, aliases, orders and defaults go, also the default of an enum.
- **A primitive is its name**, also where it is written \`{"type": "string"}\`.
- **It is the writer's schema**, fetched by the id of the record, never the one the reader was built with.

### A reader that voids everything

The record at the start of a partition has \`seq\` 1 and the genesis hash. If your reader voids it, and all that follow, nothing is wrong with the log: the log id, the partition count, the topic's name or the fingerprint is. Say so and stop; a reader that goes on hears of nothing. The SDK's consumers report \`CHAIN_BROKEN\`, and [the consumer in Python](../../examples/python-consumer/consumer.py) ends with exit code 1.
`;
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
    return `Symbols: ${symbolsOf(schema)}.${schema.default === undefined ? '' : ` Readers take unknown symbols as \`${schema.default}\`.`}\n`;
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
  if (schema.type === 'enum') return `enum ${schema.name}: ${symbolsOf(schema)}`;
  return schema.name === undefined ? typeLabel(schema.type, namespace, catalogue) : `${schema.type} ${schema.name}`;
}

const symbolsOf = ({ symbols }) => symbols.map((symbol) => `\`${symbol}\``).join(', ');

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
