// Commits without an outside effect: what is taken, how states are kept, how a fall reaches them (issue 6; E1 to E5, E9 to E16, E22, E27, E35).
import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import type { Gate } from '@recourse/messages';
import { eachMember, fact, WAYS } from '@recourse/testing';
import { bundleRegistered, chunk, commit, committed, gateOf, rollback, spread, told } from './commits.testing.js';
import type { Told } from './commits.testing.js';
import type { Commit } from '../rules/commit/commit.messages.js';
import {
  executed,
  ledger,
  NOW,
  REF,
  refund,
  statement,
  TENANT,
  TRIGGER_EVIDENCE,
  triggerOf,
} from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';
import { resumeOf, stateAt } from '../reads/resume.query.js';

const DAY_MS = 86_400_000;
const commitsIn = ({ run }: Ledger): readonly Commit[] => run.rows('commit').map(({ doc }) => doc as Commit);
const rowOf = (on: Ledger, { id }: Told): Commit => commitsIn(on).find((one) => one.commit_id === id) as Commit;
const resume = (on: Ledger) => resumeOf({ commits: commitsIn(on), mutations: [], chunks: [] }, null);
const fallen = (on: Ledger): string[] =>
  eachMember(on.run.records().filter(({ type }) => type === 'CheckpointRolledBack')).map(({ body }) =>
    String(body['commit_id']),
  );
/** A chain of commits in a run, each with its state. */
function chain(on: Ledger, steps: readonly string[], run = 'run-1'): readonly Told[] {
  return steps.reduce<readonly Told[]>((made, step) => {
    const before = made.at(-1);
    const next = commit(step, {
      run,
      parents: before === undefined ? [] : [before.ref],
      whole: { done: [...made.map(({ event }) => event.checkpoint.step_id), step] },
    });
    on.run.when(committed(next), NOW);
    return [...made, next];
  }, []);
}

