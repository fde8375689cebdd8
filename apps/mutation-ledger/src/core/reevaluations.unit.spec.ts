// A successor bundle is applied to what its earlier versions let through (E6, E7, E28).
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { rollbackIdOf } from '@recourse/messages';
import type { Evidence, OutOfBandVerdict } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import type { AdmissionLimits } from '../rules/admission/admission.messages.js';
import { BLOCK_PLACES } from '../rules/commit/reevaluation.decisions.js';
import type { Reevaluation } from '../rules/commit/reevaluation.decisions.js';
import { verdictOn } from '../rules/commit/successor.decisions.js';
import { bundleRegistered, commit, committed, gateOf, rollback, told } from './commits.testing.js';
import type { Told } from './commits.testing.js';
import {
  command,
  commitOf,
  envelope,
  HOUR_MS,
  isHit,
  ledger,
  NOW,
  state,
  statement,
  TENANT,
} from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';

const LIMIT = { name: 'limit', when: 'gate.amount < 100', reason: 'more than one may commit alone' };
const TRUE = { name: 'anything', when: 'true', reason: 'nothing is refused' };
const OF_STATE = { name: 'total', when: 'state.total < 100', reason: 'too much in all' };
const POLICY = { kind: 'policy_reevaluation' };
type Rules = Parameters<typeof bundleRegistered>[1];

/** A commit that version 1 of the bundle let through. */
function gated(step: string, amount: Json, more: Parameters<typeof commit>[1] = {}): Told {
  return commit(step, { gate: gateOf('risk', { amount }), ...more });
}

function jobs({ run }: Ledger): readonly Reevaluation[] {
  return run.rows('reevaluation').map(({ doc }) => doc as Reevaluation);
}
/** Commits a successor contradicted, in order. */
function contradicted({ run }: Ledger): readonly string[] {
  return run.records().filter(isHit).map(commitOf);
}
/** A person is asked about a commit. */
function unjudged({ id }: Told, more: Readonly<Record<string, unknown>> = {}) {
  return fact('RollbackOutOfBand', { mutation_id: id, evidence: { kind: 'policy_reevaluation' }, ...more });
}
function codeOf({ statement }: Evidence): unknown {
  return (JSON.parse(String(statement?.body)) as { readonly code?: unknown }).code; // the ledger's own words
}
/** A person says what becomes of a commit. */
function reviewed({ ref: { run_id, commit_id } }: Told, verdict: OutOfBandVerdict) {
  const from = envelope('olga', ['approver'], { command_id: `cmd-review-${commit_id}` });
  return command('ReviewOutOfBand', from, { run_id, mutation_id: commit_id, verdict, reason: 'looked at it' });
}
/** The registry's news of a version. */
function register({ entries }: Ledger, rules: Rules, version: number, tenant = TENANT) {
  return entries.append('risk', bundleRegistered('risk', rules, version, tenant));
}

