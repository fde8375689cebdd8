// Compares the time of a log with that of its database, and says whether there is anything to accept (L1). Pure.
import { judgeClock } from '@recourse/event-log';
import type { StoodTime } from '@recourse/kernel';

/** What is known of time. Epoch milliseconds. */
export interface Times {
  /** `decided_at` of the last accepted record. */
  readonly headDecidedAt: number;
  readonly databaseNow: number;
  /** Clock of whoever accepts. */
  readonly ownNow: number;
  /** What was accepted before. */
  readonly stood: StoodTime | null;
}

export interface TimeBounds {
  /** A log that is ahead by less goes on by itself, milliseconds. */
  readonly marginMs: number;
  /** How far the clock of the database may be from the own one, either way, milliseconds. */
  readonly apartMaxMs: number;
}

export type TimeJudgement =
  | { readonly kind: 'nothing_ahead' }
  /** One of the two clocks is wrong, and nobody can say what the true time is. */
  | { readonly kind: 'clocks_differ'; readonly byMs: number }
  | { readonly kind: 'ahead'; readonly leadMs: number };

export function judgeTime(
  { headDecidedAt, databaseNow, ownNow, stood }: Times,
  { marginMs, apartMaxMs }: TimeBounds,
): TimeJudgement {
  const byMs = databaseNow - ownNow;
  if (Math.abs(byMs) > apartMaxMs) return { kind: 'clocks_differ', byMs };
  const judged = judgeClock(databaseNow, { headDecidedAt, ownNow, marginMs, aheadMaxMs: apartMaxMs, stood });
  return judged.kind === 'behind' ? { kind: 'ahead', leadMs: judged.byMs } : { kind: 'nothing_ahead' };
}

/**
 * What is recorded of a time that is accepted.
 *
 * Shape:  one millisecond after the head: what was decided before and what is decided while time stands are told apart by it.
 */
export function stoodAfter({ headDecidedAt, databaseNow }: Pick<Times, 'headDecidedAt' | 'databaseNow'>): StoodTime {
  return { standsAt: headDecidedAt + 1, trueNow: databaseNow };
}
