// Handles of effects, as a part of the mutations core: asks whose they are, and takes the answer.
//
// Boundary: reads rows, asks the decider; holds no rule.
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, Outgoing, RecordInput } from '@recourse/event-log';
import { deriveId } from '@recourse/kernel';
import type { HandleClaimed } from '@recourse/messages';
import type { NamedContract } from '../rules/mutation/bound.decisions.js';
import { handleToAsk, isHandleAsked, isQuestion, judgeHandle, stagedToAsk } from '../rules/handle/handle.decider.js';
import type { LedgerPolicy } from '../rules/mutation/mutation.decider.js';
import type { Body, MutationRecord } from '../rules/record.messages.js';
import { mutationIn } from '../rows/mutation.rows.js';

/** Where it is asked whose a handle is; every partition of the log of assumptions owns the handles of its keys. */
const HANDLES = 'recourse.assumption-events';
/** The question, by its full name. */
export const HANDLE_NAMED = 'recourse.assumptions.HandleNamed';

/** What of a record a question is made of. */
type RecordedBody = Body<MutationRecord<'MutationRecorded'>['body']>;
type Asking = Pick<RecordedBody, 'handle_ref' | 'signing_key' | 'mutation_id' | 'execution'>;

/** An execution as it is told, by whom. */
export interface Told {
  readonly named: NamedContract | null;
  /** Who signed it; absent where wires are open: nobody knows who is who, and nothing is asked. */
  readonly speaker: RecordInput['speaker'];
}

/** The same records, with who signed what they tell, and the handle it is to be asked about. */
export function signedBy(
  context: DecideContext,
  records: readonly MutationRecord[],
  { named, speaker }: Told,
): readonly MutationRecord[] {
  if (speaker === undefined) return records;
  return records.map((one) => {
    if (one.type !== 'MutationRecorded') return one;
    const { mutation_id, execution } = one.body;
    const before = mutationIn(context.state, execution.run_id, mutation_id);
    const handle_ref = handleToAsk(one.body, named, before);
    return { ...one, body: { ...one.body, signing_key: speaker.keyId, handle_ref } };
  });
}

/** The same intent, with who signed it, and the staged part it is to be asked about. */
export function intentSignedBy(
  intent: MutationRecord<'MutationPlanned'>,
  speaker: Told['speaker'],
): MutationRecord<'MutationPlanned'> {
  if (speaker === undefined) return intent;
  return { ...intent, body: { ...intent.body, signing_key: speaker.keyId, handle_ref: stagedToAsk(intent.body) } };
}

/** The question of an execution: at most one. */
export function questionOfRecorded(recorded: Asking & Pick<RecordedBody, 'ref'>): readonly Outgoing[] {
  return questionOf(recorded, isQuestion(recorded));
}

/** The question of an intent whose effect is staged: at most one. */
export function questionOfPlanned(planned: Asking): readonly Outgoing[] {
  return questionOf(planned, false);
}

function questionOf(
  { handle_ref, signing_key, mutation_id, execution: { tenant, run_id, agent_id } }: Asking,
  is_question: boolean,
): readonly Outgoing[] {
  if (handle_ref === null || signing_key === null) return [];
  return [
    {
      obligationId: deriveId('handle', mutation_id, handle_ref),
      topic: HANDLES,
      key: handle_ref,
      type: HANDLE_NAMED,
      body: { ref: handle_ref, tenant, run_id, agent_id, mutation_id, signing_key, is_question },
    },
  ];
}

/** Takes the answer to a question that is open. */
export function onHandleClaimed(
  context: DecideContext,
  { seq }: RecordInput,
  claimed: Body<HandleClaimed>,
  { reviewDeadlineMs }: LedgerPolicy,
): Decision {
  const mutation = mutationIn(context.state, claimed.run_id, claimed.mutation_id);
  if (mutation === undefined || !isHandleAsked(mutation) || mutation.claim?.ref !== claimed.ref) return NOTHING;
  return append(...judgeHandle(claimed, seq, mutation, { now: context.now, reviewDeadlineMs }));
}