describe.each(WAYS)('a bundle that follows another, $way', ({ isRebuilt }) => {
  const start = (more: Parameters<typeof ledger>[0] = {}): Ledger => {
    const on = ledger({ isRebuilt, ...more });
    on.run.when(register(on, [TRUE], 1), NOW).thenNothing();
    register(on, [TRUE], 1, '*');
    on.entries.append('refunds', bundleRegistered('refunds', [TRUE], 1));
    return on;
  };
  const take = (on: Ledger, ...commits: readonly Told[]): void => {
    for (const one of commits) on.run.when(committed(one), NOW);
  };

  it('contradicts what it would have refused, with itself as evidence, and nothing else', () => {
    const on = start();
    const [small, large, ungated, other] = [
      gated('small', 7),
      gated('large', 700),
      commit('ungated'),
      commit('other', { gate: gateOf('refunds', { amount: 700 }) }),
    ] as const;
    take(on, small, large, ungated, other);
    on.run
      .when(register(on, [TRUE, LIMIT], 2), NOW + 1)
      .then(fact('ReevaluationOpened', { tenant: TENANT, bundle: 'risk', bundle_version: 2, since: 0 }));
    const [job] = jobs(on);
    on.run.whenDue(NOW + 1).then(
      fact('CheckpointRolledBack', {
        commit_id: large.id,
        run_id: 'run-1',
        tenant: TENANT,
        evidence: {
          kind: 'policy_reevaluation',
          event_id: job?.job_id,
          ref: null,
          source: 'service:mutation-ledger',
          stated_at: NOW + 1,
          partition: -1,
          position: -1,
          root: { bound_at: null },
        },
      }),
      fact('ReevaluationClosed', { looked_at: 2, refused: 1, unjudged: 0 }),
    );
    const { statement } = on.run.records().find(isHit)?.body['evidence'] as Evidence; // the record's evidence
    expect(JSON.parse(String(statement?.body))).toEqual({
      bundle: 'risk',
      version: 2,
      reason: 'limit: more than one may commit alone',
    });
    expect(jobs(on)).toMatchObject([{ phase: 'closed', looked_at: 2, refused: 1 }]);
    expect(on.run.rows('reevaluation')[0]?.dueAt).toBeNull();
  });

  it('looks at nothing where it has no commits, and at nothing when it is the first', () => {
    const on = start();
    on.run.when(register(on, [LIMIT], 2), NOW).thenNothing();
    take(on, gated('large', 700, { gate: gateOf('risk', { amount: 700 }, { bundle_version: 2 }) }));
    on.run
      .when(register(on, [LIMIT], 3, 'globex'), NOW)
      .then(fact('ReevaluationOpened'))
      .whenDue(NOW)
      .then(fact('ReevaluationClosed', { looked_at: 0, refused: 0 }));
  });

  it('looks only at commits of earlier versions', () => {
    const on = start();
    const [old, newer] = [
      gated('old', 700),
      commit('newer', { gate: gateOf('risk', { amount: 800 }, { bundle_version: 2 }) }),
    ] as const;
    take(on, old);
    on.run
      .when(register(on, [LIMIT], 2), NOW + 1)
      .when(committed(newer), NOW + 1)
      .then(fact('CheckpointRecorded'))
      .whenDue(NOW + 1);
    expect([contradicted(on), jobs(on)]).toMatchObject([[old.id], [{ looked_at: 1 }]]);
  });

  it('reaches no further back than the bound', () => {
    const on = start({ boundMs: HOUR_MS });
    const [before, within] = [gated('before', 700), gated('within', 800)] as const;
    take(on, before);
    on.run.when(committed(within), NOW + 1);
    on.run
      .when(register(on, [LIMIT], 2), NOW + 1 + HOUR_MS)
      .then(fact('ReevaluationOpened', { since: NOW + 1 }))
      .whenDue(NOW + 1 + HOUR_MS);
    expect([contradicted(on), jobs(on)]).toMatchObject([[within.id], [{ looked_at: 1 }]]);
    on.run.when(register(on, [LIMIT], 3), NOW + 3 * HOUR_MS).thenNothing();
  });

  it('refuses nothing it cannot judge: what is not kept, what it reads of the state, what the inputs lack', () => {
    const on = start();
    const secret = plainPayload({ salt: 's', gate: { amount: 700 } });
    take(on, gated('state', 7), commit('lacking', { gate: gateOf('risk', { other: 1 }) }));
    expect(
      verdictOn(
        { gate_inputs: { ...secret, encoding: 'sealed', key_id: 'key.1' }, is_gone: false, state: () => null },
        { version: 2, body: { owner: 'risk', doc: 'd', admission: [LIMIT], recovery: [] } },
      ),
    ).toMatchObject({ kind: 'unjudged', code: 'GATE_INPUTS_GONE' });
    on.run
      .when(register(on, [LIMIT, OF_STATE], 2), NOW + 1)
      .whenDue(NOW + 1)
      .then(
        fact('RollbackOutOfBand'),
        fact('RollbackOutOfBand'),
        fact('ReevaluationClosed', { looked_at: 2, refused: 0, unjudged: 2 }),
      );
    expect(contradicted(on)).toEqual([]);
  });

  it('judges what reads the state by the state that the gate saw, where it is kept (E7)', () => {
    const on = start();
    const [rich, poor] = [
      commit('rich', { whole: { total: 700 } }),
      commit('poor', { run: 'run-2', whole: { total: 7 } }),
    ];
    const silent = commit('silent', { parents: [rich.ref] });
    const spent = gated('spent', 7, { parents: [silent.ref], whole: { total: 1 } });
    const saved = gated('saved', 7, { run: 'run-2', parents: [poor.ref], whole: { total: 900 } });
    take(on, rich, poor, silent, spent, saved);
    on.run.when(register(on, [OF_STATE], 2), NOW + 1).whenDue(NOW + 1);
    expect([contradicted(on), jobs(on)]).toMatchObject([
      [spent.id],
      [{ looked_at: 2, refused: 1, unjudged: 0, phase: 'closed' }],
    ]);
    const late = gated('late', 7, { parents: [rich.ref] });
    on.run.when(committed(late), NOW + 2);
    expect(contradicted(on)).toEqual([spent.id, late.id]);
  });

  it('leaves what it cannot judge to a person, once, with owner and deadline, who lets it stand or fall (E28)', () => {
    const on = start({ reviewDeadlineMs: HOUR_MS, keeping: { fullFidelityMs: 10 } });
    const before = commit('before', { whole: { total: 7 } });
    const [one, other] = [
      gated('one', 7, { parents: [before.ref] }),
      commit('other', { gate: gateOf('risk', { other: 1 }) }),
    ] as const;
    take(on, before, one, other);
    on.run.whenDue(NOW + 11);
    on.run
      .when(register(on, [LIMIT, OF_STATE], 2), NOW + 12)
      .whenDue(NOW + 12)
      .then(
        unjudged(one, { owner: 'role:approver', deadline_at: NOW + 12 + HOUR_MS, committed_at: NOW }),
        unjudged(other),
        fact('ReevaluationClosed', { looked_at: 2, refused: 0, unjudged: 2 }),
      );
    const reasons = on.run.records().filter(({ type }) => type === 'RollbackOutOfBand');
    expect(reasons.map(({ body }) => codeOf(body['evidence'] as Evidence))).toEqual([
      'GATE_STATE_GONE',
      'GATE_UNDECIDED',
    ]);
    on.run
      .when(reviewed(one, 'stands'), NOW + 13)
      .then(fact('OutOfBandReviewed', { mutation_id: one.id, verdict: 'stands' }))
      .when(reviewed(other, 'rolled_back'), NOW + 14);
    expect(contradicted(on)).toEqual([other.id]);
    const late = commit('late', { gate: gateOf('risk', { other: 2 }) });
    on.run.when(committed(late), NOW + 15).then(fact('CheckpointRecorded'), unjudged(late));
    on.run.when(committed(late), NOW + 16).thenNothing();
  });

  it('refuses what one predicate refuses, whatever the others could not judge', () => {
    const on = start();
    const large = gated('large', 700);
    take(on, large);
    on.run.when(register(on, [OF_STATE, LIMIT], 2), NOW + 1).whenDue(NOW + 1);
    expect(contradicted(on)).toEqual([large.id]);
  });

  it('leaves alone what fell before, and what it read of commits whose state was given up', () => {
    const on = start({ keeping: { fullFidelityMs: HOUR_MS } });
    const [fell, hard] = [gated('fell', 700), gated('hard', 800, { whole: { a: 1 } })] as const;
    take(on, fell, hard);
    on.run.when(rollback(fell), NOW + 1).whenDue(NOW + HOUR_MS);
    expect(on.run.records().filter(({ type }) => type === 'CheckpointHardened')).toHaveLength(1);
    expect(on.run.rows('under_bundle')).toMatchObject([
      { doc: { commit_id: hard.id, gate_inputs: null, is_gone: true } },
    ]);
    on.run
      .when(register(on, [LIMIT], 2), NOW + HOUR_MS + 1)
      .whenDue(NOW + HOUR_MS + 1)
      .then(unjudged(hard), fact('ReevaluationClosed', { looked_at: 1, refused: 0, unjudged: 1 }));
  });

  it('goes on in bounded turns, over blocks and restarts, and looks at each commit once', () => {
    const on = start({ effectsMax: 3 });
    const many = Array.from({ length: 20 }, (_, at) => gated(`s${String(at)}`, at % 2 === 0 ? 700 : 7));
    take(on, ...many.slice(0, 10));
    // Records that are no commits fill the places up to the end of the block.
    on.run.given(...Array.from({ length: BLOCK_PLACES - 14 }, () => fact('Progress')));
    take(on, ...many.slice(10));
    on.run.when(register(on, [LIMIT], 2), NOW + 1);
    on.run
      .when(on.run.timer('reevaluation', String(jobs(on)[0]?.job_id)), NOW + 1)
      .then(
        ...[0, 2].map((at) => fact('CheckpointRolledBack', { commit_id: many[at]?.id })),
        fact('ReevaluationContinued', { looked_at: 3, refused: 2 }),
      );
    const late = gated('late', 900);
    on.run.when(committed(late), NOW + 2).whenDue(NOW + 2);
    expect(contradicted(on)).toEqual([...many.filter((_, at) => at % 2 === 0), late].map(({ id }) => id));
    expect(jobs(on)).toMatchObject([{ phase: 'closed', looked_at: many.length + 1, refused: many.length / 2 + 1 }]);
    expect(on.run.records().filter(({ type }) => type === 'ReevaluationContinued').length).toBeGreaterThan(
      many.length / 3 - 2,
    );
    expect(on.run.rows('bundle_block')).toHaveLength(2);
  });

  it('ends when a later version stands, whose own job goes on', () => {
    const on = start({ effectsMax: 1 });
    const all = [gated('a', 700), gated('b', 800)] as const;
    take(on, ...all);
    on.run.when(register(on, [LIMIT], 2), NOW + 1);
    const successor = register(on, [TRUE], 3);
    on.run.whenDue(NOW + 1).then(fact('ReevaluationClosed', { bundle_version: 2, looked_at: 0 }));
    on.run.when(successor, NOW + 2).whenDue(NOW + 2);
    expect([
      contradicted(on),
      jobs(on)
        .map(({ bundle_version, looked_at }) => [bundle_version, looked_at])
        .sort(),
    ]).toEqual([
      [],
      [
        [2, 0],
        [3, 2],
      ],
    ]);
  });

  it("of all tenants reaches the commits of each, also of one with a bundle of its own under the name; one tenant's reaches no other's", () => {
    const on = start();
    const [mine, theirs] = [gated('mine', 700), gated('theirs', 800, { tenant: 'globex', run: 'run-2' })] as const;
    take(on, mine, theirs);
    on.run.when(register(on, [LIMIT], 2, '*'), NOW + 1).whenDue(NOW + 1);
    expect(contradicted(on)).toEqual([mine.id, theirs.id]);
    const alone = start();
    take(alone, mine, theirs);
    alone.run.when(register(alone, [LIMIT], 2), NOW + 1).whenDue(NOW + 1);
    expect(contradicted(alone)).toEqual([mine.id]);
  });

  it('compares versions of one owner alone: what the third of a tenant let through, the second of all judges, and the other way round', () => {
    const by = (version: number) => ({ bundle_version: version });
    const under = (step: string, version: number, gate: Json) =>
      commit(step, { gate: gateOf('risk', gate, by(version)) });
    const on = start();
    for (const version of [2, 3]) register(on, [TRUE], version);
    const [large, small] = [under('large', 3, { amount: 700 }), under('small', 3, { amount: 7 })] as const;
    take(on, large, small);
    on.run.when(register(on, [TRUE, LIMIT], 2, '*'), NOW + 1).whenDue(NOW + 1);
    expect([contradicted(on), jobs(on)]).toMatchObject([[large.id], [{ tenant: '*', looked_at: 2, refused: 1 }]]);
    // The gate may have run the second of all beside the third of its tenant: what nobody can judge says nothing against it.
    const [late, lacking] = [under('late', 3, { amount: 900 }), under('lacking', 3, { other: 1 })] as const;
    on.run.when(committed(lacking), NOW + 2).then(fact('CheckpointRecorded'));
    on.run.when(committed(late), NOW + 2);
    expect(contradicted(on)).toEqual([large.id, late.id]);

    const other = start();
    for (const version of [2, 3]) register(other, [TRUE], version, '*');
    const before = under('before', 3, { amount: 700 });
    take(other, before);
    other.run.when(register(other, [LIMIT], 2), NOW + 1).whenDue(NOW + 1);
    expect(contradicted(other)).toEqual([before.id]);
  });

  it('knows by its digest whose version a gate names, where both have one of that number', () => {
    const on = start();
    const foreign = Buffer.alloc(32, 7);
    const told = bundleRegistered('risk', [TRUE], 2, '*');
    on.entries.append('risk', { ...told, body: { ...told.body, digest: foreign } });
    register(on, [TRUE], 2);
    const gate = gateOf('risk', { amount: 700 }, { bundle_version: 2 });
    const [own, platform] = [
      commit('own', { gate }),
      commit('platform', { gate: { ...gate, bundle_digest: foreign } }),
    ];
    take(on, own, platform);
    on.run.when(register(on, [LIMIT], 2), NOW + 1).whenDue(NOW + 1);
    expect([contradicted(on), jobs(on)]).toMatchObject([[platform.id], [{ tenant: TENANT, looked_at: 1 }]]);
  });

  it('judges what is recorded under an earlier version once its job is over, with the same evidence; and what it admits, or cannot judge, stands', () => {
    const on = start();
    take(on, gated('before', 7));
    on.run
      .when(register(on, [LIMIT], 2), NOW + 1)
      .whenDue(NOW + 1)
      .then(fact('ReevaluationClosed', { looked_at: 1, refused: 0 }));
    const [job] = jobs(on);
    const late = gated('late', 900);
    on.run.when(committed(late), NOW + 2).then(
      fact('CheckpointRecorded', { commit_id: late.id }),
      fact('TriggerUnmatched', {
        mutation_id: late.id,
        run_id: 'run-1',
        tenant: TENANT,
        evidence: {
          kind: 'policy_reevaluation',
          event_id: job?.job_id,
          ref: null,
          source: 'service:mutation-ledger',
          stated_at: NOW + 2,
          partition: -1,
          position: -1,
          root: { bound_at: null },
        },
      }),
    );
    const { statement } = on.run.records().findLast(isHit)?.body['evidence'] as Evidence; // the record's evidence
    expect(JSON.parse(String(statement?.body))).toEqual({
      bundle: 'risk',
      version: 2,
      reason: 'limit: more than one may commit alone',
    });
    for (const one of [
      gated('small', 8),
      commit('under it', { gate: gateOf('risk', { amount: 900 }, { bundle_version: 2 }) }),
      commit('ungated'),
      commit('of another', { gate: gateOf('refunds', { amount: 900 }) }),
    ])
      on.run.when(committed(one), NOW + 3).then(fact('CheckpointRecorded', { commit_id: one.id }));
    const lacking = commit('lacking', { gate: gateOf('risk', { other: 1 }) });
    on.run.when(committed(lacking), NOW + 3).then(fact('CheckpointRecorded'), unjudged(lacking));
    on.run.when(committed(late), NOW + 4).thenNothing();
    expect([contradicted(on), jobs(on)]).toMatchObject([[late.id], [{ phase: 'closed', looked_at: 1 }]]);
  });

  describe('judges what is recorded under an earlier version also where somebody else spoke against it before', () => {
    const REFS = { assumption_refs: ['feed/1#right'] };
    const before = (admission: AdmissionLimits = { ...NO_LIMITS, trustThresholdPermille: 600 }): Ledger => {
      const on = start({ admission });
      on.run.when(register(on, [LIMIT], 2), NOW);
      const said = statement('invalidated', 'ev-1', { ref: 'feed/1#right', source: 'stranger' });
      on.run.when(state(on.assumptions, said), NOW + 1);
      return on;
    };
    const rejects = ({ ref: { run_id, commit_id }, id }: Told) =>
      command('RejectTrigger', envelope('olga', ['approver']), {
        ...{ run_id, mutation_id: commit_id, reason: 'the feed is right' },
        rollback_id: rollbackIdOf(TENANT, id),
      });

    it('and is held, so that what the version refuses falls', () => {
      const on = before();
      const late = gated('late', 900, REFS);
      on.run
        .when(committed(late), NOW + 2)
        .then(
          fact('CheckpointRecorded'),
          fact('TriggerHeld', { evidence: { source: 'stranger' } }),
          fact('TriggerUnmatched', { mutation_id: late.id, evidence: { kind: 'policy_reevaluation' } }),
        );
      on.run.whenDue(NOW + 2);
      expect(on.run.rows('rollback')).toMatchObject([{ doc: { phase: 'marked', evidence: POLICY } }]);
    });

    it('and is held, so that what it cannot judge is a person’s once they have rejected that', () => {
      const on = before();
      const late = commit('late', { gate: gateOf('risk', { other: 1 }), ...REFS });
      on.run.when(committed(late), NOW + 2).then(fact('CheckpointRecorded'), fact('TriggerHeld'), unjudged(late));
      on.run.when(rejects(late), NOW + 3);
      expect(on.run.rows('rollback')).toMatchObject([{ doc: { phase: 'beyond', beyond: { evidence: POLICY } } }]);
    });

    it('and is believed, with nothing more for a person to do', () => {
      for (const amount of [{ amount: 900 }, { other: 1 }]) {
        const on = before(NO_LIMITS);
        const late = commit('late', { gate: gateOf('risk', amount), ...REFS });
        on.run.when(committed(late), NOW + 2).whenDue(NOW + 2);
        expect(on.run.rows('rollback')).toMatchObject([
          { doc: { phase: 'marked', evidence: { source: 'stranger' }, beyond: null } },
        ]);
        expect(on.run.records().map(({ type }) => type)).not.toContain('RollbackOutOfBand');
      }
    });
  });

  it('judges what is recorded under an earlier version where no job was opened, for it had nothing to look at', () => {
    const on = start();
    on.run.when(register(on, [LIMIT], 2), NOW).thenNothing();
    const [late, theirs] = [gated('late', 900), gated('theirs', 900, { tenant: 'globex', run: 'run-2' })] as const;
    take(on, late, theirs);
    expect(contradicted(on)).toEqual([late.id]);
    on.run.when(register(on, [LIMIT], 2, '*'), NOW + 1).whenDue(NOW + 1);
    const later = gated('theirs later', 901, { tenant: 'globex', run: 'run-2' });
    on.run.when(committed(later), NOW + 2);
    expect(contradicted(on)).toEqual([late.id, theirs.id, later.id]);
  });

  it('opens no job before the view that later commits are judged by has it', () => {
    const on = start();
    const news = on.entries.appendUnread('risk', bundleRegistered('risk', [LIMIT], 2));
    on.run.whenBehind(news, NOW);
    on.entries.catchUp();
    on.run.when(news, NOW).thenNothing();
    const late = gated('late', 900);
    take(on, late);
    expect(contradicted(on)).toEqual([late.id]);
  });

  it('says nothing more against what fell with its parent as it was recorded', () => {
    const on = start();
    const parent = commit('parent');
    take(on, parent);
    on.run.when(register(on, [LIMIT], 2), NOW).when(rollback(parent), NOW);
    told(on.run, on.fallen);
    take(on, gated('late', 900, { parents: [parent.ref] }));
    expect(
      on.run
        .records()
        .filter((one) => isHit(one) && commitOf(one) !== parent.id)
        .map(({ body }) => (body['evidence'] as Evidence).kind),
    ).toEqual(['lineage']);
  });

  it('is read from the view once that has it', () => {
    const on = start();
    take(on, gated('large', 700));
    const news = on.entries.appendUnread('risk', bundleRegistered('risk', [LIMIT], 2));
    on.run.when(news, NOW + 1).then(fact('ReevaluationOpened'));
    on.run.whenBehind(on.run.timer('reevaluation', String(jobs(on)[0]?.job_id)), NOW + 1);
    on.entries.catchUp();
    on.run.whenDue(NOW + 2);
    expect(contradicted(on)).toHaveLength(1);
  });
});
