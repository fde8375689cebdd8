// What a person sees of a step before deciding (C55 to C63): structured facts, then and now, and the few things that may be done.
//
// Boundary: pure; reads the row of the step and the clock. Adds nothing that no record says.
import { readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Money, Observation, Payload } from '@recourse/messages';
import { dispatchableUntil } from '../domain/lease/lease.decisions.js';
import type { StepDoc } from '../domain/step/step.messages.js';

/** JSON of a payload, or its hash where it is sealed or unreadable. */
export type Shown = { readonly json: Json } | { readonly sealed_sha256: string };

export interface ShownObservation { readonly phase: string; readonly capability: string; readonly observed: Shown; readonly observed_at: number }

export interface ReviewItem {
  readonly step_id: string;
  readonly recovery_id: string;
  readonly rollback_id: string;
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly phase: string;
  /** Why a person is asked: code and a sentence. */
  readonly reason: string;
  readonly why: string;
  readonly owner: string;
  readonly deadline_at: number | null;
  readonly objective: string | null;
  /** The decision that proposed the action. */
  readonly proposed_by: { readonly agent_id: string; readonly initiator: string | null; readonly run_step_id: string; readonly call_id: string };
  /** `rehearsal`: what a dry run said the effect would be; null without one (A52). */
  readonly action: { readonly capability: string; readonly effect: string | null; readonly args: Shown; readonly value: Money | null; readonly rehearsal: Shown | null };
  readonly resource: { readonly subject_ref: string | null; readonly external_ref: string | null };
  readonly facts: { readonly then: readonly string[]; readonly now: { readonly ref: string | null; readonly source: string; readonly stated_at: number; readonly statement: Shown | null } };
  readonly reconciliation: { readonly outcome: string; readonly reason: string; readonly attempt: number; readonly observations: readonly ShownObservation[] } | null;
  readonly compensation: { readonly capability: string; readonly args: Shown; readonly impact: string; readonly residue: string | null; readonly stale_condition: string | null; readonly success_condition: string | null } | null;
  readonly approvals: { readonly given: readonly { readonly by: string; readonly at: number; readonly reason: string }[]; readonly required: number };
  /** What an approval must name; null where nothing is proposed. */
  readonly action_digest: string | null;
  /** Milliseconds in which a dispatch can still begin; null without a window. */
  readonly time_left_ms: number | null;
  readonly may: readonly ('approve' | 'deny')[];
  readonly links: { readonly mutation: string; readonly recovery: string; readonly record: string };
}

/** Reasons in words. A code without words is shown as it is. */
const WHY: Readonly<Record<string, string>> = {
  HIGH_IMPACT: 'The compensation moves money, destroys something or touches security: a person decides.',
  COMPENSATION_REQUIRES_HUMAN_APPROVAL: 'The contract asks for a person before compensating.',
  REVERSAL_EXPIRED: 'The reversal window has closed; automation is unsafe.',
  APPROVAL_TIMEOUT: 'Nobody decided in time.',
  RESOURCE_CHANGED: 'Somebody changed the resource since the action; nothing was overwritten.',
  VERIFICATION_FAILED: 'The tool answered, but the world does not show the compensation.',
  COMPENSATION_FAILED: 'The tool could not compensate.',
  OUTCOME_UNKNOWN: 'Nobody knows whether the compensation took effect; find out before doing anything.',
  KEY_LIFETIME_OVER: 'The tool no longer recognises a repeated call; another one could act twice.',
  UNCONTRACTED: 'The action has no reversal contract.',
  TOOL_HAS_NO_AUTOMATIC_COMPENSATION: 'The action cannot be undone; it needs a correction.',
  HANDLE_INCOMPLETE: 'Facts needed for the compensation were not captured.',
  FORWARD_UNCERTAIN: 'It is not known whether the action itself happened.',
  DENIED: 'A person denied the compensation.',
};

/** Shows a step to a person. `now` and the margin tell the time left; milliseconds. */
export function reviewItem(step: StepDoc, now: number, marginMs: number): ReviewItem {
  const { execution, evidence, ref } = step;
  return {
    step_id: step.step_id, recovery_id: step.recovery_id, rollback_id: step.rollback_id, mutation_id: step.mutation_id, tenant: step.tenant, run_id: step.run_id,
    phase: step.phase, reason: step.reason, why: WHY[step.reason] ?? step.reason, owner: step.owner, deadline_at: step.deadline_at, objective: execution.objective,
    proposed_by: { agent_id: execution.agent_id, initiator: execution.initiator, run_step_id: execution.step_id, call_id: execution.call_id },
    action: { capability: execution.capability, effect: step.terms?.effect ?? null, args: shown(execution.args), value: execution.value, rehearsal: execution.rehearsal === null ? null : shown(execution.rehearsal) },
    resource: { subject_ref: ref.subject_ref, external_ref: ref.external_transaction_ref },
    facts: {
      then: ref.assumption_refs,
      now: { ref: evidence.ref, source: evidence.source, stated_at: evidence.stated_at, statement: evidence.statement === null ? null : shown(evidence.statement) },
    },
    reconciliation: reconciliationOf(step),
    compensation: compensationOf(step),
    approvals: { given: step.approvals.map(({ by, at, reason }) => ({ by, at, reason })), required: step.required_approvals },
    action_digest: step.action_digest?.toString('hex') ?? null,
    time_left_ms: timeLeft(step, now, marginMs),
    may: step.phase === 'awaiting_approval' ? ['approve', 'deny'] : [],
    links: { mutation: `/mutations/${step.mutation_id}`, recovery: `/recoveries/${step.recovery_id}`, record: step.reverses_record_hash.toString('hex') },
  };
}

function reconciliationOf({ last }: StepDoc): ReviewItem['reconciliation'] {
  if (last === null) return null;
  return { outcome: last.outcome, reason: last.reason, attempt: last.attempt, observations: last.observations.map(shownObservation) };
}

function compensationOf({ call, terms }: StepDoc): ReviewItem['compensation'] {
  if (call === null || terms === null) return null;
  const { impact, residue, stale_condition, success_condition } = terms;
  return { capability: call.capability, args: shown(call.args), impact, residue, stale_condition, success_condition };
}

function timeLeft(step: StepDoc, now: number, marginMs: number): number | null {
  const endsAt = step.ref.reversal_expires_at;
  if (endsAt === null || step.terms === null) return null;
  return Math.max(0, dispatchableUntil(endsAt, step.terms.call_timeout_ms, marginMs) - now);
}

function shownObservation({ phase, capability, observed, observed_at }: Observation): ShownObservation {
  return { phase, capability, observed: shown(observed), observed_at };
}

function shown(payload: Payload): Shown {
  try {
    return { json: readPayload(payload) };
  } catch {
    return { sealed_sha256: payload.sha256.toString('hex') };
  }
}
