// Commits without an outside effect that fall together: one record names those of a run that fell for one reason (docs/design/lineage.md).
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { eachMember, fact, WAYS } from '@recourse/testing';
import { commit, committed, rollback, spread, told as heard } from './commits.testing.js';
import type { Told } from './commits.testing.js';
import { ledger, NOW, REF, statement } from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';

/** Commits of a run that rest on one. */
function children(of: Told, steps: readonly string[], run: string): readonly Told[] {
  return steps.map((step) => commit(step, { run, parents: [of.ref] }));
}

const marks = ({ run }: Ledger) => run.records().filter(({ type }) => type === 'CheckpointRolledBack');
const ids = (told: readonly Told[]): readonly string[] => told.map(({ id }) => id);
/** How many commits each record of a mark is about. */
const sizes = (on: Ledger): readonly number[] => marks(on).map((one) => eachMember([one]).length);

describe.each(WAYS)('commits that fall together, $way', ({ isRebuilt }) => {
  const start = (more: Parameters<typeof ledger>[0] = {}) => ledger({ isRebuilt, ...more });

  /** A root, and what was made from it in two runs, all recorded. */
  function family(): { readonly on: Ledger; readonly root: Told; readonly own: readonly Told[]; readonly other: Told } {
    const on = start();
    const root = commit('root');
    const own = children(root, ['a', 'b', 'c'], 'run-2');
    const [other] = children(root, ['d'], 'run-3') as [Told];
    for (const one of [root, ...own, other]) on.run.when(committed(one), NOW);
    return { on, root, own, other };
  }

  it('stand in one record for each run, which says why once', () => {
    const { on, root, own, other } = family();
    spread(on.run, on.fallen, rollback(root), NOW + 1);
    expect([...sizes(on)].sort()).toEqual([1, 1, 3]);
    const [together] = marks(on).filter((one) => eachMember([one]).length === 3);
    expect(eachMember(together === undefined ? [] : [together]).map(({ body }) => body['commit_id'])).toEqual(
      [...ids(own)].reverse(),
    );
    expect(together?.body['others']).not.toContainEqual(
      expect.objectContaining({ evidence: expect.anything() as unknown }),
    );
    const standing = on.run.rows('commit').filter(({ doc }) => doc['rollback_id'] === null);
    expect(standing).toEqual([]);
    expect(eachMember(on.run.records()).filter(({ body }) => body['commit_id'] === other.id)).toHaveLength(2);
  });

  it('are announced in one notice, in the order of their marks, each with its rollback', () => {
    const { on, root, own } = family();
    on.run.when(rollback(root), NOW + 1);
    for (const notice of heard(on.run, on.fallen)) on.run.when(notice, NOW + 2);
    const recorded = on.run.recorded();
    const marked = eachMember(recorded).map(({ body }) => [body['commit_id'], body['rollback_id']]);
    const announced = on.run.derived();
    expect(announced.map((one) => eachMember([one]).length)).toEqual(recorded.map((one) => eachMember([one]).length));
    expect(eachMember(announced).map(({ body }) => [body['mutation_id'], body['rollback_id']])).toEqual(marked);
    expect(eachMember(announced).filter(({ body }) => ids(own).includes(String(body['mutation_id'])))).toHaveLength(3);
  });

  it('have a place each among those of their record, in the rows too', () => {
    const { on, root, own } = family();
    spread(on.run, on.fallen, rollback(root), NOW + 1);
    const places = on.run
      .rows('rollback')
      .filter(({ doc }) => ids(own).includes(String(doc['mutation_id'])))
      .map(({ doc }) => doc['mark'] as { readonly seq: number; readonly member: number }); // what a marked rollback has
    expect(new Set(places.map(({ seq }) => seq)).size).toBe(1);
    expect(places.map(({ member }) => member).sort()).toEqual([0, 1, 2]);
  });

  it('stand in a record each where their reason states something: that is sealed for one subject alone', () => {
    const on = start();
    const told = ['a', 'b'].map((step) => commit(step, { assumption_refs: [REF], subject_ref: `order/${step}` }));
    for (const one of told) on.run.when(committed(one), NOW);
    const said = statement('invalidated', 'inv-1', { statement: plainPayload({ shipped: true }) });
    on.run
      .when(on.assumptions.append(REF, said), NOW + 1)
      .then(...[...told].reverse().map(({ id }) => fact('CheckpointRolledBack', { commit_id: id, others: [] })));
  });
});
