// Last effects are undone first (B17), what was made of an effect before it, and nobody waits for ever (docs/design/recovery.md, order).
import { describe, expect, it } from '@jest/globals';
import { rollbackIdOf } from '@recourse/messages';
import type { Execution, LegRequested } from '@recourse/messages';
import type { CoreHarness } from '@recourse/testing';
import { fact, harness, WAYS } from '@recourse/testing';
import { stepIdOf } from '../rules/step/opening.decisions.js';
import {
  answered,
  BALANCE_KEPT,
  BALANCE_ZERO,
  core,
  execution,
  LAST_DISPATCH,
  LEASE,
  markedInput,
  ref,
  requestIn,
  resolution,
  REVIEW,
  RUN,
  STILL_PENDING,
  terms,
  views,
  WINDOW_END,
  leg,
  settled,
  legOf,
  planned,
} from '../recoveries.testing.js';

const AT = 10_000;
const AUTO = { impact: 'write', recovery_approval_mode: 'auto' } as const;
const COMMIT = `cp_${'ab'.repeat(32)}`;
const idOf = (place: number): string => `mut_${place}`;
const stepOf = (place: number): string => stepIdOf(rollbackIdOf('acme', idOf(place)), idOf(place));

interface Made {
  readonly parents?: readonly number[];
  /** Made of a commit without effect of the run. */ readonly isOfCommit?: boolean;
  readonly terms?: Parameters<typeof terms>[0];
  readonly ref?: Parameters<typeof ref>[0];
  readonly state?: 'succeeded' | 'executing';
}

/** The effect that was executed at a place of the run. */
function effect(
  place: number,
  { parents = [], isOfCommit = false, terms: termed = AUTO, ref: pointer = {}, state = 'succeeded' }: Made = {},
) {
  const derived_from: Execution['derived_from'] = [
    ...parents.map((parent) => ({ run_id: RUN, commit_id: idOf(parent) })),
    ...(isOfCommit ? [{ run_id: RUN, commit_id: COMMIT }] : []),
  ];
  return markedInput({
    mutation_id: idOf(place),
    rollback_id: rollbackIdOf('acme', idOf(place)),
    recorded_seq: place,
    execution_state: state,
    terms: terms(termed),
    execution: execution({ effect_key: `effect-${place}`, call_id: `call-${place}`, derived_from }),
    ref: ref({ mutation_id: idOf(place), idempotency_key: `key-${place}`, ...pointer }),
  });
}
const phaseOf = (run: CoreHarness, place: number): unknown =>
  run.rows('step').find(({ key }) => key === stepOf(place))?.doc['phase'];
const docOf = (run: CoreHarness, place: number): Readonly<Record<string, unknown>> | undefined =>
  run.rows('step').find(({ key }) => key === stepOf(place))?.doc;
const done = (request: LegRequested) => answered(request, 'verified', [STILL_PENDING, BALANCE_ZERO]);
const failed = (request: LegRequested) => answered(request, 'unverified', [STILL_PENDING, BALANCE_KEPT]);

