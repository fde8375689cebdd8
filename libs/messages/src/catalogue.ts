// What may stand on which topic, and the Avro types of our own schemas: schemas/topics.json and schemas/ as data.
import { InvariantViolation } from '@recourse/kernel';
import { SharedTypes } from './avro-types.js';
import type { AvroType } from './avro-types.js';
import { SCHEMAS, TOPICS } from './generated/index.js';

interface CatalogueTopic {
  readonly name: string;
  readonly records: readonly string[];
  readonly kind: string;
  readonly written_by: string;
}
const CATALOGUE: readonly CatalogueTopic[] = TOPICS;
const RECORDS = new Map<string, readonly string[]>(CATALOGUE.map(({ name, records }) => [name, records]));
const FAMILIES = CATALOGUE.filter(({ name }) => name.split('.').length > 2).map(({ name, records }) => ({
  prefix: name.slice(0, name.lastIndexOf('.') + 1),
  records,
}));
const TYPES = new Map<string, AvroType>();
const SHARED = new SharedTypes();

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

/** Service that alone writes a log, or a log derived from one; null for a wire, and for what is no topic of ours. */
export function ownerOfLog(topic: string): string | null {
  const known = CATALOGUE.find(({ name }) => name === topic);
  return known === undefined || known.kind === 'wire' ? null : known.written_by;
}

/** Is this a schema of ours? */
export function isOurs(fullName: string): boolean {
  return fullName in SCHEMAS;
}

/** Our schema of that name, as Avro JSON. Errors: InvariantViolation when there is none. */
export function schemaText(fullName: string): string {
  const schema: string | undefined = (SCHEMAS as Readonly<Record<string, string>>)[fullName];
  if (schema === undefined) throw new InvariantViolation('codecs', `no schema of the name ${fullName}`);
  return schema;
}

/** Our type of that name, built once. */
export function ourType(fullName: string): AvroType {
  const type = TYPES.get(fullName) ?? SHARED.typeOf(schemaText(fullName));
  TYPES.set(fullName, type);
  return type;
}

/** `StepFailed` of `recourse.recoveries.StepFailed`. */
export function shortName(fullName: string): string {
  return fullName.slice(fullName.lastIndexOf('.') + 1);
}
