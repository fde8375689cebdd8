// Windows and keys of providers in a log whose time once lay ahead: neither is believed for longer than is true (L1, L11).
import { describe, it } from '@jest/globals';
import { contractDigest } from '@recourse/contract';
import { fact, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  command,
  contractText,
  envelope,
  executed,
  HOUR_MS,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  reported,
  request,
  RUN,
  seen,
} from './ledger.testing.js';

const HOLD_MS = 60_000;
const MINUTE_MS = 60_000;
const KEY_LIFETIME_MS = 24 * HOUR_MS;
/** When a worker is asked again that was told no. */
const AGAIN = NOW + 102;
const HELD = contractText({
  commit_hold_ms: HOLD_MS,
  cancel_capability: 'payments.cancel_refund',
  techniques: { reservation: true },
});
const accepted = (standsAt: number, leadMs: number) =>
  fact('TimeAccepted', { stands_at: standsAt, true_now: standsAt - leadMs, by: 'mira', reason: 'a clock was ahead' });

describe.each(WAYS)('a window in a log whose time stands, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => ledger({ isRebuilt }).run.given(accepted(NOW, 10 * MINUTE_MS));

  it('is not lengthened by the lead, whatever the clock of a producer says', () => {
    const from = NOW - 10 * MINUTE_MS;
    start()
      .when(executed(refund({ committed_at: NOW })), NOW)
      .then(fact('MutationRecorded', { ref: { committed_at: from, reversal_expires_at: from + HOUR_MS } }));
  });

  it('counts from when its effect took hold where that was before', () => {
    const from = NOW - 11 * MINUTE_MS;
    start()
      .when(executed(refund({ committed_at: from })), NOW)
      .then(fact('MutationRecorded', { ref: { committed_at: from, reversal_expires_at: from + HOUR_MS } }));
  });

  it('is not lengthened either where a worker let the effect go meanwhile, and tells of it later', () => {
    const event = intent({ is_held: true, staged_ref: 'hold_1', contract_digest: contractDigest(HELD) });
    const { run } = ledger({ isRebuilt, asks: true, contracts: [HELD] });
    const ends = NOW + HOLD_MS;
    run
      .when(planned(event), NOW)
      .given(accepted(ends, 10 * MINUTE_MS))
      .whenDue(ends);
    const observations = [seen('execute', { refund_id: 're_9', status: 'issued' }, 'payments.issue_refund')];
    run
      .when(reported(request(run), { outcome: 'verified', observations }), ends + 1_000)
      .then(fact('WorkerAnswered'), fact('MutationRecorded', { ref: { committed_at: ends - 10 * MINUTE_MS } }));
  });

  it('is as ever once the true time has come', () => {
    start()
      .when(executed(refund({ committed_at: NOW + 1 })), NOW + 1)
      .then(fact('MutationRecorded', { ref: { committed_at: NOW + 1, reversal_expires_at: NOW + 1 + HOUR_MS } }));
  });
});

describe.each(WAYS)('what is given back in a log whose time stood, $way', ({ isRebuilt }) => {
  const CANCEL = command('CancelMutation', envelope('mira', ['operator']), {
    run_id: RUN,
    mutation_id: MUTATION,
    reason: 'wrong order',
  });
  /** A worker is asked to give back what is staged, and does not. */
  const start = (before: readonly ReturnType<typeof fact>[] = []): CoreHarness => {
    const event = intent({ is_held: true, staged_ref: 'hold_1', contract_digest: contractDigest(HELD) });
    const { run } = ledger({ isRebuilt, asks: true, contracts: [HELD] });
    run
      .given(...before)
      .when(planned(event), NOW)
      .when(CANCEL, NOW);
    return run.when(reported(request(run), { outcome: 'failed' }), NOW + 2);
  };

  it('is asked for again while the provider certainly knows the key', () => {
    start([accepted(NOW, MINUTE_MS)])
      .whenDue(AGAIN)
      .then(fact('WorkerAsked', { request: { kind: 'cancel', attempt: 2 } }));
  });

  it('is a person’s once its provider may have forgotten the key, whatever the time of the log says', () => {
    start([accepted(NOW, KEY_LIFETIME_MS)])
      .whenDue(AGAIN)
      .then(fact('ExecutionOverdue'));
  });

  it('is a person’s where it was asked for before the time was accepted: nobody can say when that was', () => {
    start()
      .given(accepted(NOW + 50, 1))
      .whenDue(AGAIN)
      .then(fact('ExecutionOverdue'));
  });
});
