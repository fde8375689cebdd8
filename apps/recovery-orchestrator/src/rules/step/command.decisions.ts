// What people may have done about a step beside agreeing to it (C64): try again, look again, give up, make an incident.
//
// Boundary: pure; refusals in the order a caller learns of them. What follows from a record is the step decider's.
//
// Invariants
//   C1. Nothing is tried again while a copy of an earlier attempt may still act (L11), nor out of its window (P6).
//   C2. A new attempt is agreed to anew: approvals are used once (P4).
//   C3. A look calls nothing that changes anything; what it shows is judged in looked.decisions.ts, from the observations.
//   C4. What a worker has is not given up: until its lease, a call time-out and the margin are over it may still act (L11).
//   C5. Nothing is undone that is not known to have happened: a person or the tool says first how the action ended (C33, C44).
import { briefOf } from '@recourse/contract';
import { deriveId, instantText, leaseIdOf } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { ContractTerms, LookPurpose } from '@recourse/messages';
import { SEVERITY_VALUES } from '@recourse/messages';
import { inForce } from '../decision/in-force.decisions.js';
import type { Binding } from '../decision/in-force.decisions.js';
import {
  callsMs,
  dispatchableUntil,
  grantLookLease,
  impactOf,
  requiredApprovals,
  riskOf,
} from '../decision/recovery.decisions.js';
import { OWNER_OF_APPROVALS, OWNER_OF_MANUAL, ownerOfLeg } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { endingRefusal, selfRefusal } from './approval.decisions.js';
import type { EndingContext } from './approval.decisions.js';
import { isKeyKnown, mayRepeat } from './dispatch.decisions.js';
import { identityOf } from './step.messages.js';
import type { StepDoc, StepPhase } from './step.messages.js';
import { record } from '../record.messages.js';
import type { Command, RecoveryRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';

/** Phases in which nothing is out with a worker, so that a step may be given up. */
const ABANDONABLE: readonly StepPhase[] = [
  'held',
  'awaiting_approval',
  'approved',
  'waiting',
  'halted',
  'observing',
  'retrying',
  'uncertain',
  'manual',
];
/** What people have a worker look for. */
const BY_PEOPLE: readonly LookPurpose[] = ['repair', 'reconcile'];
/** Any worker of the adapter may look: nobody acted whose word it would confirm. */
const OF_ANY_WORKER = { not_by: null, acted_leg_id: null, acted: [] } as const;
/** Phases of which nobody makes an incident any more. */
const OVER: readonly StepPhase[] = ['compensated', 'not_needed', 'resolved'];

/** Has a step tried again, or says why not. */
export function reopen(
  step: StepDoc,
  { envelope, reason }: Command<'RetryStep'>,
  now: number,
  policy: RecoveryPolicy,
): RecoveryRecord | Refusal {
  const { call, terms, action_digest: digest } = step;
  const refusal = personOnly(envelope) ?? retryRefusal(step);
  if (refusal !== null) return refusal;
  if (call === null || terms === null || digest === null)
    return wrongPhase(`There is no compensation to try${stillMissing(step)}: close it by hand, or correct it.`);
  const binding = inForce(step, terms, policy);
  const withheld = withheldBy(step, terms, binding);
  if (withheld !== null) return wrongPhase(withheld);
  const endsAt = binding.ref.reversal_expires_at;
  if (endsAt === null || now >= dispatchableUntil(endsAt, callsMs(step.ref, terms), policy.marginMs))
    return {
      code: 'WINDOW_CLOSED',
      message: 'The reversal window has closed; a person must resolve this by hand.',
    };
  if (isCopyOut(step, now)) return stillOut(step);
  if (!isKeyKnown(step, terms, now, policy)) return wrongPhase(FORGOTTEN);
  const required = approvalsNow(step, binding, policy);
  return record('StepReopened', {
    ...identityOf(step),
    required_approvals: required,
    in_force: binding.told,
    action_digest: digest,
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
    owner: required > 0 ? OWNER_OF_APPROVALS : OWNER_OF_MANUAL,
    deadline_at: Math.min(
      now + policy.reviewDeadlineMs,
      dispatchableUntil(endsAt, callsMs(step.ref, terms), policy.marginMs),
    ),
  });
}

/** What another compensation still has to give. */
function stillMissing({ reason, lacking }: StepDoc): string {
  return reason === 'STEP_RESULT_MISSING' && lacking.length > 0
    ? `, as long as no other one has given ${lacking.join(', ')}`
    : '';
}

const FORGOTTEN =
  'The tool has forgotten the key of the first attempt by now: another could act twice. Look again, or close it by hand.';

function retryRefusal(step: StepDoc): Refusal | null {
  if (step.phase !== 'manual') return wrongPhase(`The step is ${step.phase}: only what a person has is tried again.`);
  return step.execution_state === 'succeeded' ? null : forwardUnknown(step);
}

/** How many people have to agree by what stands now. */
function approvalsNow({ answerable_to }: StepDoc, { terms }: Binding, policy: RecoveryPolicy): number {
  const { recovery_approval_mode: mode } = terms;
  return requiredApprovals(mode, impactOf(terms), answerable_to, riskOf(terms, policy.riskLimit));
}

/** Why machines may not try it, however many agree; null where they may. */
function withheldBy(step: StepDoc, terms: ContractTerms, { withheld, policies, told }: Binding): string | null {
  if (step.attempt > 0 && !mayRepeat(step, terms))
    return 'The tool does not recognise a repeated call: another attempt could act twice. Look again, or close it by hand.';
  const name = `${terms.contract_name}, version ${String(told.contract_version)},`;
  if (withheld !== null) return `${name} leaves it to people by now: close it by hand, or correct it.`;
  return policies === 'undecided'
    ? `Its recovery policy cannot be judged (${told.rules.join('; ')}): register it, or mend the rule, and try again.`
    : null;
}

/** Has a worker look, or says why not. */
export function look(
  step: StepDoc,
  { envelope, purpose, evidence, reason }: Command<'CheckStep'>,
  now: number,
  policy: RecoveryPolicy,
): RecoveryRecord | Refusal {
  const { call, terms, ref } = step;
  const refusal = lookRefusal(step, envelope, purpose);
  if (refusal !== null) return refusal;
  if (call === null || terms === null || terms.verify_capability === null || terms.success_condition === null)
    return wrongPhase('The contract declares nothing that could observe it: close it by hand, with evidence.');
  if (purpose === 'reconcile' && step.attempt === 0)
    return step.execution_state === 'succeeded'
      ? wrongPhase('No attempt was made that could have taken effect.')
      : forwardUnknown(step);
  if (isCopyOut(step, now)) return stillOut(step);
  const legId = deriveId('look', step.step_id, envelope.command_id);
  const lease = grantLookLease(callsMs(ref, terms), now, policy);
  if (lease.kind !== 'granted') return wrongPhase('No lease can be granted.');
  return record('LookDispatched', {
    ...identityOf(step),
    leg_id: legId,
    purpose,
    adapter: call.adapter_id,
    lease_id: leaseIdOf(policy.leaseKey, legId, 1, lease.notAfter),
    not_after: lease.notAfter,
    answer_by: lease.answerBy,
    call,
    terms,
    ref,
    evidence,
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
    owner: ownerOfLeg(call.adapter_id),
    deadline_at: lease.answerBy,
    ...OF_ANY_WORKER,
  });
}

function lookRefusal({ phase }: StepDoc, asking: Asking, purpose: Command<'CheckStep'>['purpose']): Refusal | null {
  const refusal =
    personOnly(asking) ??
    (phase === 'manual' ? null : wrongPhase(`The step is ${phase}: only what a person has is looked at again.`));
  if (refusal !== null || BY_PEOPLE.some((known) => known === purpose)) return refusal;
  return { code: 'COMMAND_INVALID', message: 'A look is for a repair, or to reconcile.' };
}

/** Says why somebody may not give a step up for good; null when they may. */
export function abandonRefusal(
  step: StepDoc,
  { envelope, reason }: Pick<Command<'AbandonStep'>, 'reason'> & { readonly envelope: Asking },
  context: EndingContext & { readonly now: number },
): Refusal | null {
  const refusal = endingRefusal(step, envelope, context);
  if (refusal !== null) return refusal;
  if (reason.trim() === '') return { code: 'COMMAND_INVALID', message: 'Giving up needs a reason.' };
  if (!ABANDONABLE.includes(step.phase)) return wrongPhase(`The step is ${step.phase}: it cannot be given up.`);
  return isCopyOut(step, context.now) ? stillOut(step) : null;
}

/** Makes an incident of a step, or says why not. */
export function openIncident(
  step: StepDoc,
  { envelope, severity, runbook, reason }: Command<'EscalateStep'>,
  { now, policy }: { readonly now: number; readonly policy: RecoveryPolicy },
): readonly RecoveryRecord[] | Refusal {
  if (!SEVERITY_VALUES.some((known) => known === severity))
    return { code: 'COMMAND_INVALID', message: `A severity is one of ${SEVERITY_VALUES.join(', ')}.` };
  if (OVER.includes(step.phase))
    return wrongPhase(`The step is ${step.phase}: there is nothing to make an incident of.`);
  const opened = record('IncidentOpened', {
    ...identityOf(step),
    brief: briefOf(step.execution.objective, step.terms),
    incident_id: deriveId('inc', envelope.command_id),
    severity,
    runbook,
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
    owner: OWNER_OF_MANUAL,
    deadline_at: now + policy.reviewDeadlineMs,
  });
  return [opened];
}

/** A worker may still act on an earlier request. */
function isCopyOut({ legs }: StepDoc, now: number): boolean {
  return legs.some(({ answered, answer_by }) => (answered === null || answered === 'unknown') && now < answer_by);
}

function stillOut({ legs }: StepDoc): Refusal {
  return wrongPhase(`A worker may still act on an earlier attempt until ${instantText(legs.at(-1)?.answer_by ?? 0)}.`);
}

function forwardUnknown({ mutation_id, execution_state }: StepDoc): Refusal {
  return {
    code: 'FORWARD_UNCERTAIN',
    message:
      `The action itself is ${execution_state}: nothing is undone that may never have happened. ` +
      `Say first how it ended: recourse mutations settle ${mutation_id} --answer took_effect|not_done --reason ….`,
  };
}

/** Says why somebody may not have a step tried or looked at again; null when they may. */
export function personOnly(asking: Asking): Refusal | null {
  const refusal = selfRefusal([], asking);
  return refusal === null ? null : { ...refusal };
}

function wrongPhase(message: string): Refusal {
  return { code: 'STEP_WRONG_PHASE', message };
}