describe.each(WAYS)('a commit, $way', ({ isRebuilt }) => {
  const start = (more: Parameters<typeof ledger>[0] = {}) => ledger({ isRebuilt, ...more });

  it('is recorded once, with what it relies on judged at one position', () => {
    const { run } = start();
    const one = commit('plan', { assumption_refs: [REF], whole: { plan: 'a' } });
    run.when(committed(one), NOW).then(
      fact('CheckpointRecorded', {
        commit_id: one.id,
        depth: 0,
        chunks_missing: 0,
        full_until: NOW + 7 * DAY_MS,
        judged: [{ ref: REF, verdict: 'unknown' }],
      }),
    );
    run.when(committed(one), NOW + 1).thenNothing();
    run.when(committed({ ...one, event: { ...one.event, event_id: 'told again' } }), NOW + 2).thenNothing();
  });

  it('is parked with what is wrong with it', () => {
    const on = start();
    const one = commit('plan', { whole: { plan: 'a' } });
    const parkedAs = (event: Partial<Told['event']>, key = 'run-1') =>
      on.run.when({ ...committed({ ...one, event: { ...one.event, ...event } }), key }, NOW);
    parkedAs({}, 'run-9').thenParked('KEY_MISMATCH');
    parkedAs({ commit_id: `cp_${'0'.repeat(64)}` }).thenParked('COMMIT_ID_MISMATCH');
    parkedAs({ checkpoint: { ...one.event.checkpoint, step_id: 'other' } }).thenParked('COMMIT_ID_MISMATCH');
    parkedAs({ tenant: 'other' }).thenParked('COMMIT_MISPLACED');
    const state = one.event.checkpoint.state;
    const other = commit('plan', { whole: { plan: 'b' } }).event.checkpoint.state?.body ?? null;
    parkedAs({
      checkpoint: { ...one.event.checkpoint, state: state === null ? null : { ...state, body: other } },
    }).thenParked('STATE_MISMATCH');
    for (const [wrong, code] of [
      [commit('gated', { gate: gateOf('risk', {}, { verdict: 'refused' }) }), 'GATE_REFUSED'],
      [commit('gated', { gate: gateOf('risk', {}, { inputs_sha256: Buffer.alloc(32) }) }), 'GATE_INPUTS_MISMATCH'],
      [commit('delta', { delta: [one.id, { plan: 'b' }], parents: [one.ref] }), 'STATE_BASE_UNKNOWN'],
      [
        commit('greedy', { assumption_refs: Array.from({ length: 101 }, (_, at) => `order/${String(at)}#paid`) }),
        'TOO_MANY_REFS',
      ],
      [commit('forger', { assumption_refs: ['commit/x#stands'] }), 'REF_RESERVED'],
    ] as const)
      on.run.when(committed(wrong), NOW).thenParked(code);
  });

  it('is parked where its gate names a bundle the registry does not know, or knows otherwise (E3)', () => {
    const on = start();
    const gated = (gate: Partial<Gate> = {}) =>
      committed(commit('gated', { gate: gateOf('risk', { order: 1 }, gate) }));
    on.run.when(gated(), NOW).thenParked('GATE_BUNDLE_UNKNOWN');
    on.entries.append('risk', bundleRegistered('risk', [], 1, 'other'));
    on.run.when(gated(), NOW).thenParked('GATE_BUNDLE_UNKNOWN');
    on.entries.append('risk', bundleRegistered('risk', [], 1));
    on.run.when(gated({ bundle_version: 2 }), NOW).thenParked('GATE_BUNDLE_UNKNOWN');
    on.run.when(gated({ bundle_digest: Buffer.alloc(32, 1) }), NOW).thenParked('GATE_BUNDLE_MISMATCH');
    on.entries.append('risk', bundleRegistered('risk', [], 2));
    on.entries.append(
      'risk',
      fact('EntryRetired', { kind: 'policy_bundle', tenant: TENANT, name: 'risk', version: 2 }),
    );
    on.run.when(gated(), NOW).then(fact('CheckpointRecorded', { checkpoint: { gate: { bundle_version: 1 } } }));
  });

  it('names a bundle that was registered a moment ago: the view is read before anything is parked', () => {
    const on = start();
    on.entries.appendUnread('risk', bundleRegistered('risk', [], 1));
    const gated = committed(commit('gated', { gate: gateOf('risk', {}) }));
    on.run.whenBehind(gated, NOW);
    on.entries.catchUp();
    on.run.when(gated, NOW).then(fact('CheckpointRecorded'));
  });

  it('that comes after what speaks against it is contradicted as it is recorded', () => {
    const { run, assumptions } = start();
    assumptions.append(REF, statement('invalidated', 'inv-1'));
    const one = commit('plan', { assumption_refs: [REF] });
    run
      .when(committed(one), NOW)
      .then(
        fact('CheckpointRecorded', { commit_id: one.id }),
        fact('TriggerUnmatched', { mutation_id: one.id, evidence: { event_id: 'inv-1' } }),
      )
      .whenDue(NOW)
      .then(fact('CheckpointRolledBack', { commit_id: one.id, evidence: { event_id: 'inv-1' } }));
  });

  it('falls at a rollback, once; it is announced with its rollback, which names where the run goes on, and says that there is no effect', () => {
    const on = start();
    const [first, second] = chain(on, ['plan', 'book']) as [Told, Told];
    on.run.when(rollback(second), NOW + 5).then(
      fact('CheckpointRolledBack', {
        commit_id: second.id,
        resume: first.ref,
        derived_from: [first.ref],
        harden_at: NOW + 5 + DAY_MS,
        evidence: { root: { mutation_id: second.id, bound_at: null } },
      }),
    );
    expect(eachMember(on.run.derived())).toMatchObject([
      {
        type: 'RollbackAnnounced',
        body: { mutation_id: second.id, has_effect: false, resume_checkpoint: first.ref, capability: 'call-book' },
      },
    ]);
    on.run.when(rollback(second), NOW + 6).then(fact('TriggerRedundant', { mutation_id: second.id }));
  });

  it('is announced with whom it was made for', () => {
    const { run } = start();
    const one = commit('plan', { initiator: 'ada' });
    run
      .when(committed(one), NOW)
      .when(rollback(one), NOW + 5)
      .then(fact('CheckpointRolledBack', { initiator: 'ada' }));
    expect(eachMember(run.derived())).toMatchObject([{ body: { initiator: 'ada', contract_digest: null } }]);
  });

  it('leads back to none that falls in the same decision, whichever of them was recorded first', () => {
    for (const isChildFirst of [false, true]) {
      const on = start();
      const [first] = chain(on, ['plan']) as [Told];
      const parent = commit('book', { parents: [first.ref], assumption_refs: [REF] });
      const child = commit('tell', { parents: [parent.ref], assumption_refs: [REF] });
      for (const one of isChildFirst ? [child, parent] : [parent, child]) on.run.when(committed(one), NOW);
      const back = fact('CheckpointRolledBack', { resume: first.ref });
      on.run.when(on.assumptions.append(REF, statement('invalidated', 'inv-1')), NOW + 1).then(back, back);
    }
  });

  it('that is not recorded yet is marked when it is', () => {
    const { run } = start();
    const one = commit('plan');
    run.when(rollback(one), NOW).then(fact('TriggerUnmatched', { mutation_id: one.id }));
    run.when(committed(one), NOW + 1).then(fact('CheckpointRecorded'));
    run.whenDue(NOW + 2).then(fact('CheckpointRolledBack', { commit_id: one.id }));
  });

  it('takes down what was made from it, across runs, effects too, and nothing else', () => {
    const on = start();
    const [root, next] = chain(on, ['plan', 'book']) as [Told, Told];
    const [, , other] = [
      ...chain(on, ['else', 'where'], 'run-2'),
      commit('mixed', { run: 'run-2', parents: [next.ref] }),
    ] as [Told, Told, Told];
    on.run
      .when(committed(other), NOW)
      .when(executed(refund({ run_id: 'run-3', assumption_refs: [], derived_from: [other.ref] })), NOW);
    spread(on.run, on.fallen, rollback(root), NOW + 1);
    expect(fallen(on).sort()).toEqual([root.id, next.id, other.id].sort());
    expect(
      on.run
        .records()
        .filter(({ type }) => type === 'MutationsFell')
        .map(({ body }) => body['run_id']),
    ).toEqual(['run-3']);
  });

  it('recorded after its parent fell falls too, and not again when the news comes', () => {
    const on = start();
    const [root] = chain(on, ['plan']) as [Told];
    const news = told(on.run.when(rollback(root), NOW + 1), on.fallen);
    const late = commit('late', { parents: [root.ref] });
    on.run.when(committed(late), NOW + 2).then(
      fact('CheckpointRecorded', { judged: [{ verdict: 'invalidated' }] }),
      fact('TriggerUnmatched', {
        mutation_id: late.id,
        evidence: { kind: 'lineage', root: { mutation_id: root.id } },
      }),
    );
    for (const notice of news) on.run.when(notice, NOW + 3).thenNothing();
  });

  it('of another tenant is neither marked nor reached', () => {
    const on = start();
    const [root] = chain(on, ['plan']) as [Told];
    const theirs = commit('theirs', { run: 'run-2', tenant: 'other', parents: [root.ref] });
    on.run.when(committed(theirs), NOW);
    spread(on.run, on.fallen, rollback(root), NOW + 1);
    expect(fallen(on)).toEqual([root.id]);
    on.run.when(triggerOf(theirs.ref.run_id, theirs.id), NOW + 9).then(fact('TriggerUnmatched', { tenant: 'acme' }));
  });
});

