// Until when a step can be dispatched, judged by database time (P6). The lease itself is the kernel's: the ledger grants leases too.
import type { ContractTerms, MutationRef } from '@recourse/messages';
import type { Window } from '../decision/recovery.decisions.js';

export { backoffMs, grantLease, leaseIdOf } from '@recourse/kernel';
export type { Lease, LeaseBounds } from '@recourse/kernel';

/** Last instant at which a dispatch can still begin; epoch milliseconds. */
export function dispatchableUntil(windowEndsAt: number, callTimeoutMs: number, marginMs: number): number {
  return windowEndsAt - marginMs - callTimeoutMs;
}

/** Judges a reversal window by database time, with room for one call (P6). */
export function windowOf(ref: MutationRef, terms: ContractTerms | null, now: number, marginMs: number): Window {
  if (ref.reversal_expires_at === null || terms === null) return 'none';
  return now < dispatchableUntil(ref.reversal_expires_at, terms.call_timeout_ms, marginMs) ? 'open' : 'closed';
}
