import { describe, expect, it } from '@jest/globals';
import { contractDigest, happened, notHappened } from '@recourse/contract';
import { leaseIdOf } from '@recourse/kernel';
import type { StepReport } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import {
  ASKING,
  command,
  contractText,
  DISPATCHED,
  envelope,
  escalated,
  executed,
  HOUR_MS,
  intent,
  ledger,
  MUTATION,
  NOW,
  outcome,
  planned,
  refund,
  reported,
  request,
  resolvedBy,
  ROLLBACK,
  TRIGGERED,
  RUN,
  seen,
  TENANT,
} from './ledger.testing.js';
import { mutationsCore } from '../core.js';

const UNCERTAIN = refund({ outcome: 'uncertain', result: null, external_transaction_ref: null });
/** The contract's call time-out and the margin: no call can be under way any more. */
const ASKED_AT = NOW + 2_000 + ASKING.marginMs;
const FOUND: Partial<StepReport> = {
  outcome: 'verified',
  observations: [seen('reconcile', happened({ refund_id: 're_1', status: 'issued' }, 're_1'))],
};
const FOUND_NOTHING: Partial<StepReport> = { outcome: 'unverified', observations: [seen('reconcile', notHappened())] };

describe.each(WAYS)('an execution nobody knows the end of, $way', ({ isRebuilt }) => {
  const start = () => ledger({ isRebuilt, asks: true }).run;
  const asked = () => start().when(executed(UNCERTAIN), NOW).whenDue(ASKED_AT);

  it('is asked about once no call can be under way any more, under its own keys', () => {
    const run = start()
      .when(executed(UNCERTAIN), NOW)
      .whenDue(ASKED_AT - 1)
      .thenNothing();
    run
      .whenDue(ASKED_AT)
      .then(fact('WorkerAsked', { mutation_id: MUTATION, adapter: 'payments', first_asked_at: ASKED_AT }));
    const [message] = run.outgoing();
    expect(message).toMatchObject({
      topic: 'recourse.tool-requests.payments',
      key: RUN,
      type: 'recourse.tools.LegRequested',
    });
    const sent = request(run);
    expect(sent).toMatchObject({
      kind: 'reconcile',
      attempt: 1,
      not_after: ASKED_AT + ASKING.leaseMs,
      steps: [
        {
          step_id: MUTATION,
          reconcile_capability: 'payments.get_refund',
          call: { idempotency_key: 'key-1', call_id: 'call-1' },
        },
      ],
    });
    expect(sent.lease_id).toBe(leaseIdOf(ASKING.leaseKey, sent.leg_id, 1, sent.not_after));
  });

  it('that happened succeeded, with its handle, and can be undone', () => {
    const run = asked();
    run.when(reported(request(run), FOUND), ASKED_AT + 5).then(
      fact('WorkerAnswered', { kind: 'reconcile', verdict: 'met', reason: 'FOUND', retry_at: null }),
      fact('MutationRecorded', {
        mutation_id: MUTATION,
        execution_state: 'succeeded',
        recoverability: 'reversal_available',
        ref: { external_transaction_ref: 're_1', committed_at: NOW - 1_000 },
      }),
    );
    expect(run.rows('mutation')).toMatchObject([
      { doc: { execution_state: 'succeeded', awaited: null, forward: { reconcile_at: null } } },
    ]);
  });

  it('says how it was found out, on its record and on the mark that follows (C59)', () => {
    const run = asked();
    const found = {
      how: 'reconcile',
      by: null,
      leg_id: request(run).leg_id,
      attempt: 1,
      verdict: 'met',
      reason: 'FOUND',
      observations: [{ phase: 'reconcile', capability: 'payments.get_refund' }],
      found_at: ASKED_AT + 5,
    };
    run
      .when(reported(request(run), FOUND), ASKED_AT + 5)
      .then(fact('WorkerAnswered'), fact('MutationRecorded', { found_out: found }));
    run.when(TRIGGERED, ASKED_AT + 6).then(fact('MutationsFell', { members: [{ found_out: found }] }));
  });

  it('has no worker compensate it, whatever falls, is tried, fails and is asked again (D14)', () => {
    const run = asked();
    const sent = [...run.outgoing()];
    const reports = reported(request(run), FOUND);
    for (const [input, at] of [
      [reports, 5],
      [TRIGGERED, 6],
      [DISPATCHED, 7],
      [outcome('uncertain', 'UNKNOWN'), 8],
      [outcome('failed', 'REFUSED'), 9],
      [escalated('COMPENSATION_FAILED'), 10],
      [resolvedBy('repaired'), 11],
    ] as const) {
      run.when(input, ASKED_AT + at);
      sent.push(...run.outgoing());
    }
    const asks = sent
      .filter(({ topic }) => topic.startsWith('recourse.tool-requests.'))
      .map(({ body }) => body['kind']);
    expect(run.rows('mutation')).toMatchObject([{ doc: { rollback_id: ROLLBACK } }]);
    expect(asks).toEqual(['reconcile']);
  });

  it('that is proven not to have happened failed', () => {
    const run = asked();
    run
      .when(reported(request(run), FOUND_NOTHING), ASKED_AT + 5)
      .then(
        fact('WorkerAnswered', { verdict: 'not_met', reason: 'FOUND_NOTHING' }),
        fact('MutationRecorded', { execution_state: 'failed', reason: 'EXECUTION_FAILED' }),
      );
    expect(run.rows().filter((row) => row.dueAt !== null)).toEqual([]);
  });

  it("stays failed when its producer's first word is delivered again, and again after a retry", () => {
    const run = asked();
    run
      .when(reported(request(run), FOUND_NOTHING), ASKED_AT + 5)
      .when(executed(UNCERTAIN), ASKED_AT + 6)
      .thenNothing();
    run.when(executed(refund()), ASKED_AT + 7).then(fact('MutationRecorded', { execution_state: 'succeeded' }));
    run
      .when(executed(UNCERTAIN), ASKED_AT + 8)
      .thenNothing()
      .when(executed(refund()), ASKED_AT + 9)
      .thenNothing();
  });

  it('is asked about again after a while, and given to a person after the last time', () => {
    const run = asked();
    run
      .when(reported(request(run), { outcome: 'unknown' }), ASKED_AT + 5)
      .then(fact('WorkerAnswered', { verdict: 'unknown', retry_at: ASKED_AT + 105 }));
    run.whenDue(ASKED_AT + 105).then(fact('WorkerAsked', { request: { attempt: 2 }, first_asked_at: ASKED_AT }));
    const second = request(run);
    run
      .whenDue(second.not_after + 4_000)
      .then(
        fact('WorkerAnswered', { reason: 'NO_ANSWER', attempt: 2, retry_at: null }),
        fact('ExecutionOverdue', { execution_state: 'uncertain', owner: 'role:administrator' }),
      );
    expect(run.rows('mutation')).toMatchObject([
      { dueAt: null, doc: { awaited: { owner: 'role:administrator', is_overdue: true } } },
    ]);
    run
      .when(reported(second, FOUND), second.not_after + 9_000)
      .then(fact('MutationRecorded', { execution_state: 'succeeded' }));
  });

  it('is not believed of a worker whose verdict and finding disagree, nor of an answer in another form', () => {
    for (const step of [
      { ...FOUND, outcome: 'unverified' },
      { ...FOUND_NOTHING, outcome: 'verified' },
      { outcome: 'verified', observations: [seen('reconcile', { refund_id: 're_1' })] },
    ] as const) {
      const run = asked();
      run.when(reported(request(run), step), ASKED_AT + 5).then(fact('WorkerAnswered', { verdict: 'unknown' }));
    }
  });

  it("is nobody else's to tell: another lease decides nothing, and says so", () => {
    const run = asked();
    run
      .when(reported(request(run), FOUND, { lease_id: 'guess' }), ASKED_AT + 5)
      .then(fact('AnswerRefused', { code: 'LEASE_UNKNOWN' }));
    run
      .when(reported(request(asked()), FOUND, { tenant: 'other' }), ASKED_AT + 6)
      .then(fact('AnswerRefused', { code: 'LEASE_UNKNOWN', tenant: 'other' }));
    run
      .when({ ...reported(request(asked()), FOUND), key: 'run-2' }, ASKED_AT + 7)
      .then(fact('AnswerRefused', { code: 'KEY_MISMATCH', run_id: 'run-2' }));
  });

  it('learns nothing of a report while the request is still under way', () => {
    const run = asked();
    const sent = request(run);
    run.when(reported(sent, FOUND_NOTHING, { complete: false }), ASKED_AT + 5).thenNothing();
    run
      .when(reported(sent, FOUND), ASKED_AT + 6)
      .then(fact('WorkerAnswered'), fact('MutationRecorded', { execution_state: 'succeeded' }));
  });

  it('stays open when a copy of the request was refused late', () => {
    const run = asked();
    const sent = request(run);
    run
      .when(reported(sent, { outcome: 'refused_late' }), ASKED_AT + 5)
      .then(fact('AnswerRefused', { code: 'REFUSED_LATE' }));
    run
      .when(reported(sent, FOUND), ASKED_AT + 6)
      .then(fact('WorkerAnswered'), fact('MutationRecorded', { execution_state: 'succeeded' }));
  });

  it('told by its producer meanwhile makes the answer needless; a contrary one is a conflict on record', () => {
    const told = () => {
      const run = asked();
      const sent = request(run);
      run.when(executed(refund()), ASKED_AT + 1);
      return { run, sent };
    };
    const agreeing = told();
    agreeing.run
      .when(reported(agreeing.sent, FOUND), ASKED_AT + 5)
      .then(fact('AnswerRefused', { code: 'ALREADY_ANSWERED' }));
    const contrary = told();
    contrary.run
      .when(reported(contrary.sent, FOUND_NOTHING), ASKED_AT + 5)
      .then(fact('ExecutionConflicted', { mutation_id: MUTATION, event_id: `${contrary.sent.leg_id}.not_met` }));
  });

  it('told the same by its producer afterwards is known; told otherwise is a conflict', () => {
    const run = asked();
    run
      .when(reported(request(run), FOUND), ASKED_AT + 5)
      .when(executed(refund({ event_id: 'ev-2' })), ASKED_AT + 6)
      .thenNothing();
    run
      .when(executed(refund({ event_id: 'ev-3', external_transaction_ref: 're_2' })), ASKED_AT + 7)
      .then(fact('ExecutionConflicted', { event_id: 'ev-3' }));
  });

  it('answered twice the same is recorded once', () => {
    const run = asked();
    const report = reported(request(run), FOUND);
    run
      .when(report, ASKED_AT + 5)
      .when(report, ASKED_AT + 6)
      .thenNothing();
  });

  it('is owed a request until it is answered, or too late to take', () => {
    const run = asked();
    const [message] = run.outgoing();
    expect(
      message !== undefined && [run.owed(message, ASKED_AT + 1), run.owed(message, request(run).not_after)],
    ).toEqual([true, false]);
    const sent = request(run);
    run.when(reported(sent, FOUND), ASKED_AT + 5);
    expect(message !== undefined && run.owed(message, ASKED_AT + 6)).toBe(false);
  });

  it('that was only planned is asked about at its deadline, and its window counts from its intent', () => {
    const run = start()
      .when(planned(intent()), NOW)
      .whenDue(NOW + 900_000)
      .then(fact('WorkerAsked', { mutation_id: MUTATION }));
    run.when(reported(request(run), FOUND), NOW + 900_005).then(
      fact('WorkerAnswered'),
      fact('MutationRecorded', {
        execution_state: 'succeeded',
        ref: { committed_at: NOW - 2_000 },
        judged: [{ verdict: 'unknown' }],
      }),
    );
  });

  it('whose contract names nobody who could tell goes to a person at its deadline', () => {
    const mute = contractText({ reconcile_capability: undefined });
    const run = ledger({ isRebuilt, asks: true, contracts: [mute] }).run.when(
      executed({ ...UNCERTAIN, contract_digest: contractDigest(mute) }),
      NOW,
    );
    run.whenDue(NOW + 900_000).then(fact('ExecutionOverdue', { mutation_id: MUTATION, tenant: TENANT }));
  });

  it('and that was rolled back meanwhile is still found out', () => {
    const run = start()
      .when(executed(UNCERTAIN), NOW)
      .when(TRIGGERED, NOW + 1)
      .whenDue(ASKED_AT);
    run
      .when(reported(request(run), FOUND), ASKED_AT + 5)
      .then(
        fact('WorkerAnswered'),
        fact('MutationRecorded', { execution_state: 'succeeded', recoverability: 'reversal_available' }),
      );
  });
});

