import { describe, expect, it } from '@jest/globals';
import { COMPENSATION_ACTIONS, directiveFor, ERROR_KINDS, PLAYBOOK } from './playbook.js';
import type { ErrorKind, FailedCall, Playbook } from './playbook.js';

const failed = (kind: ErrorKind, more: Partial<FailedCall> = {}): FailedCall =>
  Object.freeze({ kind, effect: 'none', attempt: 1, attemptsMax: 3, refreshes: 0, ...more });

describe('the playbook (D15)', () => {
  it('maps every kind of failure to one action, and the two are different words', () => {
    expect(Object.keys(PLAYBOOK).sort()).toEqual([...ERROR_KINDS].sort());
    expect(ERROR_KINDS.filter((kind) => !COMPENSATION_ACTIONS.includes(PLAYBOOK[kind]))).toEqual([]);
    expect(ERROR_KINDS.filter((kind) => (COMPENSATION_ACTIONS as readonly string[]).includes(kind))).toEqual([]);
  });

  it('uses every action', () => {
    expect(COMPENSATION_ACTIONS.filter((action) => !Object.values<string>(PLAYBOOK).includes(action))).toEqual([]);
  });

  it.each(['POLICY_DENIED', 'CONTENT_FILTER', 'REFUSAL'] as const)('gives %s to a person (D18)', (kind) => {
    expect(directiveFor(failed(kind))).toEqual({ do: 'ask_person', action: 'ESCALATE_TO_HUMAN', reason: 'PLAYBOOK' });
  });

  it.each(['TIMEOUT', 'TRANSIENT_NETWORK', 'RATE_LIMITED', 'SERVER'] as const)(
    'answers %s that was not sent with another call after a pause (D19)',
    (kind) => {
      expect(directiveFor(failed(kind))).toEqual({ do: 'retry', action: 'RETRY_WITH_BACKOFF', backoffs: 1 });
      expect(directiveFor(failed(kind, { attempt: 2 }))).toMatchObject({ do: 'retry', backoffs: 2 });
      expect(directiveFor(failed(kind, { attempt: 3 }))).toMatchObject({
        do: 'ask_person',
        reason: 'ATTEMPTS_EXHAUSTED',
      });
    },
  );

  it.each(['TIMEOUT', 'TRANSIENT_NETWORK', 'SERVER'] as const)(
    'reconciles %s of a call that may have been sent (D19)',
    (kind) => {
      expect(directiveFor(failed(kind, { effect: 'unknown' })).do).toBe('reconcile');
    },
  );
});

describe('an idempotency conflict (D16)', () => {
  const calls = [1, 2, 3, 100].flatMap((attempt) =>
    (['none', 'unknown'] as const).flatMap((effect) =>
      [0, 1].map((refreshes) => ({ attempt, effect, refreshes, attemptsMax: 1_000 })),
    ),
  );

  it.each(calls)('is never called again: %j', (more) => {
    // What an earlier call under the key has done is found out before anybody plans again.
    expect(directiveFor(failed('IDEMPOTENCY_CONFLICT', more))).toEqual({
      do: more.effect === 'none' ? 'replan' : 'reconcile',
      action: 'DEPRECATE_AND_REPLAN',
    });
  });
});

describe('stale evidence (D17)', () => {
  it('is refreshed, and the call made once more', () => {
    expect(directiveFor(failed('EVIDENCE_STALE'))).toEqual({ do: 'refresh_then_retry', action: 'REFRESH_EVIDENCE' });
  });

  it('that is stale again goes to a person', () => {
    expect(directiveFor(failed('EVIDENCE_STALE', { attempt: 2, refreshes: 1 }))).toEqual({
      do: 'ask_person',
      action: 'REFRESH_EVIDENCE',
      reason: 'STALE_AGAIN',
    });
  });
});

describe('the dispatcher (D22)', () => {
  const facts = ERROR_KINDS.flatMap((kind) =>
    (['none', 'unknown'] as const).flatMap((effect) =>
      [1, 3].flatMap((attempt) => [0, 1].map((refreshes) => failed(kind, { effect, attempt, refreshes }))),
    ),
  );

  it('gives the same directive for the same facts, and changes none of them', () => {
    for (const each of facts) expect(directiveFor(each)).toEqual(directiveFor({ ...each }));
  });

  it('never calls again what may have happened, nor plans again without it', () => {
    const unknown = facts.filter(({ effect }) => effect === 'unknown').map((each) => directiveFor(each).do);
    expect([...new Set(unknown)].sort()).toEqual(['ask_person', 'reconcile']);
  });

  it('goes by the playbook it is handed', () => {
    const strict: Playbook = { ...PLAYBOOK, RATE_LIMITED: 'ESCALATE_TO_HUMAN' };
    expect(directiveFor(failed('RATE_LIMITED'), strict)).toMatchObject({
      do: 'ask_person',
      action: 'ESCALATE_TO_HUMAN',
    });
  });
});
