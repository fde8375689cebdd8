import { describe, expect, it } from '@jest/globals';
import { eachMember, fact, WAYS } from '@recourse/testing';
import {
  DENIED,
  DISPATCHED,
  escalated,
  executed,
  HOUR_MS,
  intent,
  ledger,
  MUTATION,
  NOW,
  outcome,
  planned,
  REF,
  refund,
  resolvedBy,
  ROLLBACK,
  RUN,
  TENANT,
  TRIGGER_EVIDENCE,
  TRIGGERED,
  triggerOf,
  fell,
  moved,
  fromRecoveries,
} from './ledger.testing.js';
import { mutationIdOf } from './executions.js';

const EXPIRES = NOW - 1_000 + HOUR_MS;

describe.each(WAYS)('a rollback, $way', ({ isRebuilt }) => {
  const recorded = () => ledger({ isRebuilt }).run.when(executed(refund()), NOW);

  it('marks its commit once, with all that recovery needs', () => {
    const run = recorded();
    const hash = run.records()[0]?.hash;
    run.when(TRIGGERED, NOW + 1).then(
      fell({
        mutation_id: MUTATION,
        rollback_id: ROLLBACK,
        evidence: TRIGGER_EVIDENCE,
        execution_state: 'succeeded',
        recoverability: 'reversal_available',
        recorded_hash: hash,
        terms: { contract_name: 'payments.issue_refund' },
        ref: { mutation_id: MUTATION, reversal_expires_at: EXPIRES },
      }),
    );
    run.when(TRIGGERED, NOW + 2).then(fact('TriggerRedundant', { mutation_id: MUTATION }));
  });

  it('announces the commit and its rollback in one', () => {
    const notices = recorded()
      .when(TRIGGERED, NOW + 1)
      .derived();
    expect(notices.map(({ key, type }) => [key, type])).toEqual([[RUN, 'RollbackAnnounced']]);
    expect(notices[0]?.body).toEqual({
      tenant: TENANT,
      run_id: RUN,
      caused_by: { ...TRIGGER_EVIDENCE, root: null },
      members: [
        {
          mutation_id: MUTATION,
          rollback_id: ROLLBACK,
          root: TRIGGER_EVIDENCE.root,
          agent_id: 'agent-1',
          subject_ref: '4711',
          capability: 'payments.issue_refund',
          assumption_refs: [REF],
          committed_at: NOW - 1_000,
          derived_from: [],
          has_effect: true,
          resume_checkpoint: null,
          consumers: [],
          initiator: 'ada',
          contract_digest: refund().contract_digest,
        },
      ],
    });
  });

  it('of a commit that was at rest already is settled at once', () => {
    const run = ledger({ isRebuilt })
      .run.when(executed(refund({ contract_digest: null })), NOW)
      .when(TRIGGERED, NOW + 1);
    expect(run.derived().map(({ type }) => type)).toEqual(['RollbackAnnounced', 'RollbackSettled']);
    expect(run.derived()[1]?.body).toMatchObject({
      members: [{ mutation_id: MUTATION, recoverability: 'manual_resolution_required', reason: 'UNCONTRACTED' }],
    });
  });

  it('of an unknown commit is remembered and fires when the commit is recorded', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(TRIGGERED, NOW)
      .then(fact('TriggerUnmatched', { mutation_id: MUTATION, rollback_id: ROLLBACK }))
      .when(TRIGGERED, NOW + 1)
      .then(fact('TriggerRedundant'));
    run.when(executed(refund()), NOW + 2).then(fact('MutationRecorded'));
    const hash = run.recorded()[0]?.hash;
    run.whenDue(NOW + 2).then(
      fell({
        mutation_id: MUTATION,
        rollback_id: ROLLBACK,
        evidence: TRIGGER_EVIDENCE,
        recorded_hash: hash,
      }),
    );
    expect(run.rows('trigger')).toEqual([]);
  });

  it('of a commit that is only planned waits for its execution', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(planned(intent()), NOW)
      .when(TRIGGERED, NOW + 1)
      .then(fact('TriggerUnmatched'))
      .when(executed(refund()), NOW + 2)
      .whenDue(NOW + 2)
      .then(fell({}));
  });

  it('is named by whatever is recorded of its commit later, with the pointer and the state of then', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(refund({ outcome: 'uncertain', result: null, external_transaction_ref: null })), NOW)
      .then(fact('MutationRecorded', { rollback_id: null }));
    run.when(TRIGGERED, NOW + 1).then(fell({ execution_state: 'uncertain' }));
    run.when(executed(refund()), NOW + 2).then(
      fact('MutationRecorded', {
        rollback_id: ROLLBACK,
        execution_state: 'succeeded',
        recoverability: 'reversal_available',
        ref: { mutation_id: MUTATION, reversal_expires_at: EXPIRES },
      }),
    );
  });

  it('is settled once its commit turns out to be one that only a person can undo', () => {
    const { run } = ledger({ isRebuilt });
    const uncontracted = { contract_digest: null };
    run.when(executed(refund({ ...uncontracted, outcome: 'uncertain' })), NOW).when(TRIGGERED, NOW + 1);
    run.derived();
    run.when(executed(refund(uncontracted)), NOW + 2);
    expect(eachMember(run.derived()).map(({ type, body }) => [type, body['recoverability']])).toContainEqual([
      'RollbackSettled',
      'manual_resolution_required',
    ]);
  });

  it('named by another tenant never touches the commit', () => {
    const foreign = triggerOf(RUN, MUTATION, 'other');
    const { run } = ledger({ isRebuilt });
    run
      .when(foreign, NOW)
      .then(fact('TriggerUnmatched', { tenant: 'other' }))
      .when(executed(refund()), NOW + 1)
      .whenDue(NOW + 1)
      .thenNothing();
  });
});

