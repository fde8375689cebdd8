// What a worker knows of a step under way, what it does next, and what can happen to it.
import type { LegRequested, LegStep, ObservationPhase, StepOutcome } from '@recourse/messages';

/** Why a step did not end verified; the closed set of `error_kind`. */
export type StepErrorKind =
  | 'LEASE_OVER' // not_after has passed
  | 'ARGS_UNREADABLE' // sealed or broken arguments
  | 'TOOL_MISSING' // no tool of that capability here
  | 'TOOL_REJECTED' // the tool knows it had no effect
  | 'TOOL_CONFLICT' // the tool knows it had no effect, since somebody else changed the resource
  | 'TOOL_ERROR' // the tool failed and nobody knows what happened
  | 'TOOL_TIMEOUT' // no answer in time
  | 'CALL_IN_FLIGHT' // an earlier call under the same key has not come back here
  | 'CLAIM_TAKEN' // somebody may have called already
  | 'HELD_BACK' // somebody objected between two calls
  | 'SWITCHES_UNKNOWN' // the registry did not say in time whether a kill switch stands; this worker called nothing
  | 'CLAIM_FAILED' // the claim store did not answer; nothing was called
  | 'RECONCILE_IMPOSSIBLE' // asked to find out first, and no capability or condition tells
  | 'RETRY_WITHOUT_KEY' // not happened, and a repeat could happen twice
  | 'STALE' // somebody else changed the resource
  | 'CONDITION_FAILED' // an observation could not be judged
  | 'NO_VERIFICATION' // nothing observes the result
  | 'NOT_OBSERVED'; // the success condition does not hold

/** Why a request cannot be run at all. */
export type LegFlaw =
  | 'LEG_WITHOUT_STEPS' // nothing is asked
  | 'LEG_TOO_LONG' // more than 64 steps
  | 'STEP_REPEATED'; // a step is in it twice, so that its report would say two things of it

/** Why a call of a tool gave no answer. */
export type CallFailure =
  'TOOL_MISSING' | 'TOOL_REJECTED' | 'TOOL_CONFLICT' | 'TOOL_ERROR' | 'TOOL_TIMEOUT' | 'CALL_IN_FLIGHT';

/** How a step ended for its worker. */
export interface StepEnd {
  readonly outcome: StepOutcome;
  readonly errorKind: StepErrorKind | null;
}

/** `failed`: the claim store did not answer. */
export type ClaimAnswer = 'granted' | 'taken' | 'failed';

/** How far a step has come. */
export interface StepProgress {
  readonly reconciled: boolean;
  /** The effect is there, by this leg or by an earlier one. */
  readonly isMade: boolean;
  readonly isFresh: boolean;
  /** What the claim store said; null when it was not asked. */
  readonly claim: ClaimAnswer | null;
  /** How the step ends if no earlier delivery made the change that was seen; null while none was. */
  readonly changed: StepEnd | null;
  readonly verifications: number;
  /** Of these, how many could be observed. */
  readonly observed: number;
  readonly isPaused: boolean;
  readonly end: StepEnd | null;
}

/** What a worker does next about a step. */
export type StepAction =
  | {
      readonly do: 'observe';
      readonly phase: Exclude<ObservationPhase, 'execute'>;
      readonly capability: string;
      readonly condition: string | null;
    }
  | { readonly do: 'claim' }
  | { readonly do: 'execute' }
  | { readonly do: 'pause'; readonly ms: number }
  | { readonly do: 'end'; readonly end: StepEnd };

/** What happened while a step was worked on. */
export type StepEvent =
  /** `holds` is null when the condition could not be judged. */
  | { readonly type: 'Observed'; readonly phase: Exclude<ObservationPhase, 'execute'>; readonly holds: boolean | null }
  | {
      readonly type: 'ObservationFailed';
      readonly phase: Exclude<ObservationPhase, 'execute'>;
      readonly failure: CallFailure;
    }
  | { readonly type: 'ClaimAnswered'; readonly answer: ClaimAnswer }
  | { readonly type: 'Executed' }
  | { readonly type: 'ExecutionFailed'; readonly failure: CallFailure }
  | { readonly type: 'Paused' };

/** What the next action of a step depends on. */
export interface StepSituation {
  readonly leg: LegRequested;
  readonly step: LegStep;
  readonly progress: StepProgress;
  /** Worker time, epoch milliseconds. */
  readonly now: number;
}
