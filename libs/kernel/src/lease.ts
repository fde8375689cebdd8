// How long a worker may act on a request, and how it proves that it was asked (L11). Pure arithmetic on database time.
import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Distance kept from every instant another clock judges, milliseconds: above the clock skew workers are held to (P6). */
export const MARGIN_MS = 2_000;

/** What binds the life of a leg. Instants in epoch milliseconds, durations in milliseconds. */
export interface LeaseBounds {
  readonly windowEndsAt: number;
  readonly firstDispatchedAt: number;
  /** Null when the tool takes no idempotency key. */
  readonly keyLifetimeMs: number | null;
  readonly callTimeoutMs: number;
  readonly now: number;
}

/** How long workers hold a leg, and the distance kept from other clocks; milliseconds. */
export interface LeasePolicy {
  readonly leaseMs: number;
  readonly marginMs: number;
}

/** Waiting before an attempt is followed by the next: doubles from `baseMs` up to `maxMs`. */
export interface RetryBackoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

export type Lease =
  | { readonly kind: 'granted'; readonly notAfter: number; readonly answerBy: number }
  | { readonly kind: 'refused'; readonly reason: 'REVERSAL_EXPIRED' | 'KEY_LIFETIME_OVER' };

/**
 * Grants a lease until the earliest of: window end, end of the key's life, both less margin and call time-out, and the lease itself.
 *
 * Shape:   refused when that instant is not in the future. A tool without key gives no bound for its first attempt.
 * Units:   epoch milliseconds of database time.
 * Source:  L11; P6.
 */
export function grantLease(bounds: LeaseBounds, policy: LeasePolicy): Lease {
  const slackMs = policy.marginMs + bounds.callTimeoutMs;
  const windowBound = bounds.windowEndsAt - slackMs;
  const keyBound =
    bounds.keyLifetimeMs === null ? Number.MAX_SAFE_INTEGER : bounds.firstDispatchedAt + bounds.keyLifetimeMs - slackMs;
  if (windowBound <= bounds.now) return { kind: 'refused', reason: 'REVERSAL_EXPIRED' };
  if (keyBound <= bounds.now) return { kind: 'refused', reason: 'KEY_LIFETIME_OVER' };
  const notAfter = Math.min(windowBound, keyBound, bounds.now + policy.leaseMs);
  return { kind: 'granted', notAfter, answerBy: notAfter + slackMs };
}

/** HMAC-SHA-256 over leg, attempt and not_after, as 64 hex digits: what an answer must carry. */
export function leaseIdOf(leaseKey: Buffer, legId: string, attempt: number, notAfter: number): string {
  return createHmac('sha256', keyOf(leaseKey))
    .update(`${legId}|${String(attempt)}|${String(notAfter)}`)
    .digest('hex');
}

/** Node makes a key of bytes anew at every call, which costs ten times what the call itself does. */
const KEYS = new WeakMap<Buffer, KeyObject>();

function keyOf(secret: Buffer): KeyObject {
  const known = KEYS.get(secret);
  if (known !== undefined) return known;
  const key = createSecretKey(secret);
  KEYS.set(secret, key);
  return key;
}

/** Milliseconds to wait after an attempt, from 1: doubles, bounded. */
export function backoffMs(attempt: number, backoff: RetryBackoff): number {
  return Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(attempt - 1, 30));
}

/** Prefix of the ids of the ledger's requests: their results are the ledger's, all others the orchestrator's. */
export const ASK_PREFIX = 'ask';

/** Is this a request of the ledger's, by its id alone? */
export function isAskOfLedger(legId: string): boolean {
  return legId.startsWith(`${ASK_PREFIX}_`);
}
