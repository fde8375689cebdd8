import { describe, expect, it } from '@jest/globals';
import type { Evidence, MutationsFell } from '@recourse/messages';
import { fact, WAYS, eachMember } from '@recourse/testing';
import { commit, committed } from './commits.testing.js';
import {
  executed,
  HOUR_MS,
  ledger,
  MUTATION,
  NOW,
  refund,
  REF,
  RUN,
  state,
  statement,
  isHit,
  fell,
} from './ledger.testing.js';

describe.each(WAYS)('a ref, $way', ({ isRebuilt }) => {
  const start = () => ledger({ isRebuilt });
  const contradicted = (eventId: string, position: number) =>
    fell({ mutation_id: MUTATION, evidence: { event_id: eventId, ref: REF, partition: 0, position } });
  const again = (eventId: string, position: number) => hit('TriggerRedundant', eventId, position);
  const remembered = (eventId: string, position: number) => hit('TriggerUnmatched', eventId, position);
  const hit = (type: string, eventId: string, position: number) =>
    fact(type, {
      mutation_id: MUTATION,
      evidence: { event_id: eventId, ref: REF, partition: 0, position },
    });
  const reaffirmed = (eventId: string, position: number) =>
    fact('MutationReaffirmed', {
      mutation_id: MUTATION,
      evidence: { event_id: eventId, ref: REF, partition: 0, position },
    });

  it('invalidated after the binding contradicts the commit', () => {
    const { run, assumptions } = start();
    run
      .when(executed(refund()), NOW)
      .then(fact('MutationRecorded', { judged: [{ ref: REF, partition: 0, position: 0, verdict: 'unknown' }] }));
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1).then(contradicted('inv-1', 1));
  });

  it('invalidated long after its run has said its last still takes the commit back, up to the end of its window (A57)', () => {
    const { run, assumptions } = start();
    const late = NOW + HOUR_MS - 60_000;
    run.when(executed(refund()), NOW).whenDue(late);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), late).then(contradicted('inv-1', 1));
    const { members } = run.records().at(-1)?.body as unknown as MutationsFell;
    expect(members).toMatchObject([{ mutation_id: MUTATION, recoverability: 'reversal_available' }]);
  });

  it('invalidated before the binding contradicts the commit as it is recorded, and not again', () => {
    const { run, assumptions } = start();
    const input = state(assumptions, statement('invalidated', 'inv-1'));
    run
      .when(executed(refund()), NOW)
      .then(
        fact('MutationRecorded', { judged: [{ ref: REF, position: 1, verdict: 'invalidated' }] }),
        remembered('inv-1', 1),
      )
      .whenDue(NOW)
      .then(contradicted('inv-1', 1));
    run.when(input, NOW + 1).thenNothing();
  });

  it('reaffirmed before the binding contradicts nothing, whichever statement the chain has read', () => {
    const { run, assumptions } = start();
    const invalidation = state(assumptions, statement('invalidated', 'inv-1'));
    const reaffirmation = state(assumptions, statement('holds', 'reaf-1'));
    run.when(executed(refund()), NOW).then(fact('MutationRecorded', { judged: [{ position: 2, verdict: 'holds' }] }));
    run
      .when(invalidation, NOW + 1)
      .thenNothing()
      .when(reaffirmation, NOW + 2)
      .thenNothing();
  });

  it('reaffirmed only after the binding does not take back what came between', () => {
    const { run, assumptions } = start();
    run.when(executed(refund()), NOW);
    const invalidation = state(assumptions, statement('invalidated', 'inv-1'));
    state(assumptions, statement('holds', 'reaf-1'));
    run.when(invalidation, NOW + 1).then(contradicted('inv-1', 1));
  });

  it('is judged exactly at its position: the statement there is counted, the next one applies', () => {
    const { run, assumptions } = start();
    const counted = state(assumptions, statement('holds', 'decl-1'));
    run.when(executed(refund()), NOW).then(fact('MutationRecorded', { judged: [{ position: 1, verdict: 'holds' }] }));
    const next = state(assumptions, statement('invalidated', 'inv-1'));
    run
      .when(counted, NOW + 1)
      .thenNothing()
      .when(next, NOW + 2)
      .then(contradicted('inv-1', 2))
      .when(next, NOW + 3)
      .thenNothing();
  });

  it('fires for every later invalidation once', () => {
    const { run, assumptions } = start();
    run.when(executed(refund()), NOW);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1).then(contradicted('inv-1', 1));
    run.when(state(assumptions, statement('holds', 'reaf-1')), NOW + 2).then(reaffirmed('reaf-1', 2));
    run.when(state(assumptions, statement('invalidated', 'inv-2')), NOW + 3).then(again('inv-2', 3));
  });

  it('that is said to hold again is told of the commits it was contradicted for, once, and of no other', () => {
    const { run, assumptions } = start();
    run.when(executed(refund()), NOW);
    run.when(state(assumptions, statement('holds', 'reaf-0')), NOW + 1).thenNothing();
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 2).then(contradicted('inv-1', 2));
    const again = state(assumptions, statement('holds', 'reaf-1'));
    run
      .when(again, NOW + 3)
      .then(reaffirmed('reaf-1', 3))
      .when(again, NOW + 4)
      .thenNothing();
    run.when(state(assumptions, statement('holds', 'reaf-2')), NOW + 5).thenNothing();
  });

  it('that is said to hold again is told of what was done while it did not, and of what is told again of that', () => {
    const UNCERTAIN = {
      outcome: 'uncertain',
      result: null,
      external_transaction_ref: null,
      error_kind: 'timeout',
    } as const;
    const first = start();
    first.run.when(state(first.assumptions, statement('invalidated', 'inv-1')), NOW).when(executed(refund()), NOW + 1);
    first.run.when(state(first.assumptions, statement('holds', 'reaf-1')), NOW + 2).then(reaffirmed('reaf-1', 2));
    const late = start();
    late.run.when(executed(refund(UNCERTAIN)), NOW);
    late.run.when(state(late.assumptions, statement('invalidated', 'inv-1')), NOW + 1);
    late.run.when(executed(refund({ event_id: 'later' })), NOW + 2);
    late.run.when(state(late.assumptions, statement('holds', 'reaf-1')), NOW + 3).then(reaffirmed('reaf-1', 2));
    late.run.when(executed(refund({ event_id: 'once-more' })), NOW + 4);
    late.run.when(state(late.assumptions, statement('holds', 'reaf-2')), NOW + 5).thenNothing();
    // Its end is judged by a fact that holds again, before that is taken.
    const between = start();
    between.run.when(executed(refund(UNCERTAIN)), NOW);
    between.run.when(state(between.assumptions, statement('invalidated', 'inv-1')), NOW + 1);
    const holds = state(between.assumptions, statement('holds', 'reaf-1'));
    between.run.when(executed(refund({ event_id: 'later' })), NOW + 2);
    between.run.when(holds, NOW + 3).then(reaffirmed('reaf-1', 2));
  });

  it('that is said to hold again is told of a commit that was taken while it did not', () => {
    const { run, assumptions } = start();
    const plan = commit('plan', { assumption_refs: [REF] });
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW).when(committed(plan), NOW + 1);
    run
      .when(state(assumptions, statement('holds', 'reaf-1')), NOW + 2)
      .then(fact('MutationReaffirmed', { mutation_id: plan.id }));
  });

  it('stays contradicted for a run as long as a statement for all says so', () => {
    const { run, assumptions } = start();
    run.when(executed(refund()), NOW);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1).then(contradicted('inv-1', 1));
    run.when(state(assumptions, statement('holds', 'reaf-run', { run_id: refund().run_id })), NOW + 2).thenNothing();
  });

  it('is not touched by a superseded statement, of another tenant or about another ref', () => {
    const { run, assumptions } = start();
    run.when(executed(refund()), NOW);
    run.when(state(assumptions, statement('invalidated', 'old', { superseded: true })), NOW + 1).thenNothing();
    run.when(state(assumptions, statement('invalidated', 'inv-1', { tenant: 'other' })), NOW + 2).thenNothing();
    run
      .when(state(assumptions, statement('invalidated', 'inv-1', { ref: 'order/4712#not_shipped' })), NOW + 3)
      .thenNothing();
  });

  it('invalidated for one run reaches that run only, in both orders', () => {
    const { run, assumptions } = start();
    run.when(executed(refund()), NOW).when(executed(refund({ run_id: 'run-2' })), NOW);
    run
      .when(state(assumptions, statement('invalidated', 'inv-1', { run_id: 'run-2' })), NOW + 1)
      .then(fell({ run_id: 'run-2' }));
    run
      .when(executed(refund({ run_id: 'run-3' })), NOW + 2)
      .then(fact('MutationRecorded', { judged: [{ verdict: 'unknown' }] }));
    run
      .when(executed(refund({ run_id: 'run-2', effect_key: 'second' })), NOW + 3)
      .then(fact('MutationRecorded'), fact('TriggerUnmatched', { run_id: 'run-2' }));
  });

  it('invalidated for all stays so for a run that says otherwise', () => {
    const { run, assumptions } = start();
    state(assumptions, statement('invalidated', 'inv-1'));
    state(assumptions, statement('holds', 'mine', { run_id: RUN }));
    run
      .when(executed(refund()), NOW)
      .then(fact('MutationRecorded', { judged: [{ verdict: 'invalidated' }] }), remembered('inv-1', 1));
  });

  it('of an uncertain execution that turns out to have happened fires no second time', () => {
    const { run, assumptions } = start();
    run.when(executed(refund({ outcome: 'uncertain', result: null })), NOW);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1).then(contradicted('inv-1', 1));
    run
      .when(executed(refund()), NOW + 2)
      .then(fact('MutationRecorded', { judged: [{ position: 1, verdict: 'invalidated' }] }));
  });

  it('waits until the view has the statement, so that no later binding is judged before it', () => {
    const { run, assumptions } = start();
    run.when(executed(refund()), NOW);
    const input = assumptions.appendUnread(REF, statement('invalidated', 'inv-1'));
    run.whenBehind(input, NOW + 1);
    assumptions.catchUp();
    run.when(input, NOW + 1).then(contradicted('inv-1', 1));
  });
});

