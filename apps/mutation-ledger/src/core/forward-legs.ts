// What the ledger does about forward actions whose end it does not know yet: worker's answers, cancels, and the clock.
import { charterVerdict, killVerdict } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { accepted, append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput } from '@recourse/event-log';
import { isAmong, isObserved, speaksUnder } from '@recourse/kernel';
import type { Speaker } from '@recourse/kernel';
import type { CancelMutation, LegReported } from '@recourse/messages';
import { dutyOf } from '../rules/mutation/agenda.decisions.js';
import { askOf, missAnswer, refuseAnswer, takeAnswer } from '../rules/mutation/answer.decider.js';
import type { AnswerContext } from '../rules/mutation/answer.decider.js';
import { askAgain, endHold, isHeld } from '../rules/mutation/hold.decider.js';
import type { HoldContext } from '../rules/mutation/hold.decider.js';
import { concludeExecution, warnOfEnd } from '../rules/mutation/mutation.decider.js';
import { closeWindow } from '../rules/mutation/recoverability.decider.js';
import type { LedgerPolicy } from '../rules/mutation/mutation.decider.js';
import { withTakenAlong } from './failures.part.js';
import type { FallPolicy } from './falls.part.js';
import { isRecorded } from '../rules/mutation/mutation.messages.js';
import type { Ask, CancelReason, Mutation } from '../rules/mutation/mutation.messages.js';
import { lacksAgreement } from './agreements.part.js';
import { cancels, contractOfMutation } from './cancels.js';
import { contractOf, executionFacts, judgementsOf, oneOrNone } from './executions.js';
import type { Named } from './executions.js';
import { mutationIn } from '../rows/mutation.rows.js';
import { signedBy } from './handles.part.js';
import { refuse } from './refuse.js';

/** Takes a worker's report, once the leg is over. One under another key than its run is refused on the key it came with. */
export function onReport(
  context: DecideContext,
  input: RecordInput,
  message: LegReported,
  policy: FallPolicy,
): Decision {
  if (input.key !== message.run_id) return append(refuseAnswer({ ...message, run_id: input.key }, 'KEY_MISMATCH'));
  if (!message.complete) return NOTHING;
  const [mutationId] = message.steps.map(({ step_id }) => step_id);
  const mutation =
    mutationId === undefined ? mutationOfLeg(context, message) : mutationIn(context.state, message.run_id, mutationId);
  const ask = askOf(message, mutation);
  if (mutation === undefined || ask === null) return append(refuseAnswer(message, 'LEASE_UNKNOWN'));
  const { speaker } = input;
  // Who overheard a request, lease and all, does not answer for the adapter.
  if (speaker !== undefined && !mayAnswer(speaker, ask)) return append(refuseAnswer(message, 'WORKER_MISMATCH'));
  const named = contractOf(context, factsOf(mutation));
  return named.kind === 'wait'
    ? named.decision
    : append(
        ...withTakenAlong(
          context,
          signedBy(
            context,
            takeAnswer(message, ask, mutation, {
              ...answering(context, mutation, named, policy),
              heard: heardFrom(speaker, ask, mutation),
            }),
            { named: named.contract, speaker },
          ),
          policy,
        ),
      );
}

function heardFrom(speaker: Speaker | undefined, { adapter }: Ask, { tenant }: Mutation): AnswerContext['heard'] {
  return speaker === undefined ? null : { keyId: speaker.keyId, isObserved: isObserved(speaker, adapter, tenant) };
}

/** Who was asked answers: a worker of the adapter; where an observer was, another key than the one whose word it looks at. */
function mayAnswer(speaker: Speaker, { adapter, confirms }: Ask): boolean {
  const isAsked = confirms === undefined ? speaker.roles.includes('worker') : isOther(speaker, confirms.said_by);
  return isAsked && speaksUnder(speaker, adapter);
}

function isOther({ roles, keyId }: Speaker, saidBy: string): boolean {
  return roles.includes('observer') && keyId !== saidBy;
}

/** A report without a step names nothing but its request: nobody was asked under that name but one of the run. */
function mutationOfLeg(context: DecideContext, { run_id, leg_id }: LegReported): Mutation | undefined {
  const run = context.state.list('mutation', run_id) as readonly Mutation[]; // rows of this kind are mutations
  return run.find(({ forward }) => forward?.asks.some((ask) => ask.leg_id === leg_id) === true);
}

/** Who takes back the effect of any agent of their tenant. */
export const CANCELLERS = ['operator', 'approver', 'administrator'] as const;

