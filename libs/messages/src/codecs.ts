// Codecs: framed Avro in and out, synchronous once a schema is known.
//
// Boundary: asks the registry for schemas and ids; knows no broker. The caller decides what an unknown schema means
// (logs stop, wires park).
import { FRAME_SIZE, schemaIdOf } from '@recourse/chain';
import type { AvroType } from './avro-types.js';
import { CountExceedsBytes, avroType } from './avro-types.js';
import { isOurs, ourType, recordsOf, schemaText, shortName } from './catalogue.js';
import type { TopicName, TopicRecords } from './generated/index.js';
import { createWriters } from './writers.js';
import type { Writers } from './writers.js';

/** What the codecs need of a schema registry. The registry port of the Kafka library fits it. */
export interface SchemaSource {
  /** Writer schema (Avro JSON, references inlined). Errors: whatever the registry's port throws; nothing is cached then. */
  schemaById(id: number): Promise<string>;
  idOf(subject: string, schema: string, options?: { readonly register?: boolean }): Promise<number>;
}

/** Writers and readers. */
export type Codecs = Writers & Omit<Readers, 'learn'>;

/** Makes the codecs of one process. */
export function createCodecs(registry: SchemaSource): Codecs {
  const { learn, ...readers } = createReaders((id) => registry.schemaById(id));
  return { ...readers, ...createWriters((...asked) => registry.idOf(...asked), learn) };
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

// Reading framed Avro: one reader per schema id, whatever the bytes say.
//
// Invariants
//   I1. One look-up per schema id, however many ask at once; a failed one is asked again.
//   I2. The fingerprint is that of the writer's schema, so a leaf hash never depends on who reads.
//   I3. Bytes never make the process loop or throw: every value has an answer.

/** Why a value is no record. A fact about the bytes, never about the registry's availability. */
export type BadReason =
  | 'UNFRAMED' // no zero octet, no id, or nothing at all
  | 'NOT_A_RECORD' // the writer's schema is no record
  | 'SCHEMA_UNREADABLE' // the registry's text under this id is no Avro schema
  | 'SCHEMA_INCOMPATIBLE' // a record of ours under a schema ours cannot read
  | 'TRUNCATED' // the bytes end inside the record, or a count claims more items than octets are left
  | 'TRAILING_BYTES'
  | 'MALFORMED'; // a branch, symbol or number outside its range, or more items than are read

/** A record of a type we know. `body` has the shape of the generated interface of `fullName`. */
export interface DecodedRecord {
  readonly kind: 'decoded';
  /** Short name. */
  readonly type: string;
  readonly fullName: string;
  readonly body: unknown;
  /** The body in the shape of its writer's schema, where that is not ours: what a signature of its writer is over. */
  readonly asWritten?: () => unknown;
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

interface BadValue {
  readonly kind: 'bad';
  readonly reason: BadReason;
  readonly detail: string;
}

export type Decoded =
  DecodedRecord | ForeignRecord | BadValue | { readonly kind: 'unknown_schema'; readonly id: number };

/** Avro bytes without their frame, and the fingerprint of their schema. */
export interface Written {
  readonly fingerprint: Buffer;
  readonly bytes: Buffer;
}

/** The readers of one process. */
interface Readers {
  /** Decodes one framed value; `unknown_schema` until `load(id)` has resolved. */
  decodeSync(value: Buffer | null): Decoded;
  /** Fetches a writer schema once. Errors: those of the registry; the next call asks again. */
  load(id: number): Promise<void>;
  /** Fingerprint of a schema that was loaded or prepared, else null. */
  readonly fingerprintOf: (schemaId: number) => Buffer | null;
  /** A body as another version writes it: under each schema of its record that was loaded and is not ours. What that lacks is left out. */
  readonly asOthersWrite: (topic: string, type: string, body: object) => readonly Written[];
  /** Takes the schema of an id from its writer, so that the registry need not be asked. */
  readonly learn: (id: number, schema: string) => void;
}

interface Known {
  readonly kind: 'known';
  readonly type: string;
  readonly fullName: string;
  readonly fingerprint: Buffer;
  readonly ours: AvroType;
  /** Undefined where the writer's schema is ours as it is. */
  readonly other: { readonly theirs: AvroType; readonly resolver: ReturnType<AvroType['createResolver']> } | undefined;
}

/** How values of one schema id are read. */
type Reader =
  | Known
  | { readonly kind: 'foreign'; readonly type: string; readonly fullName: string; readonly fingerprint: Buffer }
  | BadValue;

const DONE = Promise.resolve();

/** Readers of our own schemas as this build writes them, by text: every process of a test run asks for the same few. */
const OUR_READERS = new Map<string, Reader>();

function createReaders(schemaById: (id: number) => Promise<string>): Readers {
  const readers = new Map<number, Reader>();
  const loading = new Map<number, Promise<void>>();

  function load(id: number): Promise<void> {
    const known = loading.get(id);
    if (known !== undefined) return known;
    const asked = schemaById(id).then((schema) => {
      readers.set(id, readerOf(schema));
    });
    loading.set(id, asked);
    asked.catch(() => loading.delete(id));
    return asked;
  }

  return {
    load,
    learn: (id, schema) => {
      readers.set(id, readerOf(schema));
      loading.set(id, DONE);
    },
    fingerprintOf: (id) => {
      const reader = readers.get(id);
      return reader === undefined || reader.kind === 'bad' ? null : reader.fingerprint;
    },
    asOthersWrite: (topic, type, body) =>
      [...readers.values()].flatMap((reader) => (isOf(reader, topic, type) ? writtenBy(reader, body) : [])),
    decodeSync: (value) => {
      const id = schemaIdOf(value);
      if (id === null || value === null) return { kind: 'bad', reason: 'UNFRAMED', detail: 'no registry frame' };
      const reader = readers.get(id);
      return reader === undefined ? { kind: 'unknown_schema', id } : decodedBy(reader, id, value);
    },
  };
}

function isOf(reader: Reader, topic: string, type: string): reader is Known {
  return reader.kind === 'known' && reader.type === type && recordsOf(topic).includes(reader.fullName);
}

function writtenBy({ fingerprint, other }: Known, body: object): readonly Written[] {
  if (other === undefined) return [];
  try {
    return [{ fingerprint, bytes: other.theirs.toBuffer(body) }];
  } catch {
    return []; // it asks for what ours does not say
  }
}

function decodedBy(reader: Reader, schemaId: number, value: Buffer): Decoded {
  if (reader.kind === 'bad') return reader;
  const { type, fullName, fingerprint } = reader;
  if (reader.kind === 'foreign')
    return { kind: 'foreign', type, fullName, schemaId, fingerprint, payloadOffset: FRAME_SIZE };
  const read = readBody(reader, value);
  if (read.kind === 'bad') return read;
  const decoded = { type, fullName, body: read.body, schemaId, fingerprint, payloadOffset: FRAME_SIZE };
  if (reader.other === undefined) return { kind: 'decoded', ...decoded };
  const { theirs } = reader.other;
  return { kind: 'decoded', ...decoded, asWritten: (): unknown => theirs.decode(value, FRAME_SIZE).value };
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
  const named = { type: shortName(fullName), fullName, fingerprint: theirs.fingerprint('sha256') };
  if (!isOurs(fullName)) return { kind: 'foreign', ...named };
  const ours = ourType(fullName);
  if (ours.equals(theirs)) {
    const reader: Reader = { kind: 'known', ...named, ours, other: undefined };
    if (schema === schemaText(fullName)) OUR_READERS.set(schema, reader);
    return reader;
  }
  try {
    return { kind: 'known', ...named, ours, other: { theirs, resolver: ours.createResolver(theirs) } };
  } catch (cause) {
    return { kind: 'bad', reason: 'SCHEMA_INCOMPATIBLE', detail: textOf(cause) };
  }
}

function readBody({ ours, other }: Known, value: Buffer): BadValue | { readonly kind: 'read'; readonly body: unknown } {
  try {
    const { value: body, offset } = ours.decode(value, FRAME_SIZE, other?.resolver) as {
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

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
