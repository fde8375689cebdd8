// Lineage: what stood on a commit falls with it, across runs and partitions, whichever came first (docs/design/ledger.md; E9, E10, P9).
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rollbackIdOf } from '@recourse/messages';
import type { RecordInput } from '@recourse/event-log';
import type { CommitRef } from '@recourse/messages';
import type { CoreHarness, MemoryView } from '@recourse/testing';
import { fact, memoryView, WAYS, eachMember } from '@recourse/testing';
import {
  announced,
  commitOf,
  contractText,
  executed,
  HOUR_MS,
  intent,
  ledger,
  NOW,
  planned,
  refund,
  registered,
  TENANT,
  triggerOf,
  fell,
} from './ledger.testing.js';
import { fallenView, mutationIdOf } from '../core.js';

const RUNS = ['run-1', 'run-2', 'run-3'];
const idOf = (run: string, effect: string, tenant = TENANT): string =>
  mutationIdOf({ tenant, run_id: run, effect_key: effect });
const commit = (run: string, effect: string, tenant = TENANT): CommitRef => ({
  run_id: run,
  commit_id: idOf(run, effect, tenant),
});
const parent = refund({ effect_key: 'parent', assumption_refs: [] });
const PARENT = commit('run-1', 'parent');
const child = (more: Parameters<typeof refund>[0] = {}) =>
  refund({ run_id: 'run-2', effect_key: 'child', assumption_refs: [], derived_from: [PARENT], ...more });
const CHILD = idOf('run-2', 'child');
const STANDS = `commit/${PARENT.commit_id}#stands`;

/** Has a commit marked rolled back; the notices it owes, as every partition reads them. */
function fall(
  run: CoreHarness,
  fallen: MemoryView,
  { run_id, commit_id }: CommitRef,
  at: number,
  tenant = TENANT,
): readonly RecordInput[] {
  run.when(triggerOf(run_id, commit_id, tenant), at);
  return run
    .derived()
    .filter(({ type }) => type === 'RollbackAnnounced')
    .map(({ key, type, body }) => fallen.append(key, fact(type, body)));
}