describe.each(WAYS)('a person who is asked how an execution ended, $way', ({ isRebuilt }) => {
  const look = (who = envelope('olga', ['operator']), reason = 'the provider is back') =>
    command('ReconcileMutation', who, { run_id: RUN, mutation_id: MUTATION, reason });
  const start = (asks = true) => ledger({ isRebuilt, asks }).run.when(executed(UNCERTAIN), NOW);
  /** Two looks of the worker found nothing out. */
  const given = () => {
    const run = start().whenDue(ASKED_AT);
    run.when(reported(request(run), { outcome: 'unknown' }), ASKED_AT + 5).whenDue(ASKED_AT + 105);
    return run.when(reported(request(run), { outcome: 'unknown' }), ASKED_AT + 110);
  };
  const LATER = ASKED_AT + 1_000;

  it('has a worker look once more, and what it finds ends the question (C4, C64)', () => {
    const run = given()
      .when(look(), LATER)
      .then(fact('WorkerAsked', { mutation_id: MUTATION, request: { kind: 'reconcile', attempt: 3 } }))
      .thenAnswer({ httpStatus: 202 });
    run
      .when(reported(request(run), FOUND), LATER + 5)
      .then(fact('WorkerAnswered', { verdict: 'met' }), fact('MutationRecorded', { execution_state: 'succeeded' }));
    expect(run.rows('mutation')).toMatchObject([{ doc: { awaited: null } }]);
  });

  it('keeps it when the look finds nothing out, and may look again', () => {
    const run = given().when(look(), LATER);
    run
      .when(reported(request(run), { outcome: 'unknown' }), LATER + 5)
      .then(fact('WorkerAnswered', { verdict: 'unknown', retry_at: null }), fact('ExecutionOverdue'));
    run.when(look(), LATER + 10).then(fact('WorkerAsked', { request: { attempt: 4 } }));
  });

  it('is told why nobody can look', () => {
    given()
      .when(look(envelope('rita', ['reporter'])), LATER)
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' })
      .when(look(undefined, ' '), LATER)
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' })
      .when(look(envelope('olga', ['operator'], { tenant: 'other' })), LATER)
      .thenAnswer({ httpStatus: 404, code: 'MUTATION_UNKNOWN' })
      .when(look(), LATER)
      .when(look(), LATER + 1)
      .thenAnswer({ httpStatus: 409, code: 'RECONCILIATION_PENDING' });
    start()
      .when(look(), NOW + 1)
      .thenAnswer({ httpStatus: 409, code: 'NOTHING_TO_RECONCILE' });
    const run = start(false);
    run
      .when(run.timer('mutation', MUTATION), NOW + 24 * HOUR_MS)
      .when(look(), NOW + 25 * HOUR_MS)
      .thenAnswer({ httpStatus: 409, code: 'NO_RECONCILIATION' });
  });
});

describe('what waits to be decided by the ledger', () => {
  it('has what workers answered before what agents and people tell', () => {
    const first = mutationsCore({}).inputs.filter(({ goesFirst }) => goesFirst === true);
    expect(first.map(({ topic }) => topic)).toEqual(['recourse.tool-results']);
  });
});
