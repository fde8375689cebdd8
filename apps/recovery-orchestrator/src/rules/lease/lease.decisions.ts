// Until when a step can be dispatched, judged by database time (P6). The lease itself is the kernel's: the ledger grants leases too.
import { callsBehind } from '@recourse/contract';
import { grantLease } from '@recourse/kernel';
import type { Lease } from '@recourse/kernel';
import type { ContractTerms, MutationRef } from '@recourse/messages';
import type { Window } from '../decision/recovery.decisions.js';

/** How long the calls that undo a mutation may take, one after the other; milliseconds. */
export function callsMs(ref: MutationRef, { call_timeout_ms: callMs }: Pick<ContractTerms, 'call_timeout_ms'>): number {
  return callsBehind(ref) * callMs;
}

/** Last instant at which a dispatch can still begin; epoch milliseconds. */
export function dispatchableUntil(windowEndsAt: number, callsTakeMs: number, marginMs: number): number {
  return windowEndsAt - marginMs - callsTakeMs;
}

/** Judges a reversal window by database time, with room for its calls (P6). */
export function windowOf(ref: MutationRef, terms: ContractTerms | null, now: number, marginMs: number): Window {
  if (ref.reversal_expires_at === null || terms === null) return 'none';
  return now < dispatchableUntil(ref.reversal_expires_at, callsMs(ref, terms), marginMs) ? 'open' : 'closed';
}

/** Leases a look, which changes nothing and so is bound by its own lease alone. */
export function grantLookLease(callTimeoutMs: number, now: number, policy: Parameters<typeof grantLease>[1]): Lease {
  const bounds = { windowEndsAt: Number.MAX_SAFE_INTEGER, firstDispatchedAt: now, keyLifetimeMs: null };
  return grantLease({ ...bounds, callTimeoutMs, now }, policy);
}
