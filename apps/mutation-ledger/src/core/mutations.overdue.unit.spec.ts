import { describe, expect, it } from '@jest/globals';
import { fact, WAYS } from '@recourse/testing';
import { executed, intent, ledger, MUTATION, NOW, planned, refund, RUN, TENANT } from './ledger.testing.js';

const CONCLUDE_WITHIN = 60_000;
const DEADLINE = NOW + CONCLUDE_WITHIN;
const DAY = 86_400_000;
const UNCERTAIN = refund({ outcome: 'uncertain', result: null });

describe.each(WAYS)('an execution nobody told the end of, $way', ({ isRebuilt }) => {
  const start = () => ledger({ isRebuilt, concludeWithinMs: CONCLUDE_WITHIN }).run;
  const awaited = (run: ReturnType<typeof start>): unknown => run.rows('mutation')[0]?.doc.awaited;

  it('waits for its agent until a deadline, planned or uncertain', () => {
    for (const input of [planned(intent()), executed(UNCERTAIN)]) {
      const run = start().when(input, NOW);
      expect(awaited(run)).toEqual({ owner: 'agent-1', deadline_at: DEADLINE, is_overdue: false });
      run.whenDue(DEADLINE - 1).thenNothing();
    }
  });

  it('is given to a person at the deadline, planned or uncertain', () => {
    for (const [input, state] of [
      [planned(intent()), 'planned'],
      [executed(UNCERTAIN), 'uncertain'],
    ] as const) {
      const run = start().when(input, NOW).whenDue(DEADLINE);
      run.then(
        fact('ExecutionOverdue', {
          mutation_id: MUTATION,
          tenant: TENANT,
          run_id: RUN,
          execution_state: state,
          owner: 'role:administrator',
          deadline_at: DEADLINE + DAY,
        }),
      );
      expect(run.rows('mutation')).toMatchObject([
        {
          dueAt: null,
          doc: { awaited: { owner: 'role:administrator', deadline_at: DEADLINE + DAY, is_overdue: true } },
        },
      ]);
    }
  });

  it('says ever after that people had to be asked, however it ended (C72)', () => {
    const run = start().when(executed(UNCERTAIN), NOW);
    expect(run.rows('mutation')).toMatchObject([{ doc: { asked_because: null } }]);
    run.whenDue(DEADLINE);
    expect(run.rows('mutation')).toMatchObject([{ doc: { asked_because: 'OUTCOME_UNKNOWN' } }]);
    run.when(executed(refund()), DEADLINE + 1);
    expect(run.rows('mutation')).toMatchObject([{ doc: { asked_because: 'OUTCOME_UNKNOWN', awaited: null } }]);
  });

  it('says so too where nothing automatic can take it back, with the reason (C72)', () => {
    const run = start().when(executed(refund({ contract_digest: null })), NOW);
    expect(run.rows('mutation')).toMatchObject([{ doc: { asked_because: 'UNCONTRACTED' } }]);
  });

  it('is given to a person once', () => {
    const run = start().when(executed(UNCERTAIN), NOW);
    const due = run.timer('mutation', MUTATION);
    run
      .when(due, DEADLINE)
      .when(due, DEADLINE + 1)
      .thenNothing();
  });

  it('still counts when it is told late, with its reversal bound', () => {
    const run = start()
      .when(planned(intent()), NOW)
      .whenDue(DEADLINE)
      .when(executed(refund()), DEADLINE + 1);
    run.then(
      fact('MutationRecorded', {
        execution_state: 'succeeded',
        recoverability: 'reversal_available',
        conclude_by: null,
      }),
    );
    expect(awaited(run)).toBeNull();
  });

  it('has a new deadline when its intent turns out uncertain', () => {
    const run = start()
      .when(planned(intent()), NOW)
      .when(executed(UNCERTAIN), NOW + 10)
      .whenDue(DEADLINE)
      .thenNothing();
    run.whenDue(DEADLINE + 10).then(fact('ExecutionOverdue', { execution_state: 'uncertain' }));
  });

  it("is nobody's concern once it is told", () => {
    for (const told of [refund(), refund({ outcome: 'failed', result: null, external_transaction_ref: null })]) {
      const run = start()
        .when(planned(intent()), NOW)
        .when(executed(told), NOW + 1)
        .whenDue(DEADLINE)
        .thenNothing();
      expect(awaited(run)).toBeNull();
    }
  });
});
