// Words of outcomes: what a piece of work cost and what came of it.
import type { OutcomeCounted } from '@recourse/messages';

/** Fields the loop adds to every record. */
type ChainFields = 'seq' | 'prev_hash' | 'decided_at';

/** An outcome as it was counted, money apart from its currency so that a database can sum it. */
export interface Outcome extends Omit<OutcomeCounted, ChainFields | 'content_hash' | 'cost' | 'revenue'> {
  /** Minor units; null when nobody said. */
  readonly cost_minor: number | null;
  readonly cost_currency: string | null;
  /** Minor units; null when nobody said. */
  readonly revenue_minor: number | null;
  readonly revenue_currency: string | null;
}

/** Sums over the outcomes of a workflow, intent, version and currency; what the ratios are made of. */
export interface OutcomeSums {
  readonly outcomes: number;
  readonly trusted: number;
  /** Minor units of what the outcomes cost that say so, trusted or not. */
  readonly cost_minor: number;
  /** Outcomes that say what they cost. */
  readonly costed: number;
  readonly total_tokens: number;
  readonly retry_tokens: number;
  readonly eval_tokens: number;
  readonly cache_lookups: number;
  readonly cache_hits: number;
}

/** What is made of sums; null where there is nothing to divide by, never 0 (D41, D42). */
export interface OutcomeRatios {
  readonly cost_per_trusted_outcome_minor: number | null;
  readonly retry_token_ratio: number | null;
  readonly eval_overhead_ratio: number | null;
  readonly cache_hit_rate: number | null;
}
