// docs/reference/asyncapi.json and its page: every topic and message as an AsyncAPI 3 document, for those who generate clients.
//
// The application that is described is Recourse as a whole: it receives what wires bring, and sends requests and logs.
import { messageNames, namespaceOf, shortName } from './catalogue.mjs';

const AVRO = 'application/vnd.apache.avro;version=1.9.0';
const KAFKA_BINDING = '0.5.0';
/** Topics with a part of their name that users choose. */
const REQUESTS = /^(recourse\.tool-requests\.)[a-z_]+$/;

/** The document and its page, as `{ path, text }`. */
export function asyncapiFiles(catalogue) {
  const document = asyncapiDocument(catalogue);
  return [
    { path: 'docs/reference/asyncapi.json', text: `${JSON.stringify(document, null, 1)}\n` },
    { path: 'docs/reference/asyncapi.md', text: asyncapiPage(document) },
  ];
}

/** The document. Pure. */
export function asyncapiDocument(catalogue) {
  const channels = catalogue.topics.map((topic) => [channelId(topic.name), channelOf(topic, catalogue)]);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Recourse',
      version: '1.0.0',
      description:
        'The recovery plane for software agents. Values are Avro in Confluent framing (magic byte 0, schema id, body); keys are UTF-8 and go to partitions by murmur2. Logs are chains: a reader takes a record only under the acceptance rule (schemas/vectors).',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/vnd.apache.avro',
    servers: {
      kafka: {
        host: '{bootstrap}',
        protocol: 'kafka',
        description: 'Any broker of the cluster; `npm start` prints its own.',
        variables: { bootstrap: { description: 'host:port of a broker' } },
      },
    },
    channels: Object.fromEntries(channels),
    operations: Object.fromEntries(catalogue.topics.map((topic) => operationOf(topic))),
    components: {
      messages: Object.fromEntries(messageNames(catalogue).map((name) => [name, messageOf(name, catalogue)])),
      schemas: { CloudEventsHeaders: cloudEvents() },
    },
  };
}

const channelId = (topic) => topic.replace(/^recourse\./, '').replaceAll('.', '-');
const isReceived = ({ kind, name }) => kind === 'wire' && !REQUESTS.test(name);

function channelOf(topic, { types }) {
  const requests = REQUESTS.exec(topic.name);
  return {
    address: requests === null ? topic.name : `${requests[1]}{adapter}`,
    title: topic.name.replace(/^recourse\./, ''),
    description: `${topic.doc} Key: ${topic.key}. Written by: ${topic.written_by}. Read by: ${topic.read_by}. A ${topic.kind === 'wire' ? 'wire: at least once, finite retention' : topic.kind === 'log' ? 'log: one writer, a chain, kept for ever' : 'derived log: a pure function of its source log'}.`,
    servers: [{ $ref: '#/servers/kafka' }],
    ...(requests === null
      ? {}
      : {
          parameters: {
            adapter: { description: 'Prefix of the capabilities that a worker performs, for instance payments.' },
          },
        }),
    messages: Object.fromEntries(
      topic.records.map((name) => [types.get(name).name, { $ref: `#/components/messages/${name}` }]),
    ),
    bindings: {
      kafka: {
        ...(requests === null ? { topic: topic.name } : {}),
        topicConfiguration: configurationOf(topic.config),
        bindingVersion: KAFKA_BINDING,
      },
    },
  };
}

function configurationOf(config = {}) {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key,
      key === 'cleanup.policy' ? value.split(',') : Number.isNaN(Number(value)) ? value : Number(value),
    ]),
  );
}

function operationOf(topic) {
  const id = channelId(topic.name);
  const action = isReceived(topic) ? 'receive' : 'send';
  return [`${action}-${id}`, { action, channel: { $ref: `#/channels/${id}` }, summary: topic.doc }];
}

function messageOf(name, { types, inline, topics }) {
  const { schema } = types.get(name);
  const topic = topics.find((one) => one.records.includes(name));
  return {
    name,
    title: shortName(name),
    summary: schema.doc,
    payload: { schemaFormat: AVRO, schema: spelled(inline(name)) },
    headers: { $ref: '#/components/schemas/CloudEventsHeaders' },
    bindings: {
      kafka: {
        key: { type: 'string', description: topic.key },
        schemaIdLocation: 'payload',
        schemaIdPayloadEncoding: 'confluent',
        bindingVersion: KAFKA_BINDING,
      },
    },
  };
}

/** The same schema with namespaces apart from names: AsyncAPI allows no dots in them. */
function spelled(schema) {
  if (typeof schema !== 'object') return schema;
  if (Array.isArray(schema)) return schema.map(spelled);
  const { type, name, fields, items, values, ...others } = schema;
  return {
    type: typeof type === 'object' ? spelled(type) : type,
    ...(name === undefined ? {} : { name: shortName(name), namespace: namespaceOf(name) }),
    ...others,
    ...(items === undefined ? {} : { items: spelled(items) }),
    ...(values === undefined ? {} : { values: spelled(values) }),
    ...(fields === undefined ? {} : { fields: fields.map((field) => ({ ...field, type: spelled(field.type) })) }),
  };
}

function cloudEvents() {
  const text = (description) => ({ type: 'string', description });
  return {
    type: 'object',
    description: 'CloudEvents attributes, written on public topics and optional on input, and who signed the record.',
    properties: {
      ce_id: text('Id of the event.'),
      ce_type: text('Full name of the record.'),
      ce_source: text('Who says so.'),
      ce_time: text('When, RFC 3339.'),
      ce_subject: text('What it is about.'),
      traceparent: text('W3C trace context.'),
      'recourse-signature': text(
        'Ed25519 signature: v1, key id, epoch milliseconds, count, base64, and where several records share it index and audit path. Where wires are strict, the default, a record of a wire without it is dropped; of a log the first record of each batch carries it.',
      ),
    },
  };
}

function asyncapiPage({ channels, operations, components }) {
  const rows = Object.entries(operations).map(([id, { action, channel, summary }]) => {
    const { address, messages } = channels[channel.$ref.split('/').at(-1)];
    return `| \`${id}\` | ${action} | \`${address}\` | ${Object.keys(messages)
      .map((name) => `[${name}](topics.md#${name.toLowerCase()})`)
      .join(', ')} | ${summary} |`;
  });
  return `# AsyncAPI

Generated from \`schemas/\` by \`scripts/generate.mjs\`; do not edit. [asyncapi.json](asyncapi.json) is an AsyncAPI 3.0 document of all
${Object.keys(channels).length} topics and ${Object.keys(components.messages).length} messages, with their Avro schemas inlined; client generators and catalogues take it as it is. A spec validates
it against the AsyncAPI schema and every payload against the codecs that the services use.

\`receive\` is what Recourse takes from you, \`send\` what it gives. Frames, hashes and partitions for implementers are in \`schemas/vectors\`.

| Operation | Recourse does | Topic | Messages | Purpose |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
