// The orchestrator's own verdict on what a worker reported (P1, P7): conditions are judged here, from the observations.
//
// Invariants
//   J1. `compensated` needs an observation by the verifying capability on which the success condition holds.
//   J2. Where worker and orchestrator disagree the outcome is uncertain, never the better of the two.
//   J3. A change that a later look back explains by our own effect is no disagreement.
//   J4. A conditional write that lost is a change seen by the tool itself, whatever the look before it showed: a person's (P7).
import { boundFacts, evaluateCondition, readPayload } from '@recourse/contract';
import { InvariantViolation } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type {
  LookVerdict,
  Observation,
  ObservationPhase,
  Payload,
  StepOutcome,
  StepReport,
  StepVerdict,
} from '@recourse/messages';
import type { StepDoc } from './step.messages.js';

export const JUDGEMENT_REASONS = [
  'SUCCESS_CONDITION_HELD',
  'SUCCESS_CONDITION_FALSE',
  'SUCCESS_NOT_OBSERVED',
  'STALE_CONDITION_FALSE',
  'WRITE_CONFLICT',
  'VERDICTS_DISAGREE',
  'TOOL_FAILED',
  'NOT_EXECUTED',
  'OUTCOME_NOT_KNOWN',
  'STEP_NOT_REPORTED',
] as const;
export type JudgementReason = (typeof JUDGEMENT_REASONS)[number];

export interface Judgement {
  readonly reported: StepOutcome;
  readonly outcome: Exclude<StepVerdict, 'not_begun'>;
  readonly reason: JudgementReason;
  readonly observations: readonly Observation[];
}

/** Outcomes that say something about the tool; a refusal of one copy proves nothing about another (L11). */
export type JudgedOutcome = Exclude<StepOutcome, 'refused_late'>;

/** What a condition says on the last observation of its phase. */
type Seen = 'holds' | 'false' | 'unseen';

interface Verdict {
  readonly outcome: Judgement['outcome'];
  readonly reason: JudgementReason;
}

/** What a worker says of a conditional write that lost. */
const CONFLICT = 'TOOL_CONFLICT';
const LOST_WRITE: Verdict = { outcome: 'stale', reason: 'WRITE_CONFLICT' };
const DISAGREE: Verdict = { outcome: 'uncertain', reason: 'VERDICTS_DISAGREE' };

/** Verdict by what the worker says and what the success condition says. The stale condition is looked at before. */
export const VERDICT_TABLE = {
  verified: {
    holds: { outcome: 'compensated', reason: 'SUCCESS_CONDITION_HELD' },
    false: { outcome: 'unverified', reason: 'SUCCESS_CONDITION_FALSE' },
    unseen: { outcome: 'uncertain', reason: 'SUCCESS_NOT_OBSERVED' },
  },
  unverified: {
    holds: DISAGREE,
    false: { outcome: 'unverified', reason: 'SUCCESS_CONDITION_FALSE' },
    unseen: { outcome: 'unverified', reason: 'SUCCESS_NOT_OBSERVED' },
  },
  stale: {
    holds: DISAGREE,
    false: { outcome: 'stale', reason: 'STALE_CONDITION_FALSE' },
    unseen: { outcome: 'stale', reason: 'STALE_CONDITION_FALSE' },
  },
  failed: {
    holds: DISAGREE,
    false: { outcome: 'failed', reason: 'TOOL_FAILED' },
    unseen: { outcome: 'failed', reason: 'TOOL_FAILED' },
  },
  not_executed: {
    holds: DISAGREE,
    false: { outcome: 'failed', reason: 'NOT_EXECUTED' },
    unseen: { outcome: 'failed', reason: 'NOT_EXECUTED' },
  },
  unknown: {
    holds: DISAGREE,
    false: { outcome: 'uncertain', reason: 'OUTCOME_NOT_KNOWN' },
    unseen: { outcome: 'uncertain', reason: 'OUTCOME_NOT_KNOWN' },
  },
} as const satisfies Record<JudgedOutcome, Record<Seen, Verdict>>;

/**
 * Judges one step of a report. `report` is undefined when the leg stopped before the step.
 *
 * Shape:  `refused_late` is not an outcome and must not come here.
 * Errors: none; what cannot be read or evaluated was not seen.
 */
