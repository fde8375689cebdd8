// One file of a dump: its header, its schemas, its records. The grammar stands in dump.ts.
//
// Invariants
//   D2. Offsets increase from record to record, as at a broker: one that does not is damage, whoever reads. What one reader passed over and
//       another took would be two logs of one file.
//   D1. A line is what JSON and the grammar make of it. What `plainRecord` reads on its own they would read alike.
import type { GenesisOf, StoredRecord } from '@recourse/chain';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs, SchemaSource } from '@recourse/messages';
import { z } from 'zod';
import { jsonOf, linesOf, linesWith } from './lines.js';

const base64 = z
  .string()
  .refine((text) => bytesIn(text) !== null)
  .transform((text) => Buffer.from(text, 'base64'));
/** Most partitions of a topic that a header may state, more than anybody gives one: each that is not there is missed by its name. */
export const PARTITIONS_MAX = 10_000;
/** What Kafka takes as the name of a topic: it names files, and a dump comes from anybody. */
const TOPIC = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/;
const headerLine = z.object({
  log: z.object({
    log_id: z.string(),
    topic: z.string().regex(TOPIC),
    partition: z.int().min(0).max(PARTITIONS_MAX),
    partition_count: z.int().min(1).max(PARTITIONS_MAX),
  }),
});
const schemaLine = z.object({ schema: z.object({ id: z.int().min(1), text: z.string() }) });
const recordLine = z.object({
  record: z.object({
    offset: z.int().min(0),
    key: base64.nullable(),
    value: base64.nullable(),
    signature: z.string().optional(),
  }),
});
/** A record with the signature that its batch begins with. */
export interface DumpedRecord extends StoredRecord {
  readonly signature?: string | undefined;
}

export function headerOf(path: string): GenesisOf | null {
  const [first] = linesOf(path);
  const read = headerLine.safeParse(jsonOf(first ?? ''));
  if (!read.success) return null;
  const { log_id: logId, topic, partition, partition_count: partitionCount } = read.data.log;
  return { logId, topic, partition, partitionCount };
}

/** Codecs that know every schema of a file, wherever it stands in it. */
export async function loadedCodecs(path: string): Promise<Codecs> {
  const texts = schemaTextsIn(path);
  const codecs = createCodecs(sourceOf(texts));
  await Promise.all([...texts.keys()].map((id) => codecs.load(id).catch(() => undefined)));
  return codecs;
}

/** Schemas that one file of a dump holds. */
export function schemasIn(path: string): SchemaSource {
  return sourceOf(schemaTextsIn(path));
}

function schemaTextsIn(path: string): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  for (const line of linesWith(path, '{"schema"')) {
    const read = schemaLine.safeParse(jsonOf(line));
    if (read.success) texts.set(read.data.schema.id, read.data.schema.text);
  }
  return texts;
}

function sourceOf(texts: ReadonlyMap<number, string>): SchemaSource {
  const unknown = (what: string): Promise<never> =>
    Promise.reject(new Failure('UNKNOWN_SCHEMA', `${what} is not in the dump`));
  return {
    schemaById: (id) => {
      const text = texts.get(id);
      return text === undefined ? unknown(`schema ${id}`) : Promise.resolve(text);
    },
    idOf: (subject) => unknown(subject),
  };
}

/** Records in the order of the file and of their offsets; a line that is none of the grammar's, or out of order, is reported and left out. */
export function* recordsIn(path: string, onDamage: (line: number) => void): Generator<DumpedRecord> {
  let number = 0;
  let last = -1;
  for (const line of linesOf(path)) {
    number += 1;
    const read = plainRecord(line) ?? otherLine(line, number);
    if (read === 'none') continue;
    if (read === 'damaged' || read.offset <= last) {
      onDamage(number);
      continue;
    }
    last = read.offset;
    yield read;
  }
}

/** What a line holds that is not in the form in which records are written. */
function otherLine(line: string, number: number): DumpedRecord | 'none' | 'damaged' {
  if (line.trim() === '') return 'none';
  const value = jsonOf(line);
  const record = recordLine.safeParse(value);
  if (record.success) return record.data.record;
  const isOther = schemaLine.safeParse(value).success || (number === 1 && headerLine.safeParse(value).success);
  return isOther ? 'none' : 'damaged';
}

const [OFFSET, KEY, VALUE, SIGNED, END] = ['{"record":{"offset":', ',"key":"', '","value":"', '","signature":"', '"}}'];
/** Digits of an offset that are read as they stand: a number of so many is exact. */
const DIGITS_MAX = 15;
/** Printable ASCII without what ends or escapes a text of JSON. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/**
 * A record in the form in which dumps are written, without a parser: most lines of a dump, and verifying costs less than parsing.
 *
 * Shape: null for every other line, which has to be parsed.
 */
function plainRecord(line: string): DumpedRecord | null {
  if (!line.startsWith(OFFSET) || !line.endsWith(END)) return null;
  const keyAt = line.indexOf('"', OFFSET.length);
  const offset = offsetIn(line.slice(OFFSET.length, keyAt - 1));
  if (offset === null || !line.startsWith(KEY, keyAt - 1)) return null;
  const valueAt = line.indexOf('"', keyAt - 1 + KEY.length);
  const key = bytesIn(line.slice(keyAt - 1 + KEY.length, valueAt));
  if (key === null || !line.startsWith(VALUE, valueAt)) return null;
  const end = line.indexOf('"', valueAt + VALUE.length);
  const value = bytesIn(line.slice(valueAt + VALUE.length, end));
  if (value === null) return null;
  if (end === line.length - END.length) return { offset, key, value };
  if (!line.startsWith(SIGNED, end)) return null;
  const signature = line.slice(end + SIGNED.length, -END.length);
  return PLAIN_TEXT.test(signature) ? { offset, key, value, signature } : null;
}

function offsetIn(digits: string): number | null {
  const offset = Number(digits);
  return digits.length <= DIGITS_MAX && String(offset) === digits && offset >= 0 ? offset : null;
}

/** Bytes of base64 in its one right form. */
function bytesIn(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
