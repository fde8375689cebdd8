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

/** Sums over outcomes, as a database gives them; what the ratios are made of. */
export interface OutcomeSums {
  readonly outcomes: number;
  readonly trusted: number;
  readonly total_tokens: number;
  readonly retry_tokens: number;
  readonly eval_tokens: number;
  readonly cache_lookups: number;
  readonly cache_hits: number;
  /** Outcomes of which it was said whether the business got what it wanted, and those that did. */
  readonly success_asked: number;
  readonly succeeded: number;
  readonly conversion_asked: number;
  readonly converted: number;
  readonly deflection_asked: number;
  readonly deflected: number;
  readonly csat_asked: number;
  /** Thousandths, summed. */
  readonly csat_permille: number;
}

/** What is made of sums; null where there is nothing to divide by, never 0 (D42, D66). */
export interface OutcomeRatios {
  readonly trusted_ratio: number | null;
  readonly retry_token_ratio: number | null;
  readonly eval_overhead_ratio: number | null;
  readonly cache_hit_rate: number | null;
  readonly success_rate: number | null;
  readonly conversion_rate: number | null;
  readonly deflection_rate: number | null;
  /** Mean satisfaction, 0 to 1. */
  readonly csat: number | null;
}

/** Money of a group of outcomes in one currency, minor units; null where nobody said anything. */
export interface OutcomeMoney {
  readonly currency: string;
  /** Of all of them, trusted or not. */
  readonly cost_minor: number | null;
  readonly revenue_minor: number | null;
  /** What compensations in the runs of these outcomes were debited. */
  readonly recovery_cost_minor: number | null;
}

/** The same, with what one trusted outcome costs: null without any, never 0 (D41). */
export interface CostedMoney extends OutcomeMoney {
  readonly cost_per_trusted_outcome_minor: number | null;
}