describe.each(WAYS)('a commit that was derived from another, $way', ({ isRebuilt }) => {
  const start = (more: Parameters<typeof ledger>[0] = {}) => ledger({ isRebuilt, ...more });

  it('relies on its standing, and is contradicted when it falls, once', () => {
    const { run, fallen } = start();
    run
      .when(executed(parent), NOW)
      .when(executed(child()), NOW)
      .then(fact('MutationRecorded', { judged: [{ ref: STANDS, partition: 0, position: 0, verdict: 'unknown' }] }));
    const [notice] = fall(run, fallen, PARENT, NOW + 1);
    if (notice === undefined) throw new Error('nothing was announced');
    run.when(notice, NOW + 2).then(
      fell({
        mutation_id: CHILD,
        run_id: 'run-2',
        evidence: {
          kind: 'lineage',
          event_id: rollbackIdOf('acme', PARENT.commit_id),
          ref: STANDS,
          source: 'service:mutation-ledger',
          statement: null,
          partition: 0,
          position: 1,
        },
      }),
    );
    run.when(notice, NOW + 3).thenNothing();
  });

  it('whose call failed has nothing to undo: its fall is settled at once, and what it was derived from waits for nobody', () => {
    const { run, fallen } = start();
    run.when(executed(parent), NOW).when(executed(child({ outcome: 'uncertain' })), NOW);
    expect(run.derived()).toMatchObject([{ type: 'DerivationAnnounced', body: { parents: [PARENT] } }]);
    run.when(executed(child({ outcome: 'failed', event_id: 'ev-failed' })), NOW + 1);
    expect(run.derived()).toEqual([]);
    const [notice] = fall(run, fallen, PARENT, NOW + 2);
    if (notice === undefined) throw new Error('nothing was announced');
    run.when(notice, NOW + 3).then(fell({ mutation_id: CHILD, execution_state: 'failed' }));
    expect(run.derived()).toMatchObject([
      { type: 'RollbackAnnounced', body: { members: [{ mutation_id: CHILD }] } },
      { type: 'RollbackSettled', body: { members: [{ mutation_id: CHILD, derived_from: [PARENT] }] } },
    ]);
  });

  it('after the other fell is contradicted as it is recorded, and not again', () => {
    const { run, fallen } = start();
    const notices = fall(run.when(executed(parent), NOW), fallen, PARENT, NOW + 1);
    run
      .when(executed(child()), NOW + 2)
      .then(
        fact('MutationRecorded', { judged: [{ ref: STANDS, position: 1, verdict: 'invalidated' }] }),
        fact('TriggerUnmatched', { mutation_id: CHILD, evidence: { kind: 'lineage', position: 1 } }),
      );
    for (const notice of notices) run.when(notice, NOW + 3).thenNothing();
  });

  it('is judged no earlier than its chain has read: a notice is taken once the view has it', () => {
    const { run, fallen } = start();
    run.when(executed(parent), NOW).when(triggerOf('run-1', PARENT.commit_id), NOW + 1);
    const [notice] = run
      .derived()
      .filter(({ type }) => type === 'RollbackAnnounced')
      .map(({ key, type, body }) => fallen.appendUnread(key, fact(type, body)));
    if (notice === undefined) throw new Error('nothing was announced');
    run.whenBehind(notice, NOW + 2);
    fallen.catchUp();
    run.when(notice, NOW + 3).thenNothing();
  });

  it('is not touched by the fall of a commit of another tenant, nor of one that it names under another run', () => {
    const { run, fallen } = start();
    const theirs = { ...parent, tenant: 'other' };
    run.when(executed(theirs), NOW).when(executed(parent), NOW);
    run.when(
      executed(child({ derived_from: [commit('run-1', 'parent', 'other'), { ...PARENT, run_id: 'run-3' }] })),
      NOW,
    );
    const notices = [
      ...fall(run, fallen, commit('run-1', 'parent', 'other'), NOW + 1, 'other'),
      ...fall(run, fallen, PARENT, NOW + 2),
    ];
    expect(notices).toHaveLength(2);
    for (const notice of notices) run.when(notice, NOW + 3).thenNothing();
    run
      .when(executed(child({ effect_key: 'later', derived_from: [commit('run-1', 'parent', 'other')] })), NOW + 4)
      .then(fact('MutationRecorded', { judged: [{ verdict: 'unknown' }] }));
  });

  it('is cancelled while it is still held', () => {
    const held = contractText({ commit_hold_ms: HOUR_MS, cancel_capability: 'payments.cancel_refund' });
    const { run, fallen, contracts } = start();
    contracts.append('payments.issue_refund', registered(held));
    const digest = registered(held).body['digest'] as Buffer; // a digest
    run.when(executed(parent), NOW).when(
      planned(
        intent({
          run_id: 'run-2',
          effect_key: 'child',
          assumption_refs: [],
          derived_from: [PARENT],
          is_held: true,
          contract_digest: digest,
        }),
      ),
      NOW,
    );
    run.then(fact('MutationPlanned', { judged: [{ ref: STANDS, verdict: 'unknown' }] }));
    const [notice] = fall(run, fallen, PARENT, NOW + 1);
    if (notice === undefined) throw new Error('nothing was announced');
    run.when(notice, NOW + 2);
    expect(
      run
        .recorded()
        .map(({ type }) => type)
        .slice(0, 2),
    ).toEqual(['TriggerUnmatched', 'MutationRecorded']);
    expect(run.recorded()[1]?.body).toMatchObject({ recoverability: 'cancelled', reason: 'REF_INVALIDATED' });
    expect(run.rows('binding').filter(({ doc }) => doc['closes'] !== true)).toEqual([]);
  });

  it('falls with itself or in a circle once, and nothing loops', () => {
    const { run, fallen } = start();
    const [a, b] = [commit('run-1', 'a'), commit('run-2', 'b')];
    run.when(executed(refund({ run_id: 'run-1', effect_key: 'a', assumption_refs: [], derived_from: [b, a] })), NOW);
    run.when(executed(refund({ run_id: 'run-2', effect_key: 'b', assumption_refs: [], derived_from: [a] })), NOW);
    const [ofA] = fall(run, fallen, a, NOW + 1);
    if (ofA === undefined) throw new Error('nothing was announced');
    run.when(ofA, NOW + 2);
    expect(
      eachMember(run.recorded())
        .map(({ body }) => body['mutation_id'])
        .sort(),
    ).toEqual([a.commit_id, b.commit_id].sort());
    const [ofB] = run
      .derived()
      .filter(({ type }) => type === 'RollbackAnnounced')
      .map(({ key, type, body }) => fallen.append(key, fact(type, body)));
    if (ofB === undefined) throw new Error('nothing was announced');
    run.when(ofB, NOW + 4).then(fact('TriggerRedundant', { mutation_id: a.commit_id }));
    expect(run.derived()).toEqual([]);
  });

  it('falls with hundreds of others in bounded parts', () => {
    const { run, fallen } = start({ effectsMax: 2 });
    run.when(executed(parent), NOW);
    for (const name of ['c1', 'c2', 'c3']) run.when(executed(child({ effect_key: name, event_id: name })), NOW);
    const [notice] = fall(run, fallen, PARENT, NOW + 1);
    if (notice === undefined) throw new Error('nothing was announced');
    run
      .when(notice, NOW + 2)
      .then(fact('SpreadOpened', { ref: STANDS, parent_run_id: 'run-1', evidence: { kind: 'lineage' } }));
    run
      .whenDue(NOW + 2)
      .then(fell({}, {}), fact('SpreadContinued'), fell({}), fact('SpreadClosed', { contradicted: 3 }));
  });

  it('says so to the owner of the other run, and names it when it comes to rest; one of its own run does not', () => {
    const { run } = start();
    run.when(executed(child({ derived_from: [PARENT, commit('run-2', 'own')] })), NOW);
    expect(run.derived()).toEqual([
      {
        key: 'run-2',
        type: 'DerivationAnnounced',
        body: { tenant: TENANT, run_id: 'run-2', mutation_id: CHILD, parents: [PARENT] },
      },
    ]);
    run.when(executed(child({ effect_key: 'inside', event_id: 'in', derived_from: [commit('run-2', 'child')] })), NOW);
    expect(run.derived()).toEqual([]);
  });
});

