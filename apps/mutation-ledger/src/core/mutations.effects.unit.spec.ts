import { describe, expect, it } from '@jest/globals';
import { deriveId } from '@recourse/kernel';
import { WAYS } from '@recourse/testing';
import { agentEffectOf } from '../rules/effect/effect.decisions.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import {
  DISPATCHED,
  escalated,
  executed,
  ledger,
  MUTATION,
  NOW,
  outcome,
  refund,
  ROLLBACK,
  RUN,
  TENANT,
  TRIGGERED,
  triggerOf,
  moved,
} from './ledger.testing.js';

const attempt = (n: number) => ({ ...DISPATCHED, body: { ...DISPATCHED.body, attempt: n } });

describe.each(WAYS)('the effect of a mutation, $way', ({ isRebuilt }) => {
  const recorded = () => ledger({ isRebuilt }).run.when(executed(refund()), NOW);
  // Rows of this kind are mutations.
  const effect = (run: ReturnType<typeof recorded>) => agentEffectOf(run.rows('mutation')[0]?.doc as Mutation);

  it('has sixteen columns from the moment it is recorded', () => {
    const told = effect(recorded());
    expect(Object.keys(told)).toHaveLength(16);
    expect(told).toMatchObject({
      id: MUTATION,
      run_id: RUN,
      step_id: 'refund',
      tool_name: 'payments.issue_refund',
      effect_key: 'refund-4711',
      idempotency_key: 'key-1',
      external_ref: 're_1',
      status: 'succeeded',
      compensation_mode: 'approval_required',
      compensation_attempts: 0,
      last_error: null,
      created_at: NOW,
      updated_at: NOW,
    });
    expect(told.compensation_args).not.toBeNull();
  });

  it('waits for its compensation once it is rolled back', () => {
    expect(effect(recorded().when(TRIGGERED, NOW + 1))).toMatchObject({
      status: 'compensation_pending',
      updated_at: NOW + 1,
    });
  });

  it('counts each attempt that is dispatched, and each once', () => {
    const run = recorded()
      .when(TRIGGERED, NOW + 1)
      .when(attempt(1), NOW + 2)
      .when(attempt(1), NOW + 3)
      .thenNothing();
    run.when(attempt(2), NOW + 4).then(
      moved({
        event: 'compensation_started',
        from_state: 'compensating',
        to_state: 'compensating',
      }),
    );
    expect(run.derived()).toEqual([]);
    expect(effect(run)).toMatchObject({ status: 'compensating', compensation_attempts: 2 });
  });

  it('keeps the last thing that went wrong', () => {
    const run = recorded()
      .when(TRIGGERED, NOW + 1)
      .when(attempt(1), NOW + 2)
      .when(outcome('failed', 'PROVIDER_REFUSED'), NOW + 3);
    expect(effect(run)).toMatchObject({ status: 'manual_review', last_error: 'PROVIDER_REFUSED' });
    expect(effect(run.when(attempt(2), NOW + 4))).toMatchObject({
      status: 'compensating',
      compensation_attempts: 2,
      last_error: 'PROVIDER_REFUSED',
    });
    expect(effect(run.when(escalated('STALE'), NOW + 5))).toMatchObject({
      status: 'manual_review',
      last_error: 'STALE',
    });
  });

  it('that a person has tried again is being compensated again, and the attempt counts (C20, C21)', () => {
    const run = recorded()
      .when(TRIGGERED, NOW + 1)
      .when(attempt(1), NOW + 2)
      .when(outcome('failed', 'PROVIDER_REFUSED'), NOW + 3)
      .when(escalated('ATTEMPTS_EXHAUSTED'), NOW + 4);
    expect(effect(run)).toMatchObject({ status: 'manual_review', compensation_attempts: 1 });
    run
      .when(attempt(2), NOW + 5)
      .then(
        moved({ event: 'compensation_started', from_state: 'manual_resolution_required', to_state: 'compensating' }),
      );
    expect(effect(run)).toMatchObject({
      status: 'compensating',
      compensation_attempts: 2,
      last_error: 'ATTEMPTS_EXHAUSTED',
    });
    expect(run.derived()).toEqual([]);
    expect(effect(run.when(outcome('compensated', 'SUCCESS_CONDITION_HELD'), NOW + 6))).toMatchObject({
      status: 'compensated',
    });
    expect(run.derived()).toMatchObject([{ type: 'RollbackSettled' }]);
  });

  it("without a contract is a person's, and says why", () => {
    expect(effect(ledger({ isRebuilt }).run.when(executed(refund({ contract_digest: null })), NOW))).toMatchObject({
      status: 'manual_review',
      compensation_mode: null,
      compensation_args: null,
      last_error: 'UNCONTRACTED',
    });
  });
});

describe.each(WAYS)('the ids of a rollback, $way', ({ isRebuilt }) => {
  const recovery = deriveId('rec', TENANT, RUN);

  it('name its commit, and the recovery its run', () => {
    const { run } = ledger({ isRebuilt });
    run.when(executed(refund()), NOW).when(TRIGGERED, NOW + 1);
    expect(run.rows('rollback').map(({ doc }) => doc)).toMatchObject([
      { rollback_id: ROLLBACK, tenant: TENANT, run_id: RUN, mutation_id: MUTATION },
    ]);
    expect(run.rows('recovered').map(({ group, doc }) => [group, doc])).toEqual([
      [recovery, { id: recovery, tenant: TENANT, run_id: RUN }],
    ]);
  });

  it('are known before the commit is, to the tenant that named it and apart from its owner', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(triggerOf(RUN, MUTATION, 'other'), NOW)
      .when(executed(refund()), NOW + 1)
      .when(TRIGGERED, NOW + 2);
    const idOfTenant = new Map(run.rows('rollback').map(({ doc }) => [doc['tenant'], doc['rollback_id']]));
    expect(idOfTenant.get(TENANT)).toBe(ROLLBACK);
    expect([...idOfTenant.keys()].sort()).toEqual([TENANT, 'other'].sort());
    expect(idOfTenant.get('other')).not.toBe(ROLLBACK);
  });

  it('are found where the record of the commit is', () => {
    const { run } = ledger({ isRebuilt });
    const [record] = run.when(executed(refund()), NOW).recorded();
    expect(run.rows('mutation')[0]?.doc).toMatchObject({ recorded_seq: record?.seq, recorded_hash: record?.hash });
  });
});
