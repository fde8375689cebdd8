// How long a worker may act on a leg, and how it proves that it was asked (L11). Pure arithmetic on database time.
import { createHmac } from 'node:crypto';
import type { ContractTerms, MutationRef } from '@recourse/messages';
import type { RecoveryPolicy, RetryBackoff } from '../policy.messages.js';
import type { Window } from '../decision/recovery.decisions.js';

/** What binds the life of a leg. Instants in epoch milliseconds, durations in milliseconds. */
export interface LeaseBounds {
  readonly windowEndsAt: number;
  readonly firstDispatchedAt: number;
  /** Null when the tool takes no idempotency key. */
  readonly keyLifetimeMs: number | null;
  readonly callTimeoutMs: number;
  readonly now: number;
}

export type Lease =
  | { readonly kind: 'granted'; readonly notAfter: number; readonly answerBy: number }
  | { readonly kind: 'refused'; readonly reason: 'REVERSAL_EXPIRED' | 'KEY_LIFETIME_OVER' };

/**
 * Grants a lease until the earliest of: window end, end of the key's life, both less margin and call time-out, and the lease itself.
 *
 * Shape:   refused when that instant is not in the future. A tool without key gives no bound for its first attempt.
 * Units:   epoch milliseconds of database time.
 * Source:  DESIGN 3.3 L11; P6.
 */
export function grantLease(bounds: LeaseBounds, policy: Pick<RecoveryPolicy, 'leaseMs' | 'marginMs'>): Lease {
  const slackMs = policy.marginMs + bounds.callTimeoutMs;
  const windowBound = bounds.windowEndsAt - slackMs;
  const keyBound = bounds.keyLifetimeMs === null ? Number.MAX_SAFE_INTEGER : bounds.firstDispatchedAt + bounds.keyLifetimeMs - slackMs;
  if (windowBound <= bounds.now) return { kind: 'refused', reason: 'REVERSAL_EXPIRED' };
  if (keyBound <= bounds.now) return { kind: 'refused', reason: 'KEY_LIFETIME_OVER' };
  const notAfter = Math.min(windowBound, keyBound, bounds.now + policy.leaseMs);
  return { kind: 'granted', notAfter, answerBy: notAfter + slackMs };
}

/** Last instant at which a dispatch can still begin; epoch milliseconds. */
export function dispatchableUntil(windowEndsAt: number, callTimeoutMs: number, marginMs: number): number {
  return windowEndsAt - marginMs - callTimeoutMs;
}

/** Judges a reversal window by database time, with room for one call (P6). */
export function windowOf(ref: MutationRef, terms: ContractTerms | null, now: number, marginMs: number): Window {
  if (ref.reversal_expires_at === null || terms === null) return 'none';
  return now < dispatchableUntil(ref.reversal_expires_at, terms.call_timeout_ms, marginMs) ? 'open' : 'closed';
}

/** HMAC-SHA-256 over leg, attempt and not_after, as 64 hex digits: what an answer must carry. */
export function leaseIdOf(leaseKey: Buffer, legId: string, attempt: number, notAfter: number): string {
  return createHmac('sha256', leaseKey).update(`${legId}|${String(attempt)}|${String(notAfter)}`).digest('hex');
}

/** Milliseconds to wait after an attempt, from 1: doubles, bounded. */
export function backoffMs(attempt: number, backoff: RetryBackoff): number {
  return Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(attempt - 1, 30));
}
