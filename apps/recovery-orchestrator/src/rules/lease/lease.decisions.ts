// Until when a step can be dispatched, judged by database time (P6). The lease itself is the kernel's: the ledger grants leases too.
import { grantLease } from '@recourse/kernel';
import type { Lease } from '@recourse/kernel';
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

/** Leases a look, which changes nothing and so is bound by its own lease alone. */
export function grantLookLease(callTimeoutMs: number, now: number, policy: Parameters<typeof grantLease>[1]): Lease {
  const bounds = { windowEndsAt: Number.MAX_SAFE_INTEGER, firstDispatchedAt: now, keyLifetimeMs: null };
  return grantLease({ ...bounds, callTimeoutMs, now }, policy);
}
