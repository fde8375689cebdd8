// What is recorded of a leg that was answered, or was not: a verdict for each of its steps.
//
// Boundary: makes records; what a report shows is judged in judgement.decisions.ts.
import type { LegVerdict, OutcomeKind } from '@recourse/messages';
import type { RecoveryRecord } from '../record.messages.js';
import { record } from '../record.messages.js';
import type { StepDoc } from './step.messages.js';

/** The record of verdicts on steps of one leg. */
export function settledBy(
  { recovery_id, tenant, run_id }: StepDoc,
  { leg_id, attempt }: { readonly leg_id: string; readonly attempt: number },
  members: readonly LegVerdict[],
): RecoveryRecord {
  return record('LegSettled', { recovery_id, tenant, run_id, leg_id, attempt, members });
}

/** What was found about a step. */
type Found = Pick<
  LegVerdict,
  'reported' | 'outcome' | 'reason' | 'observations' | 'calls_done' | 'error_kind' | 'said'
>;

/** The verdict with whose keys stand for what was done and for what was seen; null where reports are not signed. */
export function witnessed(verdict: LegVerdict, actedBy: string | null, observedBy: string | null): LegVerdict {
  return { ...verdict, acted_by: actedBy, observed_by: observedBy };
}

/** The verdict on one step; `retryAt` is null where it is over. */
export function verdictOn(
  step: StepDoc,
  found: Found,
  retryAt: number | null,
  outcomeKind: OutcomeKind | null,
): LegVerdict {
  return {
    step_id: step.step_id,
    mutation_id: step.mutation_id,
    ...found,
    // What an earlier attempt made stays made, whatever this one saw of it.
    calls_done: Math.max(step.calls_done, found.calls_done),
    assumption_refs: step.ref.assumption_refs,
    reverses_call_id: step.ref.original_call_id,
    reverses_mutation_ref: step.mutation_id,
    reverses_record_hash: step.reverses_record_hash,
    retry_at: retryAt,
    outcome_kind: outcomeKind,
    acted_by: null,
    observed_by: null,
    call: isCalled(found) || found.calls_done > 0 ? step.call : null,
  };
}

/** Reasons for which nobody called, as far as anybody knows. */
const NOT_CALLED: readonly string[] = ['NOT_EXECUTED', 'HELD_BACK', 'NOT_REACHED'];

/** Whether the call was made, as far as anybody knows: not where the resource was stale, the turn never came or the worker refused. */
function isCalled({ outcome, reason }: Found): boolean {
  return outcome !== 'stale' && outcome !== 'not_begun' && !NOT_CALLED.includes(reason);
}

// What reports and series say of how a step ended: since when something was wrong, and whether a person had a hand in it.

/** When what its action relied on failed: as the source says, at the latest when its trigger was admitted; epoch milliseconds. */
export function failedAt({ evidence, triggered_at }: Pick<StepDoc, 'evidence' | 'triggered_at'>): number {
  return Math.min(evidence.stated_at, triggered_at);
}

/** It was compensated, and nobody had to agree or had it meanwhile. */
export function isUnattended({
  phase,
  required_approvals: required,
  was_given,
}: Pick<StepDoc, 'phase' | 'required_approvals' | 'was_given'>): boolean {
  return phase === 'compensated' && required === 0 && !was_given;
}
