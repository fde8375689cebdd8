// Trends: how fast rollbacks come, told from how fast they usually do (E47). All counts are those of one partition.
import type { TrendScope } from '@recourse/messages';

/** When a rise is one, over all partitions together. */
export interface TrendLimits {
  /** Length of a window, milliseconds. */
  readonly windowMs: number;
  /** Rollbacks in a window below which nobody is asked. */
  readonly min: number;
  /** How many times the usual rate is a rise. */
  readonly factor: number;
}

/** Whose rollbacks are counted. */
export type TrendOf = { readonly scope: TrendScope; readonly tenant: string; readonly name: string };

/** Rollbacks of a tenant or an agent by window, and the alert about them while a person has it. */
export type TrendDoc = TrendOf & {
  readonly window_ms: number;
  /** The window that goes on, counted from the epoch, and what fell in it. */
  readonly window: number;
  readonly count: number;
  /** Windows that are over, the oldest first. */
  readonly counts: readonly number[];
  /** Events counted last: each counts once, however many commits it takes down. */
  readonly events: readonly string[];
  readonly phase: 'usual' | 'rising';
  /** Of the alert; null while none is open. */
  readonly trend_id: string | null;
  /** Run whose rollback raised it; the key under which it is reviewed. */
  readonly run_id: string | null;
  readonly owner: string | null;
  readonly deadline_at: number | null;
  readonly raised_at: number | null;
  readonly updated_at: number;
};
