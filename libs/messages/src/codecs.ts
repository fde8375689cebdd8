// Codecs: framed Avro in and out, synchronous once a schema is known.
//
// Boundary: asks the registry for schemas and ids; knows no broker. The caller decides what an unknown schema means
// (logs stop, wires park).
import { recordsOf } from './catalogue.js';
import type { TopicName, TopicRecords } from './generated/index.js';
import { createReaders } from './readers.js';
import type { Decoded } from './readers.js';
import { createWriters } from './writers.js';

/** What the codecs need of a schema registry. The registry port of the Kafka library fits it. */
export interface SchemaSource {
  /** Writer schema (Avro JSON, references inlined). Errors: whatever the registry's port throws; nothing is cached then. */
  schemaById(id: number): Promise<string>;
  idOf(subject: string, schema: string, options?: { readonly register?: boolean }): Promise<number>;
}

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
