import { describe, expect, it } from '@jest/globals';
import { fact, WAYS } from '@recourse/testing';
import { executed, ledger, MUTATION, refund, ROLLBACK, RUN, TENANT, TRIGGERED } from './ledger.testing.js';

const OPENED_AT = 1_000;
const MARK_BY = OPENED_AT + 60_000;
const REVIEW = 400_000;

describe.each(WAYS)('a trigger whose commit nobody recorded, $way', ({ isRebuilt }) => {
  const opened = () => ledger({ isRebuilt, reviewDeadlineMs: REVIEW }).run.when(TRIGGERED, OPENED_AT);

  it('is remembered with an owner and a deadline', () => {
    opened()
      .then(
        fact('TriggerUnmatched', {
          rollback_id: ROLLBACK,
          owner: 'service:mutation-ledger',
          deadline_at: MARK_BY,
          admission: { triggered_at: OPENED_AT, was_remembered: false },
        }),
      )
      .thenAnswer({ status: 'accepted', httpStatus: 201, body: { rollback_id: ROLLBACK, redundant: false } });
  });

  it('is given to a person at its deadline, and not before', () => {
    const run = opened()
      .whenDue(MARK_BY - 1)
      .thenNothing();
    run.whenDue(MARK_BY).then(
      fact('RollbackEscalated', {
        rollback_id: ROLLBACK,
        tenant: TENANT,
        run_id: RUN,
        mutation_id: MUTATION,
        reason: 'COMMIT_NOT_MARKED',
        owner: 'role:administrator',
        deadline_at: MARK_BY + REVIEW,
      }),
    );
    expect(run.rows('rollback')).toMatchObject([
      { dueAt: null, doc: { phase: 'escalated', owner: 'role:administrator', deadline_at: MARK_BY + REVIEW } },
    ]);
  });

  it('is given to a person once', () => {
    const run = opened();
    const due = run.timer('rollback', `${TENANT}/${MUTATION}`);
    run
      .when(due, MARK_BY)
      .when(due, MARK_BY + 1)
      .thenNothing();
    run.when(TRIGGERED, MARK_BY + 2).then(fact('TriggerRedundant'));
    expect(run.rows('rollback')).toMatchObject([{ dueAt: null, doc: { phase: 'escalated' } }]);
  });

  it('goes on when its commit is recorded after all, and says since when', () => {
    const run = opened()
      .whenDue(MARK_BY)
      .when(executed(refund()), MARK_BY + 5_000)
      .whenDue(MARK_BY + 5_000)
      .then(
        fact('MutationRolledBack', {
          rollback_id: ROLLBACK,
          admission: { triggered_at: OPENED_AT, was_remembered: true },
        }),
      );
    expect(run.rows('rollback')).toMatchObject([{ dueAt: null, doc: { phase: 'marked', deadline_at: null } }]);
  });

  it('is never given to a person when its commit was marked in time', () => {
    const run = opened()
      .when(executed(refund()), OPENED_AT + 10)
      .whenDue(MARK_BY);
    expect(run.records().filter(({ type }) => type === 'RollbackEscalated')).toEqual([]);
  });
});
