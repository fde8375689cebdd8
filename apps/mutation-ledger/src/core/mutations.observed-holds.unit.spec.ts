// Where another worker observes for an adapter, a held effect does not go, nor count as taken back, by the word of one.
import { describe, expect, it } from '@jest/globals';
import { contractDigest, happened, notHappened } from '@recourse/contract';
import type { Speaker } from '@recourse/kernel';
import type { LegRequested, StepReport } from '@recourse/messages';
import { fact, WAYS, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  contractText,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  reported,
  request,
  RUN,
  seen,
  TENANT,
} from './ledger.testing.js';

const HOLD_MS = 60_000;
const ENDS = NOW + HOLD_MS;
const HELD = { commit_hold_ms: HOLD_MS, cancel_capability: 'payments.cancel_refund' };
const LOOKED_AT = {
  ...HELD,
  precondition: { observe_capability: 'payments.get_refund', condition: 'observed.limit >= args.amount_minor' },
};
const WORKER: Speaker = {
  keyId: 'payments-1',
  roles: ['worker'],
  names: ['payments'],
  tenants: ['*'],
  observers: [{ names: ['payments'], tenants: [TENANT] }],
};
const ALONE: Speaker = { ...WORKER, observers: [] };
const EYE: Speaker = { keyId: 'payments-eye', roles: ['observer'], names: ['payments'], tenants: ['*'] };

const limit = (at: number): Partial<StepReport> => ({
  outcome: at >= 1_000 ? 'verified' : 'unverified',
  observations: [seen('verify', { limit: at })],
});

