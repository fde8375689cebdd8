// What a version of a bundle says of a commit that an earlier one let through, and to whom it goes (E7, E28).
//
// Boundary: pure; the state of the gate is looked up only where a predicate reads it.
//
// Invariants
//   W1. Each predicate by itself: one that refuses on what is kept refuses, whatever the others say.
//   W2. What cannot be judged is neither refused nor passed over: a person has it, with owner and deadline.
import { admissionVerdict, conditionProblem, plainPayload } from '@recourse/contract';
import type { EntryBody } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Evidence, Payload } from '@recourse/messages';
import type { Contradiction, Finding } from '../record.messages.js';
import { outOfBand } from '../rollback/bound.decider.js';
import type { Reviewing, RollbackDoc } from '../rollback/rollback.messages.js';
import { inputsOf } from './gate.decisions.js';
import type { StandingBundle } from './gate.decisions.js';

/** Who says that a successor would have refused a commit. */
const SOURCE = 'service:mutation-ledger';

/** Why a commit cannot be judged. */
export type UnjudgedCode = 'GATE_INPUTS_GONE' | 'GATE_STATE_GONE' | 'GATE_UNDECIDED';

/** What a bundle says of a commit. */
export type Verdict =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unjudged'; readonly code: UnjudgedCode; readonly reason: string };

/** What a commit is judged by. */
export interface Judged {
  readonly gate_inputs: Payload | null;
  /** Its inputs were given up with its state. */
  readonly is_gone: boolean;
  /** The state its gate was run against; null where it is not kept. */
  readonly state: () => Json | null;
}

/** Judges a commit by the predicates of a bundle (W1). */
export function verdictOn({ gate_inputs: inputs, is_gone: isGone, state }: Judged, { body }: StandingBundle): Verdict {
  const gate = isGone ? undefined : inputsOf({ inputs });
  if (gate === undefined) return unjudged('GATE_INPUTS_GONE', 'the inputs of its gate are not kept');
  let open: Verdict = { kind: 'admitted' };
  for (const rule of body.admission) {
    const seen = readsState(rule) ? state() : {};
    if (seen === null) {
      open = unjudged('GATE_STATE_GONE', `${rule.name} reads a state that is not kept`);
      continue;
    }
    const verdict = admissionVerdict({ ...body, admission: [rule] }, { gate, state: seen });
    if (verdict.admitted) continue;
    if (verdict.code === 'POLICY_REFUSED') return { kind: 'refused', reason: verdict.reason };
    open = unjudged('GATE_UNDECIDED', verdict.reason);
  }
  return open;
}

/** It was registered with both names, so that what it lacks without one is the state. */
export function readsState({ when }: EntryBody<'policy_bundle'>['admission'][number]): boolean {
  return conditionProblem(when, ['gate']) !== null;
}

/** The version that judges. */
export interface Successor {
  readonly job_id: string;
  readonly bundle: string;
  readonly bundle_version: number;
}

/** A commit that is judged. */
export interface UnderJudgement {
  readonly tenant: string;
  readonly run_id: string;
  readonly commit_id: string;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
}

/** What follows from a verdict: a contradiction, an item for a person, or nothing. */
export function followsFrom(
  verdict: Verdict,
  by: Successor,
  commit: UnderJudgement,
  {
    standing,
    now,
    policy,
  }: { readonly standing: () => RollbackDoc | undefined; readonly now: number; readonly policy: Reviewing },
): readonly Finding[] {
  if (verdict.kind === 'admitted') return [];
  const { tenant, run_id, commit_id: mutation_id, recorded_at: committed_at } = commit;
  const about = { mutation_id, tenant, run_id, evidence: evidenceOf(verdict, by, now) };
  if (verdict.kind === 'refused') return [{ type: 'Contradiction', body: about } satisfies Contradiction];
  const item = outOfBand(standing(), { ...about, committed_at }, now, policy);
  return item === null ? [] : [item];
}

function evidenceOf(
  verdict: Exclude<Verdict, { kind: 'admitted' }>,
  { job_id, bundle, bundle_version: version }: Successor,
  now: number,
): Evidence {
  const told = { bundle, version, reason: verdict.reason };
  return {
    kind: 'policy_reevaluation',
    event_id: job_id,
    ref: null,
    source: SOURCE,
    statement: plainPayload(verdict.kind === 'unjudged' ? { ...told, code: verdict.code } : told),
    stated_at: now,
    partition: -1,
    position: -1,
    root: null,
  };
}

function unjudged(code: UnjudgedCode, reason: string): Verdict {
  return { kind: 'unjudged', code, reason };
}
