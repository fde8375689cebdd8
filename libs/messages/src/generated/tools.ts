// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Observation } from './common.js';
import type { RecoveryCall } from './recoveries.js';

/** What a worker is asked to do: undo, find out, look, make a held effect, or give back what is staged. */
export const LEG_KIND_VALUES = ['compensate', 'reconcile', 'observe', 'release', 'cancel'] as const;
export type LegKind = (typeof LEG_KIND_VALUES)[number];

/** A worker answers a leg, or says how far a slow one has come. */
export interface LegReported {
  /** The leg. */
  readonly leg_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Attempt that is answered. */
  readonly attempt: number;
  /** As it was sent. */
  readonly lease_id: string;
  /** Worker that acted. */
  readonly worker_id: string;
  /** Worker time, epoch milliseconds. */
  readonly reported_at: number;
  /** False while the leg is still under way: the steps are those that ended so far. */
  readonly complete: boolean;
  /** In the order of the leg. A complete report names every step that was begun; whatever it does not name was not begun by this worker. */
  readonly steps: readonly StepReport[];
}

/** A request to the workers of an adapter. */
export interface LegRequested {
  /** Id of the leg. */
  readonly leg_id: string;
  /** What is asked. */
  readonly kind: LegKind;
  /** Tenant. */
  readonly tenant: string;
  /** Run; also the record key. */
  readonly run_id: string;
  /** Attempt, from 1; the fencing token for the tool. */
  readonly attempt: number;
  /** To be returned with the answer. */
  readonly lease_id: string;
  /** Refuse after this, and check before each step; epoch milliseconds. */
  readonly not_after: number;
  /** Find out first whether an earlier attempt took effect. */
  readonly reconcile_first: boolean;
  /** Why the tool is called: agent_effect_compensation, or what the ledger asks for. */
  readonly reason: string;
  /** 1 to 64, each id once; in this order, stop at the first that does not succeed. The ledger asks for a single step, whose id is the mutation's. */
  readonly steps: readonly LegStep[];
  /** For a worker that observes what others did; workers that act pass it over, and observers all else. */
  readonly for_observer: boolean;
}

/** One compensation of a leg. */
export interface LegStep {
  /** Step. */
  readonly step_id: string;
  /** The compensating call. */
  readonly call: RecoveryCall;
  /** Longest a single tool call of this step may take, milliseconds. */
  readonly call_timeout_ms: number;
  /** Agent that made the effect, for kill switches over it; null when it is not told. */
  readonly agent_id: string | null;
  /** Business subject. */
  readonly subject_ref: string | null;
  /** Handle at the provider. */
  readonly external_transaction_ref: string | null;
  /** How long the provider deduplicates, milliseconds; null when it takes no key. */
  readonly key_lifetime_ms: number | null;
  /** Tells whether the effect happened. */
  readonly reconcile_capability: string | null;
  /** Observes the resource before acting. */
  readonly stale_capability: string | null;
  /** CEL that must hold before acting. */
  readonly stale_condition: string | null;
  /** What the check compares. Of version, etag and compare_and_swap the tool is handed what the look saw, and writes only if it is still so. */
  readonly stale_compares: string | null;
  /** Observes the result. */
  readonly verify_capability: string | null;
  /** CEL that must hold after acting. */
  readonly success_condition: string | null;
  /** Maximum number of verification attempts. */
  readonly verify_max_attempts: number;
  /** Pause between attempts, milliseconds. */
  readonly verify_delay_ms: number;
  /** Calls of the reversal that an earlier attempt was seen to have made: none of them is made again, each is looked at. */
  readonly calls_done: number;
}

/** How a step ended at the worker. Verified: a compensation was observed, a look met its condition, or the tool answered a release or cancel. */
export const STEP_OUTCOME_VALUES = ['verified', 'unverified', 'stale', 'failed', 'refused_late', 'unknown', 'not_executed'] as const;
export type StepOutcome = (typeof STEP_OUTCOME_VALUES)[number];

/** What a worker did and saw for one step. */
export interface StepReport {
  /** Step. */
  readonly step_id: string;
  /** The outcome as the worker sees it; the service judges it again. */
  readonly outcome: StepOutcome;
  /** What it observed, in order. */
  readonly observations: readonly Observation[];
  /** Closed kind of the error. */
  readonly error_kind: string | null;
  /** One sentence for people. */
  readonly detail: string | null;
  /** Handle the provider gave for a forward call; null for any other step. */
  readonly external_transaction_ref: string | null;
  /** Calls of the reversal that were verified; the outcome is about the one after them. Of a reversal of one call it says nothing. */
  readonly calls_done: number;
}