describe.each(WAYS)('what a worker says of a hold, $way', ({ isRebuilt }) => {
  const held = (changes: object, plan: object = {}) => {
    const text = contractText(changes as never);
    const { run } = ledger({ isRebuilt, asks: true, contracts: [text] });
    return run.when(planned(intent({ is_held: true, contract_digest: contractDigest(text), ...plan })), NOW);
  };
  /** The worker says that the precondition holds. */
  function met(speaker: Speaker): { readonly run: CoreHarness; readonly look: LegRequested } {
    const run = held(LOOKED_AT).whenDue(ENDS);
    run.when({ ...reported(request(run), limit(5_000)), speaker }, ENDS + 1);
    return { run, look: request(run) };
  }
  const cancelled = (reason: string) => fact('MutationRecorded', { recoverability: 'cancelled', reason });
  const LET_GO = [fact('HoldElapsed'), fact('WorkerAsked', { request: { kind: 'release', for_observer: false } })];

  it('lets an effect go once another sees that its precondition holds, and not before', () => {
    const { run, look } = met(WORKER);
    run.then(
      fact('WorkerAnswered', { verdict: 'met', signing_key: 'payments-1' }),
      fact('WorkerAsked', {
        confirms: { said_by: 'payments-1', kind: 'observe' },
        request: { for_observer: true, kind: 'observe', steps: [{ verify_capability: 'payments.get_refund' }] },
      }),
    );
    expect(run.rows('mutation')[0]?.doc).toMatchObject({
      execution_state: 'planned',
      recoverability: 'pending_commit',
    });
    run
      .when({ ...reported(look, limit(5_000)), speaker: EYE }, ENDS + 2)
      .then(fact('WorkerAnswered', { signing_key: 'payments-eye' }), ...LET_GO);
  });

  it.each([
    ['sees that it does not hold', limit(10), 'PRECONDITION_FAILED'],
    ['cannot tell', {}, 'PRECONDITION_UNKNOWN'],
  ] as const)('lets nothing go where the other %s', (_what, step, reason) => {
    const { run, look } = met(WORKER);
    run.when({ ...reported(look, step), speaker: EYE }, ENDS + 2).then(fact('WorkerAnswered'), cancelled(reason));
  });

  it('lets nothing go where the other says nothing in time', () => {
    const { run, look } = met(WORKER);
    run.whenDue(look.not_after + 60_000).then(fact('WorkerAnswered'), cancelled('PRECONDITION_UNKNOWN'));
  });

  it('is not confirmed by the worker whose word it is, or by another worker', () => {
    for (const keyId of ['payments-1', 'payments-2']) {
      const { run, look } = met(WORKER);
      run.when({ ...reported(look, limit(5_000)), speaker: { ...WORKER, keyId } }, ENDS + 2);
      run.then(fact('AnswerRefused', { code: 'WORKER_MISMATCH' }));
    }
  });

  it('counts at once where none observes, and where it says that the precondition does not hold', () => {
    met(ALONE).run.then(fact('WorkerAnswered', { verdict: 'met' }), ...LET_GO);
    const run = held(LOOKED_AT).whenDue(ENDS);
    run
      .when({ ...reported(request(run), limit(10)), speaker: WORKER }, ENDS + 1)
      .then(fact('WorkerAnswered', { verdict: 'not_met' }), cancelled('PRECONDITION_FAILED'));
  });

  describe('under a contract that says no way to find out how it ended', () => {
    const BLIND = { ...HELD, reconcile_capability: undefined };
    const letGo = (speaker: Speaker): CoreHarness => {
      const run = held(BLIND).whenDue(ENDS);
      const made = [seen('execute', { refund_id: 're_9' })];
      const told = { outcome: 'verified', observations: made, external_transaction_ref: 're_9' } as const;
      return run.when({ ...reported(request(run), told), speaker }, ENDS + 1);
    };

    it('leaves to a person what was let go, where another observes and has nothing to look by', () => {
      letGo(WORKER).then(
        fact('WorkerAnswered', { kind: 'release', verdict: 'met', signing_key: 'payments-1' }),
        fact('ExecutionOverdue', { mutation_id: MUTATION }),
      );
      letGo(ALONE).then(fact('WorkerAnswered'), fact('MutationRecorded', { execution_state: 'succeeded' }));
    });

    it('leaves to a person what was taken back', () => {
      const run = held({ ...BLIND, techniques: { reservation: true } }, { staged_ref: 'hold_1' });
      run.when(cancel(), NOW + 1);
      run
        .when({ ...reported(request(run), { outcome: 'verified' }), speaker: WORKER }, NOW + 2)
        .then(fact('WorkerAnswered', { kind: 'cancel', verdict: 'met' }), fact('ExecutionOverdue'));
    });
  });

  const cancel = () => {
    const who = { command_id: 'cmd-1', tenant: TENANT, principal: 'mira', roles: ['operator'], issued_at: NOW };
    const envelope = { ...who, body_sha256: Buffer.alloc(32), signature: null };
    const body = { envelope, run_id: RUN, mutation_id: MUTATION, reason: 'wrong order' };
    return wire('recourse.ledger-commands', 'CancelMutation', body, { key: RUN });
  };

  describe('that is staged and was taken back', () => {
    const takenBack = (speaker: Speaker): CoreHarness => {
      const run = held({ ...HELD, techniques: { reservation: true } }, { staged_ref: 'hold_1' });
      run.when(cancel(), NOW + 1);
      return run.when({ ...reported(request(run), { outcome: 'verified' }), speaker }, NOW + 2);
    };

    it('has another look that nothing took effect', () => {
      const run = takenBack(WORKER).then(
        fact('WorkerAnswered', { kind: 'cancel', verdict: 'met' }),
        fact('WorkerAsked', { confirms: { kind: 'cancel' }, request: { for_observer: true, kind: 'reconcile' } }),
      );
      const nothing = { outcome: 'unverified', observations: [seen('reconcile', notHappened())] } as const;
      run
        .when({ ...reported(request(run), nothing), speaker: EYE }, NOW + 3)
        .then(fact('WorkerAnswered', { signing_key: 'payments-eye' }));
      expect(run.rows('mutation')).toMatchObject([{ doc: { recoverability: 'cancelled', awaited: null } }]);
    });

    it.each([
      ['finds it made', { outcome: 'verified', observations: [seen('reconcile', happened({ refund_id: 'r' }, 'r'))] }],
      ['cannot tell', {}],
    ] as const)('is a person’s where the other %s', (_what, step) => {
      const run = takenBack(WORKER);
      run
        .when({ ...reported(request(run), step), speaker: EYE }, NOW + 3)
        .then(fact('WorkerAnswered'), fact('ExecutionOverdue', { mutation_id: MUTATION }));
    });

    it('is believed where none observes', () => {
      takenBack(ALONE).then(fact('WorkerAnswered', { kind: 'cancel', verdict: 'met' }));
    });
  });
});
