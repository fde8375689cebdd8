// The orchestrator's own verdict on what a worker reported (P1, P7): conditions are judged here, from the observations.
//
// Invariants
//   J1. `compensated` needs an observation by the verifying capability on which the success condition holds.
//       Of a reversal of several calls each needs its own, and a report is believed of none behind one that has none.
//   J2. Where worker and orchestrator disagree the outcome is uncertain, never the better of the two.
//   J3. A change that a later look back explains by our own effect is no disagreement.
//   J6. Arguments that were erased since are no reason to doubt what was seen: a condition is judged without them, and says nothing only
//       where it needs them or asks for them. Nobody is believed to have undone it over a look that only they could judge.
//   J5. A success condition that holds whether or not anything was undone is met by no observation.
//   J4. A conditional write that lost is a change seen by the tool itself, whatever the look before it showed: a person's (P7).
import {
  argsAt,
  asksForArgs,
  boundFacts,
  callCountOf,
  evaluateCondition,
  evaluateSuccess,
  isErased,
  jsonOfPayload,
  stepAt,
} from '@recourse/contract';
import { InvariantViolation } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type {
  LegStep,
  LookVerdict,
  Observation,
  ObservationPhase,
  StepOutcome,
  StepReport,
  StepVerdict,
} from '@recourse/messages';
import { askOf } from './dispatch.decisions.js';
import type { StepDoc } from './step.messages.js';
import { SAID_NOTHING, wordsOf } from './worker-words.decisions.js';
import type { WorkerWords } from './worker-words.decisions.js';

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
  'HELD_BACK',
] as const;
export type JudgementReason = (typeof JUDGEMENT_REASONS)[number];