describe.each(WAYS)('an invalidated ref, $way (D25)', ({ isRebuilt }) => {
  it('finds the commits that were bound to it, and no others', () => {
    const { run, assumptions } = ledger({ isRebuilt });
    run
      .when(executed(refund()), NOW)
      .when(executed(refund({ run_id: 'run-2', assumption_refs: [REF, 'order/4711#paid'] })), NOW)
      .when(executed(refund({ run_id: 'run-3', assumption_refs: ['order/4711#paid'] })), NOW);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1);
    expect(
      run
        .recorded()
        .map(({ type, body }) => [type, body['run_id']])
        .sort(),
    ).toEqual([
      ['MutationsFell', RUN],
      ['MutationsFell', 'run-2'],
    ]);
  });

  it("finds the commit whose window is over too: it is marked, and a person's, not passed over", () => {
    const { run, assumptions } = ledger({ isRebuilt });
    run.when(executed(refund()), NOW).whenDue(NOW + 100 * HOUR_MS);
    expect(run.rows('mutation')[0]?.doc).toMatchObject({ recoverability: 'reversal_expired' });
    run
      .when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 100 * HOUR_MS + 1)
      .then(fell({ mutation_id: MUTATION, recoverability: 'reversal_expired' }));
  });
});

describe.each(WAYS)('an invalidation of more commits than one decision holds, $way', ({ isRebuilt }) => {
  const runs = ['a', 'b', 'c', 'd', 'e'];

  function bound(effectsMax: number) {
    const made = ledger({ isRebuilt, effectsMax });
    for (const run_id of runs) made.run.when(executed(refund({ run_id })), NOW);
    return made;
  }

  it('is one decision when it just fits', () => {
    const { run, assumptions } = bound(5);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1);
    expect(run.recorded().map((record) => record.type)).toEqual(Array(5).fill('MutationsFell'));
  });

  it('is a job: opened by a record, continued in bounded decisions, closed by a record', () => {
    const { run, assumptions } = bound(2);
    run
      .when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1)
      .then(fact('SpreadOpened', { ref: REF, position: 1, scope_run_id: null }));
    const key = '0000000000000001';
    run.when(run.timer('spread', key), NOW + 2).then(fell({}), fell({}), fact('SpreadContinued', { contradicted: 2 }));
    run.when(run.timer('spread', key), NOW + 2).then(fell({}), fell({}), fact('SpreadContinued', { contradicted: 4 }));
    run.when(run.timer('spread', key), NOW + 2).then(fell({}), fact('SpreadClosed', { contradicted: 5 }));
    expect(run.rows('spread')).toEqual([]);
    expect(
      new Set(
        run
          .records()
          .filter(isHit)
          .map((one) => one.body.run_id),
      ),
    ).toEqual(new Set(runs));
  });

  it('is spread before later statements about the same ref, and each reaches every commit once', () => {
    const { run, assumptions } = bound(2);
    run
      .when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1)
      .when(state(assumptions, statement('invalidated', 'inv-2')), NOW + 1)
      .then(fact('SpreadOpened', { position: 2 }));
    run.whenDue(NOW + 2);
    const hits = run
      .recorded()
      .filter(isHit)
      .map((one) => `${(one.body.evidence as Evidence).event_id}/${String(one.body.run_id)}`);
    expect([...hits].sort()).toEqual(
      ['inv-1', 'inv-2'].flatMap((eventId) => runs.map((run_id) => `${eventId}/${run_id}`)),
    );
    expect(hits.slice(0, 5).every((hit) => hit.startsWith('inv-1'))).toBe(true);
  });

  it('reaches an execution that is recorded again while it is spread, once', () => {
    const { run, assumptions } = ledger({ isRebuilt, effectsMax: 2 });
    for (const run_id of runs) run.when(executed(refund({ run_id, outcome: 'uncertain', result: null })), NOW);
    run
      .when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1)
      .then(fact('SpreadOpened', { position: 1 }));
    state(assumptions, statement('holds', 'reaf-1'));
    run
      .when(executed(refund({ run_id: 'e' })), NOW + 2)
      .then(fact('MutationRecorded', { judged: [{ position: 2, verdict: 'holds' }] }));
    run.whenDue(NOW + 3);
    const reached = run
      .recorded()
      .filter(isHit)
      .map((one) => String(one.body.run_id));
    expect([...reached].sort()).toEqual(runs);
    expect(
      run
        .rows('binding')
        .filter(({ doc }) => doc.closes !== true)
        .map(({ doc }) => doc.position),
    ).toEqual([1, 1, 1, 1, 1]);
  });

  it('reaches an execution that is recorded again behind where it has come to, once', () => {
    const { run, assumptions } = ledger({ isRebuilt, effectsMax: 2 });
    for (const run_id of runs) run.when(executed(refund({ run_id, outcome: 'uncertain', result: null })), NOW);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1);
    run.when(run.timer('spread', '0000000000000001'), NOW + 2).then(fell({}), fell({}), fact('SpreadContinued'));
    state(assumptions, statement('holds', 'reaf-1'));
    run.when(executed(refund({ run_id: 'a' })), NOW + 3).then(fact('MutationRecorded'));
    run.whenDue(NOW + 4);
    const reached = run
      .recorded()
      .filter(isHit)
      .map((one) => String(one.body.run_id));
    expect([...reached].sort()).toEqual(['a', 'b', 'c']);
  });

  it('goes before a later statement that would fit one decision', () => {
    const { run, assumptions } = bound(2);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1);
    run
      .when(state(assumptions, statement('invalidated', 'inv-2', { run_id: 'e' })), NOW + 1)
      .then(fact('SpreadOpened', { position: 2, scope_run_id: 'e' }));
    run.whenDue(NOW + 2);
    const hits = run
      .recorded()
      .filter((one) => isHit(one) && one.body.run_id === 'e')
      .map((one) => (one.body.evidence as Evidence).event_id);
    expect(hits).toEqual(['inv-1', 'inv-2']);
  });

  it('leaves alone what binds while it is going on', () => {
    const { run, assumptions } = bound(2);
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1);
    run
      .when(executed(refund({ run_id: 'late' })), NOW + 1)
      .then(fact('MutationRecorded'), fact('TriggerUnmatched', { run_id: 'late' }));
    run.whenDue(NOW + 2);
    expect(eachMember(run.recorded()).filter((one) => isHit(one) && one.body.run_id === 'late')).toEqual([]);
  });
});