describe('where a run goes on', () => {
  /** What is said of the ref, and of the fall that names none. */
  const said = (on: Ledger): readonly unknown[] => {
    const { evidence } = resumeOf({ commits: commitsIn(on), mutations: [], chunks: [] }, on.assumptions);
    return [REF, null].map((ref) => evidence.find((one) => one.evidence.ref === ref)?.ref_stands);
  };
  /** A commit that relies on the ref, and one that rests on it, after the ref was contradicted. */
  const fallenBy = (...given: Parameters<typeof statement>): Ledger => {
    const on = ledger();
    const first = commit('ship', { assumption_refs: [REF] });
    const next = commit('tell', { parents: [first.ref] });
    for (const one of [first, next]) on.run.when(committed(one), NOW);
    on.run.when(on.assumptions.append(REF, statement(...given)), NOW + 1);
    spread(on.run, on.fallen, rollback(next), NOW + 2);
    return on;
  };

  it('tells what speaks against it oldest first, whatever was committed first', () => {
    const on = ledger();
    const [late, early] = chain(on, ['late', 'early']).map((one) => rowOf(on, one));
    const fell = (one: Commit | undefined, stated_at: number): Commit => {
      if (one === undefined) throw new Error('there is such a commit');
      return { ...one, rollback_id: 'rb_1', rollback_evidence: { ...TRIGGER_EVIDENCE, stated_at } };
    };
    const { evidence } = resumeOf({ commits: [fell(late, 9), fell(early, 3)], mutations: [], chunks: [] }, null);
    expect(evidence.map(({ commit_id }) => commit_id)).toEqual([early?.commit_id, late?.commit_id]);
  });

  it('says of each ref that was contradicted whether it holds now', () => {
    const on = fallenBy('invalidated', 'inv-1');
    expect(said(on)).toEqual([false, null]);
    on.assumptions.append(REF, statement('holds', 'rea-1', { stated_at: NOW + 5 }));
    expect(said(on)).toEqual([true, null]);
    // What was said of it for all stands, whatever is said of it for the run alone.
    on.assumptions.append(REF, statement('invalidated', 'inv-2', { stated_at: NOW + 6, run_id: 'run-1' }));
    expect(said(on)).toEqual([false, null]);
  });

  it('never says of a commit that fell that it stands: no source is asked about one', () => {
    const on = ledger();
    const root = commit('plan');
    const made = commit('report', { run: 'run-2', parents: [root.ref] });
    for (const one of [root, made]) on.run.when(committed(one), NOW);
    spread(on.run, on.fallen, rollback(root), NOW + 1);
    const commits = [rowOf(on, made)];
    expect(resumeOf({ commits, mutations: [], chunks: [] }, on.assumptions).evidence).toMatchObject([
      { evidence: { kind: 'lineage' }, ref_stands: false },
    ]);
    expect(resumeOf({ commits, mutations: [], chunks: [] }, null).evidence).toMatchObject([{ ref_stands: null }]);
  });
});

