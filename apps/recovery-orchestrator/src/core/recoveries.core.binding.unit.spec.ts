import { describe, expect, it } from '@jest/globals';
import { rollbackIdOf } from '@recourse/messages';
import { contractDigest, plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { LegRequested } from '@recourse/messages';
import { fact, harness, WAYS, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { readFileSync } from 'node:fs';
import { stepIdOf } from '../rules/step/opening.decisions.js';
import {
  answered,
  approval,
  BALANCE_KEPT,
  BALANCE_ZERO,
  core,
  denial,
  digest,
  envelope,
  execution,
  LAST_DISPATCH,
  markedInput,
  MUTATION,
  observed,
  ref,
  requestIn,
  REVIEW,
  RUN,
  STEP,
  STILL_PENDING,
  terms,
  views,
  leg,
  settled,
  planned,
  SHOWN,
  LOOKED_AGAIN,
  SEEN,
  looked,
} from '../recoveries.testing.js';

const AUTO = { impact: 'write', recovery_approval_mode: 'auto' } as const;
const SECOND = 'mut_2';
const SECOND_STEP = stepIdOf(rollbackIdOf('acme', SECOND), SECOND);
const OBSERVED = {
  keyId: 'payments-1',
  roles: ['worker'],
  names: ['payments'],
  tenants: ['*'],
  observers: [{ names: ['payments'], tenants: ['*'] }],
} as const;
const OBSERVER = { keyId: 'payments-eye', roles: ['observer'], names: ['payments'], tenants: ['*'] } as const;
const CHECKED = wire(
  'recourse.recovery-commands',
  'CheckStep',
  {
    envelope: envelope('olga', ['approver']),
    run_id: RUN,
    step_id: STEP,
    reason: 'the provider is back',
    purpose: 'reconcile',
    evidence: plainPayload({ ticket: 'T-1' }),
  },
  { key: RUN },
);
const EXECUTED = observed('execute', 'payments.cancel_refund', { credit_note: 'cn_7' });

const bodyOf = (args: Json): string =>
  JSON.stringify({
    ...(JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as object),
    impact: 'write',
    requires_external_handle: false,
    recovery_approval_mode: 'auto',
    reversal_args: args,
  });

/** The contract of the second mutation takes an argument from the compensation of the first. */
function registered(args: Json) {
  const both = views();
  both.contracts.append(
    'c',
    fact('ContractRegistered', {
      name: 'payments.issue_refund',
      version: 1,
      tenant: '*',
      digest: contractDigest(bodyOf(args)),
      body: bodyOf(args),
    }),
  );
  return both;
}
const DEPOSIT = 'payments.take_deposit';
const FROM_STEP = {
  note: { from: 'step', capability: DEPOSIT, path: '/credit_note' },
  order: { from: 'args', path: '/order' },
};
const DIGEST = contractDigest(bodyOf(FROM_STEP));
const first = (more: Parameters<typeof terms>[0] = AUTO, about: Parameters<typeof execution>[0] = {}) =>
  markedInput({ terms: terms(more), execution: execution({ capability: DEPOSIT, ...about }) });
const second = (
  more: Parameters<typeof terms>[0] = AUTO,
  pointer: Parameters<typeof ref>[0] = {},
  about: Parameters<typeof markedInput>[0] = {},
) =>
  markedInput({
    ...about,
    mutation_id: SECOND,
    rollback_id: rollbackIdOf('acme', SECOND),
    terms: terms({ contract_digest: DIGEST, ...more }),
    execution: execution({ effect_key: 'effect-2', call_id: 'call-2' }),
    ref: ref({ mutation_id: SECOND, reversal_args: null, idempotency_key: 'key-2', ...pointer }),
  });
const phaseOf = (run: CoreHarness, mutationId: string): unknown =>
  run.rows('step').find(({ doc }) => doc['mutation_id'] === mutationId)?.doc['phase'];

describe.each(WAYS)('a compensation that needs the result of another one, $way', ({ isRebuilt }) => {
  const start = (args: Json = FROM_STEP) => harness(core(), { isRebuilt, views: registered(args) });
  const done = (request: LegRequested, observations = [STILL_PENDING, EXECUTED, BALANCE_ZERO]) =>
    answered(request, 'verified', observations);

  it('waits for it, and goes as soon as it is verified, with what it returned', () => {
    const run = start().when(first(), 10_000);
    const request = requestIn(run.outgoing());
    run
      .when(second(), 11_000)
      .then(planned({ decision: 'reconcile_first', reason: 'STEP_RESULT_PENDING', call: null }));
    expect(phaseOf(run, SECOND)).toBe('held');
    run
      .when(done(request), 12_000)
      .then(
        settled({ outcome: 'compensated' }),
        fact('StepBound', { step_id: SECOND_STEP, reason: 'POLICY_AUTO', bound_from: [request.leg_id] }),
        leg({ step_id: SECOND_STEP }),
      );
    expect(requestIn(run.outgoing()).steps[0]?.call.args).toEqual(plainPayload({ note: 'cn_7', order: '4711' }));
  });

  it('goes with what its worker heard once another has seen it, where one observes', () => {
    const run = start().when(first(), 10_000);
    const request = requestIn(run.outgoing());
    run.when(second(), 11_000);
    run.when({ ...done(request), speaker: OBSERVED }, 12_000).then(fact('LookDispatched', { purpose: 'observe' }));
    run
      .when({ ...done(requestIn(run.outgoing()), [BALANCE_ZERO]), speaker: OBSERVER }, 13_000)
      .then(
        fact('LookAnswered'),
        settled({ outcome: 'compensated' }),
        fact('StepBound', { step_id: SECOND_STEP, reason: 'POLICY_AUTO', bound_from: [request.leg_id] }),
        leg({ step_id: SECOND_STEP }),
      );
    expect(requestIn(run.outgoing()).steps[0]?.call.args).toEqual(plainPayload({ note: 'cn_7', order: '4711' }));
  });

  it('goes with what an earlier attempt answered, where a later one or a look finds what that one made', () => {
    const tried = (max_attempts: number): CoreHarness => {
      const run = start().when(first({ ...AUTO, max_attempts }), 10_000);
      return run.when(answered(requestIn(run.outgoing()), 'unverified', [EXECUTED, BALANCE_KEPT]), 12_000);
    };
    const again = tried(2).when(second(), 12_001).whenDue(30_000);
    again
      .when(done(requestIn(again.outgoing()), [BALANCE_ZERO]), 31_000)
      .then(settled({ outcome: 'compensated' }), fact('StepBound', { step_id: SECOND_STEP }), leg());
    expect(requestIn(again.outgoing()).steps[0]?.call.args).toEqual(plainPayload({ note: 'cn_7', order: '4711' }));

    const checked = tried(1).when(CHECKED, 13_000);
    checked
      .when(done(requestIn(checked.outgoing()), [BALANCE_ZERO]), 13_001)
      .when(second(), 13_002)
      .then(planned({ decision: 'compensate_now', reason: 'POLICY_AUTO' }), leg());
    expect(requestIn(checked.outgoing()).steps[0]?.call.args).toEqual(plainPayload({ note: 'cn_7', order: '4711' }));
  });

  it('is bound at once when it comes later', () => {
    const run = start().when(first(), 10_000);
    run
      .when(done(requestIn(run.outgoing())), 11_000)
      .when(second(), 12_000)
      .then(planned({ decision: 'compensate_now', reason: 'POLICY_AUTO' }), leg());
    expect(requestIn(run.outgoing()).steps[0]?.call.args).toEqual(plainPayload({ note: 'cn_7', order: '4711' }));
  });

  it('asks people only once its arguments are known, about exactly these', () => {
    const run = start().when(first(), 10_000);
    const request = requestIn(run.outgoing());
    run
      .when(second({}), 11_000)
      .when(done(request), 12_000)
      .then(settled(), fact('StepBound', { required_approvals: 1, owner: 'role:approver' }), SHOWN);
    const bound = digest({
      terms: terms({ contract_digest: DIGEST }),
      ref: ref({ mutation_id: MUTATION, reversal_args: plainPayload({ note: 'cn_7', order: '4711' }) }),
    });
    run
      .when(approval({ stepId: SECOND_STEP, digest: bound }), 13_000)
      .thenAnswer({ status: 'rejected', code: 'DIGEST_MISMATCH' });
    const shown = run.rows('step').find(({ key }) => key === SECOND_STEP)?.doc['action_digest'] as Buffer;
    run.when(approval({ stepId: SECOND_STEP, digest: shown }), 14_000).then(fact('StepApproved'), LOOKED_AGAIN);
    looked(run, 15_000).then(SEEN, leg({ step_id: SECOND_STEP }));
  });

  it.each([
    ['was denied', () => denial()],
    ['gave no result', (request: LegRequested | null) => answered(request!, 'verified', [STILL_PENDING, BALANCE_ZERO])],
    [
      'gave another one',
      (request: LegRequested | null) =>
        answered(request!, 'verified', [
          STILL_PENDING,
          observed('execute', 'payments.cancel_refund', { other: 1 }),
          BALANCE_ZERO,
        ]),
    ],
  ] as const)('goes to a person when the other one %s', (what, input) => {
    const run = start().when(first(what === 'was denied' ? {} : AUTO), 10_000);
    const request = what === 'was denied' ? null : requestIn(run.outgoing());
    run.when(second(), 11_000).when(input(request), 12_000);
    expect(run.recorded().map(({ type, body }) => [type, body['reason']])).toContainEqual([
      'StepEscalated',
      'STEP_RESULT_MISSING',
    ]);
    expect(phaseOf(run, SECOND)).toBe('manual');
    expect(run.recorded().at(-1)).toMatchObject({ type: 'RecoveryClosed', body: { outcome: 'manual' } });
  });

  it('takes nothing from a call that only answered: what nobody has seen is no result', () => {
    const run = start().when(first({ ...AUTO, max_attempts: 1 }), 10_000);
    const request = requestIn(run.outgoing());
    run
      .when(second(), 11_000)
      .when(answered(request, 'unverified', [STILL_PENDING, EXECUTED, BALANCE_KEPT]), 12_000)
      .then(
        settled({ outcome: 'unverified' }),
        fact('StepEscalated', { reason: 'VERIFICATION_FAILED' }),
        fact('StepEscalated', { step_id: SECOND_STEP, reason: 'STEP_RESULT_MISSING' }),
        fact('RecoveryClosed', { outcome: 'manual' }),
      );
  });

  describe('that a person has, because the other one failed', () => {
    const retried = (stepId: string, at: number) =>
      wire(
        'recourse.recovery-commands',
        'RetryStep',
        {
          envelope: envelope('olga', ['approver'], { command_id: `retry-${String(at)}` }),
          run_id: RUN,
          step_id: stepId,
          reason: 'the provider works again',
        },
        { key: RUN },
      );
    const left = (more: Parameters<typeof terms>[0] = AUTO) => {
      const run = start().when(first({ ...AUTO, max_attempts: 1 }), 10_000);
      const request = requestIn(run.outgoing());
      return run.when(second(more), 11_000).when(answered(request, 'failed', []), 12_000);
    };
    const mended = (more: Parameters<typeof terms>[0] = AUTO) => {
      const run = left(more).when(retried(STEP, 20_000), 20_000);
      return run.when(done(requestIn(run.outgoing())), 21_000);
    };

    it('is tried again with what the other one returned once that was tried again', () => {
      const run = mended()
        .when(retried(SECOND_STEP, 22_000), 22_000)
        .then(
          fact('StepBound', { step_id: SECOND_STEP, reason: 'POLICY_AUTO' }),
          fact('StepReopened', { step_id: SECOND_STEP, by: 'olga', required_approvals: 0 }),
          leg({ step_id: SECOND_STEP }),
        );
      expect(requestIn(run.outgoing()).steps[0]?.call.args).toEqual(plainPayload({ note: 'cn_7', order: '4711' }));
      expect(phaseOf(run, SECOND)).toBe('dispatched');
    });

    it('asks people first where its contract does, about what the other one returned', () => {
      const run = mended({})
        .when(retried(SECOND_STEP, 22_000), 22_000)
        .then(fact('StepBound', { required_approvals: 1 }), fact('StepReopened', { required_approvals: 1 }), SHOWN);
      const bound = run.rows('step').find(({ key }) => key === SECOND_STEP)?.doc['action_digest'] as Buffer;
      run.when(approval({ stepId: SECOND_STEP, digest: bound }), 23_000).then(fact('StepApproved'), LOOKED_AGAIN);
    });

    it('is refused while the other one has given nothing, with what is missing', () => {
      const run = left().when(retried(SECOND_STEP, 22_000), 22_000);
      run.then().thenAnswer({ status: 'rejected', httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      expect(run.decision().answer?.body['message']).toContain('steps.payments.take_deposit.result');
    });
  });

  it('goes to a person when nobody begins the other one in time, and when its window closes first', () => {
    start()
      .when(second(), 10_000)
      .then(planned({ reason: 'STEP_RESULT_PENDING' }))
      .whenDue(10_000 + REVIEW)
      .then(fact('StepEscalated', { reason: 'STEP_RESULT_MISSING' }), fact('RecoveryClosed'));
    start()
      .when(second(), LAST_DISPATCH + 1)
      .then(
        planned({ decision: 'manual_review', reason: 'REVERSAL_EXPIRED' }),
        fact('StepEscalated'),
        fact('RecoveryClosed'),
      );
  });

  it('is incomplete all the same where something else is missing', () => {
    const args = { ...FROM_STEP, gone: { from: 'args', path: '/gone' } };
    start(args)
      .when(second({ ...AUTO, contract_digest: contractDigest(bodyOf(args)) }), 10_000)
      .then(planned({ reason: 'HANDLE_INCOMPLETE' }), fact('StepEscalated'), fact('RecoveryClosed'));
  });

  it('waits for nobody where something that was told does not fit (A32)', () => {
    const reason = 'REVERSAL_ARGS_UNFIT:reversal_args/order';
    start()
      .when(first(), 9_000)
      .when(second(AUTO, {}, { reason }), 10_000)
      .then(planned({ reason: 'HANDLE_INCOMPLETE', lacking: ['reversal_args/order'] }), fact('StepEscalated'));
  });

  it('is a person’s where its contract bound no more when the action named it (A22)', () => {
    start()
      .when(first(), 9_000)
      .when(second({ ...AUTO, superseded: true }), 10_000)
      .then(planned({ reason: 'CONTRACT_SUPERSEDED', decision: 'manual_review' }), fact('StepEscalated'));
  });

  it("takes nothing from another tenant's compensation in the same run", () => {
    const run = start().when(
      markedInput({
        tenant: 'globex',
        terms: terms(AUTO),
        execution: execution({ tenant: 'globex', capability: DEPOSIT }),
      }),
      10_000,
    );
    run
      .when(answered(requestIn(run.outgoing()), 'verified', [STILL_PENDING, EXECUTED, BALANCE_ZERO]), 11_000)
      .when(second(), 12_000)
      .then(planned({ reason: 'STEP_RESULT_PENDING' }));
  });

  it('takes nothing from what was done about another subject of the run', () => {
    const run = start().when(first(AUTO, { subject_ref: 'order/4712' }), 10_000);
    run
      .when(done(requestIn(run.outgoing())), 11_000)
      .when(second(), 12_000)
      .then(planned({ reason: 'STEP_RESULT_PENDING' }));
  });

  it('guesses nothing where two effects could give it', () => {
    const again = markedInput({
      mutation_id: 'mut_3',
      rollback_id: rollbackIdOf('acme', 'mut_3'),
      terms: terms(AUTO),
      execution: execution({ capability: DEPOSIT, effect_key: 'effect-3', call_id: 'call-3' }),
      ref: ref({ mutation_id: 'mut_3', idempotency_key: 'key-3' }),
    });
    const run = start().when(first(), 10_000).when(again, 10_500).when(second(), 11_000);
    expect(run.rows('step').find(({ doc }) => doc['mutation_id'] === SECOND)?.doc).toMatchObject({
      phase: 'manual',
      reason: 'STEP_RESULT_MISSING',
    });
  });

  it('reads the registry to its end before it says that a contract is unknown', () => {
    const unknown = { ...AUTO, contract_digest: Buffer.alloc(32, 8) };
    const run = harness(core(), { isRebuilt, views: views() }).whenBehind(second(unknown), 10_000);
    run
      .when(second(unknown), 10_000)
      .then(planned({ reason: 'HANDLE_INCOMPLETE' }), fact('StepEscalated'), fact('RecoveryClosed'));
  });
});
