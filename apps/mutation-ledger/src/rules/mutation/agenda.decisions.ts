// What is to be done next about a mutation, and when: its row has one timer. Pure.
import type { Ask, Mutation } from './mutation.messages.js';

/** Instants in epoch milliseconds. */
export type Duty =
  | { readonly do: 'miss_answer'; readonly at: number }
  | { readonly do: 'ask_again'; readonly at: number; readonly ask: Ask }
  | { readonly do: 'end_hold'; readonly at: number }
  | { readonly do: 'warn'; readonly at: number }
  | { readonly do: 'close_window'; readonly at: number }
  | { readonly do: 'reconcile'; readonly at: number }
  | { readonly do: 'ask_person'; readonly at: number };

/** What a mutation's timer is for; null when nothing is due by the clock alone. Whatever a worker was asked comes first. */
export function dutyOf({
  forward,
  recoverability,
  expires_at,
  warn_at,
  awaited,
}: Pick<Mutation, 'forward' | 'recoverability' | 'expires_at' | 'warn_at' | 'awaited'>): Duty | null {
  const last = forward?.asks.at(-1);
  if (last !== undefined && last.answered === null) return { do: 'miss_answer', at: last.answer_by };
  if (last !== undefined && last.retry_at !== null) return { do: 'ask_again', at: last.retry_at, ask: last };
  if (forward !== null && forward.hold?.is_over === false) return { do: 'end_hold', at: forward.hold.until };
  if (recoverability === 'reversal_available' && expires_at !== null)
    return warn_at === null ? { do: 'close_window', at: expires_at } : { do: 'warn', at: warn_at };
  if (forward !== null && forward.reconcile_at !== null) return { do: 'reconcile', at: forward.reconcile_at };
  return awaited === null || awaited.is_overdue ? null : { do: 'ask_person', at: awaited.deadline_at };
}
