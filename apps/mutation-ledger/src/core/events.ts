// What the mutations log reads, typed by its topic.
import type { RecordInput } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import { recordIn } from '@recourse/messages';
import type { RecordOf, TopicName } from '@recourse/messages';

const TOPICS = [
  'recourse.tool-executions',
  'recourse.tool-results',
  'recourse.ledger-commands',
  'recourse.consumer-acks',
  'recourse.recoveries',
  'recourse.assumptions',
  'recourse.rollback-notifications',
  'recourse.contracts',
] as const satisfies readonly TopicName[];

export type MutationEvent = { readonly [Topic in (typeof TOPICS)[number]]: RecordOf<Topic> }[(typeof TOPICS)[number]];

/** An input as its topic types it. Errors: InvariantViolation for a topic the log does not read. */
export function eventOf(input: RecordInput): MutationEvent {
  const topic = TOPICS.find((one) => one === input.topic);
  if (topic === undefined) throw new InvariantViolation('inputs', `the ledger does not read ${input.topic}`);
  return recordIn(topic, input);
}