/** An agent ends no other's effect (M3): where its token gives no more, it is that of the agent who recorded the effect. */
function mayCancel(asker: CancelMutation['envelope'], { execution }: Mutation): boolean {
  return isCanceller(asker) || isAmong([execution.agent_id], asker);
}

function isCanceller({ roles }: CancelMutation['envelope']): boolean {
  return CANCELLERS.some((role) => roles.includes(role));
}

/** Takes back an effect that is held; what was let go before is not taken back (H1). */
export function onCancel(
  context: DecideContext,
  { envelope, run_id, mutation_id }: CancelMutation,
  policy: LedgerPolicy,
) {
  const mutation = mutationIn(context.state, run_id, mutation_id);
  if (mutation?.tenant !== envelope.tenant)
    return refuse({ code: 'MUTATION_UNKNOWN', message: 'There is no such mutation in this run of this tenant.' });
  if (!mayCancel(envelope, mutation))
    return refuse({
      code: 'EFFECT_OF_ANOTHER',
      message: 'An agent takes back what it recorded itself; somebody else’s effect is a person’s to take back.',
    });
  const answer = { mutation_id, run_id, recoverability: 'cancelled' };
  if (mutation.recoverability === 'cancelled') return accepted(200, { ...answer, reason: mutation.reason });
  if (!isHeld(mutation))
    return refuse(
      { code: 'NOT_HELD', message: 'The effect is not held: it was let go, or never waited.' },
      { execution_state: mutation.execution_state, recoverability: mutation.recoverability },
    );
  const reason: CancelReason = isCanceller(envelope) ? 'CANCELLED_BY_PERSON' : 'CANCELLED_BY_AGENT';
  return accepted(
    200,
    { ...answer, reason },
    ...cancels(context, mutation, { reason, eventId: envelope.command_id }, policy),
  );
}

/** Does what is due about a mutation. */
export function onDue(context: DecideContext, mutation: Mutation, policy: FallPolicy): Decision {
  const duty = dutyOf(mutation);
  const { now } = context;
  if (duty === null || now < duty.at) return NOTHING;
  switch (duty.do) {
    case 'miss_answer': {
      const named = contractOf(context, factsOf(mutation));
      return named.kind === 'wait'
        ? named.decision
        : append(...withTakenAlong(context, missAnswer(mutation, answering(context, mutation, named, policy)), policy));
    }
    case 'ask_again':
      return append(...askAgain(mutation, duty.ask, now, policy));
    case 'end_hold':
      return append(...withTakenAlong(context, endHold(mutation, holdOf(context, mutation, policy)), policy));
    case 'warn':
      return oneOrNone(warnOfEnd(mutation));
    case 'close_window':
      return isRecorded(mutation) ? oneOrNone(closeWindow(mutation)) : NOTHING;
    case 'reconcile':
    case 'ask_person':
      return append(concludeExecution(mutation, now, policy));
  }
}

function answering(
  context: DecideContext,
  mutation: Mutation,
  { contract }: Extract<Named, { kind: 'found' }>,
  policy: FallPolicy,
): AnswerContext {
  return {
    ...holdOf(context, mutation, policy),
    contract: contract?.contract ?? null,
    heard: null,
    record: (event, found) => executionFacts(context, mutation.mutation_id, event, contract, policy, found),
  };
}

/** What stands where a hold ends. */
function holdOf(context: DecideContext, mutation: Mutation, policy: FallPolicy): HoldContext {
  return {
    now: context.now,
    policy,
    contract: contractOfMutation(context, mutation),
    judgements: judgementsOf(context, mutation.execution, mutation.forward?.refs ?? []),
    forbidden: forbiddenBy(context, mutation, contractOfMutation(context, mutation)),
  };
}

/** What forbids an effect that is about to go: a switch comes first, then the charter of its agent, then that nobody was asked. */
function forbiddenBy(context: DecideContext, mutation: Mutation, contract: Contract | null): HoldContext['forbidden'] {
  const {
    tenant,
    execution: { agent_id: agent },
    capability,
  } = mutation;
  const entries = context.views.view('entries');
  if (!killVerdict(entries, { tenant, agent, capability }).admitted) return 'KILL_SWITCH';
  if (!charterVerdict(entries, tenant, agent, capability).admitted) return 'CHARTER_REFUSED';
  return lacksAgreement(context, mutation, contract) ? 'APPROVAL_MISSING' : null;
}

/** What names the contract a mutation ran under. */
export function factsOf({ terms, capability, tenant }: Mutation): Parameters<typeof contractOf>[1] {
  return { contract_digest: terms?.contract_digest ?? null, capability, tenant };
}
