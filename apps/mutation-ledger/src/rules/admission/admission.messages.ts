// Admission of triggers: what operators set, and the rows it is decided by. All counts are those of one partition.
import type { LimitScope } from '@recourse/messages';
import type { TrendLimits } from '../trend/trend.messages.js';

/** Weights are thousandths: 1000 is full trust. */
export const WEIGHT_MAX = 1_000;

/** Weight of a source nobody registered and nobody judged: below every threshold that can be set (E41). */
export const WEIGHT_INITIAL = 500;

/** Lowest threshold that can be set: a new source never rolls back by itself. */
export const THRESHOLD_MIN = WEIGHT_INITIAL + 1;

/** What a person's word moves a weight by. A wrong trigger costs three right ones: it undid what stood. */
export const CONFIRMED_ADDS = 50;
export const REJECTED_TAKES = 150;

/** Limits as they are set for all partitions together; `null` sets none. */
export interface AdmissionLimits {
  /** Weight from which a source is admitted without a person, thousandths; null admits every source. */
  readonly trustThresholdPermille: number | null;
  /** Rollbacks with evidence of their own that one tenant, source or capability may begin within the window. */
  readonly storm: { readonly limit: number; readonly windowMs: number } | null;
  /** Commits that one event may roll back before a person is asked. */
  readonly closureMax: number | null;
  /** What is a steady rise of rollbacks, of which a person is told; it holds nothing. */
  readonly trend: TrendLimits | null;
}

/** Admits everything: what a core is built with unless told. */
export const NO_LIMITS: AdmissionLimits = {
  trustThresholdPermille: null,
  storm: null,
  closureMax: null,
  trend: null,
};

export const HOLD_REASONS = [
  'SOURCE_UNTRUSTED',
  'SOURCE_WITHOUT_ACCESS',
  'EVIDENCE_STALE',
  'EVIDENCE_TOO_SENSITIVE',
  'BREAKER_OPEN',
  'CLOSURE_LIMIT',
  'HOLDS_AGAIN',
] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** What people have said of a source, on this partition. */
export type SourceDoc = {
  readonly source_id: string;
  readonly tenant: string;
  readonly source: string;
  readonly weight_permille: number;
  readonly confirmed: number;
  readonly rejected: number;
  readonly updated_at: number;
};

/** What counts toward a breaker: events, each once, with the instant it was admitted. */
export type StormDoc = {
  readonly storm_id: string;
  readonly scope: LimitScope;
  readonly tenant: string;
  readonly name: string;
  readonly events: readonly { readonly event_id: string; readonly at: number }[];
  readonly updated_at: number;
};

export type BreakerDoc = {
  readonly breaker_id: string;
  readonly scope: LimitScope;
  readonly tenant: string;
  readonly name: string;
  /** Run whose trigger opened it; the key under which it is closed. */
  readonly run_id: string;
  readonly phase: 'open' | 'closed';
  readonly count: number;
  readonly limit: number;
  readonly window_ms: number;
  readonly owner: string;
  readonly deadline_at: number | null;
  /** Null while it is open. */
  readonly closed: { readonly by: string; readonly reason: string; readonly at: number } | null;
  readonly opened_at: number;
  readonly updated_at: number;
};

/** Commits an event has rolled back on this partition. */
export type ClosureDoc = {
  readonly closure_id: string;
  readonly tenant: string;
  readonly event_id: string;
  readonly hits: number;
  /** A person let the whole event through. */
  readonly is_confirmed: boolean;
  readonly updated_at: number;
};

/** A held trigger, where a change of what holds it finds it. */
export type HeldDoc = {
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly cause: string;
  /** More wait behind it: whoever is looked at last goes on with them; where it leaves before, another. */
  readonly has_more: boolean;
  readonly held_at: number;
};