describe.each(WAYS)('the bound of a rollback, $way', ({ isRebuilt }) => {
  it('leaves older descendants to a person, and the walk goes on behind them', () => {
    const on = ledger({ isRebuilt, boundMs: 1_500 });
    const root = commit('root');
    const old = commit('old', { run: 'run-2', parents: [root.ref] });
    const young = commit('young', { run: 'run-3', parents: [old.ref] });
    on.run
      .when(committed(root), NOW)
      .when(committed(old), NOW + 10)
      .when(committed(young), NOW + 1_000);
    spread(on.run, on.fallen, rollback(root), NOW + 2_000);
    expect(fallen(on)).toEqual([root.id, young.id]);
    const [left] = on.run.records().filter(({ type }) => type === 'CommitBeyondBound');
    expect(left?.body).toMatchObject({
      mutation_id: old.id,
      committed_at: NOW + 10,
      evidence: { root: { mutation_id: root.id, bound_at: NOW + 500 } },
    });
    expect(
      resumeOf(
        { commits: commitsIn(on).filter(({ run_id: run }) => run === 'run-2'), mutations: [], chunks: [] },
        null,
      ),
    ).toMatchObject({ checkpoint: null, beyond: [old.id] });
    const late = commit('late', { run: 'run-3', parents: [old.ref] });
    on.run
      .when(committed(late), NOW + 3_000)
      .then(fact('CheckpointRecorded'), fact('TriggerUnmatched', { mutation_id: late.id }));
  });
});