describe.each(WAYS)('the recovery of a mutation, $way', ({ isRebuilt }) => {
  const rolledBack = () =>
    ledger({ isRebuilt })
      .run.when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1);
  const step = (event: string, from: string, to: string, more = {}) =>
    moved({
      mutation_id: MUTATION,
      event,
      from_state: from,
      to_state: to,
      rollback_id: ROLLBACK,
      ...more,
    });

  it('is compensated when the orchestrator has seen it verified, and frees its debit', () => {
    const run = rolledBack();
    run
      .when(DISPATCHED, NOW + 2)
      .then(step('compensation_started', 'reversal_available', 'compensating', { step_id: 'step-1', refund: null }));
    expect(run.derived()).toEqual([]);
    run.when(outcome('compensated', 'VERIFIED'), NOW + 3).then(
      step('compensation_verified', 'compensating', 'compensated', {
        reason: null,
        refund: { amount_minor: 4_200, currency: 'INR' },
      }),
    );
    expect(run.derived()).toMatchObject([
      {
        type: 'RollbackSettled',
        body: {
          tenant: TENANT,
          run_id: RUN,
          members: [
            {
              mutation_id: MUTATION,
              rollback_id: ROLLBACK,
              subject_ref: '4711',
              recoverability: 'compensated',
              reason: null,
            },
          ],
        },
      },
    ]);
  });

  it('moves together with those of its leg, in one record for each event', () => {
    const keys = ['a', 'b', 'c'];
    const { run } = ledger({ isRebuilt });
    const effects = keys.map((key) => refund({ effect_key: key, event_id: `ev-${key}`, call_id: `call-${key}` }));
    for (const effect of effects) run.when(executed(effect), NOW);
    for (const effect of effects) run.when(triggerOf(RUN, mutationIdOf(effect)), NOW + 1);
    const [a, b, c] = effects.map((effect) => ({ step_id: mutationIdOf(effect), mutation_id: mutationIdOf(effect) }));
    const about = { tenant: TENANT, run_id: RUN, recovery_id: 'rec-1', leg_id: 'leg-1', attempt: 1 };
    run
      .when(
        fromRecoveries('LegDispatched', { ...about, members: [a, b, c].map((step) => ({ ...step, step })) }),
        NOW + 2,
      )
      .then(
        fact('RecoverabilityChanged', {
          event: 'compensation_started',
          members: [a, b, c].map((one) => ({ mutation_id: one?.mutation_id })),
        }),
      );
    const members = [
      { ...a, outcome: 'compensated', reason: 'HELD', call: null },
      { ...b, outcome: 'failed', reason: 'TOOL_FAILED', call: null },
      { ...c, outcome: 'not_begun', reason: 'ORDER', call: null },
    ];
    run
      .when(fromRecoveries('LegSettled', { ...about, members }), NOW + 3)
      .then(
        moved({ event: 'compensation_verified', mutation_id: a?.mutation_id }),
        moved({ event: 'compensation_failed', mutation_id: b?.mutation_id }),
      );
  });

  it('moves once however often a record is repeated', () => {
    const run = rolledBack()
      .when(DISPATCHED, NOW + 2)
      .when(DISPATCHED, NOW + 3)
      .thenNothing();
    run
      .when(outcome('compensated', 'VERIFIED'), NOW + 4)
      .when(outcome('compensated', 'VERIFIED'), NOW + 5)
      .thenNothing()
      .when(escalated('LATE'), NOW + 6)
      .thenNothing();
  });

  it("fails, and then is a person's", () => {
    const run = rolledBack()
      .when(DISPATCHED, NOW + 2)
      .when(outcome('failed', 'PROVIDER_REFUSED'), NOW + 3)
      .then(step('compensation_failed', 'compensating', 'compensation_failed', { reason: 'PROVIDER_REFUSED' }));
    expect(run.derived()).toEqual([]);
    run
      .when(escalated('PROVIDER_REFUSED'), NOW + 4)
      .then(
        step('manual_required', 'compensation_failed', 'manual_resolution_required', { reason: 'PROVIDER_REFUSED' }),
      );
    expect(eachMember(run.derived())).toMatchObject([
      { type: 'RollbackSettled', body: { recoverability: 'manual_resolution_required', reason: 'PROVIDER_REFUSED' } },
    ]);
  });

  it('is not moved by an outcome that is stale or uncertain, only by what is made of it', () => {
    rolledBack()
      .when(DISPATCHED, NOW + 2)
      .when(outcome('uncertain', 'TIMED_OUT'), NOW + 3)
      .thenNothing()
      .when(outcome('stale', 'STALE'), NOW + 4)
      .thenNothing()
      .when(escalated('STALE'), NOW + 5)
      .then(step('manual_required', 'compensating', 'manual_resolution_required', { reason: 'STALE' }));
  });

  it('is manual when a person denies it', () => {
    const run = rolledBack()
      .when(DENIED, NOW + 2)
      .then(step('manual_required', 'reversal_available', 'manual_resolution_required', { reason: 'DENIED' }));
    run.when(escalated('DENIED'), NOW + 3).thenNothing();
  });

  it('that a person closed by hand says how, and is not compensated for that', () => {
    const run = rolledBack()
      .when(escalated('STALE'), NOW + 2)
      .when(resolvedBy('repaired'), NOW + 3)
      .then(
        step('resolved', 'manual_resolution_required', 'manual_resolution_required', {
          reason: 'RESOLVED:repaired',
          step_id: 'step-1',
          refund: null,
        }),
      );
    expect(run.derived()).toEqual([]);
    expect(run.rows('mutation')[0]?.doc).toMatchObject({
      recoverability: 'manual_resolution_required',
      reason: 'RESOLVED:repaired',
      last_error: 'STALE',
    });
  });

  it('that a person closed while it stood as under way comes to rest, and its rollback is settled', () => {
    const run = rolledBack()
      .when(DISPATCHED, NOW + 2)
      .when(resolvedBy('accepted'), NOW + 3)
      .then(step('resolved', 'compensating', 'manual_resolution_required', { reason: 'RESOLVED:accepted' }));
    expect(eachMember(run.derived())).toMatchObject([
      { type: 'RollbackSettled', body: { recoverability: 'manual_resolution_required', reason: 'RESOLVED:accepted' } },
    ]);
  });

  it('of a mutation this ledger does not know changes nothing', () => {
    ledger({ isRebuilt })
      .run.when(DISPATCHED, NOW)
      .thenNothing()
      .when(escalated('X'), NOW + 1)
      .thenNothing();
  });
});