describe.each(WAYS)('commits that were derived from several that fell together, $way', ({ isRebuilt }) => {
  const OTHER = commit('run-1', 'other');
  /** Two parents, and what the notice of their fall says. */
  function start(...children: readonly Parameters<typeof refund>[0][]) {
    const on = ledger({ isRebuilt, effectsMax: 4 });
    on.run.when(executed(parent), NOW).when(executed({ ...parent, effect_key: 'other', event_id: 'other' }), NOW);
    children.forEach((more, at) => on.run.when(executed(child({ event_id: `c-${String(at)}`, ...more })), NOW));
    const notice = on.fallen.append('run-1', fallOf(OTHER, PARENT));
    return { ...on, notice };
  }
  const fallOf = (...refs: readonly [CommitRef, ...CommitRef[]]) => {
    const [first, ...others] = refs.map(({ run_id, commit_id }) => ({
      ...{ run_id, mutation_id: commit_id, rollback_id: rollbackIdOf('acme', commit_id) },
    }));
    if (first === undefined) throw new Error('nothing fell');
    return announced(first, ...others);
  };

  it('fall in one decision, each for its own parent, in the order in which those fell', () => {
    const { run, notice } = start(
      { effect_key: 'of-parent' },
      { effect_key: 'of-other', derived_from: [OTHER] },
      { effect_key: 'of-none', derived_from: [commit('run-1', 'third')] },
    );
    run.when(notice, NOW + 1);
    expect(eachMember(run.recorded()).map(({ type, body }) => [type, body['mutation_id'], body['evidence']])).toEqual([
      [
        'MutationsFell',
        idOf('run-2', 'of-other'),
        expect.objectContaining({ event_id: rollbackIdOf('acme', OTHER.commit_id) }),
      ],
      [
        'MutationsFell',
        idOf('run-2', 'of-parent'),
        expect.objectContaining({ event_id: rollbackIdOf('acme', PARENT.commit_id) }),
      ],
    ]);
    run.when(notice, NOW + 2).thenNothing();
  });

  it('fall once where they were derived from both', () => {
    const { run, notice } = start({ derived_from: [PARENT, OTHER] });
    run.when(notice, NOW + 1).then(
      fell({ mutation_id: CHILD, evidence: { event_id: rollbackIdOf('acme', OTHER.commit_id), position: 1 } }),
      fact('TriggerRedundant', {
        mutation_id: CHILD,
        evidence: { event_id: rollbackIdOf('acme', PARENT.commit_id) },
      }),
    );
  });

  it('fall in bounded parts: what does not fit beside the others is spread by itself', () => {
    const names = ['p1', 'p2', 'p3', 'p4'];
    const { run, notice } = start(
      { effect_key: 'of-other', derived_from: [OTHER] },
      ...names.map((name) => ({ effect_key: name })),
    );
    run
      .when(notice, NOW + 1)
      .then(fell({ run_id: 'run-2' }), fact('SpreadOpened', { ref: STANDS, parent_run_id: 'run-1' }));
    run.whenDue(NOW + 1);
    expect(eachMember(run.recorded()).filter(({ type }) => type === 'MutationsFell')).toHaveLength(4);
  });

  it('leave one effect at least to each fall behind, so that no decision grows past its bound', () => {
    const { run, notice } = start(
      ...['o1', 'o2', 'o3', 'o4'].map((name) => ({ effect_key: name, derived_from: [OTHER] })),
      { effect_key: 'of-parent' },
    );
    run.when(notice, NOW + 1);
    expect(run.recorded().map(({ type, body }) => [type, body['ref']])).toEqual([
      ['SpreadOpened', `commit/${OTHER.commit_id}#stands`],
      ['MutationsFell', undefined],
    ]);
  });

  it('are cancelled once while they are still held', () => {
    const held = contractText({ commit_hold_ms: HOUR_MS, cancel_capability: 'payments.cancel_refund' });
    const { run, fallen } = ledger({ isRebuilt, contracts: [held] });
    const plan = intent({
      ...{ run_id: 'run-2', effect_key: 'child', assumption_refs: [], derived_from: [PARENT, OTHER], is_held: true },
      contract_digest: registered(held).body['digest'] as Buffer, // a digest
    });
    run.when(planned(plan), NOW).when(fallen.append('run-1', fallOf(OTHER, PARENT)), NOW + 1);
    run.then(
      fact('MutationRecorded', { mutation_id: CHILD, recoverability: 'cancelled' }),
      fact('TriggerUnmatched', { mutation_id: CHILD }),
      fact('TriggerRedundant', { mutation_id: CHILD }),
    );
    run.whenDue(NOW + 1).then(fell({ mutation_id: CHILD, recoverability: 'cancelled' }));
  });

  it('are not taken from a notice that names nobody: it is refused', () => {
    const { run, fallen } = start();
    const nobody = fallen.append('run-1', fact('RollbackAnnounced', { tenant: TENANT, run_id: 'run-1', members: [] }));
    expect(() => run.when(nobody, NOW + 1)).toThrow('names no commit');
  });
});

