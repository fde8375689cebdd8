// Writing framed Avro: the schema ids of a topic are looked up once, then every record is encoded without waiting.
import { frameOf, FRAME_SIZE } from '@recourse/chain';
import { InvariantViolation } from '@recourse/kernel';
import type { AvroType } from './avro-types.js';
import { ourType, recordsOf, schemaText, shortName } from './catalogue.js';
import { normalFormOf } from './normal-form.js';
import type { NormalForm } from './normal-form.js';

/** Id of a schema registered under a subject; registers it when asked to. */
export type IdOf = (subject: string, schema: string, options?: { readonly register?: boolean }) => Promise<number>;

/** The writers of one process. */
export interface Writers {
  prepareWriter(topic: string, options?: { readonly register?: boolean }): Promise<void>;
  encode(topic: string, type: string, body: object): Buffer;
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

/** Errors: InvariantViolation naming `what`, when the body does not fit the schema. */
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
      throw new InvariantViolation('codecs', `${what} does not fit its schema: ${why}`);
    }
  };
}

/** A registry writes one schema at a time, 50 ms each when cold: a burst of registrations only runs into its time-outs. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