describe.each(WAYS)('a window, $way', ({ isRebuilt }) => {
  it('is closed by the clock alone, at its instant', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(refund()), NOW)
      .whenDue(EXPIRES - 1)
      .then(fact('WindowClosing', { closes_at: EXPIRES }));
    run.whenDue(EXPIRES).then(
      moved({
        event: 'window_closed',
        from_state: 'reversal_available',
        to_state: 'reversal_expired',
        reason: 'WINDOW_CLOSED',
        rollback_id: null,
      }),
    );
    expect(run.derived()).toEqual([]);
    expect(run.rows().filter((row) => row.dueAt !== null)).toEqual([]);
  });

  it('that closes on a rolled-back commit is told downstream', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .whenDue(EXPIRES);
    expect(eachMember(run.derived())).toMatchObject([
      { type: 'RollbackSettled', body: { recoverability: 'reversal_expired', reason: 'WINDOW_CLOSED' } },
    ]);
  });

  it('does not end a compensation that was dispatched within it, heard of before or after', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(DISPATCHED, EXPIRES - 5)
      .whenDue(EXPIRES)
      .thenNothing();
    const late = ledger({ isRebuilt }).run;
    late
      .when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .whenDue(EXPIRES)
      .when(DISPATCHED, EXPIRES + 1)
      .then(moved({ from_state: 'reversal_expired', to_state: 'compensating' }));
  });
});