export function judge(step: StepDoc, report: StepReport | undefined): Judgement {
  if (report === undefined)
    return { reported: 'unknown', outcome: 'uncertain', reason: 'STEP_NOT_REPORTED', observations: [] };
  if (report.outcome === 'refused_late') throw new InvariantViolation('judgement', 'a late refusal is not an outcome');
  return { reported: report.outcome, ...verdictOn(step, report, report.outcome), observations: report.observations };
}

/** What a look showed, by our own judgement of its last observation. */
export interface LookJudgement {
  readonly verdict: LookVerdict;
  readonly reason: string;
  readonly observations: readonly Observation[];
}

/** Judges a look at the success condition; a worker that says otherwise than its observations was not looking (J2). */
export function judgeLook(step: StepDoc, report: StepReport | undefined): LookJudgement {
  const observations = report?.observations ?? [];
  const saw = seen(
    step,
    observations,
    'verify',
    step.terms?.verify_capability ?? null,
    step.terms?.success_condition ?? null,
  );
  if (saw === 'unseen' || report === undefined)
    return { verdict: 'unknown', reason: 'SUCCESS_NOT_OBSERVED', observations };
  const isAgreed = (saw === 'holds') === (report.outcome === 'verified');
  if (!isAgreed) return { verdict: 'unknown', reason: 'VERDICTS_DISAGREE', observations };
  return saw === 'holds'
    ? { verdict: 'met', reason: 'SUCCESS_CONDITION_HELD', observations }
    : { verdict: 'not_met', reason: 'SUCCESS_CONDITION_FALSE', observations };
}

function verdictOn(step: StepDoc, report: StepReport, reported: JudgedOutcome): Verdict {
  const terms = step.terms;
  const fresh = seen(
    step,
    report.observations,
    'stale_check',
    terms?.stale_capability ?? null,
    terms?.stale_condition ?? null,
  );
  const isConflict = reported === 'stale' && report.error_kind === CONFLICT;
  if (!isConflict && isFreshDisputed(step, report, reported, fresh)) return DISAGREE;
  const success = seen(
    step,
    report.observations,
    'verify',
    terms?.verify_capability ?? null,
    terms?.success_condition ?? null,
  );
  return isConflict && success !== 'holds' ? LOST_WRITE : VERDICT_TABLE[reported][success];
}

/** Worker and look do not say the same of a change by somebody else. */
function isFreshDisputed(step: StepDoc, report: StepReport, reported: JudgedOutcome, fresh: Seen): boolean {
  return reported === 'stale' ? fresh === 'holds' : fresh === 'false' && !isOurChange(step, report);
}

/** After the change was seen a look back found our own effect: an earlier copy had made it meanwhile (J3). */
function isOurChange(step: StepDoc, { observations }: StepReport): boolean {
  const from = observations.findLastIndex(({ phase }) => phase === 'stale_check');
  const terms = step.terms;
  const back = terms?.reconcile_capability ?? terms?.verify_capability ?? null;
  return seen(step, observations.slice(from), 'reconcile', back, terms?.success_condition ?? null) === 'holds';
}

function seen(
  step: StepDoc,
  observations: readonly Observation[],
  phase: ObservationPhase,
  capability: string | null,
  condition: string | null,
): Seen {
  if (capability === null || condition === null || step.call === null || capability === step.call.capability)
    return 'unseen';
  const last = observations.findLast(
    (observation) => observation.phase === phase && observation.capability === capability,
  );
  const observed = last === undefined ? undefined : readable(last.observed);
  const reversalArgs = readable(step.call.args);
  if (observed === undefined || reversalArgs === undefined) return 'unseen';
  const bound = boundFacts({ reversalArgs, externalRef: step.ref.external_transaction_ref });
  const verdict = evaluateCondition(condition, { observed, bound });
  return !verdict.ok ? 'unseen' : verdict.holds ? 'holds' : 'false';
}

/** JSON of a payload; undefined when it is sealed, damaged or no JSON: a worker's bytes never stop a decision. */
function readable(payload: Payload): Json | undefined {
  try {
    return readPayload(payload);
  } catch {
    return undefined;
  }
}
