import { describe, expect, it } from '@jest/globals';
import { BOXES_MAX, lineageBoxes } from './boxes.decisions.js';
import type { BoxesAsked, Placed } from './boxes.decisions.js';
import { announced, named, TENANT } from './lineage-view.testing.js';
import type { Named } from './lineage.messages.js';

const at = (run_id: string, id: string): Named => ({ tenant: TENANT, run_id, id });
const placed = (run_id: string, id: string, changes: Partial<Placed> = {}): Placed => ({
  run_id,
  id,
  kind: 'commit',
  agent: 'agent-1',
  label: `step ${id}`,
  subject_ref: null,
  rollback_id: null,
  is_beyond: false,
  reattached: [],
  ...changes,
});
const edge = (child: Named, parent: Named): BoxesAsked['reliances'][number] => ({
  tenant: TENANT,
  run_id: child.run_id,
  child: child.id,
  parent_run_id: parent.run_id,
  parent: parent.id,
});

/** Run one: A fell, B stands on it. Run two: C went on with B instead of A, D is left to a person. U is named and not on record. */
const [A, B, C, D, U] = [at('one', 'A'), at('one', 'B'), at('two', 'C'), at('two', 'D'), at('three', 'U')];
const AROUND: BoxesAsked = {
  commit: A,
  reached: [A, B, C, D, U],
  truncated: false,
  placed: [
    placed('one', 'A', { kind: 'mutation', label: 'payments.pay', rollback_id: 'rb-A' }),
    placed('one', 'B'),
    placed('two', 'C', {
      agent: 'agent-2',
      reattached: [
        { fallen: { run_id: 'one', commit_id: 'A' }, parent: { run_id: 'one', commit_id: 'B' } },
      ] as Placed['reattached'],
    }),
    placed('two', 'D'),
  ],
  reliances: [edge(B, A), edge(C, B), edge(D, A), edge(A, U)],
  heard: [
    { mutation_id: 'A', consumer: 'mailer', phase: 'acknowledged' },
    { mutation_id: 'B', consumer: 'reports', phase: 'waiting' },
  ],
  announcedOf: announced({ D: [0, 3, true] }, 'rb-A'),
  open: new Set(),
  find: '',
};

describe('the graph around a commit by run', () => {
  it('says whose it is, so that who speaks for all tenants can name that one', () => {
    expect(lineageBoxes(AROUND).tenant).toBe(AROUND.commit.tenant);
  });

  it('has one box for each run, with what became of its commits and who was told, and one arrow between two', () => {
    const view = lineageBoxes(AROUND);
    expect(view).toMatchObject({ commit: 'A', run_id: 'one', kind: 'mutation', commits: 5, runs: 3, left: 0 });
    expect(view.boxes.map(({ id, kind, commits, states }) => [id, kind, commits, states])).toEqual([
      [
        'run:one',
        'run',
        2,
        [
          { state: 'stands', commits: 1 },
          { state: 'rolled_back', commits: 1 },
        ],
      ],
      [
        'run:two',
        'run',
        2,
        [
          { state: 'reattached', commits: 1 },
          { state: 'beyond', commits: 1 },
        ],
      ],
      ['run:three', 'unknown', 1, [{ state: 'unrecorded', commits: 1 }]],
    ]);
    expect(view.boxes[0]).toMatchObject({ told: ['mailer'], silent: ['reports'], label: null });
    expect(view.boxes[1]).toMatchObject({ agents: ['agent-1', 'agent-2'] });
    expect(view.arrows).toEqual([
      { from: 'run:one', to: 'run:two', kind: 'reattached', commits: 3 },
      { from: 'run:three', to: 'run:one', kind: 'derived', commits: 1 },
    ]);
  });

  it('has a box for each commit of a run that is opened', () => {
    const view = lineageBoxes({ ...AROUND, open: new Set(['two']) });
    expect(view.boxes.map(({ id, label, is_open }) => [id, label, is_open])).toEqual([
      ['run:one', null, false],
      ['C', 'step C', true],
      ['D', 'step D', true],
      ['run:three', null, false],
    ]);
    expect(view.arrows.map(({ from, to, kind }) => `${from} ${to} ${kind}`)).toEqual([
      'run:one C reattached',
      'run:one D derived',
      'run:three run:one derived',
    ]);
  });

  it('counts a commit under the run it was named with, and knows nothing of it under another', () => {
    const view = lineageBoxes({ ...AROUND, reached: [A, at('elsewhere', 'B')] });
    expect(view.boxes[1]).toMatchObject({ id: 'run:elsewhere', states: [{ state: 'unrecorded', commits: 1 }] });
  });

  it('of more runs than anybody reads shows the own one first, then what is looked for, and says how many are left', () => {
    const others = Array.from({ length: BOXES_MAX + 49 }, (_, index) => named(`n${String(index)}`));
    const reached = [...others, A];
    const view = lineageBoxes({ ...AROUND, reached, reliances: [], find: `N${String(BOXES_MAX + 7)}` });
    expect(view.boxes).toHaveLength(BOXES_MAX);
    expect([view.left, view.found, view.commits]).toEqual([50, 1, BOXES_MAX + 50]);
    expect(view.boxes.slice(0, 2).map(({ id, found }) => [id, found])).toEqual([
      ['run:one', 0],
      [`run:run-n${String(BOXES_MAX + 7)}`, 1],
    ]);
  });
});
