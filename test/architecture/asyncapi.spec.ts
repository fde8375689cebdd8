// The AsyncAPI document is valid, whole, and says of every payload what the codecs say.
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import avro from 'avsc';
import { createRequire } from 'node:module';
import { SIGNATURE } from '@recourse/kafka';
import { SCHEMAS, TOPICS } from '@recourse/messages';
import { textOf } from './tree.testing.js';

interface Message {
  readonly payload: { readonly schema: avro.Schema };
}
interface Channel {
  readonly address: string;
  readonly messages: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Operation {
  readonly action: string;
  readonly channel: { readonly $ref: string };
}
interface AsyncApi {
  readonly asyncapi: string;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: { readonly CloudEventsHeaders: { readonly properties: Readonly<Record<string, unknown>> } };
  };
}

const document = JSON.parse(textOf('docs/reference/asyncapi.json')) as AsyncApi;
const specification = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
formats.default(ajv);
const isValid = ajv.compile(specification);

const addressOf = (topic: string): string => topic.replace(/^(recourse\.tool-requests\.).*$/, '$1{adapter}');
const channelAt = (address: string): Channel | undefined =>
  Object.values(document.channels).find((channel) => channel.address === address);

describe('the AsyncAPI document', () => {
  it('is valid AsyncAPI 3', () => {
    expect(isValid(document) ? [] : isValid.errors).toEqual([]);
  });

  it.each([
    ['without channels that are objects', { ...document, channels: [] }],
    [
      'with an operation that neither sends nor receives',
      { ...document, operations: { odd: { action: 'shout', channel: { $ref: '#/channels/contracts' } } } },
    ],
  ])('would not be valid %s', (_, broken) => {
    expect(isValid(broken)).toBe(false);
  });

  it('tells of the header in which a record is signed', () => {
    expect(Object.keys(document.components.schemas.CloudEventsHeaders.properties)).toContain(SIGNATURE);
  });

  it.each(TOPICS.map(({ name, records }) => [name, records] as const))(
    'has %s with all its messages',
    (name, records) => {
      const channel = channelAt(addressOf(name));
      expect(Object.values(channel?.messages ?? {}).map(({ $ref }) => $ref.split('/').at(-1))).toEqual([...records]);
    },
  );

  it('receives what wires bring, and sends requests and logs', () => {
    const actions = Object.values(document.operations).map(({ action, channel }) => [
      document.channels[channel.$ref.split('/').at(-1) ?? '']?.address,
      action,
    ]);
    const expected = TOPICS.map(({ name, kind }) => [
      addressOf(name),
      kind === 'wire' && !name.startsWith('recourse.tool-requests.') ? 'receive' : 'send',
    ]);
    expect(actions).toEqual(expected);
  });

  it.each(Object.keys(document.components.messages))('describes %s as the codecs write it', (name) => {
    const fingerprint = (schema: avro.Schema): string =>
      avro.Type.forSchema(schema, { noAnonymousTypes: false }).fingerprint('sha256').toString('hex');
    expect(fingerprint(document.components.messages[name]?.payload.schema ?? 'null')).toBe(
      fingerprint(JSON.parse((SCHEMAS as Readonly<Record<string, string>>)[name] ?? '"null"') as avro.Schema),
    );
  });
});
