// What cannot be undone is corrected by people: a correction with a human author, support and a note, each with an end (B10, C15, C16).
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { LegRequested, Observation, TaskKind } from '@recourse/messages';
import { fact, harness, wire, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { taskIdOf } from '../rules/task/task.decider.js';
import {
  answered,
  BALANCE_KEPT,
  BALANCE_ZERO,
  core,
  envelope,
  execution,
  markedInput,
  ref,
  REVIEW,
  RUN,
  STEP,
  terms,
  views,
  planned,
  recordedAgain,
  requestIn,
} from '../recoveries.testing.js';

const AT = 10_000;
const SAID: Json = {
  message: 'We wrote to you by mistake.',
  safe_state: 'the list is stopped',
  user_visible_outcome: 'a second mail that takes back the first',
};

interface Closing {
  readonly by?: string;
  readonly roles?: readonly string[];
  readonly outcome?: string;
  readonly content?: Json;
  readonly tenant?: string;
  readonly correction?: string | null;
}

function closing(
  kind: TaskKind,
  {
    by = 'olga',
    roles = ['approver', 'auditor'],
    outcome = 'done',
    content = SAID,
    tenant,
    correction = null,
  }: Closing = {},
) {
  const body = {
    envelope: envelope(by, roles, tenant === undefined ? {} : { tenant }),
    run_id: RUN,
    task_id: taskIdOf(STEP, kind),
    outcome,
    content: plainPayload(content),
    correction_ref: correction,
    reason: 'it is right so',
  };
  return wire('recourse.recovery-commands', 'CloseTask', body, { key: RUN });
}

describe.each(WAYS)('an effect that nothing undoes, $way', ({ isRebuilt }) => {
  const irreversible = (): CoreHarness =>
    harness(core(), { isRebuilt, views: views() }).when(
      markedInput({ ref: ref({ reversal_class: 'irreversible' }), terms: terms({ effect: 'a mail goes out' }) }),
      AT,
    );
  const tasks = (run: CoreHarness): readonly unknown[] =>
    run.rows('task').map(({ doc }) => [doc['task_kind'], doc['phase'], doc['owner'], doc['deadline_at']]);

  it('opens the three in one recovery, each with an owner and a deadline, and sends nothing (C15)', () => {
    const run = irreversible();
    run.then(
      planned({ outcome_kind: 'reversal_refused' }),
      fact('StepEscalated'),
      fact('TasksOpened', { effect: 'a mail goes out', capability: 'payments.issue_refund' }),
      fact('RecoveryClosed', { outcome: 'manual' }),
    );
    expect(tasks(run).map(String).sort()).toEqual(
      [
        ['audit_note', 'open', 'role:auditor', AT + REVIEW],
        ['correction', 'open', 'role:approver', AT + REVIEW],
        ['support', 'open', 'role:requester', AT + REVIEW],
      ].map(String),
    );
    expect(run.outgoing()).toEqual([]);
  });

  describe('whose end is told once a person has it', () => {
    const of = { ref: ref({ reversal_class: 'irreversible', reversal_capability: null, reversal_args: null }) };
    /** A person has it, since nobody said in time how it ended. */
    const unresolved = (more = {}): CoreHarness => {
      const run = harness(core(), { isRebuilt, views: views() });
      run.when(markedInput({ ...of, ...more, execution_state: 'uncertain', recoverability: 'pending_commit' }), AT);
      const { deadline_at: deadline } = run.rows('step')[0]?.doc as { readonly deadline_at: number }; // a step that waits has one
      return run
        .whenDue(deadline)
        .then(fact('StepEscalated', { reason: 'FORWARD_UNRESOLVED' }), fact('RecoveryClosed'));
    };
    const tookHold = (more = {}) =>
      recordedAgain({ ...of, execution_state: 'succeeded', recoverability: 'committed', ...more });

    it('has the three opened then, once, and says why nothing undoes it', () => {
      const run = unresolved();
      const at = AT + REVIEW + 1;
      run
        .when(tookHold(), at)
        .then(
          fact('MutationAdvanced', { execution_state: 'succeeded' }),
          fact('StepEscalated', { reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION', deadline_at: at + REVIEW }),
          fact('TasksOpened', { tasks: [{ kind: 'correction' }, { kind: 'support' }, { kind: 'audit_note' }] }),
        );
      expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'manual', reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION' });
      run.when(tookHold(), at + 1).then(fact('MutationAdvanced'));
      run
        .when(closing('correction'), at + 2)
        .then(fact('TaskClosed'), fact('StepResolved', { resolution: 'corrected' }));
    });

    it('has none where it never happened, and where a contract undoes it', () => {
      unresolved()
        .when(tookHold({ execution_state: 'failed', recoverability: 'planned' }), AT + REVIEW + 1)
        .then(fact('MutationAdvanced'));
      unresolved({ ref: ref() })
        .when(tookHold({ ref: ref(), recoverability: 'reversal_available' }), AT + REVIEW + 1)
        .then(fact('MutationAdvanced'));
    });
  });

  describe('of which that is told while a worker looks', () => {
    const gone = ref({ reversal_class: 'irreversible', reversal_capability: null, reversal_args: null });
    const look = wire(
      'recourse.recovery-commands',
      'CheckStep',
      {
        envelope: envelope('olga', ['approver']),
        run_id: RUN,
        step_id: STEP,
        reason: 'repaired at the desk',
        purpose: 'repair',
        evidence: plainPayload({ ticket: 'T-1' }),
      },
      { key: RUN },
    );
    const AT_DESK = AT + REVIEW + 100;
    /** Nobody said in time how it ended, a person has a worker look whether it is repaired, and what is told of it comes meanwhile. */
    const looking = (...news: readonly Parameters<typeof recordedAgain>[0][]): CoreHarness => {
      const run = harness(core(), { isRebuilt, views: views() });
      run.when(markedInput({ execution_state: 'uncertain', recoverability: 'pending_commit' }), AT);
      run.whenDue(run.rows('step')[0]?.dueAt ?? 0).then(fact('StepEscalated'), fact('RecoveryClosed'));
      run.when(look, AT_DESK).then(fact('LookDispatched', { purpose: 'repair' }));
      const request = requestIn(run.outgoing());
      for (const more of news)
        run.when(recordedAgain({ execution_state: 'succeeded', ...more }), AT_DESK + 1).then(fact('MutationAdvanced'));
      asked.set(run, request);
      return run;
    };
    const asked = new WeakMap<CoreHarness, LegRequested>();
    const seen = (run: CoreHarness, outcome: 'verified' | 'unverified', balance: Observation): CoreHarness => {
      const request = asked.get(run);
      if (request === undefined) throw new Error('nobody looks');
      return run.when(answered(request, outcome, [balance]), AT_DESK + 2);
    };
    const beyondUndo = { ref: gone, recoverability: 'committed' } as const;
    const undoable = { recoverability: 'reversal_available' } as const;

    it('has the three opened once the look leaves it to a person, and says why nothing undoes it', () => {
      const run = seen(looking(beyondUndo, beyondUndo), 'unverified', BALANCE_KEPT).then(
        fact('LookAnswered', { verdict: 'not_met' }),
        fact('StepEscalated', { reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION', deadline_at: AT_DESK + 2 + REVIEW }),
        fact('TasksOpened', { tasks: [{ kind: 'correction' }, { kind: 'support' }, { kind: 'audit_note' }] }),
        fact('RecoveryClosed', { outcome: 'manual' }),
      );
      expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'manual', reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION' });
      expect(run.rows('step')[0]?.doc).not.toHaveProperty('told_meanwhile');
      run
        .when(closing('correction'), AT_DESK + 3)
        .then(fact('TaskClosed'), fact('StepResolved', { resolution: 'corrected' }));
    });

    it('has them opened once nobody answered the look', () => {
      const run = looking(beyondUndo);
      run
        .whenDue(run.rows('step')[0]?.dueAt ?? 0)
        .then(
          fact('LookAnswered', { reason: 'NO_ANSWER' }),
          fact('StepEscalated', { reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION' }),
          fact('TasksOpened'),
          fact('RecoveryClosed'),
        );
    });

    it('is judged by what was asked: it is seen to be repaired, though nothing would undo it by now', () => {
      seen(looking(beyondUndo), 'verified', BALANCE_ZERO).then(
        fact('LookAnswered', { verdict: 'met' }),
        fact('StepResolved', { resolution: 'repaired', verified: true }),
        fact('RecoveryClosed'),
      );
    });

    it('shows nothing of it where the handle it was asked by may be somebody else’s', () => {
      const run = seen(looking({ ...undoable, ...{ handle_ref: 'handle/1' } }), 'verified', BALANCE_ZERO);
      run.then(fact('LookAnswered', { verdict: 'unknown' }), fact('RecoveryClosed', { outcome: 'manual' }));
      expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'manual', look: null });
    });

    it('has none where it never happened, where a contract undoes it, and where it is seen to be repaired', () => {
      const never = { ...beyondUndo, execution_state: 'failed', recoverability: 'planned' } as const;
      for (const news of [[undoable], [never], [beyondUndo, undoable]])
        seen(looking(...news), 'unverified', BALANCE_KEPT).then(fact('LookAnswered'), fact('RecoveryClosed'));
      seen(looking(undoable), 'verified', BALANCE_ZERO).then(
        fact('LookAnswered', { verdict: 'met' }),
        fact('StepResolved', { resolution: 'repaired' }),
        fact('RecoveryClosed'),
      );
    });
  });

  it('tells each of them what the run was for and what to work from, and names what nobody said (C8, C55)', () => {
    const compensation = { mode: 'manual_runbook', reason: 'a letter', runbook: 'letters.md', accepted_by: null };
    const told = (objective: string | null, by: typeof compensation | null): readonly unknown[] =>
      harness(core(), { isRebuilt, views: views() })
        .when(
          markedInput({
            ref: ref({ reversal_class: 'irreversible' }),
            terms: terms({ compensation: by }),
            execution: execution({ objective }),
          }),
          AT,
        )
        .rows('task')
        .map(({ doc }) => doc['brief']);
    const whole = { objective: 'settle ticket 99', compensation, missing: [] };
    expect(told('settle ticket 99', compensation)).toEqual([whole, whole, whole]);
    const bare = { objective: null, compensation: null, missing: ['objective', 'runbook'] };
    expect(told(' ', null)).toEqual([bare, bare, bare]);
  });

  it('is closed as corrected by its human author, never as compensated (C16)', () => {
    const run = irreversible().when(closing('correction', { correction: 'mut_9' }), AT + 1);
    run.then(
      fact('TaskClosed', {
        kind: 'correction',
        outcome: 'done',
        by: 'olga',
        correction_ref: 'mut_9',
        content: plainPayload(SAID),
      }),
      fact('StepResolved', { resolution: 'corrected', by: 'olga', evidence: plainPayload(SAID) }),
    );
    run.thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'done' } });
    expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'resolved', resolved: { resolution: 'corrected' } });
    expect(tasks(run).map(String)).toContain(
      ['correction', 'done', 'role:approver', null].map((each) => each ?? '').join(),
    );
  });

  it.each([
    ['message', { safe_state: 'a', user_visible_outcome: 'b' }],
    ['safe_state', { message: 'a', user_visible_outcome: 'b' }],
    ['safe_state, user_visible_outcome', { message: 'a', safe_state: ' ' }],
    ['message, safe_state, user_visible_outcome', 'just text'],
  ])('is not corrected without %s in words', (lacking, content) => {
    irreversible()
      .when(closing('correction', { content }), AT + 1)
      .then()
      .thenAnswer({
        httpStatus: 422,
        code: 'COMMAND_INVALID',
        body: {
          message: `The content lacks ${lacking}: say in words what was sent or done, in which state things are left, and what whom it concerns sees.`,
        },
      });
  });

  it.each([['agent:mailer'], [' Agent:mailer'], ['']])('is not corrected by %j: the author is a person (B10)', (by) => {
    irreversible()
      .when(closing('correction', { by }), AT + 1)
      .then()
      .thenAnswer({ httpStatus: 403, code: 'AUTHOR_NOT_A_PERSON' });
  });

  it.each([['ines'], ['INES']])(
    'is not corrected by %j, whom it was done for: somebody else looks at it (P5)',
    (by) => {
      const run = irreversible();
      for (const outcome of ['done', 'dropped'])
        run
          .when(closing('correction', { by, outcome }), AT + 1)
          .then()
          .thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' });
      expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'manual' });
    },
  );

  it('leaves its step with a person when the correction is dropped', () => {
    const run = irreversible()
      .when(closing('correction', { outcome: 'dropped', content: { message: 'nobody to write to' } }), AT + 1)
      .then(fact('TaskClosed', { outcome: 'dropped' }));
    expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'manual' });
  });

  it('lets support and note end on their own, by whose they are', () => {
    const run = irreversible()
      .when(closing('support', { roles: ['requester'], content: { message: 'called' } }), AT + 1)
      .then(fact('TaskClosed', { kind: 'support' }));
    run
      .when(closing('audit_note', { roles: ['approver'], content: { message: 'filed' } }), AT + 2)
      .then()
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    run
      .when(closing('audit_note', { roles: ['auditor'], content: { message: 'filed' } }), AT + 3)
      .then(fact('TaskClosed', { kind: 'audit_note' }));
    expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'manual' });
  });

  it('has each task ended once, in a word that is one, and only in its tenant', () => {
    const run = irreversible().when(closing('support', { content: { message: 'called' } }), AT + 1);
    run
      .when(closing('support', { by: 'omar', content: { message: 'again' } }), AT + 2)
      .then()
      .thenAnswer({ httpStatus: 409, code: 'TASK_CLOSED' });
    run
      .when(closing('correction', { outcome: 'unrecognized' }), AT + 3)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
    run
      .when(closing('correction', { tenant: 'evil' }), AT + 4)
      .then()
      .thenAnswer({ httpStatus: 404, code: 'TASK_UNKNOWN' });
    run
      .when(closing('correction', { correction: 'x'.repeat(300) }), AT + 5)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
  });
});
