// Whether a step goes on: the order of a run and the kill switches (A82, D64) hold it back, in a list, until they let it go.
//
// Invariants
//   K1. A switch stops effects alone: marks, notices, approvals and escalations go on.
//   K2. What a worker already has is not called back: the lease ends it.
//   K3. A halted step keeps its window and its deadline; neither waits for the switch.
import type { Acting, Verdict } from '@recourse/contract';
import { dispatchableUntil } from '../lease/lease.decisions.js';
import { OWNER_OF_HALTED, OWNER_OF_MANUAL, OWNER_OF_ORDER } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { dispatchOrEscalate, escalated } from './dispatch.decisions.js';
import { orderOf } from './order.decisions.js';
import type { Order } from './order.decisions.js';
import { fact, identityOf } from './step.messages.js';
import type { Fact, StepDoc } from './step.messages.js';

/** What going on needs beside the step. */
export interface Going {
  readonly now: number;
  readonly policy: RecoveryPolicy;
  /** What the kill switches say of an action. */
  readonly killed: (acting: Acting) => Verdict;
  /** All steps of the run. */
  readonly steps: readonly StepDoc[];
}

/** The action of a step as kill switches name it: the capability that would be called, the agent whose action it undoes. */
export function actingOf(step: Pick<StepDoc, 'tenant' | 'execution' | 'call'>): Acting {
  return { tenant: step.tenant, agent: step.execution.agent_id, capability: step.call?.capability ?? '' };
}

/** Sends the step on, unless a switch stops it: to a worker, to a person, or into the list of what is halted; exactly one record. */
export function goOn(step: StepDoc, { now, policy, killed, steps }: Going): Fact {
  const next = dispatchOrEscalate(step, now, policy);
  if (next.type !== 'LegDispatched') return next;
  const order = orderOf(step, steps);
  if (order.kind === 'wait' && !isPatienceOver(step, now)) return waits(step, order, now, policy);
  if (order.kind === 'wait' && order.reason === 'BLOCKED_BY_STEP') return escalated(step, order.reason, now, policy);
  const verdict = killed(actingOf(step));
  if (!verdict.admitted) return halted(step, verdict.reason, now, policy);
  return order.kind === 'free' ? next : { ...next, body: { ...next.body, outstanding: order.steps } };
}

/** A step that waited to its deadline goes without those outstanding (O4). */
function isPatienceOver({ phase, deadline_at: until }: StepDoc, now: number): boolean { return phase === 'waiting' && until !== null && now >= until; }

function waits(step: StepDoc, { reason, steps: outstanding }: Extract<Order, { kind: 'wait' }>, now: number, policy: RecoveryPolicy): Fact {
  const owner = reason === 'ORDER' ? OWNER_OF_ORDER : OWNER_OF_MANUAL;
  return fact('StepWaits', { ...identityOf(step), reason, outstanding, owner, deadline_at: deadlineOf(step, now, policy) });
}

function halted(step: StepDoc, detail: string, now: number, policy: RecoveryPolicy): Fact {
  const { agent, capability } = actingOf(step);
  return fact('StepHalted', {
    ...identityOf(step), reason: 'KILL_SWITCH', detail, agent_id: agent, capability, owner: OWNER_OF_HALTED, deadline_at: deadlineOf(step, now, policy, true),
  });
}

/** A step that waits or is halted anew keeps the deadline it had; a closing window comes first, with time for a lease left. */
function deadlineOf(step: StepDoc, now: number, policy: RecoveryPolicy, isHalted = false): number {
  const patience = (step.phase === 'halted' || step.phase === 'waiting') && step.deadline_at !== null ? step.deadline_at : now + policy.reviewDeadlineMs;
  const { ref: { reversal_expires_at: endsAt }, terms } = step;
  return endsAt === null || terms === null ? patience : Math.max(now, Math.min(patience, dispatchableUntil(endsAt, terms.call_timeout_ms, policy.marginMs) - (isHalted ? 0 : policy.leaseMs)));
}
