import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { fact, WAYS } from '@recourse/testing';
import {
  command,
  envelope,
  executed,
  ledger,
  MUTATION,
  NOW,
  refund,
  ROLLBACK,
  RUN,
  state,
  statement,
  TENANT,
  TRIGGERED,
  triggerOf,
  fell,
} from './ledger.testing.js';

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
        fell({
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

describe.each(WAYS)('a trigger whose commit never comes, $way', ({ isRebuilt }) => {
  const begun = () => ledger({ isRebuilt, reviewDeadlineMs: REVIEW });
  const given = ({ run }: ReturnType<typeof begun>) => run.when(TRIGGERED, OPENED_AT).whenDue(MARK_BY);
  const judged = (type: 'ConfirmTrigger' | 'RejectTrigger', by = 'olga') =>
    command(type, envelope(by, ['approver'], { command_id: `${type}-${by}` }), {
      run_id: RUN,
      rollback_id: ROLLBACK,
      mutation_id: MUTATION,
      reason: 'there is no such action',
    });

  it('is over once a person has rejected it: nothing waits, and a commit that comes stands', () => {
    const run = given(begun());
    run
      .when(judged('RejectTrigger'), MARK_BY + 1)
      .then(fact('TriggerRejected', { by: 'olga' }), fact('SourceJudged', { confirmed: false }))
      .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'rejected', verdict: 'rejected' } });
    expect(run.rows('rollback')).toMatchObject([
      { dueAt: null, doc: { phase: 'rejected', deadline_at: null, judged: { verdict: 'rejected' } } },
    ]);
    run.when(executed(refund()), MARK_BY + 5_000);
    expect(run.rows('rollback')).toMatchObject([{ dueAt: null, doc: { phase: 'rejected' } }]);
  });

  it('is marked once its commit is there, also where a person judges it in between', () => {
    const late = given(begun());
    late
      .when(executed(refund()), MARK_BY + 1)
      .when(judged('ConfirmTrigger'), MARK_BY + 2)
      .then(fact('SourceJudged', { confirmed: true }))
      .whenDue(MARK_BY + 2)
      .then(fell({ rollback_id: ROLLBACK }));
    const early = begun().run.when(TRIGGERED, OPENED_AT);
    early
      .when(executed(refund()), OPENED_AT + 1)
      .when(judged('ConfirmTrigger'), OPENED_AT + 2)
      .whenDue(OPENED_AT + 2)
      .then(fell({ rollback_id: ROLLBACK }));
  });

  it('is judged anew when somebody says so again after that', () => {
    given(begun())
      .when(judged('RejectTrigger'), MARK_BY + 1)
      .when(executed(refund()), MARK_BY + 2)
      .when(triggerOf(RUN, MUTATION, TENANT, 'otto'), MARK_BY + 3)
      .then(fell({ rollback_id: ROLLBACK }));
  });

  it.each(['ConfirmTrigger', 'RejectTrigger'] as const)(
    'is over after a %s too, and moves the source once',
    (first) => {
      const { run } = begun();
      run.when(TRIGGERED, OPENED_AT).when(judged(first), OPENED_AT + 1);
      run
        .whenDue(MARK_BY)
        .when(judged('RejectTrigger', 'omar'), MARK_BY + 1)
        .then(fact('TriggerRejected', { by: 'omar' }))
        .thenAnswer({ status: 'accepted', body: { phase: 'rejected' } })
        .when(judged('RejectTrigger', 'otto'), MARK_BY + 2)
        .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'TRIGGER_JUDGED' });
    },
  );

  it('is not confirmed a second time', () => {
    given(begun())
      .when(judged('ConfirmTrigger'), MARK_BY + 1)
      .then(fact('SourceJudged', { confirmed: true }))
      .when(judged('ConfirmTrigger', 'omar'), MARK_BY + 2)
      .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'TRIGGER_JUDGED' });
  });
});

describe.each(WAYS)('a trigger by a command, $way', ({ isRebuilt }) => {
  const start = () => {
    const on = ledger({ isRebuilt });
    on.run.when(executed(refund()), NOW);
    return on;
  };
  const asked = (role: string) =>
    command('TriggerRollback', envelope('rita', [role]), { run_id: RUN, mutation_id: MUTATION, reason: 'wrong order' });

  it('leaves its reason on record, and no wish of what should run (C18)', () => {
    const wish = { run_id: RUN, mutation_id: MUTATION, reason: 'wrong order', reversal_capability: 'payments.send' };
    const { run } = start();
    run.when(command('TriggerRollback', envelope('rita', ['reporter']), wish), NOW + 1);
    const [marked] = run.records().filter(({ type }) => type === 'MutationsFell');
    expect(marked?.body['evidence']).toMatchObject({ statement: plainPayload({ reason: 'wrong order' }) });
  });

  it('for what is rolled back already is recorded and changes no row (E20)', () => {
    const { run } = start();
    run.when(TRIGGERED, NOW + 1);
    const before = run.rows();
    run
      .when(TRIGGERED, NOW + 2)
      .then(fact('TriggerRedundant', { rollback_id: ROLLBACK }))
      .thenAnswer({ status: 'accepted', httpStatus: 200, body: { redundant: true } });
    expect(run.rows()).toEqual(before);
  });

  it('and by several sources at once gives one rollback (E21)', () => {
    const { run, assumptions } = start();
    run
      .when(TRIGGERED, NOW + 1)
      .thenAnswer({ status: 'accepted', httpStatus: 201 })
      .when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1)
      .when(triggerOf(RUN, MUTATION, TENANT, 'otto'), NOW + 1);
    expect(run.records().map(({ type }) => type)).toEqual([
      'MutationRecorded',
      'MutationsFell',
      'TriggerRedundant',
      'TriggerRedundant',
    ]);
  });

  it('needs a role', () => {
    start()
      .run.when(asked('viewer'), NOW + 1)
      .then()
      .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'ROLE_REQUIRED' });
  });

  it.each(['reporter', 'requester', 'approver', 'administrator'])('is asked for by a %s', (role) => {
    start()
      .run.when(asked(role), NOW + 1)
      .then(fell({}))
      .thenAnswer({ status: 'accepted', httpStatus: 201 });
  });

  it('of another tenant does not take the commit', () => {
    const { run } = start();
    run
      .when(triggerOf(RUN, MUTATION, 'evil', 'eve'), NOW + 1)
      .then(fact('TriggerUnmatched', { tenant: 'evil' }))
      .thenAnswer({ httpStatus: 201 })
      .when(TRIGGERED, NOW + 1)
      .then(fell({ tenant: TENANT }));
  });

  it.each([
    ['NUL', 'a\0b'],
    ['nothing', ''],
    ['10 KB', 'x'.repeat(10_000)],
  ])('that names a mutation of %s is refused', (_name, mutationId) => {
    start()
      .run.when(triggerOf(RUN, mutationId), NOW + 1)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
  });

  it('under a key that is not its run is refused', () => {
    start()
      .run.when({ ...TRIGGERED, key: 'other' }, NOW + 1)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'KEY_MISMATCH' });
  });
});
