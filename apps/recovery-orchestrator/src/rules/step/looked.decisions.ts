// What a look at a step means once it is answered, or missed: undone after all, repaired by hand, or a person's.
//
// Boundary: pure; who has a worker look is in command.decisions.ts and observer.decisions.ts.
//
// Invariants
//   K1. What a look shows is judged here, from the observations.
//   K2. A step that a look leaves to people is given to one on record: ledger and notifier hear of it by that.
//   K3. What is told of a step while somebody looks waits until the look is over, and is dealt with then.
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
import { seenByAnother } from './observer.decisions.js';
import type { Signed } from './observer.decisions.js';
import { identityOf } from './step.messages.js';
import type { EscalationReason, LookDoc, StepDoc } from './step.messages.js';
import { settledBy, verdictOn, witnessed } from './verdict.decisions.js';
import { SAID_NOTHING } from './worker-words.decisions.js';

/** When a look is judged, and by which bounds. */
interface LookContext {
  readonly now: number;
  readonly policy: RecoveryPolicy;
}

/** What a look means: undone by an earlier attempt, repaired by hand and seen to be, or a person's still. */
export function lookedAt(
  step: StepDoc,
  seen: LookDoc,
  message: LegReported,
  { speaker, ...at }: LookContext & { readonly speaker: Signed | undefined },
): readonly RecoveryRecord[] {
  const judgement = judgeLook(
    step,
    message.steps.find((one) => one.step_id === step.step_id),
  );
  const answered = lookAnswered(step, seen, judgement, at);
  if (judgement.verdict !== 'met') return [answered, ...givenAfter(step, seen, judgement, at)];
  const other = seenByAnother(step, seen, speaker, at);
  if (other !== null) return [answered, other];
  return [answered, seen.purpose === 'repair' ? repaired(step, seen) : compensated(step, seen, judgement, speaker)];
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
  { leg_id, purpose, not_by }: LookDoc,
  { observations }: LookJudgement,
  speaker: Signed | undefined,
): RecoveryRecord {
  const actedBy = purpose === 'observe' ? not_by : null;
  const judged = {
    reported: 'verified',
    outcome: 'compensated',
    reason: 'SUCCESS_CONDITION_HELD',
    observations,
    calls_done: callsBehind(step.ref),
    ...SAID_NOTHING,
  } as const;
  return settledBy(step, { leg_id, attempt: step.attempt }, [
    witnessed(verdictOn(step, judged, null, 'reversed'), actedBy, speaker?.keyId ?? null),
  ]);
}

/** Nobody answered a look: nothing was seen. */
export function lookMissed(step: StepDoc, seen: LookDoc, at: LookContext): readonly RecoveryRecord[] {
  return [lookAnswered(step, seen, NOBODY_LOOKED, at), ...givenAfter(step, seen, NOBODY_LOOKED, at)];
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
  { purpose }: LookDoc,
  { verdict }: LookJudgement,
  { now, policy }: LookContext,
): readonly RecoveryRecord[] {
  if (verdict === 'met') return [];
  const unconfirmed = purpose === 'observe' ? [escalated(step, UNCONFIRMED[verdict], now, policy)] : [];
  const turnedOut = turnedOutMeanwhile(step);
  return turnedOut === null ? unconfirmed : [...unconfirmed, ...givenFor(step, turnedOut, now, policy)];
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
