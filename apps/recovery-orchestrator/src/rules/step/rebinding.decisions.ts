// Continues the steps that waited for one that came to rest: for its result, or for their turn.
//
// Boundary: pure; a decision is whole, so what a step that came to rest makes possible or impossible is in it.
import type { Contract } from '@recourse/contract';
import { OWNER_OF_APPROVALS, OWNER_OF_MANUAL } from '../policy.messages.js';
import { bindFromSteps } from './binding.decisions.js';
import { escalated } from './dispatch.decisions.js';
import { orderOf } from './order.decisions.js';
import { goOn } from './halt.decisions.js';
import type { Going } from './halt.decisions.js';
import { deadlineOf, decideOn } from './opening.decisions.js';
import { stepFollowing, stepsFollowing } from './step-row.transitions.js';
import { identityOf } from './step.messages.js';
import type { StepDoc } from './step.messages.js';
import { isAtRest } from './step.transitions.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';

interface Waking extends Going {
  readonly contractOf: (digest: Buffer) => Contract | null;
}

/** Steps of a run with the records decided so far folded into them. */
export interface Woken {
  readonly steps: readonly StepDoc[];
  readonly records: readonly RecoveryRecord[];
}

/** Every step of a recovery that waited for one that came to rest, and those that waited for these. */
export function wake(recoveryId: string, context: Waking): Woken {
  let woken: Woken = { steps: context.steps, records: [] };
  for (let rests = 1; rests > 0;) {
    rests = 0;
    if (woken.records.length >= WAKES_MAX) break;
    for (const { step_id } of woken.steps.filter((step) => step.recovery_id === recoveryId && mayWake(step))) {
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

function wakened(waiting: StepDoc, context: Waking): readonly RecoveryRecord[] {
  const { now, policy, steps } = context;
  const binding = bindFromSteps(
    waiting,
    waiting.terms === null ? null : context.contractOf(waiting.terms.contract_digest),
    steps,
  );
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
  const {
    chosen,
    bound: { call, action_digest: digest, required_approvals, in_force },
  } = decideOn({ ...step, recoverability: 'reversal_available' }, 'bound', now, policy);
  const isToGo = chosen.decision === 'compensate_now' || chosen.decision === 'request_approval';
  if (!isToGo || call === null || digest === null) return [escalated(step, chosen.reason, now, policy)];
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
  const after = stepFollowing(step, bound, now);
  return after.phase === 'approved' ? [bound, goOn(after, context)] : [bound];
}
