// A step with what was decided about it so far, and what follows from that within the same decision (T1).
import type { Contract } from '@recourse/contract';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import { askFacts, lacksFacts } from './facts.decisions.js';
import { goOn } from './halt.decisions.js';
import type { Going } from './halt.decisions.js';
import { wake } from './rebinding.decisions.js';
import { stepFollowing, stepsFollowing } from './step-row.transitions.js';
import { replaced } from './step.messages.js';
import type { StepDoc } from './step.messages.js';
import { isAtRest, isSettled } from './step.transitions.js';

/** What every decision about a step needs beside the step. */
export interface StepContext extends Going {
  /** The contract with a digest; null when nobody knows it. */
  readonly contractOf: (digest: Buffer) => Contract | null;
  /** Who wrote or confirmed that contract, and its newest version. */
  readonly editorsOf: (tenant: string, digest: Buffer) => readonly string[];
}

/** A step with the records decided so far, folded into it. */
export interface Draft {
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
