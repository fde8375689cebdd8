// Takes a person's word about an effect that nothing automatic can end.
import { accepted } from '@recourse/event-log';
import type { DecideContext } from '@recourse/event-log';
import type { ReconcileMutation, SettleMutation } from '@recourse/messages';
import { lookOnceMore } from '../rules/mutation/asking.decider.js';
import {
  foundByPerson,
  lookRefusal,
  settledFact,
  settlingRefusal,
  toldByPerson,
} from '../rules/mutation/settling.decider.js';
import { endingRefusal } from './ending.part.js';
import { contractOf, executionFacts } from './executions.js';
import type { FallPolicy } from './falls.part.js';
import { factsOf } from './forward-legs.js';
import { refuse } from './refuse.js';
import { mutationIn } from '../rows/mutation.rows.js';

/** Has a worker look once more how an execution ended; what it finds ends the question, and else the person keeps it. */
export function onLook({ state, now }: DecideContext, command: ReconcileMutation, policy: FallPolicy) {
  const { run_id, mutation_id } = command;
  const mutation = mutationIn(state, run_id, mutation_id);
  const refusal = lookRefusal(mutation, command, policy);
  if (refusal !== null || mutation === undefined)
    return refuse(refusal ?? { code: 'MUTATION_UNKNOWN', message: 'There is no such mutation.' });
  return accepted(202, { mutation_id, run_id, asked: 'reconcile' }, lookOnceMore(mutation, now, policy));
}

/** Ends what waits for people about an effect. */
export function onSettle(context: DecideContext, command: SettleMutation, policy: FallPolicy) {
  const { run_id, mutation_id, settled_as } = command;
  const mutation = mutationIn(context.state, run_id, mutation_id);
  const refusal =
    settlingRefusal(mutation, command) ??
    endingRefusal(context, { tenant: command.envelope.tenant, run_id, mutation_id }, command.envelope);
  if (refusal !== null || mutation === undefined)
    return refuse(refusal ?? { code: 'MUTATION_UNKNOWN', message: 'There is no such mutation.' });
  const answer = { mutation_id, run_id, settled_as };
  const told = toldByPerson(mutation, command);
  if (told === null) return accepted(200, answer, settledFact(mutation, command));
  const named = contractOf(context, factsOf(mutation));
  if (named.kind === 'wait') return named.decision;
  const found = foundByPerson(command, context.now);
  const facts = executionFacts(context, mutation_id, told, named.contract, policy, found);
  return accepted(200, answer, settledFact(mutation, command), ...facts);
}
