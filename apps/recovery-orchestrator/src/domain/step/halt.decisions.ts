// Kill switches over effects (A82, D64): what they stop waits in a list, and goes on once they are lifted.
//
// Invariants
//   K1. A switch stops effects alone: marks, notices, approvals and escalations go on.
//   K2. What a worker already has is not called back: the lease ends it.
//   K3. A halted step keeps its window and its deadline; neither waits for the switch.
import type { Acting, Verdict } from '@recourse/contract';
import { dispatchableUntil } from '../lease/lease.decisions.js';
import { OWNER_OF_HALTED } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { dispatchOrEscalate } from './dispatch.decisions.js';
import { fact, identityOf } from './step.messages.js';
import type { Fact, StepDoc } from './step.messages.js';

/** What going on needs beside the step. */
export interface Going {
  readonly now: number;
  readonly policy: RecoveryPolicy;
  /** What the kill switches say of an action. */
  readonly killed: (acting: Acting) => Verdict;
}

/** The action of a step as kill switches name it: the capability that would be called, the agent whose action it undoes. */
export function actingOf(step: Pick<StepDoc, 'tenant' | 'execution' | 'call'>): Acting {
  return { tenant: step.tenant, agent: step.execution.agent_id, capability: step.call?.capability ?? '' };
}

/** Sends the step on, unless a switch stops it: to a worker, to a person, or into the list of what is halted; exactly one record. */
export function goOn(step: StepDoc, { now, policy, killed }: Going): Fact {
  const next = dispatchOrEscalate(step, now, policy);
  if (next.type !== 'LegDispatched') return next;
  const verdict = killed(actingOf(step));
  return verdict.admitted ? next : halted(step, verdict.reason, now, policy);
}

function halted(step: StepDoc, detail: string, now: number, policy: RecoveryPolicy): Fact {
  const { agent, capability } = actingOf(step);
  return fact('StepHalted', {
    ...identityOf(step), reason: 'KILL_SWITCH', detail, agent_id: agent, capability, owner: OWNER_OF_HALTED, deadline_at: deadlineOf(step, now, policy),
  });
}

/** A step halted anew keeps the deadline it had; a closing window comes first. */
function deadlineOf(step: StepDoc, now: number, policy: RecoveryPolicy): number {
  const patience = step.phase === 'halted' && step.deadline_at !== null ? step.deadline_at : now + policy.reviewDeadlineMs;
  const { ref: { reversal_expires_at: endsAt }, terms } = step;
  return endsAt === null || terms === null ? patience : Math.max(now, Math.min(patience, dispatchableUntil(endsAt, terms.call_timeout_ms, policy.marginMs)));
}
