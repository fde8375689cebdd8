// What a look at a step means once it is answered, or missed: undone after all, repaired by hand, or a person's.
//
// Boundary: pure; who has a worker look is in command.decisions.ts and observer.decisions.ts.
//
// Invariants
//   K1. What a look shows is judged here, from the observations.
//   K2. A step that a look leaves to people is given to one on record: ledger and notifier hear of it by that.
//   K3. What is told of a step while somebody looks waits until the look is over, and is dealt with then.
//   K4. What a worker says it did has a verdict, confirmed or not: ledger and accountant hear of a call by that alone.
//   K5. A look is judged by what was asked, whatever was told of the step since; but where somebody else may own the handle that it
//       was asked by, what it shows is not this effect.
import { callsBehind } from '@recourse/contract';
import type { LegReported, LookVerdict } from '@recourse/messages';
import { givenFor, turnedOutMeanwhile } from '../task/task.decider.js';
import { OWNER_OF_MANUAL } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import { escalated } from './dispatch.decisions.js';
import { judgeLook, NOBODY_LOOKED } from './judgement.decisions.js';
import type { LookJudgement } from './judgement.decisions.js';
import { observerAskedAgain, seenByAnother } from './observer.decisions.js';
import type { Signed } from './observer.decisions.js';
import { HANDLE_ASKED, HANDLE_CLAIMED } from './opening.decisions.js';
import { identityOf } from './step.messages.js';
import type { ActedLeg } from './leg.messages.js';
import type { EscalationReason, LookDoc, StepDoc } from './step.messages.js';
import { settledBy, verdictOn, witnessed } from './verdict.decisions.js';
import { SAID_NOTHING } from './worker-words.decisions.js';

/** When a look is judged, and by which bounds. */
interface LookContext {
  readonly now: number;
  readonly policy: RecoveryPolicy;
}

/** The same with whose key signed what was seen. */
interface HeardContext extends LookContext {
  readonly speaker: Signed | undefined;
}

/** What a report of a look shows of the step (K1). */
export function lookShows(step: StepDoc, seen: LookDoc, { steps }: LegReported): LookJudgement {
  return judgeLook(
    asAsked(step, seen),
    steps.find((one) => one.step_id === step.step_id),
  );
}

/** What a look means: undone by an earlier attempt, repaired by hand and seen to be, or a person's still. */
export function lookedAt(
  step: StepDoc,
  seen: LookDoc,
  shown: LookJudgement,
  { speaker, ...at }: HeardContext,
): readonly RecoveryRecord[] {
  const asked = asAsked(step, seen);
  const judgement = isHandleDoubted(step) ? { ...shown, ...UNSEEN } : shown;
  const answered = lookAnswered(asked, seen, judgement, at);
  if (judgement.verdict !== 'met') return [answered, ...givenAfter(asked, seen, judgement, { ...at, speaker })];
  const other = seenByAnother(asked, seen, speaker, at);
  if (other !== null) return [answered, other];
  return [answered, seen.purpose === 'repair' ? repaired(asked, seen) : compensated(asked, seen, judgement, speaker)];
}

/** The step with what its look was asked with (K5). */
function asAsked(step: StepDoc, { call, terms, ref }: LookDoc): StepDoc {
  return { ...step, call, terms, ref };
}

const UNSEEN = { verdict: 'unknown', reason: 'SUCCESS_NOT_OBSERVED' } as const;

/** Somebody else owns the handle, or may, as was told while the look was out. */
function isHandleDoubted({ told_meanwhile: told }: StepDoc): boolean {
  return told === HANDLE_ASKED || told === HANDLE_CLAIMED;
}

/** A person repaired it by hand, and it was seen to be so. */
function repaired(step: StepDoc, { evidence, by, reason, command_id }: LookDoc): RecoveryRecord {
  return record('StepResolved', {
    ...identityOf(step),
    resolution: 'repaired',
    evidence,
    by,
    reason,
    command_id,
    verified: true,
  });
}

