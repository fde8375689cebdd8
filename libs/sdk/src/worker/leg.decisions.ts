// What a worker does next for a leg and for one step of it. Pure: the runners obey and feed back what happened.
//
// Invariants (L11)
//   I1. After `not_after` nothing is called: asked again before every call.
//   I2. Nothing is executed twice by one leg, nor without reconciliation where the request asks for it.
//   I3. A durable claim comes before the call: one for all steps of a leg whose tools take keys, one for each step whose tool takes
//       none. Taken by an earlier delivery of the same attempt, it leads to no call: that one's may still be under way. Where the
//       tool takes a key, what it did is looked for. Where it takes none, a later attempt executes only if the one before is
//       known to have had no effect: then the request does not ask for a look first.
//   I4. `verified` needs an observation that meets the success condition; an answer of the acting tool is none. A release or
//       cancel ends with that answer: the ledger takes it for what a producer would have told, no more.
//   I5. `stale` blames somebody else: it is never said where an earlier delivery may have made the change itself. An attempt after
//       the first that finds a change, or loses a conditional write, looks back once more: a copy of the one before may have
//       acted meanwhile.
//   I6. Steps go in the order of the leg; after one that is not verified none is begun.
import type { LegRequested, LegStep, StepOutcome, StepReport } from '@recourse/messages';
import type {
  CallFailure,
  ClaimAnswer,
  LegFlaw,
  StepAction,
  StepEnd,
  StepErrorKind,
  StepEvent,
  StepProgress,
  StepSituation,
} from './leg.messages.js';

/** Progress of a step that was not begun. */
export const NOT_BEGUN: StepProgress = {
  reconciled: false,
  isMade: false,
  isFresh: false,
  claim: null,
  changed: null,
  verifications: 0,
  observed: 0,
  isPaused: false,
  end: null,
};

/** Steps of a leg at the most: a leg that holds more was made by nobody we know. */
const LEG_STEPS_MAX = 64;

/** Why a request is none that can be run; null when it can. */
export function flawOf({ steps }: LegRequested): LegFlaw | null {
  if (steps.length === 0) return 'LEG_WITHOUT_STEPS';
  if (steps.length > LEG_STEPS_MAX) return 'LEG_TOO_LONG';
  return new Set(steps.map(({ step_id }) => step_id)).size < steps.length ? 'STEP_REPEATED' : null;
}

/** The step to begin after those that have ended; null when the leg is over. */
export function nextStep({ steps }: LegRequested, ended: readonly StepReport[]): LegStep | null {
  const last = ended.at(-1);
  if (last !== undefined && last.outcome !== 'verified') return null;
  return steps[ended.length] ?? null;
}

/** What a step begins with. Shape: `ofLeg` is what the claim store said of the leg, null while it was not asked. */
export function beginStep(step: LegStep, ofLeg: ClaimAnswer | null): StepProgress {
  return isKeyed(step) ? { ...NOT_BEGUN, claim: ofLeg } : NOT_BEGUN;
}

/** True when the claim for this step is that of its leg. */
export function isOfLeg({ kind }: LegRequested, step: LegStep): boolean {
  return kind === 'compensate' && isKeyed(step);
}

/** What is claimed before this step is made: the leg, or the step alone where its tool may not be called twice. */
export function claimIdOf(leg: LegRequested, step: LegStep): string {
  return leg.kind !== 'compensate' || isOfLeg(leg, step) ? leg.leg_id : step.step_id;
}

/** True when a leg may be neither begun nor continued any more. */
export function isLeaseOver(leg: LegRequested, now: number): boolean {
  return now > leg.not_after;
}

/**
 * Says what to do next for a step.
 *
 * Units:  instants in epoch milliseconds.
 * Source: L11; docs/design/recovery.md.
 */
export function decideStep(situation: StepSituation): StepAction {
  const { leg, progress, now } = situation;
  if (progress.end !== null) return { do: 'end', end: progress.end };
  if (isLeaseOver(leg, now)) return ended(progress.isMade ? 'unknown' : 'refused_late', 'LEASE_OVER');
  switch (leg.kind) {
    case 'compensate':
      return decideCompensation(situation);
    case 'reconcile':
    case 'observe':
      return decideLook(situation);
    case 'release':
    case 'cancel':
      return decideCall(situation);
  }
}

