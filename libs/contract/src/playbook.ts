// What failed and what is done about it, apart from each other; the playbook maps one to the other (D15 to D19).
//
// Boundary: pure. What it answers is a directive; whoever called does it, and asks again with what came of it.
//
// Invariants
//   Y1. What is not known to have had no effect is answered neither with another call nor with another plan before somebody found out.
//   Y2. A used idempotency key is never called again under a new one: that is how money goes out twice.

import type { OutcomeKind } from '@recourse/messages';

/** What failed; closed, and what travels as `error_kind`. Source: requirements D15 to D19. */
export const ERROR_KINDS = [
  'ARGS_INVALID',
  'IDEMPOTENCY_CONFLICT',
  'EVIDENCE_STALE',
  'POLICY_DENIED',
  'CONTENT_FILTER',
  'REFUSAL',
  'TIMEOUT',
  'TRANSIENT_NETWORK',
  'RATE_LIMITED',
  'SERVER',
  /** The tool knows that it did nothing, for a reason of its own. */
  'REJECTED',
  /** A call under the same effect key was begun, and nobody has found out yet how it ended. */
  'RECONCILIATION_PENDING',
  'UNKNOWN',
] as const;
/** One of the closed kinds of error of a tool. */
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** What is done about it. */
export const COMPENSATION_ACTIONS = [
  'RETRY_WITH_BACKOFF',
  'REFRESH_EVIDENCE',
  'DEPRECATE_AND_REPLAN',
  'RECONCILE_FIRST',
  'ESCALATE_TO_HUMAN',
] as const;
/** What the playbook lets be done about an effect that failed. */
export type CompensationAction = (typeof COMPENSATION_ACTIONS)[number];

/** One action per kind; total. */
export const PLAYBOOK = {
  ARGS_INVALID: 'DEPRECATE_AND_REPLAN',
  IDEMPOTENCY_CONFLICT: 'DEPRECATE_AND_REPLAN',
  EVIDENCE_STALE: 'REFRESH_EVIDENCE',
  POLICY_DENIED: 'ESCALATE_TO_HUMAN',
  CONTENT_FILTER: 'ESCALATE_TO_HUMAN',
  REFUSAL: 'ESCALATE_TO_HUMAN',
  TIMEOUT: 'RETRY_WITH_BACKOFF',
  TRANSIENT_NETWORK: 'RETRY_WITH_BACKOFF',
  RATE_LIMITED: 'RETRY_WITH_BACKOFF',
  SERVER: 'RETRY_WITH_BACKOFF',
  REJECTED: 'DEPRECATE_AND_REPLAN',
  RECONCILIATION_PENDING: 'RECONCILE_FIRST',
  UNKNOWN: 'RECONCILE_FIRST',
} as const satisfies Record<ErrorKind, CompensationAction>;

/** What is known of the call that failed. */
export interface FailedCall {
  readonly kind: ErrorKind;
  /** `none`: nothing happened, for sure. `unknown`: somebody has to find out. */
  readonly effect: 'none' | 'unknown';
  /** Calls that were made, this one included; from 1. */
  readonly attempt: number;
  /** Calls that may be made. */
  readonly attemptsMax: number;
  /** Times the evidence was refreshed for this call. */
  readonly refreshes: number;
}

/** What to do next. */
export type Directive =
  /** `backoffs`: which pause comes before it, from 1; each is twice as long as the one before. */
  | { readonly do: 'retry'; readonly action: CompensationAction; readonly backoffs: number }
  | { readonly do: 'refresh_then_retry'; readonly action: CompensationAction }
  | { readonly do: 'reconcile'; readonly action: CompensationAction }
  /** This call is given up for good; the plan goes on without it. */
  | { readonly do: 'replan'; readonly action: CompensationAction }
  | {
      readonly do: 'ask_person';
      readonly action: CompensationAction;
      readonly reason: 'PLAYBOOK' | 'STALE_AGAIN' | 'ATTEMPTS_EXHAUSTED';
    };

/** What a directive amounts to, in the closed words of outcomes; finding out first decides nothing yet. Source: requirement D20. */
export const OUTCOME_OF_DIRECTIVE = {
  retry: 'retry_scheduled',
  refresh_then_retry: 'evidence_refreshed',
  reconcile: null,
  replan: 'deprecated',
  ask_person: 'escalated',
} as const satisfies Record<Directive['do'], OutcomeKind | null>;

/** The mapping is handed in, so that a policy may be stricter than ours. */
export type Playbook = Readonly<Record<ErrorKind, CompensationAction>>;

/**
 * Says what is done about a call that failed.
 *
 * Shape:  the same facts give the same directive; nothing is called here.
 * Source: requirements D15 to D19, D22; a call that was sent and never answered is reconciled before it is made again, and before it is
 *         given up: who plans again without knowing has the effect twice.
 */
export function directiveFor(
  { kind, effect, attempt, attemptsMax, refreshes }: FailedCall,
  playbook: Playbook = PLAYBOOK,
): Directive {
  const action = playbook[kind];
  if (effect === 'unknown' && action !== 'ESCALATE_TO_HUMAN') return { do: 'reconcile', action };
  switch (action) {
    case 'ESCALATE_TO_HUMAN':
      return { do: 'ask_person', action, reason: 'PLAYBOOK' };
    case 'DEPRECATE_AND_REPLAN':
      return { do: 'replan', action };
    case 'RECONCILE_FIRST':
      return { do: 'reconcile', action };
    case 'REFRESH_EVIDENCE':
      return refreshes > 0 ? { do: 'ask_person', action, reason: 'STALE_AGAIN' } : { do: 'refresh_then_retry', action };
    case 'RETRY_WITH_BACKOFF':
      return attempt >= attemptsMax
        ? { do: 'ask_person', action, reason: 'ATTEMPTS_EXHAUSTED' }
        : { do: 'retry', action, backoffs: attempt };
  }
}