describe.each(WAYS)('effects of one run, $way', ({ isRebuilt }) => {
  const start = () => harness(core(), { isRebuilt, views: views() });

  it('are undone last first, one after the other, where none says what it was made from', () => {
    const run = start().when(effect(3), AT);
    const third = requestIn(run.outgoing());
    run.when(effect(2), AT + 1).then(
      planned({
        decision: 'compensate_now',
        executed_seq: 2,
        wait: { reason: 'ORDER', outstanding: [stepOf(3)], owner: 'service:recovery-orchestrator' },
      }),
    );
    run.when(effect(1), AT + 2).then(planned({ wait: { outstanding: [stepOf(2), stepOf(3)].sort() } }));
    expect(run.outgoing()).toEqual([]);
    run
      .when(done(third), AT + 3)
      .then(settled({ outcome: 'compensated', outcome_kind: 'reversed' }), legOf(stepOf(2), stepOf(1)));
    const both = requestIn(run.outgoing());
    expect(both.steps.map(({ step_id }) => step_id)).toEqual([stepOf(2), stepOf(1)]);
    run.when(done(both), AT + 5).then(
      fact('LegSettled', {
        members: [
          { step_id: stepOf(2), outcome: 'compensated' },
          { step_id: stepOf(1), outcome: 'compensated' },
        ],
      }),
      fact('RecoveryClosed', { outcome: 'compensated' }),
    );
  });

  it("go on past one that is a person's: what can be undone is", () => {
    const run = start().when(effect(2, { terms: { ...AUTO, max_attempts: 1 } }), AT);
    const second = requestIn(run.outgoing());
    run.when(effect(1), AT + 1);
    run
      .when(failed(second), AT + 2)
      .then(
        settled({ outcome: 'unverified', outcome_kind: null }),
        fact('StepEscalated', { outcome_kind: 'escalated' }),
        leg({ step_id: stepOf(1), outstanding: [] }),
      );
  });

  it('that say what they were made from go side by side, each after what was made of it', () => {
    const run = start().when(effect(4, { parents: [1] }), AT);
    const fourth = requestIn(run.outgoing());
    run.when(effect(3, { parents: [2] }), AT + 1).then(planned(), leg({ step_id: stepOf(3) }));
    const third = requestIn(run.outgoing());
    run.when(effect(2), AT + 2).then(planned({ wait: { outstanding: [stepOf(3)] } }));
    run.when(effect(1), AT + 3).then(planned({ wait: { outstanding: [stepOf(4)] } }));
    run.when(done(third), AT + 4).then(settled(), leg({ step_id: stepOf(2) }));
    run.when(done(fourth), AT + 5).then(settled(), leg({ step_id: stepOf(1) }));
  });

  it('that were made of commits without effect are undone last first: nobody sees here what such a commit was made of', () => {
    const run = start().when(effect(3, { isOfCommit: true }), AT);
    const third = requestIn(run.outgoing());
    run.when(effect(2), AT + 1).then(planned({ wait: { reason: 'ORDER', outstanding: [stepOf(3)] } }));
    run
      .when(effect(1), AT + 2)
      .then(planned({ wait: { reason: 'ORDER', outstanding: [stepOf(2), stepOf(3)].sort() } }));
    run.when(done(third), AT + 3).then(settled(), legOf(stepOf(2), stepOf(1)));
  });

  it('of which one was made of such a commit come after it, where others say what they were made from, and it blocks none', () => {
    const run = start().when(effect(4, { parents: [1] }), AT);
    const fourth = requestIn(run.outgoing());
    run
      .when(effect(3, { isOfCommit: true, terms: { ...AUTO, max_attempts: 1 } }), AT + 1)
      .then(planned(), leg({ step_id: stepOf(3) }));
    const third = requestIn(run.outgoing());
    run.when(effect(2), AT + 2).then(planned({ wait: { outstanding: [stepOf(3)] } }));
    run.when(effect(1), AT + 3).then(planned({ wait: { outstanding: [stepOf(3), stepOf(4)].sort() } }));
    run
      .when(failed(third), AT + 4)
      .then(settled(), fact('StepEscalated', { step_id: stepOf(3) }), leg({ step_id: stepOf(2), outstanding: [] }));
    run.when(done(fourth), AT + 5).then(settled(), leg({ step_id: stepOf(1) }));
  });

  it('stay while a person has what was made of them, and say so', () => {
    const run = start().when(effect(2, { parents: [1], terms: { ...AUTO, max_attempts: 1 } }), AT);
    const second = requestIn(run.outgoing());
    run
      .when(effect(1), AT + 1)
      .when(failed(second), AT + 2)
      .then(
        settled(),
        fact('StepEscalated'),
        fact('StepWaits', {
          step_id: stepOf(1),
          reason: 'BLOCKED_BY_STEP',
          outstanding: [stepOf(2)],
          owner: 'role:administrator',
        }),
      );
    run
      .when(resolution('repaired', 'olga', ['approver'], { step_id: stepOf(2) }), AT + 3)
      .then(fact('StepResolved'), leg({ step_id: stepOf(1), outstanding: [] }));
  });

  it('that are blocked to their deadline go to a person themselves', () => {
    const run = start().when(effect(2, { parents: [1], terms: { ...AUTO, max_attempts: 1 } }), AT);
    const second = requestIn(run.outgoing());
    run.when(effect(1), AT + 1).when(failed(second), AT + 2);
    run
      .whenDue(AT + 1 + REVIEW)
      .then(
        fact('StepEscalated', { step_id: stepOf(1), reason: 'BLOCKED_BY_STEP' }),
        fact('RecoveryClosed', { outcome: 'manual' }),
      );
  });

  it('go without those outstanding when their time has come, with a lease left before their window ends, and name them', () => {
    const end = WINDOW_END - 800_000;
    const last = LAST_DISPATCH - 800_000 - LEASE;
    const run = start()
      .when(effect(2, { state: 'executing' }), AT)
      .when(effect(1, { ref: { reversal_expires_at: end } }), AT + 1);
    expect(docOf(run, 1)).toMatchObject({
      phase: 'waiting',
      deadline_at: last,
      due_at: last,
      outstanding: [stepOf(2)],
    });
    run.whenDue(last).then(leg({ step_id: stepOf(1), outstanding: [stepOf(2)] }));
    expect(docOf(run, 1)).toMatchObject({ phase: 'dispatched', outstanding: [stepOf(2)] });
  });

  it('that are marked later than what they should have preceded come after it', () => {
    const run = start().when(effect(1), AT);
    run.outgoing();
    run.when(effect(2), AT + 1).then(planned(), leg({ step_id: stepOf(2) }));
    expect(phaseOf(run, 1)).toBe('dispatched');
  });

  it('each have an owner and a deadline while they wait (P12)', () => {
    const run = start()
      .when(effect(2, { state: 'executing' }), AT)
      .when(effect(1), AT + 1);
    expect([phaseOf(run, 1), phaseOf(run, 2)]).toEqual(['waiting', 'held']);
    expect(
      run.rows('step').every(({ dueAt, doc }) => dueAt !== null && doc['deadline_at'] === dueAt && doc['owner'] !== ''),
    ).toBe(true);
  });
});

