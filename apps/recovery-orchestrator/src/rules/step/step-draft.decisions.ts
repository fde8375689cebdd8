// A step with what was decided about it so far, and what follows from that within the same decision (T1).
import type { Contract } from '@recourse/contract';
import { OWNER_OF_APPROVALS, OWNER_OF_MANUAL } from '../policy.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryDecision } from '../decision/recovery.decisions.js';
import { bindFromSteps } from './binding.decisions.js';
import type { StepBinding } from './binding.decisions.js';
import { escalated } from './dispatch.decisions.js';
import { askFacts, lacksFacts } from './facts.decisions.js';
import type { Going } from './halt.decisions.js';
import { goOn } from './halt.decisions.js';
import { deadlineOf, decideOn } from './opening.decisions.js';
import { orderOf } from './order.decisions.js';
import { stepFollowing, stepsFollowing } from './step-row.transitions.js';
import type { StepDoc } from './step.messages.js';
import { identityOf, replaced } from './step.messages.js';
import { isAtRest, isSettled } from './step.transitions.js';

/** What every decision about a step needs beside the step. */
export interface StepContext extends Going {
  /** The contract with a digest; null when nobody knows it. */
  readonly contractOf: (digest: Buffer) => Contract | null;
  /** Who wrote or confirmed that contract, and its newest version. */
  readonly editorsOf: (tenant: string, digest: Buffer) => readonly string[];
}

/** A step with the records decided so far, folded into it. */
interface Draft {
  readonly step: StepDoc;
  readonly records: readonly RecoveryRecord[];
}

/** Begins a decision about a step with its first records. */
export function draft(step: StepDoc, now: number, ...records: readonly RecoveryRecord[]): Draft {
  return records.reduce<Draft>((begun, next) => append(begun, next, now), { step, records: [] });
}

/** Adds a record to a decision. */
export function append({ step, records }: Draft, next: RecoveryRecord, now: number): Draft {
  return { step: stepFollowing(step, next, now), records: [...records, next] };
}

/** Sends a step on once nobody has to agree any more. */
export function goOnOnceApproved(begun: Draft, context: StepContext): Draft {
  return begun.step.phase === 'approved' ? append(begun, goOn(begun.step, context), context.now) : begun;
}

/** Continues the steps that waited for this one, then closes the recovery when none is open any more. */
export function conclude({ step, records }: Draft, context: StepContext): readonly RecoveryRecord[] {
  // The records are in the step already, and may be about others too.
  const steps = replaced(stepsFollowing(context.steps, records, context.now), step);
  return concludeIn(step, records, { ...context, steps });
}

/** The same for steps into which the records were folded already. */
export function concludeIn(
  { recovery_id, rollback_id, tenant, run_id }: Pick<StepDoc, 'recovery_id' | 'rollback_id' | 'tenant' | 'run_id'>,
  records: readonly RecoveryRecord[],
  context: StepContext,
): readonly RecoveryRecord[] {
  const own = context.steps.filter((one) => one.recovery_id === recovery_id);
  const isOver = own.some(({ phase, updated_at }) => isAtRest(phase) && updated_at === context.now);
  const hasSettled = records.some(({ type }) => type === 'LegSettled');
  const woken = isOver || hasSettled ? wake(recovery_id, context) : { steps: context.steps, records: [] };
  const all = woken.steps.filter((one) => one.recovery_id === recovery_id);
  const decided = [...records, ...woken.records, ...looksFor(all, context)];
  if (!all.every((one) => isAtRest(one.phase))) return decided;
  const outcome = all.every((one) => isSettled(one.phase)) ? 'compensated' : 'manual';
  return [...decided, record('RecoveryClosed', { recovery_id, rollback_id, tenant, run_id, outcome })];
}

/** Continues the steps that waited for what a person closed; a closed recovery stays closed. */
export function wakeWaiting(closed: Draft, context: StepContext): readonly RecoveryRecord[] {
  const { recovery_id: recoveryId } = closed.step;
  const isOpen = context.steps.some((one) => one.recovery_id === recoveryId && !isAtRest(one.phase));
  return isOpen ? conclude(closed, context) : closed.records;
}

/** Whoever is to decide about a step is shown the resource as it is. */
function looksFor(steps: readonly StepDoc[], { now, policy }: StepContext): readonly RecoveryRecord[] {
  return steps.flatMap((step) => (lacksFacts(step) ? (askFacts(step, 'review', now, policy) ?? []) : []));
}

// Continues the steps that waited for one that came to rest: for its result, or for their turn.
//
// Boundary: pure; a decision is whole, so what a step that came to rest makes possible or impossible is in it.

interface Waking extends Going {
  readonly contractOf: (digest: Buffer) => Contract | null;
}

/** Steps of a run with the records decided so far folded into them. */
interface Woken {
  readonly steps: readonly StepDoc[];
  readonly records: readonly RecoveryRecord[];
}