export interface Judgement extends WorkerWords {
  readonly reported: StepOutcome;
  readonly outcome: Exclude<StepVerdict, 'not_begun'>;
  readonly reason: JudgementReason;
  readonly observations: readonly Observation[];
  /** Calls of the step that were seen to be made, before the first that was not. */
  readonly calls_done: number;
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
const NOT_REPORTED = { reported: 'unknown', outcome: 'uncertain', reason: 'STEP_NOT_REPORTED' } as const;

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
 * Judges one step of a report, its calls in their order. `report` is undefined when the leg stopped before the step.
 *
 * Shape:  `refused_late` is not an outcome and must not come here.
 * Errors: none; what cannot be read or evaluated was not seen.
 */
export function judge(step: StepDoc, report: StepReport | undefined): Judgement {
  if (report === undefined) return { ...NOT_REPORTED, ...SAID_NOTHING, observations: [], calls_done: 0 };
  const { outcome: reported, observations } = report;
  if (reported === 'refused_late') throw new InvariantViolation('judgement', 'a late refusal is not an outcome');
  const last = lastJudged(step, report);
  for (let position = 1; ; position += 1) {
    const verdict = verdictOn(callSeen(step, position, observations), report, position < last ? 'verified' : reported);
    const isMade = verdict.outcome === 'compensated';
    if (position < last && isMade) continue;
    const calls_done = isMade ? position : position - 1;
    const told = position < last ? DISAGREE : verdict;
    const words = told.outcome === 'compensated' ? SAID_NOTHING : wordsOf(report);
    return { reported, ...told, ...words, observations, calls_done };
  }
}

/** Position of the call a report ends at: the last where all are said to be verified, else the one after those that are. */
function lastJudged({ call }: StepDoc, { outcome, calls_done: done }: StepReport): number {
  const count = call === null ? 1 : callCountOf(call);
  return outcome === 'verified' ? count : Math.min(Math.max(done, 0) + 1, count);
}

/** What a look showed, by our own judgement of its last observation. */
export interface LookJudgement extends WorkerWords {
  readonly verdict: LookVerdict;
  readonly reason: string;
  readonly observations: readonly Observation[];
}

export const NOBODY_LOOKED: LookJudgement = {
  ...SAID_NOTHING,
  verdict: 'unknown',
  reason: 'NO_ANSWER',
  observations: [],
};

/** Judges a look at the success conditions; a worker that says otherwise than its observations was not looking (J2). */
export function judgeLook(step: StepDoc, report: StepReport | undefined): LookJudgement {
  const observations = report?.observations ?? [];
  const count = step.call === null ? 1 : callCountOf(step.call);
  const saw = Array.from({ length: count }, (_, index) => succeeded(callSeen(step, index + 1, observations)));
  const first = saw.find((one) => one !== 'holds') ?? 'holds';
  const words = wordsOf(report);
  if (first === 'unseen' || report === undefined)
    return { verdict: 'unknown', reason: 'SUCCESS_NOT_OBSERVED', observations, ...words };
  const isAgreed = (first === 'holds') === (report.outcome === 'verified');
  if (!isAgreed) return { verdict: 'unknown', reason: 'VERDICTS_DISAGREE', observations, ...words };
  return first === 'holds'
    ? { verdict: 'met', reason: 'SUCCESS_CONDITION_HELD', observations, ...SAID_NOTHING }
    : { verdict: 'not_met', reason: 'SUCCESS_CONDITION_FALSE', observations, ...words };
}

/** One call of a step: how it is to be checked, and what was observed of it. */
interface CallSeen {
  readonly checks: Pick<
    LegStep,
    'reconcile_capability' | 'stale_capability' | 'stale_condition' | 'verify_capability' | 'success_condition'
  >;
  /** Capability that acts. */
  readonly capability: string;
  /** What its conditions read beside the observation; undefined where an argument that an earlier call gives was not seen. */
  readonly bound: Json | undefined;
  /** Its arguments were erased since. */
  readonly isErased: boolean;
  readonly observations: readonly Observation[];
}

/** The call of a step at a position, from 1; null where it has none. */
function callSeen(step: StepDoc, position: number, observations: readonly Observation[]): CallSeen | null {
  const { call, terms, ref, step_id } = step;
  if (call === null || terms === null) return null;
  const one = stepAt(askOf({ step_id, call, terms, ref }), position, undefined);
  if (one === null) return null;
  const reversalArgs = argsAt(call, position, observations);
  const isLost = reversalArgs === undefined && isErased(one.call.args);
  const isKnown = reversalArgs !== undefined || isLost;
  return {
    checks: one,
    capability: one.call.capability,
    bound: isKnown ? boundFacts({ reversalArgs, externalRef: ref.external_transaction_ref }) : undefined,
    isErased: isLost,
    observations: observations.filter((seen) => seen.call === position),
  };
}

function verdictOn(of: CallSeen | null, report: StepReport, reported: JudgedOutcome): Verdict {
  const fresh = freshSeen(of, reported);
  const isConflict = reported === 'stale' && report.error_kind === CONFLICT;
  if (!isConflict && isFreshDisputed(of, reported, fresh)) return DISAGREE;
  const success = succeeded(of);
  return isConflict && success !== 'holds' ? LOST_WRITE : VERDICT_TABLE[reported][success];
}

/** What the look before the call showed. One that nobody can judge any more, since arguments are erased, is no yes to a call that was made. */
function freshSeen(of: CallSeen | null, reported: JudgedOutcome): Seen {
  const { stale_capability: capability = null, stale_condition: condition = null } = of?.checks ?? {};
  const fresh = seen(of, 'stale_check', capability, condition);
  const isLookLost =
    of?.isErased === true &&
    condition !== null &&
    of.observations.some((one) => one.phase === 'stale_check' && one.capability === capability);
  return fresh === 'unseen' && reported === 'verified' && isLookLost ? 'false' : fresh;
}

function succeeded(of: CallSeen | null): Seen {
  return seen(of, 'verify', of?.checks.verify_capability ?? null, of?.checks.success_condition ?? null);
}

/** Worker and look do not say the same of a change by somebody else. */
function isFreshDisputed(of: CallSeen | null, reported: JudgedOutcome, fresh: Seen): boolean {
  return reported === 'stale' ? fresh === 'holds' : fresh === 'false' && !isOurChange(of);
}

/** After the change was seen a look back found our own effect: an earlier copy had made it meanwhile (J3). */
function isOurChange(of: CallSeen | null): boolean {
  if (of === null) return false;
  const from = of.observations.findLastIndex(({ phase }) => phase === 'stale_check');
  const { reconcile_capability, verify_capability, success_condition } = of.checks;
  const back = { ...of, observations: of.observations.slice(from) };
  return seen(back, 'reconcile', reconcile_capability ?? verify_capability, success_condition) === 'holds';
}

function seen(of: CallSeen | null, phase: ObservationPhase, capability: string | null, condition: string | null): Seen {
  if (of === null || capability === null || condition === null || capability === of.capability) return 'unseen';
  const last = of.observations.findLast((one) => one.phase === phase && one.capability === capability);
  const observed = jsonOfPayload(last?.observed);
  const { bound } = of;
  if (observed === undefined || bound === undefined || (of.isErased && asksForArgs(condition))) return 'unseen';
  const { stale_capability, stale_condition } = of.checks;
  const before = stale_capability === capability ? stale_condition : null;
  const verdict =
    phase === 'stale_check'
      ? evaluateCondition(condition, { observed, bound })
      : evaluateSuccess(condition, { observed, bound }, before);
  return !verdict.ok ? 'unseen' : verdict.holds ? 'holds' : 'false';
}
