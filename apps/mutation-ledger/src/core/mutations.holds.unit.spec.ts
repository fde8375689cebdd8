import { describe, expect, it } from '@jest/globals';
import { contractDigest } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import type { StepReport, ToolPlanned } from '@recourse/messages';
import { eachMember, fact, WAYS, wire } from '@recourse/testing';
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
  REF,
  reported,
  request,
  ROLLBACK,
  TRIGGERED,
  RUN,
  seen,
  state,
  statement,
  TENANT,
  fell,
} from './ledger.testing.js';

const HOLD_MS = 60_000;
const ENDS = NOW + HOLD_MS;
const HELD = { commit_hold_ms: HOLD_MS, cancel_capability: 'payments.cancel_refund' };
const LOOKED_AT = {
  ...HELD,
  precondition: { observe_capability: 'payments.get_refund', condition: 'observed.limit >= args.amount_minor' },
};
const RESERVED = { ...HELD, techniques: { reservation: true } };
const RELEASED: Partial<StepReport> = {
  outcome: 'verified',
  external_transaction_ref: 're_9',
  observations: [seen('execute', { refund_id: 're_9', status: 'issued' }, 'payments.issue_refund')],
};

describe.each(WAYS)('an effect that is left to the ledger, $way', ({ isRebuilt }) => {
  const start = (changes: Readonly<Record<string, unknown>> = HELD, plan: Partial<ToolPlanned> = {}) => {
    const text = contractText(changes);
    const made = ledger({ isRebuilt, asks: true, contracts: [text] });
    made.run.when(planned(intent({ is_held: true, contract_digest: contractDigest(text), ...plan })), NOW);
    return made;
  };
  const cancel = (more: object = {}, roles: readonly string[] = ['operator'], as: object = {}): RecordInput =>
    wire(
      'recourse.ledger-commands',
      'CancelMutation',
      {
        envelope: {
          command_id: 'cmd-1',
          tenant: TENANT,
          principal: 'mira',
          accounts: [],
          roles,
          issued_at: NOW,
          body_sha256: Buffer.alloc(32),
          signature: null,
          ...as,
        },
        run_id: RUN,
        mutation_id: MUTATION,
        reason: 'wrong order',
        ...more,
      },
      { key: RUN },
    );
  const cancelled = (reason: string) =>
    fact('MutationRecorded', { mutation_id: MUTATION, execution_state: 'failed', recoverability: 'cancelled', reason });

  it('waits for the end of its hold, and stands in the list with its deadline', () => {
    const { run } = start();
    run.then(
      fact('MutationPlanned', { hold_until: ENDS, conclude_by: null, judged: [{ ref: REF, verdict: 'unknown' }] }),
    );
    expect(run.rows('mutation')).toMatchObject([
      {
        dueAt: ENDS,
        doc: {
          execution_state: 'planned',
          recoverability: 'pending_commit',
          awaited: { deadline_at: ENDS },
          forward: { hold: { until: ENDS, is_over: false } },
        },
      },
    ]);
    run.whenDue(ENDS - 1).thenNothing();
  });

  it('is let go through a worker when the hold ends, under its own key', () => {
    const { run } = start();
    run
      .whenDue(ENDS)
      .then(
        fact('HoldElapsed', { mutation_id: MUTATION, hold_until: ENDS, judged: [{ ref: REF }] }),
        fact('WorkerAsked', { request: { kind: 'release' } }),
      );
    expect(request(run)).toMatchObject({
      kind: 'release',
      attempt: 1,
      steps: [{ call: { capability: 'payments.issue_refund', idempotency_key: 'key-1', call_id: 'call-1' } }],
    });
    expect(run.rows('mutation')).toMatchObject([
      { doc: { execution_state: 'executing', awaited: { owner: 'adapter:payments' } } },
    ]);
  });

  it('that went has its handle bound, and can be undone like every other', () => {
    const { run } = start();
    run.whenDue(ENDS);
    run.when(reported(request(run), RELEASED), ENDS + 50).then(
      fact('WorkerAnswered', { kind: 'release', verdict: 'met' }),
      fact('MutationRecorded', {
        execution_state: 'succeeded',
        recoverability: 'reversal_available',
        ref: { external_transaction_ref: 're_9', committed_at: ENDS },
      }),
    );
  });

  it('that its tool refused failed', () => {
    const { run } = start();
    run.whenDue(ENDS);
    run
      .when(reported(request(run), { outcome: 'failed' }), ENDS + 50)
      .then(fact('WorkerAnswered', { verdict: 'not_met' }), fact('MutationRecorded', { execution_state: 'failed' }));
  });

  it('is never let go twice: an answer that does not come leaves it uncertain, and it is found out', () => {
    const { run } = start();
    run.whenDue(ENDS);
    const sent = request(run);
    const missed = sent.not_after + 2_000 + ASKING.marginMs;
    run
      .whenDue(missed)
      .then(
        fact('WorkerAnswered', { kind: 'release', reason: 'NO_ANSWER', retry_at: null }),
        fact('MutationRecorded', { execution_state: 'uncertain', recoverability: 'pending_commit' }),
      );
    run.whenDue(missed + 4_000).then(fact('WorkerAsked', { request: { kind: 'reconcile' } }));
    run.when(reported(sent, RELEASED), missed + 5_000).then(fact('MutationRecorded', { execution_state: 'succeeded' }));
  });

  it('is cancelled by a person inside its hold, and never goes', () => {
    const { run } = start();
    run
      .when(cancel(), NOW + 1)
      .then(cancelled('CANCELLED_BY_PERSON'))
      .thenAnswer({ status: 'accepted', httpStatus: 200 });
    run.whenDue(ENDS + HOLD_MS).thenNothing();
    expect(run.outgoing()).toEqual([]);
    run
      .when(cancel(), ENDS + HOLD_MS)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { recoverability: 'cancelled' } });
  });

  it.each([
    ['its own agent', { principal: 'agent-1' }],
    ['its own agent, in another spelling', { principal: 'agent:Agent-1' }],
    ['a program that has the account of its agent', { principal: 'orders', accounts: ['agent-1'] }],
  ])('is cancelled by %s', (_, as) => {
    start()
      .run.when(cancel({}, ['agent'], as), NOW + 1)
      .then(cancelled('CANCELLED_BY_AGENT'))
      .thenAnswer({ httpStatus: 200, body: { reason: 'CANCELLED_BY_AGENT' } });
  });

  it('is cancelled by no other agent of its tenant', () => {
    const { run } = start();
    const theirs = (id: string) => cancel({}, ['agent'], { principal: 'mallory', command_id: id });
    run.when(theirs('cmd-2'), NOW + 1).thenAnswer({ httpStatus: 403, code: 'EFFECT_OF_ANOTHER' });
    expect(run.rows('mutation')).toMatchObject([{ doc: { recoverability: 'pending_commit' } }]);
    run
      .when(cancel(), NOW + 2)
      .when(theirs('cmd-3'), NOW + 3)
      .thenAnswer({ httpStatus: 403, code: 'EFFECT_OF_ANOTHER' });
  });

  it('is not cancelled by strangers, nor once it was let go', () => {
    const { run } = start();
    run.when(cancel({}, ['reader']), NOW + 1).thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    run.when(cancel({ mutation_id: 'mut_x' }), NOW + 2).thenAnswer({ httpStatus: 404, code: 'MUTATION_UNKNOWN' });
    run
      .whenDue(ENDS)
      .when(cancel(), ENDS + 1)
      .thenAnswer({ httpStatus: 409, code: 'NOT_HELD' })
      .thenNothing();
  });

  it('is cancelled when a ref it relies on falls inside the hold, and its rollback is settled at once', () => {
    const { run, assumptions } = start();
    run
      .when(state(assumptions, statement('invalidated', 'e1')), NOW + 1)
      .then(fact('TriggerUnmatched', { mutation_id: MUTATION }), cancelled('REF_INVALIDATED'));
    run.whenDue(NOW + 1).then(fell({ recoverability: 'cancelled', rollback_id: ROLLBACK }));
    expect(eachMember(run.derived())).toMatchObject([
      { type: 'RollbackAnnounced', body: { mutation_id: MUTATION } },
      { type: 'RollbackSettled', body: { mutation_id: MUTATION, recoverability: 'cancelled' } },
    ]);
    expect(run.rows('binding')).toEqual([]);
    run.whenDue(ENDS).thenNothing();
  });

  it('is cancelled by a rollback inside the hold, which then finds it so', () => {
    const { run } = start();
    run.when(TRIGGERED, NOW + 1).then(fact('TriggerUnmatched'), cancelled('ROLLED_BACK'));
    run.whenDue(NOW + 1).then(fell({ recoverability: 'cancelled', execution_state: 'failed' }));
    expect(run.rows('trigger')).toEqual([]);
  });

  it('is cancelled at once where its rollback came before it', () => {
    const text = contractText(HELD);
    const { run } = ledger({ isRebuilt, asks: true, contracts: [text] });
    run
      .when(TRIGGERED, NOW)
      .when(planned(intent({ is_held: true, contract_digest: contractDigest(text) })), NOW + 1)
      .then(fact('MutationPlanned'), cancelled('ROLLED_BACK'));
  });

  it('does not go on a ref that fell, even where the statement is read only later', () => {
    const { run, assumptions } = start();
    const late = state(assumptions, statement('invalidated', 'e1'));
    run.whenDue(ENDS).then(cancelled('REF_INVALIDATED'));
    expect(run.outgoing()).toEqual([]);
    run.when(late, ENDS + 1).thenNothing();
  });

  it('that was let go and then contradicted is rolled back like every other, once it is known to have happened', () => {
    const { run, assumptions } = start();
    run.whenDue(ENDS);
    const sent = request(run);
    run
      .when(state(assumptions, statement('invalidated', 'e1')), ENDS + 1)
      .then(fact('TriggerUnmatched'))
      .when(TRIGGERED, ENDS + 2)
      .then(fact('TriggerRedundant'));
    run
      .when(reported(sent, RELEASED), ENDS + 3)
      .then(fact('WorkerAnswered'), fact('MutationRecorded', { recoverability: 'reversal_available' }));
    run.whenDue(ENDS + 3).then(fell({ recoverability: 'reversal_available' }));
  });

  it('goes only when its precondition holds at the end of the hold', () => {
    const look = (limit: number, outcome: StepReport['outcome']) => {
      const { run } = start(LOOKED_AT);
      run.whenDue(ENDS).then(fact('WorkerAsked', { request: { kind: 'observe' } }));
      return run.when(reported(request(run), { outcome, observations: [seen('verify', { limit })] }), ENDS + 5);
    };
    look(5_000, 'verified').then(
      fact('WorkerAnswered', { verdict: 'met', reason: 'CONDITION_HELD' }),
      fact('HoldElapsed'),
      fact('WorkerAsked', { request: { kind: 'release' } }),
    );
    look(10, 'unverified').then(fact('WorkerAnswered', { verdict: 'not_met' }), cancelled('PRECONDITION_FAILED'));
    look(10, 'verified').then(fact('WorkerAnswered', { verdict: 'unknown', reason: 'VERDICTS_DISAGREE' }));
  });

  it.each([
    ['takes back what its run did before, where the run says so (A53)', 'compensate'],
    ['leaves it where the run does not', 'keep'],
  ] as const)('that does not go %s', (_what, on_failure) => {
    const { run } = start(LOOKED_AT, { on_failure });
    const contract_digest = contractDigest(contractText(LOOKED_AT));
    const earlier = { event_id: 'evt-b', effect_key: 'b', call_id: 'call-b', idempotency_key: 'key-b' };
    run.when(executed(refund({ ...earlier, contract_digest, assumption_refs: [] })), NOW + 1).whenDue(ENDS);
    run
      .when(reported(request(run), { outcome: 'unverified', observations: [seen('verify', { limit: 10 })] }), ENDS + 5)
      .then(
        fact('WorkerAnswered', { verdict: 'not_met' }),
        cancelled('PRECONDITION_FAILED'),
        ...(on_failure === 'keep'
          ? []
          : [fact('UndoListed', { is_last: true }), fell({ evidence: { kind: 'tool_return', source: 'agent-1' } })]),
      );
  });

  it('does not go when nobody can look', () => {
    const { run } = start(LOOKED_AT);
    run
      .whenDue(ENDS)
      .when(reported(request(run), { outcome: 'unknown' }), ENDS + 1)
      .whenDue(ENDS + 101);
    run
      .when(reported(request(run), { outcome: 'unknown' }), ENDS + 200)
      .then(fact('WorkerAnswered', { attempt: 2, retry_at: null }), cancelled('PRECONDITION_UNKNOWN'));
  });

  it('that is staged is given back when it is cancelled, and a person is asked when that does not work', () => {
    const { run } = start(RESERVED, { staged_ref: 'hold_1' });
    run
      .when(cancel(), NOW + 1)
      .then(cancelled('CANCELLED_BY_PERSON'), fact('WorkerAsked', { request: { kind: 'cancel' } }));
    const sent = request(run);
    expect(sent.steps[0]).toMatchObject({
      external_transaction_ref: 'hold_1',
      call: { capability: 'payments.cancel_refund', idempotency_key: expect.stringMatching(/^cancel_mut_/) },
    });
    run
      .when(reported(sent, { outcome: 'failed' }), NOW + 2)
      .then(fact('WorkerAnswered', { verdict: 'not_met', retry_at: NOW + 102 }))
      .whenDue(NOW + 102);
    const again = request(run);
    expect(again.steps[0]?.call.idempotency_key).toBe(sent.steps[0]?.call.idempotency_key);
    run
      .when(reported(again, { outcome: 'unknown' }), NOW + 200)
      .then(fact('WorkerAnswered', { retry_at: null }), fact('ExecutionOverdue', { owner: 'role:administrator' }));
    run.when(reported(again, { outcome: 'verified' }), NOW + 300).then(fact('WorkerAnswered', { verdict: 'met' }));
    expect(run.rows('mutation')).toMatchObject([{ doc: { recoverability: 'cancelled', awaited: null } }]);
  });

  it('commits what is staged with the handle of what is staged', () => {
    const { run } = start(RESERVED, { staged_ref: 'hold_1' });
    run.whenDue(ENDS);
    expect(request(run)).toMatchObject({ kind: 'release', steps: [{ external_transaction_ref: 'hold_1' }] });
  });

  it('that is staged is given back when the tool refused to commit it, or it is found not to have happened', () => {
    const { run } = start(RESERVED, { staged_ref: 'hold_1' });
    run
      .whenDue(ENDS)
      .when(reported(request(run), { outcome: 'failed' }), ENDS + 5)
      .then(
        fact('WorkerAnswered', { kind: 'release', verdict: 'not_met' }),
        fact('MutationRecorded', { execution_state: 'failed' }),
        fact('WorkerAsked', { request: { kind: 'cancel' } }),
      );
    const sent = request(run);
    expect(sent.steps[0]).toMatchObject({
      external_transaction_ref: 'hold_1',
      call: { capability: 'payments.cancel_refund', idempotency_key: expect.stringMatching(/^cancel_mut_/) },
    });
    run
      .when(reported(sent, { outcome: 'verified' }), ENDS + 9)
      .then(fact('WorkerAnswered', { kind: 'cancel', verdict: 'met' }));
    expect(run.rows('mutation')).toMatchObject([{ dueAt: null, doc: { execution_state: 'failed', awaited: null } }]);
  });

  it('that is staged stays when nobody knows whether it was committed', () => {
    const { run } = start(RESERVED, { staged_ref: 'hold_1' });
    run
      .whenDue(ENDS)
      .when(reported(request(run), { outcome: 'unknown' }), ENDS + 5)
      .then(fact('WorkerAnswered', { verdict: 'unknown' }), fact('MutationRecorded', { execution_state: 'uncertain' }));
  });

  it('that its agent made all the same is recorded as it is, and not let go again', () => {
    const { run } = start();
    run
      .when(executed(refund({ contract_digest: contractDigest(contractText(HELD)) })), NOW + 10)
      .then(fact('MutationRecorded', { execution_state: 'succeeded', recoverability: 'reversal_available' }));
    run.whenDue(ENDS).thenNothing();
  });

  it('is given to a person, and stays held, where nobody can be asked to let it go', () => {
    const text = contractText(HELD);
    const { run } = ledger({ isRebuilt, contracts: [text] });
    run
      .when(planned(intent({ is_held: true, contract_digest: contractDigest(text) })), NOW)
      .whenDue(ENDS)
      .then(fact('HoldElapsed'), fact('ExecutionOverdue', { execution_state: 'planned' }));
    run.when(cancel(), ENDS + 1).then(cancelled('CANCELLED_BY_PERSON'));
  });

  it('whose producer acts itself is not held, whatever its contract says', () => {
    const { run } = start(HELD, { is_held: false });
    run
      .then(fact('MutationPlanned', { hold_until: null }))
      .whenDue(ENDS)
      .thenNothing();
  });

  it('shows what was there before, what a dry run said and what is staged', () => {
    const { run } = start(HELD, { prior_value: refund().args, rehearsal: refund().args, staged_ref: 'hold_1' });
    expect(run.rows('mutation')).toMatchObject([
      { doc: { execution: { prior_value: refund().args, rehearsal: refund().args, staged_ref: 'hold_1' } } },
    ]);
    run.whenDue(ENDS);
    run.when(reported(request(run), RELEASED), ENDS + 5);
    expect(run.rows('mutation')).toMatchObject([
      {
        doc: {
          execution: { prior_value: refund().args, rehearsal: refund().args },
          ref: { prior_value_hash: refund().args.sha256 },
        },
      },
    ]);
  });
});
