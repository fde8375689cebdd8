// What a person sees of a step before deciding (C55 to C63): structured facts, then and now, and the few things that may be done.
//
// Boundary: pure; reads the row of the step, its place and the clock. Adds nothing that no record says.
//
// Invariants
//   R1. Every text is rendered here, from the bytes an approval covers: nothing in it is unseen, turned around or passes for
//       another letter, and what is long is folded with its hash.
//   R2. What an agent wrote in prose stands apart, as not to be trusted.
import { PayloadUnreadable, readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Money, Observation, Payload } from '@recourse/messages';
import type { DecisionReason } from '../domain/decision/recovery.decisions.js';
import { dispatchableUntil } from '../domain/lease/lease.decisions.js';
import type { EscalationReason, StepDoc } from '../domain/step/step.messages.js';
import { foldedJson, foldedText, shownDoc } from './shown-text.js';
import type { Folded } from './shown-text.js';

/** JSON of a payload, folded where it is long, or its hash where it is sealed or unreadable. */
export type Shown = { readonly json: Json } | Folded | { readonly sealed_sha256: string };

export interface ShownObservation {
  readonly phase: string;
  readonly capability: string;
  readonly observed: Shown;
  readonly observed_at: number;
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
    readonly now: {
      readonly ref: string | null;
      readonly source: string;
      readonly stated_at: number;
      readonly statement: Shown | null;
    };
    /** The resource as it was seen for this review, and as it was before it changed; null while nobody looked. */
    readonly resource: { readonly seen: ShownObservation | null; readonly before: ShownObservation | null };
    /** What changed since somebody agreed, by name. */
    readonly changed: readonly string[];
    /** Who says that the assumption holds again; null while nobody does. */
    readonly reaffirmed: {
      readonly source: string;
      readonly stated_at: number;
      readonly statement: Shown | null;
    } | null;
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
  readonly may: readonly ('approve' | 'deny' | 'check' | 'retry' | 'resolve' | 'escalate')[];
  readonly links: { readonly mutation: Link; readonly recovery: Link; readonly record: RecordLink };
}

/** Where the row of a step stands, and when it is looked at; milliseconds. */
export interface Seen {
  readonly log: string;
  readonly partition: number;
  readonly now: number;
  readonly marginMs: number;
}

/** Reasons in words. A code without words is shown as it is. */
const WHY: Readonly<Record<string, string>> = {
  HIGH_IMPACT: 'The compensation moves money, destroys something or touches security: a person decides.',
  COMPENSATION_REQUIRES_HUMAN_APPROVAL: 'The contract asks for a person before compensating.',
  REVERSAL_EXPIRED: 'The reversal window has closed; automation is unsafe.',
  REVERSAL_WINDOW_MISSING: 'Nothing says until when the action can be undone; automation is unsafe.',
  APPROVAL_TIMEOUT: 'Nobody decided in time.',
  RESOURCE_CHANGED: 'Somebody changed the resource since the action; nothing was overwritten.',
  VERIFICATION_FAILED: 'The tool answered, but the world does not show the compensation.',
  VERIFICATION_MISSING: 'Nothing but the acting tool could tell whether the compensation worked.',
  COMPENSATION_FAILED: 'The tool could not compensate.',
  OUTCOME_UNKNOWN: 'Nobody knows whether the compensation took effect; find out before doing anything.',
  KEY_LIFETIME_OVER: 'The tool no longer recognises a repeated call; another one could act twice.',
  UNCONTRACTED: 'The action has no reversal contract.',
  TOOL_HAS_NO_AUTOMATIC_COMPENSATION: 'The action cannot be undone; it needs a correction.',
  MISSING_COMPENSATION_IMPLEMENTATION: 'No tool compensates the action; a person does it by hand.',
  HANDLE_INCOMPLETE: 'Facts needed for the compensation were not captured.',
  STEP_RESULT_PENDING: 'The compensation takes an argument from another one that is not verified yet.',
  STEP_RESULT_MISSING: 'The compensation takes an argument from another one that did not give it.',
  CHILDREN: 'Effects of other runs that were made from this one are undone first.',
  BLOCKED_BY_STEP: "Another step of the run has to be settled first, and it is a person's.",
  UNSUPPORTED_RECOVERY_STATE: 'The mutation is in a state that no automatic recovery begins from.',
  EXECUTED_AFTER_CANCEL: 'The action took effect in spite of its cancel.',
  FORWARD_UNCERTAIN: 'It is not known whether the action itself happened.',
  FORWARD_IN_FLIGHT: 'The action itself is still under way.',
  FORWARD_UNRESOLVED: 'Nobody found out in time whether the action itself happened.',
  FORWARD_NOT_STARTED: 'The action has not begun; there is nothing to undo.',
  NOTHING_TO_UNDO: 'The action had no effect; there is nothing to undo.',
  ALREADY_UNDONE: 'The action was undone already.',
  COMMIT_NOT_MARKED: 'The ledger did not mark the commit in time.',
  UNDO_NOT_LISTED: 'The ledger did not list in time what the undo reaches.',
  RISK_ABOVE_LIMIT:
    'An unnecessary compensation could make it worse than anything that may go by itself: a person decides, and it is tried only when people agreed.',
  FACTS_NOT_OBSERVED:
    'Nobody could look at the resource again before the compensation was sent; what people agreed to may not be so any more.',
  FACT_CHANGED: 'A fact that somebody relied on has changed since they agreed: look again.',
  POLICY_CHANGED: 'The contract or its policy asks for more than when the step was decided.',
  HALTED_TOO_LONG: 'A kill switch stopped the step, and nobody lifted it in time.',
  KILL_SWITCH: 'A kill switch stops the step until somebody lifts it.',
  BREAKER_OPEN: 'A breaker over its capability is open: a burst opened it, and a person closes it.',
  RATE_LIMITED: 'A rate limit lets it go later, or would have let it go only after its time.',
  BOUND_NOT_REVIEWED: 'A fall reaches it beyond its bound, and nobody reviewed it in time.',
  TRIGGER_HELD: 'The trigger was not admitted by itself, and nobody judged it in time.',
  POLICY_AUTO: 'The contract lets the compensation run without a person.',
  APPROVED: 'People agreed to the compensation.',
  DENIED: 'A person denied the compensation.',
  ABANDONED: 'A person gave the compensation up.',
  SUCCESS_CONDITION_HELD: 'The compensation was observed.',
} satisfies Readonly<
  Record<
    | DecisionReason
    | EscalationReason
    | 'DENIED'
    | 'KILL_SWITCH'
    | 'CHILDREN'
    | 'FACT_CHANGED'
    | 'BREAKER_OPEN'
    | 'SUCCESS_CONDITION_HELD',
    string
  >