describe.each(WAYS)('a gate, $way', ({ isRebuilt }) => {
  const RULE = { name: 'paid', when: 'gate.order != "4711" && !("4711" in state)', reason: 'the order is in doubt' };
  const start = (rules = [RULE], more: Parameters<typeof ledger>[0] = {}) => {
    const on = ledger({ isRebuilt, ...more });
    on.entries.append('risk', bundleRegistered('risk', rules));
    return on;
  };

  it('of who is independent of a commit beyond the bound hangs it on the one before, and it falls with that one', () => {
    const on = start([RULE], { boundMs: 1_500 });
    const [root, first] = [commit('root'), commit('first', { run: 'run-2' })];
    const old = commit('old', { run: 'run-2', parents: [first.ref, root.ref] });
    const young = commit('young', { run: 'run-3', parents: [old.ref], gate: gateOf('risk', { order: '4712' }) });
    on.run.when(committed(root), NOW).when(committed(first), NOW + 5);
    on.run.when(committed(old), NOW + 10).when(committed(young), NOW + 1_000);
    spread(on.run, on.fallen, rollback(root), NOW + 2_000);
    const moved = () => on.run.records().filter(({ type }) => type === 'Reattached');
    expect(moved()).toMatchObject([{ body: { mutation_id: young.id, fallen: old.ref, parent: first.ref } }]);
    spread(on.run, on.fallen, rollback(first), NOW + 2_100);
    expect(moved()).toMatchObject([{}, { body: { mutation_id: young.id, fallen: first.ref, parent: null } }]);
  });

  it('is run again without what fell: who is independent goes on with the commit before, and falls with that one', () => {
    const on = start();
    const [first, offender] = chain(on, ['plan', 'book']) as [Told, Told];
    const free = commit('free', { run: 'run-2', parents: [offender.ref], gate: gateOf('risk', { order: '4712' }) });
    on.run.when(committed(free), NOW);
    spread(on.run, on.fallen, rollback(offender), NOW + 1);
    expect(fallen(on)).toEqual([offender.id]);
    expect(on.run.records().find(({ type }) => type === 'Reattached')?.body).toMatchObject({
      mutation_id: free.id,
      fallen: offender.ref,
      parent: first.ref,
      bundle: 'risk',
      bundle_version: 1,
    });
    expect(rowOf(on, free)).toMatchObject({ parents: [first.ref], rollback_id: null });
    const resumed = commit('again', { parents: [first.ref] });
    on.run.when(committed(resumed), NOW + 50);
    spread(on.run, on.fallen, rollback(first), NOW + 60);
    expect(fallen(on).slice(1).sort()).toEqual([first.id, resumed.id].sort());
    expect(rowOf(on, free)).toMatchObject({
      parents: [],
      rollback_id: null,
      reattached: [{ fallen: offender.ref }, { fallen: first.ref, parent: null }],
    });
  });

  it('is what a rollback of its commit is counted under, with the agent (E48)', () => {
    const on = start();
    const gated = commit('gated', { gate: gateOf('risk', { order: '4712' }), agent_id: 'agent-7' });
    const ungated = commit('ungated', { agent_id: 'agent-8' });
    for (const one of [gated, ungated]) on.run.when(committed(one), NOW).when(rollback(one), NOW);
    expect(
      on.run.rows('rollback').map(({ doc: { mutation_id, agent_id, policy } }) => [mutation_id, agent_id, policy]),
    ).toEqual(
      expect.arrayContaining([
        [gated.id, 'agent-7', 'risk'],
        [ungated.id, 'agent-8', null],
      ]),
    );
  });

  it('that refuses, sees the state that is left, finds no bundle, or was never asked lets the commit fall', () => {
    const on = start();
    on.entries.append('nobodys', bundleRegistered('nobodys', [RULE]));
    on.entries.append('nobodys', fact('EntryRetired', { kind: 'policy_bundle', tenant: TENANT, name: 'nobodys' }));
    const [offender] = chain(on, ['book']) as [Told];
    const refused = commit('refused', {
      run: 'run-2',
      parents: [offender.ref],
      gate: gateOf('risk', { order: '4711' }),
    });
    const ungated = commit('ungated', { run: 'run-2', parents: [offender.ref] });
    const unknown = commit('unknown', {
      run: 'run-2',
      parents: [offender.ref],
      gate: gateOf('nobodys', { order: '4712' }),
    });
    const before = commit('before', { run: 'run-3', whole: { 4711: 'planned' } });
    const stateful = commit('stateful', {
      run: 'run-3',
      parents: [before.ref, offender.ref],
      gate: gateOf('risk', { order: '4712' }),
    });
    for (const one of [refused, ungated, unknown, before, stateful]) on.run.when(committed(one), NOW);
    spread(on.run, on.fallen, rollback(offender), NOW + 1);
    expect(fallen(on).sort()).toEqual([offender.id, refused.id, ungated.id, unknown.id, stateful.id].sort());
  });

  it('of a bundle of its tenant is run with what the one for all of that name demands beside it', () => {
    const on = ledger({ isRebuilt });
    const PAID = { name: 'paid', when: 'gate.order != "4712"', reason: 'not this order' };
    const TRUE = { name: 'anything', when: 'true', reason: 'nothing is refused' };
    on.entries.append('risk', bundleRegistered('risk', [PAID], 1, '*'));
    on.entries.append('risk', bundleRegistered('risk', [TRUE], 1));
    const [first] = chain(on, ['plan']);
    const offender = commit('book', { parents: first === undefined ? [] : [first.ref], whole: { a: 2 } });
    const [refused, admitted] = ['4712', '4711'].map((order, at) =>
      commit('free', { run: `run-${String(at + 2)}`, parents: [offender.ref], gate: gateOf('risk', { order }) }),
    ) as [Told, Told];
    for (const one of [offender, refused, admitted]) on.run.when(committed(one), NOW);
    spread(on.run, on.fallen, rollback(offender), NOW + 1);
    expect(fallen(on)).toEqual([offender.id, refused.id]);
    expect(rowOf(on, admitted).rollback_id).toBeNull();
  });

  it('sees the newest state that was told, also behind a commit without one; once its inputs are given up it admits nothing', () => {
    const on = start();
    const first = commit('plan', { whole: { 4711: 'planned' } });
    const silent = commit('think', { parents: [first.ref] });
    const offender = commit('book', { run: 'run-2' });
    const held = commit('held', { parents: [silent.ref, offender.ref], gate: gateOf('risk', { order: '4712' }) });
    const [clear, quiet] = [commit('plan', { run: 'run-3', whole: { clear: 1 } }), commit('think', { run: 'run-3' })];
    const behind = commit('think', { run: 'run-3', parents: [clear.ref, quiet.ref] });
    const free = commit('free', {
      run: 'run-3',
      parents: [behind.ref, offender.ref],
      gate: gateOf('risk', { order: '4712' }),
    });
    for (const one of [first, silent, offender, held, clear, quiet, behind, free]) on.run.when(committed(one), NOW);
    spread(on.run, on.fallen, rollback(offender), NOW + 1);
    expect(fallen(on).sort()).toEqual([offender.id, held.id].sort());
    const other = start([{ ...RULE, when: '!("4711" in state)' }]);
    const root = commit('book', { run: 'run-2' });
    const old = commit('old', { parents: [root.ref], gate: gateOf('risk', { order: '4711' }), whole: { done: 1 } });
    for (const one of [root, old]) other.run.when(committed(one), NOW);
    other.run.whenDue(NOW + 8 * DAY_MS);
    spread(other.run, other.fallen, rollback(root), NOW + 9 * DAY_MS);
    expect(fallen(other).sort()).toEqual([root.id, old.id].sort());
  });

  it('sees nothing of what fell: of its own run the state before the offender', () => {
    const on = start();
    const first = commit('plan', { whole: { done: true } });
    const offender = commit('book', { parents: [first.ref], whole: { 4711: 'booked' } });
    const free = commit('free', { parents: [offender.ref], gate: gateOf('risk', { order: '4712' }) });
    const held = commit('held', {
      parents: [offender.ref],
      delta: [offender.id, { more: 1 }],
      gate: gateOf('risk', { order: '4712' }),
    });
    for (const one of [first, offender, free, held]) on.run.when(committed(one), NOW);
    spread(on.run, on.fallen, rollback(offender), NOW + 1);
    expect(fallen(on).sort()).toEqual([offender.id, held.id].sort());
    expect(rowOf(on, free).parents).toEqual([first.ref]);
    expect(resume(on)).toMatchObject({ checkpoint: first.ref, state: { done: true } });
  });

  describe('run against a commit of its run that falls in the same decision', () => {
    /** A root of another run falls; what was looked up on it, and what was decided on both, are reached together. */
    function fell(when: string, looked: Json, isDecisionFirst: boolean, effectsMax = 200) {
      const on = start([{ ...RULE, when }], { effectsMax });
      const before = commit('plan', { whole: { planned: 1 } });
      const root = commit('book', { run: 'run-2' });
      const look = commit('look', { parents: [before.ref, root.ref], whole: looked });
      const decision = commit('decide', {
        parents: [root.ref, look.ref],
        whole: { decided: 1 },
        gate: gateOf('risk', { order: '4712' }),
      });
      const [one, other] = isDecisionFirst ? [decision, look] : [look, decision];
      for (const each of [before, root, one, other]) on.run.when(committed(each), NOW);
      spread(on.run, on.fallen, rollback(root), NOW + 1);
      return { on, root, look, decision, before };
    }

    it.each([false, true])(
      'sees the state before that one, which takes nobody down any more (decided first: %s)',
      (isFirst) => {
        const { on, root, look, decision, before } = fell('!("4711" in state)', { 4711: 'seen' }, isFirst);
        expect(fallen(on).sort()).toEqual([root.id, look.id].sort());
        expect(rowOf(on, decision)).toMatchObject({
          rollback_id: null,
          parents: [before.ref],
          reattached: [{ fallen: root.ref }, { fallen: look.ref, parent: before.ref }],
        });
      },
    );

    it('sees the state before that one where a part of the decision that comes later takes it down', () => {
      const { on, root, look } = fell('!("4711" in state)', { 4711: 'seen' }, false, 1);
      expect(fallen(on).sort()).toEqual([root.id, look.id].sort());
    });

    it.each([false, true])('admits nobody for what only that one knew (decided first: %s)', (isFirst) => {
      const { on, root, look, decision } = fell('"4711" in state', { 4711: 'seen' }, isFirst);
      expect(fallen(on).sort()).toEqual([root.id, look.id, decision.id].sort());
      expect(resume(on)).toMatchObject({ state: { planned: 1 } });
    });
  });
});

