// Takes a person's word about an effect that nothing automatic can end.
import { accepted, refused } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput } from '@recourse/event-log';
import type { ReconcileMutation, SettleMutation } from '@recourse/messages';
import { lookOnceMore } from '../rules/mutation/asking.decider.js';
import { lookRefusal, settledFact, settlingRefusal, toldByPerson } from '../rules/mutation/settling.decider.js';
import { contractOf, executionFacts } from './executions.js';
import type { FallPolicy } from './falls.part.js';
import { factsOf } from './forward-legs.js';
import { mutationIn } from '../rows/mutation.rows.js';

/** Roles of which one may settle. */
export const SETTLE_ROLES: readonly string[] = ['operator', 'approver', 'administrator'];

/** Has a worker look once more how an execution ended; what it finds ends the question, and else the person keeps it. */
export function onLook(
  { state, now }: DecideContext,
  input: RecordInput,
  command: ReconcileMutation,
  policy: FallPolicy,
): Decision {
  const { envelope, run_id, mutation_id } = command;
  if (input.key !== run_id) return refused(422, 'KEY_MISMATCH', 'The record key must be the run the command is about.');
  if (!envelope.roles.some((role) => SETTLE_ROLES.includes(role)))
    return refused(403, 'ROLE_REQUIRED', `ReconcileMutation needs one of the roles ${SETTLE_ROLES.join(', ')}.`);
  const mutation = mutationIn(state, run_id, mutation_id);
  const refusal = lookRefusal(mutation, command, policy);
  if (refusal !== null || mutation === undefined)
    return refused(refusal?.httpStatus ?? 404, refusal?.code ?? 'MUTATION_UNKNOWN', refusal?.message ?? '');
  return accepted(202, { mutation_id, run_id, asked: 'reconcile' }, lookOnceMore(mutation, now, policy));
}

/** Ends what waits for people about an effect. */
export function onSettle(
  context: DecideContext,
  input: RecordInput,
  command: SettleMutation,
  policy: FallPolicy,
): Decision {
  const { envelope, run_id, mutation_id, settled_as } = command;
  if (input.key !== run_id) return refused(422, 'KEY_MISMATCH', 'The record key must be the run the command is about.');
  if (!envelope.roles.some((role) => SETTLE_ROLES.includes(role)))
    return refused(403, 'ROLE_REQUIRED', `SettleMutation needs one of the roles ${SETTLE_ROLES.join(', ')}.`);
  const mutation = mutationIn(context.state, run_id, mutation_id);
  const refusal = settlingRefusal(mutation, command);
  if (refusal !== null || mutation === undefined)
    return refused(refusal?.httpStatus ?? 404, refusal?.code ?? 'MUTATION_UNKNOWN', refusal?.message ?? '');
  const answer = { mutation_id, run_id, settled_as };
  const told = toldByPerson(mutation, command);
  if (told === null) return accepted(200, answer, settledFact(mutation, command));
  const named = contractOf(context, factsOf(mutation));
  if (named.kind === 'wait') return named.decision;
  const facts = executionFacts(context, mutation_id, told, named.contract, policy);
  return accepted(200, answer, settledFact(mutation, command), ...facts);
}