>;

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
    proposed_by: {
      agent_id: execution.agent_id,
      initiator: execution.initiator,
      run_step_id: execution.step_id,
      call_id: execution.call_id,
    },
    action: {
      capability: execution.capability,
      effect: step.terms?.effect ?? null,
      args: shown(execution.args),
      value: execution.value,
      rehearsal: execution.rehearsal === null ? null : shown(execution.rehearsal),
    },
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
    may: mayBeDone(step, missing),
    links: linksOf(step, seen),
  });
}

function factsOf({ evidence, ref, facts, facts_before: before, changed, reaffirmed }: StepDoc): ReviewItem['facts'] {
  const { source, stated_at, statement } = evidence;
  return {
    resource: {
      seen: facts === null ? null : shownObservation(facts),
      before: before === null ? null : shownObservation(before),
    },
    changed,
    reaffirmed:
      reaffirmed === null
        ? null
        : {
            source: reaffirmed.source,
            stated_at: reaffirmed.stated_at,
            statement: reaffirmed.statement === null ? null : shown(reaffirmed.statement),
          },
    then: { refs: ref.assumption_refs, at: ref.committed_at },
    now: { ref: evidence.ref, source, stated_at, statement: statement === null ? null : shown(statement) },
  };
}

/** An item about which somebody would have to decide by prose alone is not ready. */
function missingOf(step: StepDoc): readonly FactNeeded[] {
  const { execution, ref, evidence, call } = step;
  const lacks: Readonly<Record<FactNeeded, boolean>> = {
    'action.args': isUnreadable(execution.args),
    resource: ref.subject_ref === null && ref.external_transaction_ref === null,
    'facts.then': evidence.ref !== null && ref.assumption_refs.length === 0,
    'facts.now': evidence.ref === null && (evidence.statement === null || isUnreadable(evidence.statement)),
    reconciliation: step.attempt > 0 && step.last === null && step.phase !== 'dispatched',
    'compensation.args': call !== null && isUnreadable(call.args),
  };
  return FACTS_NEEDED.filter((fact) => lacks[fact]);
}

/** Who cannot see the facts may still refuse, and nobody agrees blindly. */
function mayBeDone({ phase, call, terms }: StepDoc, missing: readonly FactNeeded[]): ReviewItem['may'] {
  if (phase === 'awaiting_approval') return missing.length === 0 ? ['approve', 'deny'] : ['deny'];
  if (phase === 'denied') return ['resolve'];
  if (phase !== 'manual') return [];
  return call === null || terms === null ? ['resolve', 'escalate'] : ['check', 'retry', 'resolve', 'escalate'];
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

function compensationOf({ call, terms }: StepDoc): ReviewItem['compensation'] {
  if (call === null || terms === null) return null;
  const { impact, risk, risk_level, residue, stale_condition, success_condition } = terms;
  return {
    capability: call.capability,
    args: shown(call.args),
    impact,
    risk,
    risk_level,
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

function shown(payload: Payload): Shown {
  const json = read(payload);
  return json === undefined ? { sealed_sha256: payload.sha256.toString('hex') } : foldedJson(json);
}

function isUnreadable(payload: Payload): boolean {
  return read(payload) === undefined;
}

/** A sealed payload that was opened for its reader stands with its content beside it. */
type Opened = Payload & { readonly content?: Buffer };

function read(payload: Opened): Json | undefined {
  try {
    return payload.content === undefined
      ? readPayload(payload)
      : (JSON.parse(payload.content.toString('utf8')) as Json);
  } catch (cause) {
    if (cause instanceof PayloadUnreadable || cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}
