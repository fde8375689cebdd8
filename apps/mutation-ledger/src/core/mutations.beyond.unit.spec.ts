// How a fall goes on behind commits beyond its bound: once for each commit, however many ways lead there (E13, P9).
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { rollbackIdOf } from '@recourse/messages';
import type { CommitRef, LineageRoot } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import { ROOTS_MAX } from '../rules/rollback/bound.decider.js';
import { commit, committed, rollback, told } from './commits.testing.js';
import type { Told } from './commits.testing.js';
import {
  announced,
  command,
  envelope,
  EVIDENCE,
  executed,
  ledger,
  NOW,
  refund,
  RUN,
  state,
  statement,
  triggerOf,
} from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';
import { mutationIdOf } from '../core.js';

const MINUTE_MS = 60_000;
const BOUND_MS = 5 * MINUTE_MS;
const LATER = NOW + 2 * BOUND_MS;
/** More than any of these walks takes; one that does not end takes as many as it is given. */
const TURNS_MAX = 500;

describe.each(WAYS)('a fall beyond its bound, $way', ({ isRebuilt }) => {
  /** Reads each notice until none is left: what the walk left on record, by type. */
  const walk = ({ run, fallen }: Ledger, first: RecordInput): Readonly<Record<string, number>> => {
    const waiting = [first];
    const found: Record<string, number> = {};
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      const next = waiting.shift();
      if (next === undefined) return found;
      run.when(next, LATER + turn);
      for (const { type } of run.recorded()) found[type] = (found[type] ?? 0) + 1;
      waiting.push(...told(run, fallen));
    }
    throw new Error(`still ${String(waiting.length)} notices to read`);
  };
  const start = (): Ledger => ledger({ isRebuilt, boundMs: BOUND_MS });
  const ref = (key: string): CommitRef => ({ run_id: RUN, commit_id: mutationIdOf(refund({ effect_key: key })) });
  const effect = (key: string, parents: readonly string[]): RecordInput => {
    const named = { effect_key: key, event_id: key, call_id: key, idempotency_key: key, external_transaction_ref: key };
    return executed(refund({ ...named, assumption_refs: [], derived_from: parents.map(ref) }));
  };

  it('ends where effects name each other, or one names itself', () => {
    const alone = start();
    alone.run.when(effect('a', ['a']), NOW);
    expect(walk(alone, triggerOf(RUN, ref('a').commit_id, 'acme'))).toEqual({ MutationsFell: 1, TriggerRedundant: 1 });
    const both = start();
    both.run
      .when(effect('a', ['b']), NOW)
      .when(effect('b', ['a', 'c']), NOW)
      .when(effect('c', ['b']), NOW);
    expect(walk(both, triggerOf(RUN, ref('a').commit_id, 'acme'))).toEqual({
      MutationsFell: 1,
      CommitBeyondBound: 2,
      RollbackOutOfBand: 2,
      TriggerRedundant: 2,
    });
  });

  it('reaches each commit once where each was made from the two before it', () => {
    const on = start();
    const made: Told[] = [];
    for (let at = 0; at < 12; at += 1) {
      const one = commit(`step-${String(at)}`, { parents: made.slice(-2).map((parent) => parent.ref) });
      made.push(one);
      on.run.when(committed(one), NOW);
    }
    const [root] = made as [Told, ...Told[]];
    expect(walk(on, rollback(root))).toEqual({
      CheckpointRolledBack: 1,
      CommitBeyondBound: 11,
      RollbackOutOfBand: 11,
      TriggerRedundant: 10,
    });
    expect(
      on.run
        .rows('commit')
        .map(({ doc }) => (doc['beyond'] as readonly string[]).length)
        .toSorted(),
    ).toEqual([0, ...Array.from({ length: 11 }, () => 1)]);
  });

  it('gives a commit to a person once, also where it comes by a second way after they have looked', () => {
    const { run, fallen } = start();
    const root = commit('root');
    const [left, right] = [commit('left', { parents: [root.ref] }), commit('right', { parents: [root.ref] })];
    const old = commit('old', { parents: [left.ref, right.ref] });
    for (const one of [root, old]) run.when(committed(one), NOW);
    for (const one of [left, right]) run.when(committed(one), LATER - MINUTE_MS);
    const listed = () => run.records().filter(({ type }) => type === 'RollbackOutOfBand').length;
    const waiting = [rollback(root)];
    for (let turn = 0; waiting.length > 0 && turn < TURNS_MAX; turn += 1) {
      run.when(waiting.shift()!, LATER + turn);
      waiting.push(...told(run, fallen));
      if (run.rows('rollback').every(({ doc }) => doc['phase'] !== 'beyond')) continue;
      const about = { run_id: RUN, mutation_id: old.id, verdict: 'stands', reason: 'looked at it' };
      run.when(command('ReviewOutOfBand', envelope('olga', ['approver'], {}), about), LATER + turn);
    }
    expect([listed(), run.rows('rollback').find(({ doc }) => doc['mutation_id'] === old.id)?.doc['phase']]).toEqual([
      1,
      'reviewed',
    ]);
  });

  it('goes on to what was made later of a commit that it passed, by another way', () => {
    const on = start();
    const [root, old] = [commit('root'), commit('other')];
    const beyond = commit('beyond', { parents: [root.ref, old.ref] });
    const late = commit('late', { parents: [beyond.ref] });
    for (const one of [root, old, beyond]) on.run.when(committed(one), NOW);
    on.run.when(committed(late), LATER - MINUTE_MS);
    expect(walk(on, rollback(root))).toEqual({
      CheckpointRolledBack: 2,
      CommitBeyondBound: 1,
      RollbackOutOfBand: 1,
    });
  });

  describe('of many roots', () => {
    const PARENT = { run_id: 'run-0', mutation_id: 'mut_parent' };
    const ROOT: LineageRoot = { rollback_id: 'rb', run_id: 'run-9', mutation_id: 'mut_root', bound_at: NOW + 1_000 };
    let now = LATER;
    const reach = ({ run, fallen }: Ledger, at: number, boundAt = NOW + 1_000): void => {
      now += 1;
      const root = { ...ROOT, rollback_id: `rb-${String(at)}`, bound_at: boundAt };
      const caused_by = { ...EVIDENCE, kind: 'lineage' as const, root };
      run.when(fallen.append('run-0', announced({ ...PARENT, rollback_id: 'rb_parent', caused_by })), now);
    };
    const flooded = (): Ledger => {
      const on = start();
      const derived_from = [{ run_id: PARENT.run_id, commit_id: PARENT.mutation_id }];
      on.run.when(executed(refund({ assumption_refs: [], derived_from })), NOW);
      for (let at = 0; at < ROOTS_MAX; at += 1) reach(on, at);
      return on;
    };

    it('is said once for each, and past a number of them only for one that reaches farther back', () => {
      const on = flooded();
      expect(on.run.records().filter(({ type }) => type === 'CommitBeyondBound')).toHaveLength(ROOTS_MAX);
      reach(on, 0);
      on.run.then(fact('TriggerRedundant'));
      reach(on, ROOTS_MAX);
      on.run.then(fact('TriggerRedundant'));
      reach(on, ROOTS_MAX, NOW + 500);
      on.run.then(fact('CommitBeyondBound'));
      reach(on, ROOTS_MAX + 1, NOW + 500);
      on.run.then(fact('TriggerRedundant'));
      expect(on.run.rows('rollback')[0]?.doc['passed']).toMatchObject({ bound_at: NOW + 500 });
      expect((on.run.rows('rollback')[0]?.doc['passed'] as { readonly roots: readonly string[] }).roots).toHaveLength(
        ROOTS_MAX,
      );
    });
  });

  it('that reaches a held commit again is no trigger of its own once that one is rejected', () => {
    const on = ledger({
      isRebuilt,
      boundMs: BOUND_MS,
      admission: { ...NO_LIMITS, trustThresholdPermille: 600 },
    });
    const parents = ['p', 'q'];
    on.run.when(effect('p', []), NOW).when(effect('q', ['p']), NOW);
    const event = { event_id: 'held', effect_key: 'held', external_transaction_ref: 'held' };
    on.run.when(executed(refund({ ...event, derived_from: parents.map(ref) })), NOW);
    on.run.when(state(on.assumptions, statement('invalidated', 'inv-1')), NOW + 1).then(fact('TriggerHeld'));
    walk(on, triggerOf(RUN, ref('p').commit_id, 'acme'));
    const { commit_id: mutation_id } = ref('held');
    const body = {
      run_id: RUN,
      rollback_id: rollbackIdOf('acme', mutation_id),
      mutation_id,
      reason: 'the warehouse was wrong',
    };
    on.run.when(command('RejectTrigger', envelope('olga', ['approver'], {}), body), LATER * 2);
    expect(on.run.recorded().map(({ type }) => type)).toEqual(['TriggerRejected', 'SourceJudged', 'RollbackOutOfBand']);
  });
});
