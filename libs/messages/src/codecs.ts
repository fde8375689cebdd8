// Codecs: framed Avro in and out, synchronous once a schema is known.
//
// Boundary: asks the registry for schemas and ids; knows no broker. The caller decides what an unknown schema means
// (logs stop, wires park).
//
// Invariants
//   I1. One look-up per schema id and one per (topic, record), however many ask at once; a failed one is asked again.
//   I2. The fingerprint is that of the writer's schema, so a leaf hash never depends on who reads.
//   I3. Bytes never make the process loop or throw: every value has an answer.
import { InvariantViolation } from '@recourse/kernel';
import { avroType, CountExceedsBytes } from './avro-types.js';
import type { AvroType } from './avro-types.js';
import { normalFormOf } from './normal-form.js';
import type { NormalForm } from './normal-form.js';
import { FRAME_SIZE, frameOf, schemaIdOf } from '@recourse/chain';
import { SCHEMAS, TOPICS } from './generated/index.js';
import type { TopicName, TopicRecords } from './generated/index.js';

/** What the codecs need of a schema registry. The registry port of the Kafka library fits it. */
export interface SchemaSource {
  /** Writer schema (Avro JSON, references inlined). Errors: whatever the registry's port throws; nothing is cached then. */
  schemaById(id: number): Promise<string>;
  idOf(subject: string, schema: string, options?: { readonly register?: boolean }): Promise<number>;
}

/** Why a value is no record. A fact about the bytes, never about the registry's availability. */
export type BadReason =
  | 'UNFRAMED' // no zero octet, no id, or nothing at all
  | 'NOT_A_RECORD' // the writer's schema is no record
  | 'SCHEMA_UNREADABLE' // the registry's text under this id is no Avro schema
  | 'SCHEMA_INCOMPATIBLE' // a record of ours under a schema ours cannot read
  | 'TRUNCATED' // the bytes end inside the record, or a count claims more items than octets are left
  | 'TRAILING_BYTES'
  | 'MALFORMED'; // a branch, symbol or number outside its range

/** A record of a type we know. `body` has the shape of the generated interface of `fullName`. */
export interface DecodedRecord {
  readonly kind: 'decoded';
  /** Short name. */
  readonly type: string;
  readonly fullName: string;
  readonly body: unknown;
  readonly schemaId: number;
  /** SHA-256 of the writer schema's Parsing Canonical Form. */
  readonly fingerprint: Buffer;
  /** Where the Avro bytes begin. */
  readonly payloadOffset: number;
}

/** A record of a type this build does not know; it can be hashed and judged, not read. */
export interface ForeignRecord {
  readonly kind: 'foreign';
  readonly type: string;
  readonly fullName: string;
  readonly schemaId: number;
  readonly fingerprint: Buffer;
  readonly payloadOffset: number;
}

export type Decoded =
  | DecodedRecord
  | ForeignRecord
  | { readonly kind: 'bad'; readonly reason: BadReason; readonly detail: string }
  | { readonly kind: 'unknown_schema'; readonly id: number };

export interface Codecs {
  /** Looks up (or registers) the schema ids of every record of a topic, once; they can be read from then on. Errors: those of the registry; the next call asks again. */
  prepareWriter(topic: string, options?: { readonly register?: boolean }): Promise<void>;
  /**
   * Frames and encodes one record.
   *
   * Shape:  the result is the caller's own.
   * Errors: InvariantViolation when the topic was not prepared or the body does not fit the schema.
   */
  encode(topic: string, type: string, body: object): Buffer;
  /**
   * What a reader will read of a body that `encode` took, without the fields named.
   *
   * Shape: null where only decoding can tell.
   */
  asRead(
    topic: string,
    type: string,
    body: object,
    without: ReadonlySet<string>,
  ): Readonly<Record<string, unknown>> | null;
  /** Decodes one framed value; `unknown_schema` until `load(id)` has resolved. */
  decodeSync(value: Buffer | null): Decoded;
  /** Fetches a writer schema once. Errors: those of the registry; the next call asks again. */
  load(id: number): Promise<void>;
  /** Fingerprint of a schema that was loaded or prepared, else null. */
  readonly fingerprintOf: (schemaId: number) => Buffer | null;
}

interface Writer {
  readonly type: AvroType;
  readonly frame: Buffer;
  readonly normalForm: NormalForm | null;
}

/** How values of one schema id are read. */
type Reader =
  | {
      readonly kind: 'known';
      readonly type: string;
      readonly fullName: string;
      readonly fingerprint: Buffer;
      readonly ours: AvroType;
      readonly resolver: Resolver;
    }
  | { readonly kind: 'foreign'; readonly type: string; readonly fullName: string; readonly fingerprint: Buffer }
  | { readonly kind: 'bad'; readonly reason: BadReason; readonly detail: string };
type Resolver = ReturnType<AvroType['createResolver']> | undefined;