/** A forward call that is let go, or the cancel of what is staged: made once, its answer is its end. */
function decideCall({ step, progress }: StepSituation): StepAction {
  return isKeyed(step) ? { do: 'execute' } : withClaim(progress, { do: 'execute' });
}

const isKeyed = (step: LegStep): boolean => step.key_lifetime_ms !== null;

/** An act that needs a claim of its own: two calls would be two effects. */
function withClaim({ claim }: StepProgress, act: StepAction): StepAction {
  switch (claim) {
    case null:
      return { do: 'claim' };
    case 'granted':
      return act;
    case 'taken':
      return ended('unknown', 'CLAIM_TAKEN');
    // Whether the claim is on disk is not known, so nobody can call under it any more; nothing was called.
    case 'failed':
      return ended('not_executed', 'CLAIM_FAILED');
  }
}

function decideCompensation(situation: StepSituation): StepAction {
  const { step, progress } = situation;
  if (progress.isMade) return decideVerification(step, progress);
  return isKeyed(step) ? decideKeyed(situation) : decideKeyless(situation);
}

/** A call that may be repeated, by the next attempt: whoever does not have this one only looks for what its owner did. */
function decideKeyed({ leg, step, progress }: StepSituation): StepAction {
  const { claim } = progress;
  if (claim === null) return { do: 'claim' };
  const isToLook = leg.reconcile_first || claim !== 'granted';
  if (isToLook && !progress.reconciled) return reconciliation(step);
  if (claim === 'granted') return decideAct(step, progress);
  return ended('unknown', claim === 'taken' ? 'CLAIM_TAKEN' : 'CLAIM_FAILED');
}

/** A call that may not be repeated: the claim is the last thing before it, so that a worker killed earlier leaves the attempt to the next. */
function decideKeyless({ leg, step, progress }: StepSituation): StepAction {
  if ((leg.reconcile_first || leg.attempt > 1) && !progress.reconciled) return reconciliation(step);
  if (leg.attempt > 1 && leg.reconcile_first) return ended('not_executed', 'RETRY_WITHOUT_KEY');
  const act = decideAct(step, progress);
  return act.do === 'observe' ? act : withClaim(progress, act);
}

/** The look at the resource, then the call, or the end of who found it changed. */
function decideAct(step: LegStep, progress: StepProgress): StepAction {
  if (progress.changed !== null) return { do: 'end', end: progress.changed };
  if (step.stale_capability !== null && !progress.isFresh) {
    return { do: 'observe', phase: 'stale_check', capability: step.stale_capability, condition: step.stale_condition };
  }
  return { do: 'execute' };
}

/** A leg that only looks: reconciliation of an earlier attempt, or an observation of the resource. */
function decideLook({ leg, step }: StepSituation): StepAction {
  return leg.kind === 'reconcile' ? decideLookBack(step) : observation(step);
}

/** Without a condition the capability itself says whether the call took effect (`forwardFinding`). */
function decideLookBack(step: LegStep): StepAction {
  if (step.success_condition !== null || step.reconcile_capability === null) return reconciliation(step);
  return { do: 'observe', phase: 'reconcile', capability: step.reconcile_capability, condition: null };
}

function reconciliation(step: LegStep): StepAction {
  const capability = step.reconcile_capability ?? step.verify_capability;
  if (capability === null || step.success_condition === null) return ended('unknown', 'RECONCILE_IMPOSSIBLE');
  return { do: 'observe', phase: 'reconcile', capability, condition: step.success_condition };
}

function observation(step: LegStep): StepAction {
  const capability = step.verify_capability ?? step.reconcile_capability;
  if (capability === null) return ended('unverified', 'NO_VERIFICATION');
  return { do: 'observe', phase: 'verify', capability, condition: step.success_condition };
}

function decideVerification(step: LegStep, progress: StepProgress): StepAction {
  const { verify_capability: capability, success_condition: condition } = step;
  if (capability === null || condition === null) return ended('unverified', 'NO_VERIFICATION');
  if (progress.verifications >= Math.max(1, step.verify_max_attempts)) {
    return progress.observed > 0 ? ended('unverified', 'NOT_OBSERVED') : ended('unknown', 'TOOL_ERROR');
  }
  if (progress.verifications > 0 && !progress.isPaused) return { do: 'pause', ms: step.verify_delay_ms };
  return { do: 'observe', phase: 'verify', capability, condition };
}

