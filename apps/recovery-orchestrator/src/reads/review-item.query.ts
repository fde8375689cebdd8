// What a person sees of a step before deciding (C55 to C63): structured facts, then and now, and the few things that may be done.
//
// Boundary: pure; reads the row of the step, its place and the clock. Adds nothing that no record says.
//
// Invariants
//   R1. Every text is rendered here, from the bytes an approval covers: nothing in it is unseen, turned around or passes for
//       another letter, and what is long is folded with its hash.
//   R2. What an agent wrote in prose stands apart, as not to be trusted.
import { VERBS } from '@recourse/messages';
import type { InForce, Money, Observation } from '@recourse/messages';
import { dispatchableUntil } from '../rules/lease/lease.decisions.js';
import { factsLacked } from '../rules/step/readiness.decisions.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { WHY } from './review-words.js';
import { isUnreadable, shown } from './shown-payload.js';
import type { Shown } from './shown-payload.js';
import { foldedText, shownDoc } from './shown-text.js';
import type { Folded } from './shown-text.js';

export interface ShownObservation {
  readonly phase: string;
  readonly capability: string;
  readonly observed: Shown;
  readonly observed_at: number;
}

/** What a source said, and when. */
interface ShownStatement {
  readonly source: string;
  readonly stated_at: number;
  readonly statement: Shown | null;
}

/** Facts without which an item cannot be decided about. */
export const FACTS_NEEDED = [
  'action.args',
  'resource',
  'facts.then',
  'facts.now',
  'reconciliation',
  'compensation.args',
] as const;
export type FactNeeded = (typeof FACTS_NEEDED)[number];

/** Where something can be read: a path of a service's HTTP API. */
export interface Link {
  readonly service: 'mutation-ledger' | 'recovery-orchestrator';
  readonly path: string;
}

/** The record of the log that decided last: its place and its hash, for whoever proves it, and where it is shown. */
export interface RecordLink extends Link {
  readonly log: string;
  readonly partition: number;
  readonly seq: number | null;
  readonly record_hash: string | null;
}

export interface ReviewItem {
  readonly step_id: string;
  readonly recovery_id: string;
  readonly rollback_id: string;
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly phase: string;
  /** False where facts are missing that a decision needs: then nobody is offered to agree (C63). */
  readonly ready: boolean;
  readonly missing: readonly FactNeeded[];
  /** Why a person is asked: code and a sentence. */
  readonly reason: string;
  readonly why: string;
  readonly owner: string;
  readonly deadline_at: number | null;
  /** What an agent wrote in its own words: shown for orientation, and not a fact. */
  readonly untrusted: { readonly objective: string | Folded | null };
  /** The decision that proposed the action. */
  readonly proposed_by: {
    readonly agent_id: string;
    readonly initiator: string | null;
    readonly run_step_id: string;
    readonly call_id: string;
  };
  /** `rehearsal`: what a dry run said the effect would be; null without one (A52). */
  readonly action: {
    readonly capability: string;
    readonly effect: string | null;
    readonly args: Shown;
    readonly value: Money | null;
    readonly rehearsal: Shown | null;
  };
  readonly resource: { readonly subject_ref: string | null; readonly external_ref: string | null };
  readonly facts: {
    readonly then: { readonly refs: readonly string[]; readonly at: number };
    readonly now: ShownStatement & { readonly ref: string | null };
    /** The resource as it was seen for this review, and as it was before it changed; null while nobody looked. */
    readonly resource: { readonly seen: ShownObservation | null; readonly before: ShownObservation | null };
    /** What changed since somebody agreed, by name. */
    readonly changed: readonly string[];
    /** Who says that the assumption holds again; null while nobody does. */
    readonly reaffirmed: ShownStatement | null;
  };
  readonly reconciliation: {
    readonly outcome: string;
    readonly reason: string;
    readonly attempt: number;
    readonly observations: readonly ShownObservation[];
  } | null;
  /** `risk`: what an unnecessary compensation does, in the contract's words; null where it has none. */
  readonly compensation: {
    readonly capability: string;
    readonly args: Shown;
    readonly impact: string;
    readonly risk: string | null;
    readonly risk_level: string;
    /** What binds it beside the contract of its effect: it may only be stricter. */
    readonly in_force: InForce | null;
    readonly residue: string | null;
    readonly stale_condition: string | null;
    readonly success_condition: string | null;
  } | null;
  readonly approvals: {
    readonly given: readonly { readonly by: string; readonly at: number; readonly reason: string }[];
    readonly required: number;
  };
  /** What an approval must name; null where nothing is proposed. */
  readonly action_digest: string | null;
  /** Milliseconds in which a dispatch can still begin; null without a window. */
  readonly time_left_ms: number | null;
  /** Words of the routes that lead there. */
  readonly may: readonly string[];
  readonly links: { readonly mutation: Link; readonly recovery: Link; readonly record: RecordLink };
}

/** Where the row of a step stands, and when it is looked at; milliseconds. */
export interface Seen {
  readonly log: string;
  readonly partition: number;
  readonly now: number;
  readonly marginMs: number;
}

