import { describe, expect, it } from '@jest/globals';
import type { Commit } from '../commit/commit.messages.js';
import type { Mutation } from '../mutation/mutation.messages.js';
import { lineageView } from './graph.decisions.js';
import type { Surroundings } from './graph.decisions.js';
import { announced, named, reliances } from './lineage-view.testing.js';

const root = { rollback_id: 'rb-A', run_id: 'run-A', mutation_id: 'A', bound_at: null };
const evidence = (isRoot: boolean): unknown => ({ root: isRoot ? null : root });
// Rows with what the graph reads of them; the rest of a row is of no concern here.
const mutation = (id: string, rollbackId: string | null = null, isRoot = false): Mutation =>
  ({
    mutation_id: id,
    tenant: 'acme',
    run_id: `run-${id}`,
    capability: `do.${id}`,
    subject_ref: null,
    execution: { agent_id: 'agent-1' },
    ref: {},
    recorded_hash: Buffer.alloc(32),
    rollback_id: rollbackId,
    rollback_evidence: rollbackId === null ? null : evidence(isRoot),
  }) as unknown as Mutation;
const commit = (id: string, changes: Partial<Commit> = {}): Commit =>
  ({
    commit_id: id,
    tenant: 'acme',
    run_id: `run-${id}`,
    checkpoint: { agent_id: 'agent-1', step_id: `step ${id}`, subject_ref: null },
    rollback_id: null,
    rollback_evidence: null,
    reattached: [],
    beyond: [],
    ...changes,
  }) as unknown as Commit;

/** A fell and took B with it; C went on with P; D was left to a person; E stands on P and has nothing to do with it; U is not on record. */
const AROUND: Surroundings = {
  commit: 'A',
  rollback: null,
  truncated: false,
  reached: ['A', 'B', 'C', 'D', 'E', 'P', 'U'].map(named),
  mutations: [mutation('A', 'rb-A', true), mutation('B', 'rb-B'), mutation('D'), mutation('E'), mutation('P')],
  commits: [
    commit('C', {
      reattached: [
        {
          fallen: { run_id: 'run-A', commit_id: 'A' },
          parent: { run_id: 'run-P', commit_id: 'P' },
          rollback_id: 'rb-A',
        },
      ],
    }),
  ],
  reliances: reliances('A<P', 'B<A', 'C<P', 'D<B', 'E<P', 'P<U'),
  announcedOf: announced({ A: [0, 1], B: [0, 2], D: [0, 3, true] }, 'rb-A'),
  heard: [
    { mutation_id: 'A', consumer: 'mailer', phase: 'acknowledged' },
    { mutation_id: 'A', consumer: 'reports', phase: 'waiting' },
    { mutation_id: 'A', consumer: 'audit', phase: 'overdue' },
  ],
};
const stateOf = (view: ReturnType<typeof lineageView>): Readonly<Record<string, string>> =>
  Object.fromEntries(view.nodes.map(({ id, state }) => [id, state]));

describe('the graph around a commit', () => {
  it('says of each what became of it, and who was told and who has not answered', () => {
    const view = lineageView(AROUND);
    expect(stateOf(view)).toEqual({
      A: 'rolled_back',
      B: 'rolled_back',
      C: 'reattached',
      D: 'beyond',
      E: 'stands',
      P: 'stands',
      U: 'unrecorded',
    });
    expect(view.nodes[0]).toMatchObject({
      id: 'A',
      kind: 'mutation',
      label: 'do.A',
      rollback_id: 'rb-A',
      root_rollback_id: 'rb-A',
      told: ['mailer'],
      silent: ['audit', 'reports'],
    });
    expect(view.nodes.map(({ id, root_rollback_id }) => `${id} ${String(root_rollback_id)}`)).toEqual(
      expect.arrayContaining(['B rb-A', 'E null']),
    );
  });

  it('keeps both the parent that fell and the one a commit goes on with', () => {
    const edges = lineageView(AROUND).edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`);
    expect(edges.sort()).toEqual([
      'A derived B',
      'A was C',
      'B derived D',
      'P derived A',
      'P derived E',
      'P reattached C',
      'U derived P',
    ]);
  });

  it('shows of one rollback what it reached and nothing else', () => {
    const view = lineageView({ ...AROUND, rollback: 'rb-A' });
    expect(Object.keys(stateOf(view)).sort()).toEqual(['A', 'B', 'C', 'D']);
    expect(
      view.edges.every(({ from, to }) => ['A', 'B', 'C', 'D'].includes(from) && ['A', 'B', 'C', 'D'].includes(to)),
    ).toBe(true);
    expect(lineageView({ ...AROUND, rollback: 'rb-other' }).nodes).toEqual([]);
  });
});