/**
 * Progress after something happened. Holds no rules about time.
 *
 * Shape: pure; an event that ends the step sets `end`.
 */
export function advance(leg: LegRequested, progress: StepProgress, event: StepEvent): StepProgress {
  switch (event.type) {
    case 'Observed':
      return leg.kind === 'compensate'
        ? afterObservation(leg, progress, event)
        : { ...progress, end: lookEnd(event.holds) };
    case 'ObservationFailed':
      return leg.kind === 'compensate'
        ? afterBlindness(progress, event)
        : { ...progress, end: end('unknown', event.failure) };
    case 'ClaimAnswered':
      return { ...progress, claim: event.answer };
    case 'Executed':
      return leg.kind === 'compensate'
        ? { ...progress, isMade: true }
        : { ...progress, isMade: true, end: end('verified', null) };
    case 'ExecutionFailed':
      return event.failure === 'TOOL_CONFLICT' && leg.kind === 'compensate'
        ? changedBySomebody(leg, progress, 'TOOL_CONFLICT')
        : { ...progress, end: executionEnd(event.failure) };
    case 'Paused':
      return { ...progress, isPaused: true };
  }
}

function afterObservation(
  leg: LegRequested,
  progress: StepProgress,
  { phase, holds }: Extract<StepEvent, { type: 'Observed' }>,
): StepProgress {
  switch (phase) {
    case 'reconcile':
      if (holds === null) return { ...progress, end: end('unknown', 'CONDITION_FAILED') };
      return { ...progress, reconciled: true, isMade: holds };
    case 'stale_check':
      if (holds === true) return { ...progress, isFresh: true };
      return changedBySomebody(leg, progress, holds === null ? 'CONDITION_FAILED' : 'STALE');
    case 'verify':
      if (holds === true) return { ...progress, end: end('verified', null) };
      return {
        ...progress,
        verifications: progress.verifications + 1,
        observed: progress.observed + 1,
        isPaused: false,
      };
  }
}

/** Where an earlier attempt may have made the change, it is looked for once more before anybody is blamed. */
function changedBySomebody(leg: LegRequested, progress: StepProgress, errorKind: StepErrorKind): StepProgress {
  return {
    ...progress,
    changed: end('stale', errorKind),
    reconciled: progress.reconciled && !leg.reconcile_first,
  };
}

function afterBlindness(
  progress: StepProgress,
  { phase, failure }: Extract<StepEvent, { type: 'ObservationFailed' }>,
): StepProgress {
  switch (phase) {
    case 'reconcile':
      return { ...progress, end: end('unknown', failure) };
    case 'stale_check':
      return { ...progress, end: end('not_executed', failure) };
    case 'verify':
      return { ...progress, verifications: progress.verifications + 1, isPaused: false };
  }
}

function executionEnd(failure: CallFailure): StepEnd {
  switch (failure) {
    case 'TOOL_MISSING':
      return end('not_executed', failure);
    case 'TOOL_REJECTED':
    case 'TOOL_CONFLICT':
      return end('failed', failure);
    case 'TOOL_ERROR':
    case 'TOOL_TIMEOUT':
    case 'CALL_IN_FLIGHT':
      return end('unknown', failure);
  }
}

function lookEnd(holds: boolean | null): StepEnd {
  if (holds === null) return end('unknown', 'CONDITION_FAILED');
  return holds ? end('verified', null) : end('unverified', 'NOT_OBSERVED');
}

const end = (outcome: StepOutcome, errorKind: StepErrorKind | null): StepEnd => ({ outcome, errorKind });
const ended = (outcome: StepOutcome, errorKind: StepErrorKind): StepAction => ({
  do: 'end',
  end: end(outcome, errorKind),
});

const CONDITIONAL_WRITES: readonly string[] = ['version', 'etag', 'compare_and_swap'];

/** Does the tool compare itself while it writes, so that nothing fits between check and act? */
export function comparesInTheWrite({ stale_compares }: Pick<LegStep, 'stale_compares'>): boolean {
  return CONDITIONAL_WRITES.includes(stale_compares ?? '');
}

/** Is a leg about the agent's own call, or about one that undoes it? */
export function aboutOf({ kind }: Pick<LegRequested, 'kind'>): 'forward' | 'compensation' {
  return kind === 'reconcile' || kind === 'release' ? 'forward' : 'compensation';
}