/** Shows a step to a person. */
export function reviewItem(step: StepDoc, seen: Seen): ReviewItem {
  const { execution, ref } = step;
  const missing = missingOf(step);
  return shownDoc<ReviewItem>({
    step_id: step.step_id,
    recovery_id: step.recovery_id,
    rollback_id: step.rollback_id,
    mutation_id: step.mutation_id,
    tenant: step.tenant,
    run_id: step.run_id,
    phase: step.phase,
    ready: missing.length === 0,
    missing,
    reason: step.reason,
    why: WHY[step.reason] ?? step.reason,
    owner: step.owner,
    deadline_at: step.deadline_at,
    untrusted: { objective: execution.objective === null ? null : foldedText(execution.objective) },
    proposed_by: proposerOf(step),
    action: actionOf(step),
    resource: { subject_ref: ref.subject_ref, external_ref: ref.external_transaction_ref },
    facts: factsOf(step),
    reconciliation: reconciliationOf(step),
    compensation: compensationOf(step),
    approvals: {
      given: step.approvals.map(({ by, at, reason }) => ({ by, at, reason })),
      required: step.required_approvals,
    },
    action_digest: step.action_digest?.toString('hex') ?? null,
    time_left_ms: timeLeft(step, seen.now, seen.marginMs),
    may: mayBeDone(step, missing, seen),
    links: linksOf(step, seen),
  });
}

function proposerOf({ execution }: StepDoc): ReviewItem['proposed_by'] {
  return {
    agent_id: execution.agent_id,
    initiator: execution.initiator,
    run_step_id: execution.step_id,
    call_id: execution.call_id,
  };
}

function actionOf({ execution, terms }: StepDoc): ReviewItem['action'] {
  return {
    capability: execution.capability,
    effect: terms?.effect ?? null,
    args: shown(execution.args),
    value: execution.value,
    rehearsal: execution.rehearsal === null ? null : shown(execution.rehearsal),
  };
}

type Statement = Pick<StepDoc['evidence'], 'source' | 'stated_at' | 'statement'>;

function factsOf({ evidence, ref, facts, facts_before: before, changed, reaffirmed }: StepDoc): ReviewItem['facts'] {
  return {
    resource: {
      seen: facts === null ? null : shownObservation(facts),
      before: before === null ? null : shownObservation(before),
    },
    changed,
    reaffirmed: reaffirmed === null ? null : statementOf(reaffirmed),
    then: { refs: ref.assumption_refs, at: ref.committed_at },
    now: { ref: evidence.ref, ...statementOf(evidence) },
  };
}

function statementOf({ source, stated_at, statement }: Statement): ShownStatement {
  return { source, stated_at, statement: statement === null ? null : shown(statement) };
}

/** An item about which somebody would have to decide by prose alone is not ready. */
function missingOf(step: StepDoc): readonly FactNeeded[] {
  const { execution, evidence, call } = step;
  const lacked = factsLacked(step);
  const lacks: Readonly<Record<FactNeeded, boolean>> = {
    'action.args': isUnreadable(execution.args),
    resource: lacked.includes('resource'),
    'facts.then': lacked.includes('facts.then'),
    'facts.now':
      lacked.includes('facts.now') ||
      (evidence.ref === null && evidence.statement !== null && isUnreadable(evidence.statement)),
    reconciliation: step.attempt > 0 && step.last === null && step.phase !== 'dispatched',
    'compensation.args': call !== null && isUnreadable(call.args),
  };
  return FACTS_NEEDED.filter((fact) => lacks[fact]);
}

/** Who cannot see the facts may still refuse, and nobody agrees blindly. */
function mayBeDone(step: StepDoc, missing: readonly FactNeeded[], { now, marginMs }: Seen): ReviewItem['may'] {
  const { phase, call, terms } = step;
  const compensation = call !== null && terms !== null;
  const window = compensation && timeLeft(step, now, marginMs) !== 0;
  const has = { facts: missing.length === 0, compensation, window };
  return VERBS.filter(({ id, offered }) => id === 'step_id' && offered?.includes(phase) === true)
    .filter(({ needs }) => needs === undefined || has[needs])
    .map(({ route }) => route.slice(route.lastIndexOf('/') + 1));
}

function linksOf(
  { mutation_id, run_id, step_id, decision_record: record }: StepDoc,
  { log, partition }: Seen,
): ReviewItem['links'] {
  const at = encodeURIComponent;
  return {
    mutation: { service: 'mutation-ledger', path: `/v1/mutations/${at(mutation_id)}` },
    recovery: { service: 'recovery-orchestrator', path: `/v1/recoveries?run_id=${at(run_id)}` },
    record: {
      service: 'recovery-orchestrator',
      path: `/v1/steps/${at(step_id)}`,
      log,
      partition,
      seq: record?.seq ?? null,
      record_hash: record?.record_hash.toString('hex') ?? null,
    },
  };
}

function reconciliationOf({ last }: StepDoc): ReviewItem['reconciliation'] {
  if (last === null) return null;
  return {
    outcome: last.outcome,
    reason: last.reason,
    attempt: last.attempt,
    observations: last.observations.map(shownObservation),
  };
}

function compensationOf({ call, terms, in_force }: StepDoc): ReviewItem['compensation'] {
  if (call === null || terms === null) return null;
  const { impact, risk, risk_level, residue, stale_condition, success_condition } = terms;
  return {
    capability: call.capability,
    args: shown(call.args),
    impact,
    risk,
    risk_level,
    in_force,
    residue,
    stale_condition,
    success_condition,
  };
}

function timeLeft(step: StepDoc, now: number, marginMs: number): number | null {
  const endsAt = step.ref.reversal_expires_at;
  if (endsAt === null || step.terms === null) return null;
  return Math.max(0, dispatchableUntil(endsAt, step.terms.call_timeout_ms, marginMs) - now);
}

function shownObservation({ phase, capability, observed, observed_at }: Observation): ShownObservation {
  return { phase, capability, observed: shown(observed), observed_at };
}
