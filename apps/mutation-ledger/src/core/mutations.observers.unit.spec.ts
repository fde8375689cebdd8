// Where another worker observes for an adapter, how an execution ended counts once the other sees the same.
import { describe, expect, it } from '@jest/globals';
import { happened, notHappened } from '@recourse/contract';
import type { Speaker } from '@recourse/kernel';
import type { LegRequested, StepReport } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { ASKING, executed, ledger, MUTATION, NOW, refund, reported, request, seen } from './ledger.testing.js';

const ASKED_AT = NOW + 2_000 + ASKING.marginMs;
const UNCERTAIN = refund({ outcome: 'uncertain', result: null, external_transaction_ref: null });
const WORKER: Speaker = {
  keyId: 'payments-1',
  roles: ['worker'],
  names: ['payments'],
  tenants: ['*'],
  observers: [{ names: ['payments'], tenants: ['acme'] }],
};
const EYE: Speaker = { keyId: 'payments-eye', roles: ['observer'], names: ['payments'], tenants: ['*'] };

const found = (handle: string): Partial<StepReport> => ({
  outcome: 'verified',
  observations: [seen('reconcile', happened({ refund_id: handle, status: 'issued' }, handle))],
});
const NOTHING_FOUND: Partial<StepReport> = { outcome: 'unverified', observations: [seen('reconcile', notHappened())] };

describe.each(WAYS)('what a worker says of how an execution ended, $way', ({ isRebuilt }) => {
  function asked(): { readonly run: CoreHarness; readonly first: LegRequested } {
    const { run } = ledger({ isRebuilt, asks: true });
    run.when(executed(UNCERTAIN), NOW).whenDue(ASKED_AT);
    return { run, first: request(run) };
  }
  /** It said so, and an observer is asked. */
  function said(
    step: Partial<StepReport>,
    speaker = WORKER,
  ): { readonly run: CoreHarness; readonly look: LegRequested } {
    const { run, first } = asked();
    run.when({ ...reported(first, step), speaker }, ASKED_AT + 1);
    return { run, look: request(run) };
  }

  it.each([
    ['it took effect', found('re_1'), 'succeeded'],
    ['it had none', NOTHING_FOUND, 'failed'],
  ] as const)('counts when another sees it too: %s', (_what, step, state) => {
    const { run, look } = said(step);
    run.then(
      fact('WorkerAnswered', { signing_key: 'payments-1' }),
      fact('WorkerAsked', { confirms: { said_by: 'payments-1' }, request: { for_observer: true, kind: 'reconcile' } }),
    );
    expect(run.rows('mutation')[0]?.doc).toMatchObject({ execution_state: 'uncertain' });
    run.when({ ...reported(look, step), speaker: EYE }, ASKED_AT + 2);
    run.then(
      fact('WorkerAnswered', { signing_key: 'payments-eye' }),
      fact('MutationRecorded', { mutation_id: MUTATION, execution_state: state, signing_key: 'payments-eye' }),
    );
  });

  it.each([
    ['sees that it had none', NOTHING_FOUND],
    ['sees another handle', found('re_2')],
    ['cannot tell', {}],
  ] as const)('is a person’s where the other %s', (_what, step) => {
    const { run, look } = said(found('re_1'));
    run.when({ ...reported(look, step), speaker: EYE }, ASKED_AT + 2);
    run.then(fact('WorkerAnswered'), fact('ExecutionOverdue', { mutation_id: MUTATION, owner: 'role:administrator' }));
  });

  it('is a person’s where the other says nothing in time, and its word counts no more then', () => {
    const { run, look } = said(found('re_1'));
    run.whenDue(look.not_after + 60_000).then(fact('WorkerAnswered'), fact('ExecutionOverdue'));
    run.when({ ...reported(look, found('re_1')), speaker: EYE }, look.not_after + 60_001);
    run.then(fact('AnswerRefused', { code: 'ALREADY_ANSWERED' }));
  });

  it.each([
    ['the worker whose word it is', WORKER],
    ['another worker', { ...WORKER, keyId: 'payments-2' }],
    ['the same key in both roles', { ...WORKER, roles: ['worker', 'observer'] }],
    ['an observer of another adapter', { ...EYE, names: ['mail'] }],
  ] as const)('is not confirmed by %s', (_who, speaker) => {
    const { run, look } = said(found('re_1'));
    run.when({ ...reported(look, found('re_1')), speaker }, ASKED_AT + 2);
    run.then(fact('AnswerRefused', { code: 'WORKER_MISMATCH' }));
  });

  it('does not come from an observer where a worker was asked', () => {
    const { run, first } = asked();
    run.when({ ...reported(first, found('re_1')), speaker: EYE }, ASKED_AT + 1);
    run.then(fact('AnswerRefused', { code: 'WORKER_MISMATCH' }));
  });

  it('cannot be taken back past the observer while that one looks', () => {
    const { run, first } = asked();
    run.when({ ...reported(first, NOTHING_FOUND), speaker: WORKER }, ASKED_AT + 1);
    run.when({ ...reported(first, found('re_1')), speaker: WORKER }, ASKED_AT + 2);
    run.then(fact('AnswerRefused', { code: 'ALREADY_ANSWERED' }));
  });

  it('counts at once where none observes for adapter and tenant', () => {
    for (const observers of [[], [{ names: ['mail'], tenants: ['*'] }], [{ names: ['*'], tenants: ['globex'] }]]) {
      const { run, first } = asked();
      run.when({ ...reported(first, found('re_1')), speaker: { ...WORKER, observers } }, ASKED_AT + 1);
      run.then(fact('WorkerAnswered'), fact('MutationRecorded', { execution_state: 'succeeded' }));
    }
  });
});