describe.each(WAYS)('the state of a commit, $way', ({ isRebuilt }) => {
  it('is restored from whole states, deltas and chunks; a run goes on before the offender', () => {
    const on = ledger({ isRebuilt });
    const first = commit('plan', { whole: { order: 'a', items: [1] } });
    const second = commit('book', { parents: [first.ref], delta: [first.id, { items: [1, 2] }] });
    const third = commit('tell', { parents: [second.ref], delta: [second.id, { told: true }] });
    for (const one of [first, second, third]) on.run.when(committed(one), NOW);
    expect(stateAt(third.id, { commits: commitsIn(on), chunks: [] })).toEqual({
      ok: true,
      state: { order: 'a', items: [1, 2], told: true },
    });
    spread(on.run, on.fallen, rollback(third), NOW + 1);
    expect(resume(on)).toMatchObject({
      checkpoint: second.ref,
      state: { order: 'a', items: [1, 2] },
      rolled_back: [third.id],
      evidence: [{ commit_id: third.id, evidence: { source: 'rita' } }],
    });
  });

  it('comes in chunks, each the one that was told of, and is incomplete until the last', () => {
    const { run } = ledger({ isRebuilt });
    const large = commit('large', { whole: { text: 'x'.repeat(400_000) } });
    expect(large.chunks).toHaveLength(3);
    run.when(chunk(large, 0), NOW).thenParked('CHUNK_UNKNOWN');
    run.when(committed(large), NOW).then(fact('CheckpointRecorded', { chunks_missing: 3 }));
    const rows = () => ({
      commits: run.rows('commit').map(({ doc }) => doc as Commit),
      chunks: run.rows('state_chunk').map(({ doc }) => doc as never),
    });
    for (const index of [2, 0]) run.when(chunk(large, index), NOW);
    run.when(chunk(large, 0), NOW).thenNothing();
    run.when({ ...chunk(large, 0), body: { ...chunk(large, 0).body, index: 1 } }, NOW).thenParked('CHUNK_MISMATCH');
    expect(stateAt(large.id, rows())).toEqual({ ok: false, code: 'state_incomplete' });
    run.when(chunk(large, 1), NOW).then(fact('StateChunkRecorded', { index: 1, chunks_missing: 0 }));
    expect(stateAt(large.id, rows())).toEqual({ ok: true, state: { text: 'x'.repeat(400_000) } });
    run.whenDue(NOW + 8 * DAY_MS).then(fact('CheckpointHardened', { commit_id: large.id }));
    expect(run.rows('state_chunk')).toEqual([]);
  });

  it('is given up at the end of its window, a rolled-back one sooner; what a kept delta builds on is kept with it', () => {
    const on = ledger({ isRebuilt, keeping: { fullFidelityMs: 1_000, softRollbackMs: 100 } });
    const base = commit('base', { whole: { a: 1 } });
    const delta = commit('delta', { parents: [base.ref], delta: [base.id, { a: 2 }] });
    const soft = commit('soft', { run: 'run-2', whole: { b: 1 } });
    on.run
      .when(committed(base), NOW)
      .when(committed(soft), NOW)
      .when(committed(delta), NOW + 600)
      .when(rollback(soft), NOW + 600);
    on.run.whenDue(NOW + 700).then(fact('CheckpointHardened', { commit_id: soft.id, cause: 'rolled_back' }));
    on.run.whenDue(NOW + 1_599);
    expect(stateAt(delta.id, { commits: commitsIn(on), chunks: [] })).toEqual({ ok: true, state: { a: 2 } });
    on.run.whenDue(NOW + 1_600);
    expect(
      commitsIn(on)
        .map(({ hardened }) => hardened)
        .sort(),
    ).toEqual(['retention', 'retention', 'rolled_back']);
    expect(stateAt(delta.id, { commits: commitsIn(on), chunks: [] })).toEqual({ ok: false, code: 'state_unavailable' });
    const more = commit('more', { parents: [delta.ref], delta: [delta.id, { a: 3 }] });
    on.run.when(committed(more), NOW + 1_700).then(fact('CheckpointRecorded', { commit_id: more.id }));
    expect(stateAt(more.id, { commits: commitsIn(on), chunks: [] })).toEqual({ ok: false, code: 'state_unavailable' });
    on.run
      .when(rollback(base), NOW + 1_800)
      .then(fact('CheckpointRolledBack', { commit_id: base.id, harden_at: null }));
  });

  it('never builds on more deltas than can be applied in bounded time', () => {
    const on = ledger({ isRebuilt: false });
    let last = commit('0', { whole: { n: 0 } });
    on.run.when(committed(last), NOW);
    for (let at = 1; at <= 32; at += 1) {
      last = commit(String(at), { parents: [last.ref], delta: [last.id, { n: at }] });
      on.run.when(committed(last), NOW);
    }
    expect(stateAt(last.id, { commits: commitsIn(on), chunks: [] })).toEqual({ ok: true, state: { n: 32 } });
    on.run
      .when(committed(commit('33', { parents: [last.ref], delta: [last.id, { n: 33 }] })), NOW)
      .thenParked('STATE_TOO_DEEP');
  });
});