/** Every step of a recovery that waited for one that came to rest, and those that waited for these. */
function wake(recoveryId: string, context: Waking): Woken {
  let woken: Woken = { steps: context.steps, records: [] };
  for (let rests = 1; rests > 0;) {
    rests = 0;
    for (const { step_id } of woken.steps.filter((step) => step.recovery_id === recoveryId && mayWake(step))) {
      if (woken.records.length >= WAKES_MAX) return woken;
      const waiting = woken.steps.find((step) => step.step_id === step_id);
      // One that woke before it may have taken it along.
      if (waiting === undefined || !mayWake(waiting)) continue;
      const now = { ...context, steps: woken.steps };
      const records = waiting.phase === 'waiting' ? onTurn(waiting, now) : wakened(waiting, now);
      if (records.length === 0) continue;
      woken = {
        steps: stepsFollowing(woken.steps, records, context.now),
        records: [...woken.records, ...records],
      };
      if (woken.steps.some((step) => step.step_id === step_id && isAtRest(step.phase))) rests += 1;
    }
  }
  return woken;
}

function mayWake(step: StepDoc): boolean {
  return isWaiting(step) || step.phase === 'waiting';
}

/** Most records of one waking: a decision stays whole and bounded (L4), and whoever is left goes at its own deadline. */
const WAKES_MAX = 150;

/** What a step does whose turn may have come; nothing while it waits for the same ones. */
function onTurn(waiting: StepDoc, context: Waking): readonly RecoveryRecord[] {
  if (waiting.go_at !== null && context.now < waiting.go_at) return [];
  const order = orderOf(waiting, context.steps, context.dependentsIn(waiting.run_id));
  if (order.kind === 'wait' && order.reason === waiting.reason && order.steps.join() === waiting.outstanding.join())
    return [];
  return order.kind === 'wait' && order.reason === 'ORDER' && waiting.reason === 'ORDER'
    ? []
    : [goOn(waiting, context)];
}

function isWaiting(step: StepDoc): boolean {
  return step.phase === 'held' && step.reason === 'STEP_RESULT_PENDING';
}

/** Begins with a step that a person has because another compensation gave it no argument: with what that has given since, where it has. */
export function boundSince(step: StepDoc, context: Waking): Draft {
  const { now } = context;
  const isLeft = step.phase === 'manual' && step.reason === 'STEP_RESULT_MISSING';
  const binding = isLeft ? bindingOf(step, context) : null;
  const bound = binding?.kind === 'bound' ? boundTo({ ...step, ref: binding.ref }, binding.from, context).bound : null;
  return bound === null ? draft(step, now) : draft(step, now, bound);
}

function bindingOf(step: StepDoc, { contractOf, steps }: Waking): StepBinding {
  return bindFromSteps(step, step.terms === null ? null : contractOf(step.terms.contract_digest), steps);
}

function wakened(waiting: StepDoc, context: Waking): readonly RecoveryRecord[] {
  const { now, policy } = context;
  const binding = bindingOf(waiting, context);
  switch (binding.kind) {
    case 'pending':
      return [];
    case 'missing':
    case 'incomplete':
      return [escalated(waiting, 'STEP_RESULT_MISSING', now, policy)];
    case 'bound':
      return decidedAnew({ ...waiting, ref: binding.ref }, binding.from, context);
  }
}

function decidedAnew(step: StepDoc, from: readonly string[], context: Waking): readonly RecoveryRecord[] {
  const { now, policy } = context;
  const { chosen, bound } = boundTo(step, from, context);
  const isToGo = chosen.decision === 'compensate_now' || chosen.decision === 'request_approval';
  if (!isToGo || bound === null) return [escalated(step, chosen.reason, now, policy)];
  const after = stepFollowing(step, bound, now);
  return after.phase === 'approved' ? [bound, goOn(after, context)] : [bound];
}

/** What is decided about a step whose arguments are all there, and what is recorded of that; null where there is nothing to call. */
function boundTo(
  step: StepDoc,
  from: readonly string[],
  { now, policy }: Waking,
): { readonly chosen: RecoveryDecision; readonly bound: RecoveryRecord<'StepBound'> | null } {
  const {
    chosen,
    bound: { call, action_digest: digest, required_approvals, in_force },
  } = decideOn({ ...step, recoverability: 'reversal_available' }, 'bound', now, policy);
  if (call === null || digest === null) return { chosen, bound: null };
  const bound = record('StepBound', {
    ...identityOf(step),
    reason: chosen.reason,
    call,
    ref: step.ref,
    action_digest: digest,
    required_approvals,
    in_force,
    bound_from: from,
    owner: required_approvals > 0 ? OWNER_OF_APPROVALS : OWNER_OF_MANUAL,
    deadline_at: deadlineOf(step, chosen, now, policy),
  });
  return { chosen, bound };
}
