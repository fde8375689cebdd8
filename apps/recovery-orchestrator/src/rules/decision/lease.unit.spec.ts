import { backoffMs, grantLease, leaseIdOf } from '@recourse/kernel';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ref, terms, WINDOW_END } from '../../recoveries.testing.js';
import { windowOf } from './recovery.decisions.js';

const POLICY = { leaseMs: 30_000, marginMs: 2_000 };
const BOUNDS = {
  windowEndsAt: 1_000_000,
  firstDispatchedAt: 100_000,
  keyLifetimeMs: 600_000,
  callTimeoutMs: 5_000,
  now: 100_000,
};

describe('a lease', () => {
  it('ends with the lease when nothing binds earlier', () => {
    expect(grantLease(BOUNDS, POLICY)).toEqual({ kind: 'granted', notAfter: 130_000, answerBy: 137_000 });
  });

  it('ends with the window, less margin and call time-out', () => {
    expect(grantLease({ ...BOUNDS, windowEndsAt: 120_000 }, POLICY)).toEqual({
      kind: 'granted',
      notAfter: 113_000,
      answerBy: 120_000,
    });
  });

  it('ends with the life of the key, counted from the first dispatch', () => {
    expect(grantLease({ ...BOUNDS, now: 200_000, keyLifetimeMs: 110_000 }, POLICY)).toEqual({
      kind: 'granted',
      notAfter: 203_000,
      answerBy: 210_000,
    });
  });

  it.each([
    [106_999, 'refused'],
    [107_000, 'refused'],
    [107_001, 'granted'],
  ] as const)('in a window that ends at %i is %s', (windowEndsAt, kind) => {
    expect(grantLease({ ...BOUNDS, windowEndsAt }, POLICY).kind).toBe(kind);
  });

  it('is refused with the bound that ended it', () => {
    expect(grantLease({ ...BOUNDS, windowEndsAt: 107_000 }, POLICY)).toEqual({
      kind: 'refused',
      reason: 'REVERSAL_EXPIRED',
    });
    expect(grantLease({ ...BOUNDS, keyLifetimeMs: 7_000 }, POLICY)).toEqual({
      kind: 'refused',
      reason: 'KEY_LIFETIME_OVER',
    });
  });

  it('has no bound by key where the tool takes none', () => {
    expect(grantLease({ ...BOUNDS, keyLifetimeMs: null }, POLICY)).toMatchObject({
      kind: 'granted',
      notAfter: 130_000,
    });
  });

  it('never lets a call end within the margin of window or key (P6)', () => {
    const bounds = fc.record({
      windowEndsAt: fc.integer({ min: 0, max: 200_000 }),
      firstDispatchedAt: fc.integer({ min: 0, max: 100_000 }),
      keyLifetimeMs: fc.integer({ min: 0, max: 200_000 }),
      callTimeoutMs: fc.integer({ min: 0, max: 20_000 }),
      now: fc.integer({ min: 0, max: 200_000 }),
    });
    fc.assert(
      fc.property(bounds, (given) => {
        const lease = grantLease(given, POLICY);
        if (lease.kind === 'refused') return;
        expect(lease.notAfter).toBeGreaterThan(given.now);
        expect(lease.notAfter).toBeLessThanOrEqual(given.now + POLICY.leaseMs);
        expect(lease.notAfter + given.callTimeoutMs + POLICY.marginMs).toBeLessThanOrEqual(given.windowEndsAt);
        expect(lease.notAfter + given.callTimeoutMs + POLICY.marginMs).toBeLessThanOrEqual(
          given.firstDispatchedAt + given.keyLifetimeMs,
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a lease id', () => {
  const key = Buffer.alloc(32, 7);

  it('is the HMAC-SHA-256 of leg, attempt and not_after under the key', () => {
    expect(leaseIdOf(key, 'leg_1', 1, 130_000)).toBe(createHmac('sha256', key).update('leg_1|1|130000').digest('hex'));
  });

  it('differs by key, leg, attempt and instant', () => {
    const ids = [
      leaseIdOf(key, 'leg_1', 1, 1),
      leaseIdOf(Buffer.alloc(32, 8), 'leg_1', 1, 1),
      leaseIdOf(key, 'leg_2', 1, 1),
      leaseIdOf(key, 'leg_1', 2, 1),
      leaseIdOf(key, 'leg_1', 1, 2),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a window', () => {
  it.each([
    [WINDOW_END - 7_001, 'open'],
    [WINDOW_END - 7_000, 'closed'],
    [WINDOW_END, 'closed'],
  ] as const)('at %i is %s', (now, expected) => {
    expect(windowOf(ref(), terms(), now, 2_000)).toBe(expected);
  });

  it('is none without an end or a contract', () => {
    expect(windowOf(ref({ reversal_expires_at: null }), terms(), 0, 2_000)).toBe('none');
    expect(windowOf(ref(), null, 0, 2_000)).toBe('none');
  });
});

describe('the pause after an attempt', () => {
  it.each([
    [1, 1_000],
    [2, 2_000],
    [4, 8_000],
    [60, 8_000],
  ])('doubles up to its bound: attempt %i, %i ms', (attempt, expected) => {
    expect(backoffMs(attempt, { baseMs: 1_000, maxMs: 8_000 })).toBe(expected);
  });
});
