import { describe, expect, it } from '@jest/globals';
import { fact, harness, WAYS } from '@recourse/testing';
import {
  contradicted,
  core,
  markedInput,
  MUTATION,
  REVIEW,
  ROLLBACK,
  RUN,
  TENANT,
  trigger,
  views,
} from '../recoveries.testing.js';

const OPENED_AT = 1_000;
const MARK_BY = OPENED_AT + 60_000;

describe.each(WAYS)('a rollback whose commit is not marked, $way', ({ isRebuilt }) => {
  const opened = () => harness(core(), { isRebuilt, views: views() }).when(contradicted(), OPENED_AT);

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

  it('is given to a person as well when a command named a commit that does not exist', () => {
    harness(core(), { isRebuilt, views: views() })
      .when(trigger(), OPENED_AT)
      .whenDue(MARK_BY)
      .then(fact('RollbackEscalated', { mutation_id: MUTATION }));
  });

  it('is given to a person once', () => {
    const run = opened();
    const due = run.timer('rollback', `${TENANT}/${MUTATION}`);
    run
      .when(due, MARK_BY)
      .when(due, MARK_BY + 1)
      .thenNothing();
    run.when(contradicted(), MARK_BY + 2).then(fact('TriggerRedundant'));
    expect(run.rows('rollback')).toMatchObject([{ dueAt: null, doc: { phase: 'escalated' } }]);
  });

  it('goes on when its commit is marked after all', () => {
    const run = opened()
      .whenDue(MARK_BY)
      .when(markedInput(), MARK_BY + 5_000)
      .then(fact('StepDecided', { rollback_id: ROLLBACK }));
    expect(run.rows('rollback')).toMatchObject([{ dueAt: null, doc: { phase: 'marked', deadline_at: null } }]);
  });

  it('is never given to a person when its commit was marked in time', () => {
    const run = opened()
      .when(markedInput(), OPENED_AT + 10)
      .whenDue(MARK_BY);
    expect(run.records().filter(({ type }) => type === 'RollbackEscalated')).toEqual([]);
  });
});