const DONE = Promise.resolve();

/** First size of the scratch buffer; it grows to the largest record seen, at most a batch (900 KB) and its frame. */
const SCRATCH_SIZE = 64 * 1024;

/**
 * Makes the codecs of one process.
 *
 * Source: DESIGN 8: one resolver per writer schema id, promises cached, scratch buffer and copy.
 */
export function createCodecs(registry: SchemaSource): Codecs {
  const writers = new Map<string, Map<string, Writer>>();
  const readers = new Map<number, Reader>();
  const loading = new Map<number, Promise<void>>();
  const preparing = new Map<string, Promise<void>>();
  const fingerprints = new Map<number, Buffer>();
  const encoder = createEncoder();

  function prepareWriter(topic: string, options?: { readonly register?: boolean }): Promise<void> {
    const known = preparing.get(topic);
    if (known !== undefined) return known;
    const prepared = prepareAnew(topic, options);
    preparing.set(topic, prepared);
    prepared.catch(() => preparing.delete(topic));
    return prepared;
  }

  async function prepareAnew(topic: string, options?: { readonly register?: boolean }): Promise<void> {
    const prepare = async (fullName: string): Promise<readonly [string, Writer]> => {
      const type = ourType(fullName);
      const id = await registry.idOf(`${topic}-${fullName}`, schemaText(fullName), options);
      fingerprints.set(id, fingerprintOfOurs(fullName, type));
      // What is written under an id of ours can be read without asking for its schema.
      readers.set(id, readerOf(schemaText(fullName)));
      loading.set(id, DONE);
      return [shortName(fullName), { type, frame: frameOf(id), normalForm: normalFormOf(type) }];
    };
    const prepared =
      options?.register === true
        ? await inTurn(recordsOf(topic), prepare)
        : await Promise.all(recordsOf(topic).map(prepare));
    writers.set(topic, new Map(prepared));
  }

  function encode(topic: string, type: string, body: object): Buffer {
    const writer = writers.get(topic)?.get(type);
    if (writer === undefined) throw new InvariantViolation('codecs', `no writer was prepared for ${type} on ${topic}`);
    try {
      return encoder(writer, body);
    } catch (cause) {
      throw new InvariantViolation('codecs', `${type} on ${topic} does not fit its schema: ${textOf(cause)}`);
    }
  }

  function decodeSync(value: Buffer | null): Decoded {
    const id = schemaIdOf(value);
    if (id === null || value === null) return { kind: 'bad', reason: 'UNFRAMED', detail: 'no registry frame' };
    const reader = readers.get(id);
    if (reader === undefined) return { kind: 'unknown_schema', id };
    if (reader.kind === 'bad') return reader;
    const { type, fullName, fingerprint } = reader;
    if (reader.kind === 'foreign')
      return { kind: 'foreign', type, fullName, schemaId: id, fingerprint, payloadOffset: FRAME_SIZE };
    const read = readBody(reader.ours, reader.resolver, value);
    if (read.kind === 'bad') return read;
    return { kind: 'decoded', type, fullName, body: read.body, schemaId: id, fingerprint, payloadOffset: FRAME_SIZE };
  }

  function load(id: number): Promise<void> {
    const known = loading.get(id);
    if (known !== undefined) return known;
    const asked = registry.schemaById(id).then((schema) => {
      const reader = readerOf(schema);
      readers.set(id, reader);
      if (reader.kind !== 'bad') fingerprints.set(id, reader.fingerprint);
    });
    loading.set(id, asked);
    asked.catch(() => loading.delete(id));
    return asked;
  }

  function asRead(
    topic: string,
    type: string,
    body: object,
    without: ReadonlySet<string>,
  ): Readonly<Record<string, unknown>> | null {
    return writers.get(topic)?.get(type)?.normalForm?.(body, without) ?? null;
  }

  return { prepareWriter, encode, asRead, decodeSync, load, fingerprintOf: (id) => fingerprints.get(id) ?? null };
}

/**
 * Narrows a decoded record to the union of one topic, or null when it is none of that topic's records.
 *
 * Shape: `type` is the discriminator: `const record = recordOf('recourse.mutations', decoded)`.
 */
export function recordOf<T extends TopicName>(topic: T, decoded: Decoded): TopicRecords[T] | null {
  if (decoded.kind !== 'decoded' || !recordsOf(topic).includes(decoded.fullName)) return null;
  // The full name is one of the topic's, and the resolver gave `body` the shape of our schema of that name.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-assertion -- without it the union is too complex for the compiler
  return { type: decoded.type, body: decoded.body } as TopicRecords[T];
}

/**
 * Full names of the records of a topic.
 *
 * Shape:  a catalogue name of three parts (`recourse.tool-requests.payments`) stands for its siblings: one per adapter.
 * Errors: InvariantViolation for a topic that is not in schemas/topics.json.
 */