describe('refs of commits', () => {
  it('are named by no execution: the ledger alone says whether a commit stands', () => {
    const { run } = ledger();
    run.when(executed(refund({ assumption_refs: ['commit/mut_1#stands'] })), NOW).thenParked('REF_RESERVED');
    run
      .when(
        executed(
          refund({
            assumption_refs: [],
            derived_from: Array.from({ length: 101 }, (_, at) => commit('run-1', `p${String(at)}`)),
          }),
        ),
        NOW,
      )
      .thenParked('TOO_MANY_REFS');
  });

  it('cost nothing where nobody derives: no record, no row', () => {
    const { run, fallen } = ledger();
    run.when(executed(parent), NOW);
    expect(run.rows('binding').filter(({ doc }) => doc['closes'] !== true)).toEqual([]);
    const [notice] = fall(run, fallen, PARENT, NOW + 1);
    if (notice === undefined) throw new Error('nothing was announced');
    run.when(notice, NOW + 2).thenNothing();
  });
});

interface Drawn {
  readonly run: number;
  readonly parents: readonly number[];
  readonly isRoot: boolean;
  readonly order: number;
}

describe('the closure over partitions', () => {
  it('equals the transitive closure, whatever is recorded before or after what it was derived from fell', () => {
    const commits = fc.array(
      fc.record({
        run: fc.nat(2),
        parents: fc.array(fc.nat(11), { maxLength: 3 }),
        isRoot: fc.boolean(),
        order: fc.nat(1_000),
      }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(commits, (drawn) => {
        expect(settle(drawn)).toEqual(naive(drawn));
      }),
      { numRuns: 60 },
    );
  });
});

function naive(drawn: readonly Drawn[]): readonly number[] {
  const fallen = new Set(drawn.flatMap(({ isRoot }, at) => (isRoot && at % 3 === 0 ? [at] : [])));
  for (let before = -1; before !== fallen.size;) {
    before = fallen.size;
    drawn.forEach(({ parents }, at) => {
      if (parents.some((one) => one < drawn.length && fallen.has(one))) fallen.add(at);
    });
  }
  return [...fallen].sort((a, b) => a - b);
}

/** Three partitions, one per run, over one derived log. */
function settle(drawn: readonly Drawn[]): readonly number[] {
  const partitioner = (run: string): number => RUNS.indexOf(run);
  const shared = memoryView(fallenView, partitioner);
  const partitions = RUNS.map((_, partition) => ledger({ fallen: shared, partition }).run);
  const refOf = (at: number): CommitRef => commit(RUNS[drawn[at]?.run ?? 0] ?? '', `e${String(at)}`);
  const [inbox, marked, recorded]: [RecordInput[], Set<string>, Set<string>] = [[], new Set(), new Set()];
  const follow = (run: CoreHarness): void => {
    for (const one of eachMember(run.recorded())) if (one.type === 'MutationsFell') marked.add(commitOf(one));
    for (const { key, type, body } of run.derived())
      if (type === 'RollbackAnnounced') inbox.push(shared.append(key, fact(type, body)));
  };
  const step = (run: CoreHarness, input: RecordInput): void => {
    follow(run.when(input, NOW));
    follow(run.whenDue(NOW));
  };
  for (const at of drawn.map((_, index) => index).sort((a, b) => (drawn[a]?.order ?? 0) - (drawn[b]?.order ?? 0))) {
    const [one, ref] = [drawn[at], refOf(at)];
    const run = partitions[one?.run ?? 0];
    if (one === undefined || run === undefined) continue;
    const derived_from = one.parents.filter((parentAt) => parentAt < drawn.length).map(refOf);
    step(
      run,
      executed(
        refund({
          run_id: ref.run_id,
          effect_key: `e${String(at)}`,
          event_id: `ev-${String(at)}`,
          assumption_refs: [],
          derived_from,
        }),
      ),
    );
    recorded.add(ref.commit_id);
    if (one.isRoot && at % 3 === 0) step(run, triggerOf(ref.run_id, ref.commit_id));
    // What was announced is read by every partition, now or only at the end.
    while (one.order % 2 === 0 && inbox.length > 0) deliver(inbox, partitions, step);
  }
  while (inbox.length > 0) deliver(inbox, partitions, step);
  return drawn.map((_, at) => at).filter((at) => marked.has(refOf(at).commit_id) && recorded.has(refOf(at).commit_id));
}

function deliver(
  inbox: RecordInput[],
  partitions: readonly CoreHarness[],
  step: (run: CoreHarness, input: RecordInput) => void,
): void {
  const notice = inbox.shift();
  if (notice === undefined) return;
  for (const run of partitions) step(run, notice);
}
