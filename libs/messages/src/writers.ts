// Writing framed Avro: the schema ids of a topic are looked up once, then every record is encoded without waiting.
import { FRAME_SIZE, frameOf } from '@recourse/chain';
import { InvariantViolation } from '@recourse/kernel';
import type { AvroType } from './avro-types.js';
import { ourType, recordsOf, schemaText, shortName } from './catalogue.js';

/** A body that does not fit its schema; `path` is the JSON pointer of the first place that does not. */
export class BodyUnfit extends InvariantViolation {
  constructor(
    what: string,
    readonly path: string,
    why: string,
  ) {
    super('codecs', `${what} does not fit its schema: ${why}`);
  }
}

/** Id of a schema registered under a subject; registers it when asked to. */
type IdOf = (subject: string, schema: string, options?: { readonly register?: boolean }) => Promise<number>;

/** The writers of one process. */
export interface Writers {
  /** Looks up (or registers) the schema ids of every record of a topic, once; they can be read from then on. Errors: those of the registry; the next call asks again. */
  prepareWriter(topic: string, options?: { readonly register?: boolean }): Promise<void>;
  /**
   * Frames and encodes one record.
   *
   * Shape:  the result is the caller's own.
   * Errors: InvariantViolation when the topic was not prepared, BodyUnfit when the body does not fit the schema.
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
}

interface Writer {
  readonly type: AvroType;
  readonly frame: Buffer;
  readonly normalForm: NormalForm | null;
}

/** First size of the scratch buffer; it grows to the largest record seen, at most a batch (900 KB) and its frame. */
const SCRATCH_SIZE = 64 * 1024;

/** `learn` hears of each id whose schema is known from now on. */
export function createWriters(idOf: IdOf, learn: (id: number, schema: string) => void): Writers {
  const writers = new Map<string, Map<string, Writer>>();
  const preparing = new Map<string, Promise<void>>();
  const encoder = createEncoder();

  async function prepare(topic: string, options?: { readonly register?: boolean }): Promise<void> {
    const writerFor = async (fullName: string): Promise<readonly [string, Writer]> => {
      const schema = schemaText(fullName);
      const id = await idOf(`${topic}-${fullName}`, schema, options);
      learn(id, schema);
      const type = ourType(fullName);
      return [shortName(fullName), { type, frame: frameOf(id), normalForm: normalFormOf(type) }];
    };
    const prepared =
      options?.register === true
        ? await inTurn(recordsOf(topic), writerFor)
        : await Promise.all(recordsOf(topic).map(writerFor));
    writers.set(topic, new Map(prepared));
  }

  return {
    prepareWriter: (topic, options) => {
      const known = preparing.get(topic);
      if (known !== undefined) return known;
      const prepared = prepare(topic, options);
      preparing.set(topic, prepared);
      prepared.catch(() => preparing.delete(topic));
      return prepared;
    },
    encode: (topic, type, body) => {
      const writer = writers.get(topic)?.get(type);
      if (writer === undefined)
        throw new InvariantViolation('codecs', `no writer was prepared for ${type} on ${topic}`);
      return encoder(writer, body, `${type} on ${topic}`);
    },
    asRead: (topic, type, body, without) => writers.get(topic)?.get(type)?.normalForm?.(body, without) ?? null,
  };
}

/** Errors: BodyUnfit naming `what`, when the body does not fit the schema. */
function createEncoder(): (writer: Writer, body: object, what: string) => Buffer {
  let scratch = Buffer.allocUnsafe(SCRATCH_SIZE);
  const encode = ({ type, frame }: Writer, body: object): Buffer => {
    let end = type.encode(body, scratch, FRAME_SIZE);
    if (end < 0) {
      scratch = Buffer.allocUnsafe(2 * (scratch.length - end));
      end = type.encode(body, scratch, FRAME_SIZE);
    }
    scratch.set(frame, 0);
    return Buffer.from(scratch.subarray(0, end));
  };
  return (writer, body, what) => {
    try {
      return encode(writer, body);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new BodyUnfit(what, unfitPlace(writer.type, body), why);
    }
  };
}

/** The first place of a body that its schema does not take. */
function unfitPlace(type: AvroType, body: object): string {
  const places: (readonly string[])[] = [];
  type.isValid(body, { errorHook: (path) => void places.push([...path]) });
  return `/${places[0]?.join('/') ?? ''}`;
}

/** A registry writes one schema at a time, 50 ms each when cold: a burst of registrations only runs into its time-outs. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

// What a reader will read of a body that was just encoded, told from the body itself: a third of the cost of decoding it.
//
// Boundary: only for bodies that the type has encoded without complaint; then the two differ in nothing but absent fields
// with defaults, fields the schema does not have and the sign of zero. Text that is not well-formed is left to the decoder.

type Normalise = (value: unknown) => unknown;
type Members = Readonly<Record<string, unknown>>;
type Make = (members: Members) => Members;
type RecordConstructor = new (...values: readonly unknown[]) => object;

interface Field {
  readonly name: string;
  readonly normalise: Normalise;
  readonly fallback: () => unknown;
}

/** Body of a record as it will be read, without the fields named; null when only the decoder can tell. */
type NormalForm = (body: object, without: ReadonlySet<string>) => Members | null;

/** Thrown inside this file only. */
class MalformedText extends Error {}

/** The parts of avsc's types that its typings leave out or hide behind subclasses. */
interface Shape {
  readonly typeName: string;
  readonly itemsType?: AvroType;
  readonly types?: readonly AvroType[];
  readonly fields?: readonly { readonly name: string; readonly type: AvroType; defaultValue(): unknown }[];
  readonly recordConstructor?: RecordConstructor;
}

/** Makes the normal form of a record type; null when only its decoder can tell (maps, unions of several kinds, floats). */
export function normalFormOf(type: AvroType): NormalForm | null {
  const fields = fieldsOf(shapeOf(type));
  if (fields === null) return null;
  const makers = new WeakMap<ReadonlySet<string>, Make>();
  return (body, without) => {
    const make = makers.get(without) ?? compiled(fields.filter(({ name }) => !without.has(name)));
    makers.set(without, make);
    try {
      return make(body as Members); // any object can be read by name
    } catch (cause) {
      if (cause instanceof MalformedText) return null;
      throw cause;
    }
  };
}

/** A function that makes a record, as avsc makes those that read one: built member by member it would be several times as dear. */
function compiled(fields: readonly Field[], made?: RecordConstructor): Make {
  const values = fields.map(({ name }, at) => `f${String(at)}(v[${JSON.stringify(name)}])`);
  const members = fields.map(({ name }, at) => `${JSON.stringify(name)}: ${values[at] ?? ''}`);
  const text = made === undefined ? `{${members.join()}}` : `new Made(${values.join()})`;
  const names = fields.map((_, at) => `f${String(at)}`);
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- its text is names of fields of our own schemas, quoted
  const compile = new Function('Made', ...names, `return (v) => (${text});`) as (...given: readonly unknown[]) => Make; // as its text says
  return compile(made, ...fields.map(valueOf));
}

function normaliserOf(type: AvroType): Normalise | null {
  const shape = shapeOf(type);
  switch (shape.typeName) {
    case 'string':
      return wellFormed;
    case 'int':
    case 'long':
      return unsignedZero;
    case 'null':
    case 'boolean':
    case 'bytes':
    case 'fixed':
    case 'enum':
      return same;
    case 'array':
      return listNormaliser(shape);
    case 'record':
      return recordNormaliser(shape);
    case 'union:unwrapped':
      return optionalNormaliser(shape);
    default:
      return null;
  }
}

function listNormaliser({ itemsType }: Shape): Normalise | null {
  const item = itemsType === undefined ? null : normaliserOf(itemsType);
  return item === null ? null : (value) => (value as readonly unknown[]).map(item); // the encoder took it, so it is a list
}

/** Only null and one kind besides: which branch was taken needs no guessing. */
function optionalNormaliser({ types = [] }: Shape): Normalise | null {
  const kinds = types.filter((one) => shapeOf(one).typeName !== 'null');
  const [only] = kinds;
  if (only === undefined || kinds.length > 1) return null;
  const some = normaliserOf(only);
  return some === null ? null : (value) => (value === null ? null : some(value));
}

function recordNormaliser(shape: Shape): Normalise | null {
  const fields = fieldsOf(shape);
  const { recordConstructor: Made } = shape;
  if (fields === null || Made === undefined) return null;
  const make = compiled(fields, Made);
  const prototype: unknown = Made.prototype;
  // The encoder took it, so it is a record. What was read, or made here, is as it will be read: nobody changes a record.
  return (value) => (Object.getPrototypeOf(value) === prototype ? value : make(value as Members));
}

function fieldsOf({ fields }: Shape): readonly Field[] | null {
  if (fields === undefined) return null;
  const made: Field[] = [];
  for (const field of fields) {
    const normalise = normaliserOf(field.type);
    if (normalise === null) return null;
    made.push({ name: field.name, normalise, fallback: () => field.defaultValue() });
  }
  return made;
}

function valueOf({ normalise, fallback }: Field): Normalise {
  return (value) => normalise(value === undefined ? fallback() : value);
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string' && !value.isWellFormed()) throw new MalformedText();
  return value;
}
function unsignedZero(value: unknown): unknown {
  return value === 0 ? 0 : value;
}
function same(value: unknown): unknown {
  return value;
}

// The subclasses of avsc's types have these members; its typings give them to the subclasses only.
function shapeOf(type: object): Shape {
  return type as Shape;
}