export function recordsOf(topic: string): readonly string[] {
  let records = RECORDS.get(topic);
  if (records === undefined) {
    records = FAMILIES.find(({ prefix }) => topic.startsWith(prefix) && topic.length > prefix.length)?.records;
    if (records === undefined) throw new InvariantViolation('codecs', `${topic} is not in schemas/topics.json`);
    RECORDS.set(topic, records);
  }
  return records;
}

interface CatalogueTopic {
  readonly name: string;
  readonly records: readonly string[];
}
const CATALOGUE: readonly CatalogueTopic[] = TOPICS;
const RECORDS = new Map<string, readonly string[]>(CATALOGUE.map(({ name, records }) => [name, records]));
const FAMILIES = CATALOGUE.filter(({ name }) => name.split('.').length > 2).map(({ name, records }) => ({
  prefix: name.slice(0, name.lastIndexOf('.') + 1),
  records,
}));
const TYPES = new Map<string, AvroType>();

function schemaText(fullName: string): string {
  const schema: string | undefined = (SCHEMAS as Readonly<Record<string, string>>)[fullName];
  if (schema === undefined) throw new InvariantViolation('codecs', `no schema of the name ${fullName}`);
  return schema;
}

function ourType(fullName: string): AvroType {
  const type = TYPES.get(fullName) ?? avroType(schemaText(fullName));
  TYPES.set(fullName, type);
  return type;
}

/** Readers of our own schemas as this build writes them, by text: every process of a test run asks for the same few. */
const OUR_READERS = new Map<string, Reader>();

/** Fingerprints of our own types; the canonical form of a schema is not worth building twice. */
const OUR_FINGERPRINTS = new Map<string, Buffer>();

function fingerprintOfOurs(fullName: string, type: AvroType): Buffer {
  const known = OUR_FINGERPRINTS.get(fullName) ?? type.fingerprint('sha256');
  OUR_FINGERPRINTS.set(fullName, known);
  return known;
}

function readerOf(schema: string): Reader {
  const known = OUR_READERS.get(schema);
  if (known !== undefined) return known;
  let theirs: AvroType;
  try {
    theirs = avroType(schema);
  } catch (cause) {
    return { kind: 'bad', reason: 'SCHEMA_UNREADABLE', detail: textOf(cause) };
  }
  const fullName = theirs.name;
  if (theirs.typeName !== 'record' || fullName === undefined)
    return { kind: 'bad', reason: 'NOT_A_RECORD', detail: theirs.typeName };
  const fingerprint = theirs.fingerprint('sha256');
  const type = shortName(fullName);
  if (!(fullName in SCHEMAS)) return { kind: 'foreign', type, fullName, fingerprint };
  const ours = ourType(fullName);
  if (ours.equals(theirs)) {
    const reader: Reader = { kind: 'known', type, fullName, fingerprint, ours, resolver: undefined };
    if (schema === schemaText(fullName)) OUR_READERS.set(schema, reader);
    return reader;
  }
  try {
    return { kind: 'known', type, fullName, fingerprint, ours, resolver: ours.createResolver(theirs) };
  } catch (cause) {
    return { kind: 'bad', reason: 'SCHEMA_INCOMPATIBLE', detail: textOf(cause) };
  }
}

type Read = { readonly kind: 'read'; readonly body: unknown } | Extract<Decoded, { kind: 'bad' }>;

function readBody(type: AvroType, resolver: Resolver, value: Buffer): Read {
  try {
    const { value: body, offset } = type.decode(value, FRAME_SIZE, resolver) as {
      readonly value: unknown;
      readonly offset: number;
    };
    if (offset < 0) return { kind: 'bad', reason: 'TRUNCATED', detail: `${value.length} octets` };
    if (offset < value.length)
      return { kind: 'bad', reason: 'TRAILING_BYTES', detail: `${value.length - offset} octets after the record` };
    return { kind: 'read', body };
  } catch (cause) {
    return {
      kind: 'bad',
      reason: cause instanceof CountExceedsBytes ? 'TRUNCATED' : 'MALFORMED',
      detail: textOf(cause),
    };
  }
}

function createEncoder(): (writer: Writer, body: object) => Buffer {
  let scratch = Buffer.allocUnsafe(SCRATCH_SIZE);
  return (writer, body) => {
    let end = writer.type.encode(body, scratch, FRAME_SIZE);
    if (end < 0) {
      scratch = Buffer.allocUnsafe(2 * (scratch.length - end));
      end = writer.type.encode(body, scratch, FRAME_SIZE);
    }
    scratch.set(writer.frame, 0);
    return Buffer.from(scratch.subarray(0, end));
  };
}

/** A registry writes one schema at a time, 50 ms each when cold: a burst of registrations only runs into its time-outs. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

const shortName = (fullName: string): string => fullName.slice(fullName.lastIndexOf('.') + 1);
const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
