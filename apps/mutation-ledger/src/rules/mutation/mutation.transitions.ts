// The two state machines of a mutation (docs/design/ledger.md, C1 to C10): what is known of the forward action, and what can be done about it.
//
// A null cell: the event does not apply there. What repeats or was overtaken changes nothing; a second, different report of
// an execution is a conflict on record.
import type { ExecutionState, RecoverabilityEvent, RecoverabilityState } from '@recourse/messages';

export const EXECUTION_EVENTS = ['planned', 'started', 'succeeded', 'failed', 'uncertain'] as const;
export type ExecutionEvent = (typeof EXECUTION_EVENTS)[number];

/** State of the forward action after each report. A failed call may be planned anew under its effect key, and is waited for as the first was; an uncertain one may turn out either way. */
export const EXECUTION_AFTER = {
  planned: { planned: null, started: 'executing', succeeded: 'succeeded', failed: 'failed', uncertain: 'uncertain' },
  executing: { planned: null, started: null, succeeded: 'succeeded', failed: 'failed', uncertain: 'uncertain' },
  failed: { planned: 'planned', started: 'executing', succeeded: 'succeeded', failed: null, uncertain: 'uncertain' },
  uncertain: { planned: null, started: null, succeeded: 'succeeded', failed: 'failed', uncertain: null },
  succeeded: { planned: null, started: null, succeeded: null, failed: null, uncertain: null },
} as const satisfies Record<ExecutionState, Record<ExecutionEvent, ExecutionState | null>>;

/** States of the forward action in which nothing more is expected. */
export const EXECUTION_ENDS = ['succeeded'] as const satisfies readonly ExecutionState[];

/** The first three are what acceptance of an execution means; the others are recorded one by one. */
export const RECOVERABILITY_EVENTS = [
  'outcome_pending',
  'committed',
  'not_committed',
  'handle_bound',
  'window_closed',
  'compensation_started',
  'compensation_verified',
  'compensation_failed',
  'manual_required',
  'resolved',
  'cancelled',
] as const satisfies readonly ('outcome_pending' | 'committed' | 'not_committed' | RecoverabilityEvent)[];
export type RecoverabilityMove = (typeof RECOVERABILITY_EVENTS)[number];

const NONE = {
  outcome_pending: null,
  committed: null,
  not_committed: null,
  handle_bound: null,
  window_closed: null,
  compensation_started: null,
  compensation_verified: null,
  compensation_failed: null,
  manual_required: null,
  resolved: null,
  cancelled: null,
} as const satisfies Record<RecoverabilityMove, null>;

/**
 * Recoverability after each event.
 *
 * A dispatch that was decided in the window starts a compensation even where the ledger hears of it after the expiry; each
 * further attempt is on record where the compensation stands, and one that a person had tried again begins it anew. A verified observation is believed wherever a compensation may have run. `resolved` closes a person's item and not the state:
 * without an observation nothing becomes `compensated`; what stood as under way while a person had it comes to rest as theirs. An event that ends reversibility moves nothing that is under way or a
 * person's, and is on record there all the same: no further attempt is begun (B5).
 */
export const RECOVERABILITY_AFTER = {
  planned: {
    ...NONE,
    outcome_pending: 'pending_commit',
    committed: 'committed',
    not_committed: 'planned',
    cancelled: 'cancelled',
  },
  pending_commit: {
    ...NONE,
    committed: 'committed',
    not_committed: 'planned',
    manual_required: 'manual_resolution_required',
    cancelled: 'cancelled',
  },
  committed: {
    ...NONE,
    handle_bound: 'reversal_available',
    window_closed: 'reversal_expired',
    manual_required: 'manual_resolution_required',
  },
  reversal_available: {
    ...NONE,
    window_closed: 'reversal_expired',
    compensation_started: 'compensating',
    manual_required: 'manual_resolution_required',
  },
  reversal_expired: { ...NONE, compensation_started: 'compensating', manual_required: 'manual_resolution_required' },
  compensating: {
    ...NONE,
    window_closed: 'compensating',
    compensation_started: 'compensating',
    compensation_verified: 'compensated',
    compensation_failed: 'compensation_failed',
    manual_required: 'manual_resolution_required',
    resolved: 'manual_resolution_required',
  },
  compensation_failed: {
    ...NONE,
    window_closed: 'compensation_failed',
    compensation_started: 'compensating',
    compensation_verified: 'compensated',
    manual_required: 'manual_resolution_required',
    resolved: 'compensation_failed',
  },
  manual_resolution_required: {
    ...NONE,
    handle_bound: 'manual_resolution_required',
    window_closed: 'manual_resolution_required',
    compensation_started: 'compensating',
    compensation_verified: 'compensated',
    resolved: 'manual_resolution_required',
  },
  compensated: NONE,
  // What took hold in spite of a cancel is a person's.
  cancelled: { ...NONE, committed: 'manual_resolution_required', manual_required: 'manual_resolution_required' },
} as const satisfies Record<RecoverabilityState, Record<RecoverabilityMove, RecoverabilityState | null>>;

/** States nothing leads out of. */
export const RECOVERABILITY_ENDS = ['compensated'] as const satisfies readonly RecoverabilityState[];

/** States in which a rolled-back commit has come to rest, so that downstream is told. */
export const RESTING_STATES: readonly RecoverabilityState[] = [
  'compensated',
  'manual_resolution_required',
  'reversal_expired',
  'cancelled',
];

/** States that a rollback finds at rest: no later record of this ledger will say so. What was cancelled rests once it failed. */
export const RESTING_BEFORE_ROLLBACK: readonly RecoverabilityState[] = ['compensated', 'manual_resolution_required'];