describe('a run of many effects', () => {
  const MANY = 200;

  it('names the nearest of those that come first, not all', () => {
    const run = harness(core(), { views: views() });
    for (let place = 40; place > 0; place -= 1) run.when(effect(place), AT + 40 - place);
    const nearest = Array.from({ length: 20 }, (_, at) => stepOf(at + 2)).sort();
    expect(docOf(run, 1)).toMatchObject({ phase: 'waiting', reason: 'ORDER', outstanding: nearest });
    expect(docOf(run, 39)).toMatchObject({ outstanding: [stepOf(40)] });
  });

  it('goes on in decisions that are bounded, until none of it waits', () => {
    const run = harness(core(), { views: views() });
    // Without a key nothing follows in one leg; the last was made of a commit that may rest on all of them.
    const alone = { terms: { ...AUTO, key_lifetime_ms: null } } as const;
    run.when(effect(MANY + 1, { ...alone, isOfCommit: true, parents: [9_999] }), AT);
    const last = requestIn(run.outgoing());
    for (let place = MANY; place > 0; place -= 1) run.when(effect(place, alone), AT + 1);
    run.when(done(last), AT + 2);
    const legs = (): readonly LegRequested[] => run.outgoing().map((message) => requestIn([message]));
    const first = legs();
    expect(first.length).toBeGreaterThan(100);
    expect(run.recorded().length).toBeLessThanOrEqual(152);
    const [one, ...others] = first;
    if (one === undefined) throw new Error('nothing went on');
    const rest = run.when(done(one), AT + 3).outgoing().length;
    expect([first.length + rest, others.length + 1]).toEqual([MANY, first.length]);
  });
});
