// Words of expected harm: what stands open, what recovery takes, what soon can no longer be taken back.
import type { Money } from '@recourse/messages';

/** What sums are made by, beside the tenant. */
export const HARM_GROUPS = ['tenant', 'agent', 'capability'] as const;
export type HarmGroup = (typeof HARM_GROUPS)[number];

/** Whose sums; null where nobody is named, and where sums are not made by it. */
export interface HarmKey {
  readonly tenant: string;
  readonly agent_id: string | null;
  readonly capability: string | null;
}

/** Debt that stands, in one unit; minor units. */
export interface StandingDebt extends HarmKey {
  readonly currency: string;
  /** Held for calls that nobody reported yet. */
  readonly reserved_minor: number;
  /** Of effects that can still be taken back. */
  readonly open_minor: number;
  /** Of effects that no longer can, or never could. */
  readonly beyond_minor: number;
  /** Value that effects moved and that stands. */
  readonly moved_minor: number;
  /** What compensations of its effects were debited themselves. */
  readonly recovery_minor: number;
  /** Soonest end of a window that is open, epoch milliseconds; null without one. */
  readonly closes_first_at: number | null;
}

/** Effects under one contract. */
export interface EffectCount extends HarmKey {
  /** SHA-256, hex; null without one. */
  readonly contract_digest: string | null;
  /** Effects that can still be taken back. */
  readonly open: number;
  /** Effects that happened, whatever became of them. */
  readonly happened: number;
  /** Of those, the ones a verified compensation took back. */
  readonly undone: number;
}

/** Debt that stands with what recovery takes; null where no contract bounds it, or nothing happened to judge by. */
export interface Harm extends StandingDebt {
  /** What taking back all that is open is declared to cost. */
  readonly recovery_at_most_minor: number | null;
  /** The same, times the part of what happened that was taken back so far; rounded up. */
  readonly recovery_expected_minor: number | null;
}

/** What can no longer be taken back once its window has closed, in one unit; minor units of value moved. */
export interface Closing extends HarmKey {
  readonly currency: string;
  readonly within_hour_minor: number;
  readonly within_day_minor: number;
  /** Effects. */
  readonly within_hour: number;
  readonly within_day: number;
  /** Epoch milliseconds. */
  readonly closes_first_at: number;
}

/** What recovery under a contract is declared to cost; null where it says nothing, or nobody knows the contract. */
export type DeclaredCost = (contractDigest: string) => Money | null;