/** An attempt has undone it: an earlier one, or the one that another worker now has seen. */
function compensated(
  step: StepDoc,
  look: LookDoc,
  { observations }: LookJudgement,
  speaker: Signed | undefined,
): RecoveryRecord {
  const actedBy = look.purpose === 'observe' ? look.not_by : null;
  const judged = {
    reported: 'verified',
    outcome: 'compensated',
    reason: 'SUCCESS_CONDITION_HELD',
    observations: [...(look.acted?.observations ?? []), ...observations],
    calls_done: callsBehind(step.ref),
    ...SAID_NOTHING,
  } as const;
  return settledBy(step, legOf(step, look.acted?.leg_id ?? look.leg_id), [
    witnessed(verdictOn(step, judged, null, 'reversed'), actedBy, speaker?.keyId ?? null),
  ]);
}

/** The leg with an id, or the look, which is about the last attempt. */
function legOf({ legs, attempt }: StepDoc, leg_id: string): { readonly leg_id: string; readonly attempt: number } {
  return { leg_id, attempt: legs.find((leg) => leg.leg_id === leg_id)?.attempt ?? attempt };
}

/** The other worker was silent, or what it said shows nothing. */
export const NOT_CONFIRMED = 'NOT_CONFIRMED';

/** The worker that acted says it undid it, and nobody else saw that: what it called and what that answered stand on record all the same (P8). */
function unconfirmed(
  step: StepDoc,
  { not_by }: LookDoc,
  acted: ActedLeg,
  { judgement, observedBy }: { readonly judgement: LookJudgement; readonly observedBy: string | null },
): RecoveryRecord {
  const { verdict, reason, observations, error_kind, said } = judgement;
  const judged = {
    reported: 'verified',
    outcome: verdict === 'not_met' ? 'unverified' : 'uncertain',
    reason: verdict === 'not_met' ? reason : NOT_CONFIRMED,
    observations: [...acted.observations, ...observations],
    // All were made, as that worker saw it; the last may be made again.
    calls_done: callsBehind(step.ref) - 1,
    error_kind,
    said,
  } as const;
  return settledBy(step, legOf(step, acted.leg_id), [
    witnessed(verdictOn(step, judged, null, null), not_by, observedBy),
  ]);
}

/** Nobody answered a look: an observer is asked anew, a few times, and then nothing was seen. */
export function lookMissed(step: StepDoc, seen: LookDoc, at: LookContext): readonly RecoveryRecord[] {
  const asked = asAsked(step, seen);
  const again = observerAskedAgain(asked, seen, at);
  if (again !== null) return [again];
  const heard = { ...at, speaker: undefined };
  return [lookAnswered(asked, seen, NOBODY_LOOKED, at), ...givenAfter(asked, seen, NOBODY_LOOKED, heard)];
}

/** Why a person has what another worker was to confirm. */
const UNCONFIRMED = {
  not_met: 'VERIFICATION_FAILED',
  unknown: 'OUTCOME_UNKNOWN',
} as const satisfies Record<Exclude<LookVerdict, 'met'>, EscalationReason>;

/**
 * What a person had looked at is theirs already; what another worker was to confirm, nobody has yet: it is given to one.
 *
 * Shape:  where it was told meanwhile that nothing undoes it, a person has it for that, and the work that follows is opened (K3).
 */
function givenAfter(
  step: StepDoc,
  look: LookDoc,
  judgement: LookJudgement,
  { now, policy, speaker }: HeardContext,
): readonly RecoveryRecord[] {
  const { purpose, acted } = look;
  const { verdict } = judgement;
  if (verdict === 'met') return [];
  // One that was asked before what was done went with the look has nothing to tell of it.
  const done =
    acted === undefined ? [] : [unconfirmed(step, look, acted, { judgement, observedBy: speaker?.keyId ?? null })];
  const given = purpose === 'observe' ? [...done, escalated(step, UNCONFIRMED[verdict], now, policy)] : [];
  const turnedOut = turnedOutMeanwhile(step);
  return turnedOut === null ? given : [...given, ...givenFor(step, turnedOut, now, policy)];
}

function lookAnswered(
  step: StepDoc,
  { leg_id }: LookDoc,
  judged: LookJudgement,
  { now, policy }: LookContext,
): RecoveryRecord {
  return record('LookAnswered', {
    ...identityOf(step),
    leg_id,
    ...judged,
    owner: OWNER_OF_MANUAL,
    deadline_at: now + policy.reviewDeadlineMs,
  });
}
