// Records as their topic types them: what a codec decoded, by the union that schemas/topics.json gives the topic.
import { InvariantViolation } from '@recourse/kernel';
import { TOPICS } from './generated/index.js';
import type { TopicName, TopicRecords } from './generated/index.js';

/** Fields the loop adds to every record of a log. */
export type ChainField = 'seq' | 'prev_hash' | 'decided_at';

/** Short names of the records a topic holds. */
export type RecordTypeOf<Topic extends TopicName> = TopicRecords[Topic]['type'];

/** A record without its chain fields: what a decision writes, what a fold reads, and what an input of a wire is. */
export type RecordOf<Topic extends TopicName> = WithoutChain<TopicRecords[Topic]>;

type WithoutChain<Record> = Record extends { readonly type: infer Type; readonly body: infer Body }
  ? { readonly type: Type; readonly body: Omit<Body, ChainField> }
  : never;

/** Fields of one record type of a topic, without those of the chain. */
export type BodyOf<Topic extends TopicName, Type extends RecordTypeOf<Topic>> = Omit<
  Extract<TopicRecords[Topic], { readonly type: Type }>['body'],
  ChainField
>;

/** What a codec answers: a short name, and fields it read by the schema of that name. */
export interface DecodedBody {
  readonly type: string;
  readonly body: object;
}

const TYPES_OF: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  TOPICS.map(({ name, records }) => [name, new Set(records.map((full) => full.slice(full.lastIndexOf('.') + 1)))]),
);

/** Types a decoded record. Errors: InvariantViolation for a type the topic does not hold. */
export function recordIn<Topic extends TopicName>(topic: Topic, record: DecodedBody): RecordOf<Topic> {
  if (TYPES_OF.get(topic)?.has(record.type) !== true)
    throw new InvariantViolation('records by topic', `${topic} holds no ${record.type}`);
  // The codec read the body by the schema of this type, from which the union was generated.
  return record as RecordOf<Topic>;
}

/** Body of a record that is known to be of one type. Errors: InvariantViolation for another. */
export function bodyIn<Topic extends TopicName, Type extends RecordTypeOf<Topic>>(
  topic: Topic,
  type: Type,
  record: DecodedBody,
): BodyOf<Topic, Type> {
  recordIn(topic, record);
  if (record.type !== type)
    throw new InvariantViolation('records by topic', `${record.type} where ${type} was expected`);
  return record.body as BodyOf<Topic, Type>; // read by the schema of this type, as the lines above made sure
}
