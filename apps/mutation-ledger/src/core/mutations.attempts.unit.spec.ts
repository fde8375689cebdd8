// A call that failed and is planned anew: each attempt is waited for as the first was (P12, C22).
import { describe, expect, it } from '@jest/globals';
import { contractDigest, notHappened } from '@recourse/contract';
import { LEDGER_POLICY } from '../rules/mutation/mutation.decider.js';
import { fact, WAYS } from '@recourse/testing';
import {
  ASKING,
  contractText,
  executed,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  reported,
  request,
  seen,
} from './ledger.testing.js';

const WITHIN = LEDGER_POLICY.concludeWithinMs;
const ANY: unknown = expect.any(Buffer);
const HOLD_MS = 60_000;
/** Told without effect, to be made again. */
const FAILED = refund({
  outcome: 'failed',
  handled_as: 'retry_scheduled',
  error_kind: 'RATE_LIMITED',
  result: null,
  external_transaction_ref: null,
  committed_at: NOW,
});
const again = (at: number) => planned(intent({ event_id: `plan-${String(at)}`, planned_at: at }));

describe.each(WAYS)('a call that failed and is planned anew, $way', ({ isRebuilt }) => {
  const start = (asks = false) => {
    const { run } = ledger({ isRebuilt, asks });
    run.when(planned(intent({ planned_at: NOW - 5 })), NOW).when(executed(FAILED), NOW + 1);
    return run;
  };
  it('is waited for, and found out when nobody tells how that ended', () => {
    const run = start(true)
      .when(again(NOW + 1_000), NOW + 1_001)
      .then(fact('MutationPlanned', { mutation_id: MUTATION, conclude_by: NOW + 1_001 + WITHIN }));
    expect(run.rows('mutation').map(({ doc }) => doc)).toMatchObject([
      { execution_state: 'planned', ref: null, created_at: NOW, conflict_sha256: null, executed_sha256: ANY },
    ]);
    run.whenDue(NOW + 1_001 + WITHIN).then(fact('WorkerAsked', { request: { kind: 'reconcile' } }));
  });

  it('is bound when it takes effect, and the report of before changes nothing', () => {
    start()
      .when(again(NOW + 1_000), NOW + 1_001)
      .when(executed(FAILED), NOW + 1_002)
      .thenNothing()
      .when(executed(refund({ event_id: 'ev-2', committed_at: NOW + 1_003 })), NOW + 1_004)
      .then(fact('MutationRecorded', { execution_state: 'succeeded', recoverability: 'reversal_available' }));
  });

  it('asks workers under ids of its own, however many were asked of the attempt before', () => {
    const run = start(true)
      .when(again(NOW + 1_000), NOW + 1_001)
      .whenDue(NOW + 1_001 + WITHIN);
    const first = request(run);
    const found = { outcome: 'unverified', observations: [seen('reconcile', notHappened())] } as const;
    run
      .when(reported(first, found), NOW + 1_050 + WITHIN)
      .then(fact('WorkerAnswered', { verdict: 'not_met' }), fact('MutationRecorded', { execution_state: 'failed' }));
    const later = NOW + 3 * WITHIN;
    run.when(again(later), later + 1);
    run
      .when(reported(first, { outcome: 'failed', observations: [] }), later + 2)
      .then(fact('AnswerRefused', { code: 'ALREADY_ANSWERED' }));
    run.whenDue(later + 1 + WITHIN);
    const second = request(run);
    expect(second.leg_id).not.toBe(first.leg_id);
    expect(second).toMatchObject({ kind: 'reconcile', attempt: 2 });
  });

  it('is not ended by a late word about the attempt before, and is looked at as often as that one was', () => {
    const run = start(true)
      .when(again(NOW + 1_000), NOW + 1_001)
      .whenDue(NOW + 1_001 + WITHIN);
    const first = request(run);
    run.when(executed({ ...FAILED, event_id: 'ev-2', committed_at: NOW + 1_002 + WITHIN }), NOW + 1_003 + WITHIN);
    const later = NOW + 2 * WITHIN;
    run.when(again(later), later + 1);
    const found = { outcome: 'unverified', observations: [seen('reconcile', notHappened())] } as const;
    run.when(reported(first, found), later + 2);
    expect(run.rows('mutation').map(({ doc }) => doc)).toMatchObject([{ execution_state: 'planned' }]);
    run.whenDue(later + 1 + WITHIN);
    run
      .when(reported(request(run), { outcome: 'unknown' }), later + 50 + WITHIN)
      .then(fact('WorkerAnswered', { verdict: 'unknown', retry_at: later + 50 + WITHIN + ASKING.backoff.baseMs }));
  });

  it('takes a late copy of the intent before for what it is', () => {
    start()
      .when(again(NOW + 1_000), NOW + 1_001)
      .when(planned(intent({ planned_at: NOW - 5 })), NOW + 1_002)
      .thenNothing();
  });

  it('is not planned anew by a late copy of the first intent, nor by another agent, nor once people have it', () => {
    start()
      .when(planned(intent({ planned_at: NOW - 5 })), NOW + 2)
      .thenNothing()
      .when(planned(intent({ event_id: 'late', planned_at: NOW - 1 })), NOW + 3)
      .then(fact('ExecutionConflicted'))
      .when(planned(intent({ agent_id: 'stranger', planned_at: NOW + 5 })), NOW + 6)
      .then(fact('ExecutionConflicted'));
    const { run } = ledger({ isRebuilt });
    run
      .when(planned(intent({ planned_at: NOW - 5 })), NOW)
      .when(executed({ ...FAILED, handled_as: 'escalated' }), NOW + 1)
      .when(again(NOW + 5), NOW + 6)
      .then(fact('ExecutionConflicted'));
  });

  it('is waited for also where the failure was told without an intent, and a late intent of that one is not', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(FAILED), NOW + 1)
      .when(planned(intent({ planned_at: NOW })), NOW + 2)
      .thenNothing()
      .when(again(NOW + 1), NOW + 2)
      .then(fact('MutationPlanned'));
  });

  it('is held anew, and let go at the end of that hold', () => {
    const text = contractText({ commit_hold_ms: HOLD_MS, cancel_capability: 'payments.cancel_refund' });
    const contract_digest = contractDigest(text);
    const { run } = ledger({ isRebuilt, asks: true, contracts: [text] });
    run.when(planned(intent({ is_held: true, contract_digest, planned_at: NOW })), NOW).whenDue(NOW + HOLD_MS);
    const first = request(run);
    run
      .when(reported(first, { outcome: 'failed' }), NOW + HOLD_MS + 50)
      .then(fact('WorkerAnswered', { verdict: 'not_met' }), fact('MutationRecorded', { execution_state: 'failed' }));
    const later = NOW + 2 * HOLD_MS;
    run
      .when(planned(intent({ is_held: true, contract_digest, planned_at: later })), later)
      .then(fact('MutationPlanned', { hold_until: later + HOLD_MS }));
    run.whenDue(later + HOLD_MS).then(fact('HoldElapsed'), fact('WorkerAsked', { request: { kind: 'release' } }));
    expect(request(run).leg_id).not.toBe(first.leg_id);
  });
});
