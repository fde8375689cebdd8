// The bound of rollbacks: how far back a fall goes, what stands beyond, and who looks at that (E13, E14); commits without an
// effect, which nothing is to be compensated of (E34).
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { rollbackIdOf } from '@recourse/messages';
import type { Evidence, LineageRoot } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import { NO_LIMITS } from '../rules/admission/admission.messages.js';
import type { AdmissionLimits } from '../rules/admission/admission.messages.js';
import { bundleRegistered, commit, committed, gateOf, rollback } from './commits.testing.js';
import {
  command,
  envelope,
  announced,
  EVIDENCE,
  executed,
  ledger,
  MUTATION,
  REF,
  refund,
  ROLLBACK,
  RUN,
  state,
  statement,
  TRIGGERED,
  fell,
} from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';
import { mutationIdOf } from '../core.js';

const HOUR = 3_600_000;
const NOW = 10 * HOUR;
const REVIEW = 400_000;
/** When the commit of the story was recorded: before the bound of the fall that reaches it, or after. */
const RECORDED_AT = 77;
const BOUND_AT = 4_711;
const PARENT = { run_id: 'run-0', commit_id: 'mut_parent' };
const ROOT: LineageRoot = { rollback_id: 'rb_root', run_id: 'run-9', mutation_id: 'mut_root', bound_at: BOUND_AT };
/** The fall of a parent, as evidence against what was made from it. */
const FALL = { kind: 'lineage', event_id: 'rb_parent', ref: 'commit/mut_parent#stands', root: ROOT } as const;

/** The ledger of the story that runs. */
let on: Ledger;

/** The parent fell: the notice of that. */
function fallen(rollbackId = 'rb_parent', root: LineageRoot | null = ROOT): RecordInput {
  const caused_by: Evidence = { ...EVIDENCE, kind: 'lineage', root };
  const { run_id, commit_id: mutation_id } = PARENT;
  return on.fallen.append(run_id, announced({ run_id, mutation_id, rollback_id: rollbackId, caused_by }));
}
/** A trigger of its own, of a source. */
function contradicted(event = 'ev-1', source = 'warehouse'): RecordInput {
  return state(on.assumptions, statement('invalidated', event, { source }));
}

function reviewed(
  verdict: 'stands' | 'rolled_back',
  by = 'olga',
  roles: readonly string[] = ['approver'],
  more: Readonly<Record<string, unknown>> = {},
): RecordInput {
  const from = envelope(by, roles, { command_id: `cmd-review-${by}` });
  const body = { run_id: RUN, mutation_id: MUTATION, verdict, reason: 'looked at the order', ...more };
  return command('ReviewOutOfBand', from, body);
}

function said(type: 'ConfirmTrigger' | 'RejectTrigger'): RecordInput {
  const body = { run_id: RUN, rollback_id: ROLLBACK, mutation_id: MUTATION, reason: 'looked at it' };
  return command(type, envelope('olga', ['approver'], { command_id: `cmd-${type}` }), body);
}

interface Set {
  readonly limits?: Partial<AdmissionLimits>;
  readonly boundMs?: number;
}

describe.each(WAYS)('the bound of a rollback, $way', ({ isRebuilt }) => {
  const start = ({ limits = {}, boundMs }: Set = { boundMs: HOUR }, recordedAt = RECORDED_AT) => {
    const bound = boundMs === undefined ? {} : { boundMs };
    on = ledger({ isRebuilt, admission: { ...NO_LIMITS, ...limits }, reviewDeadlineMs: REVIEW, ...bound });
    return on.run.when(executed(refund({ contract_digest: null, derived_from: [PARENT] })), recordedAt);
  };
  type Run = ReturnType<typeof start>;
  const row = (run: Run) => run.rows('rollback')[0];

  it('is on record with it: so long before it was admitted, or none', () => {
    const run = start()
      .when(contradicted(), NOW)
      .then(fell({ evidence: { root: { mutation_id: MUTATION, bound_at: NOW - HOUR } } }));
    expect(row(run)?.doc).toMatchObject({ phase: 'marked', bound_at: NOW - HOUR });
    start({})
      .when(contradicted(), NOW)
      .then(fell({ evidence: { root: { bound_at: null } } }));
    start()
      .when(TRIGGERED, NOW)
      .then(fell({ evidence: { root: { bound_at: NOW - HOUR } } }));
  });

  it('is set when a held trigger is let through', () => {
    start({ boundMs: HOUR, limits: { trustThresholdPermille: 600 } })
      .when(contradicted(), NOW)
      .when(said('ConfirmTrigger'), NOW + 5)
      .then(fell({ evidence: { root: { bound_at: NOW + 5 - HOUR } } }), fact('SourceJudged'));
  });

  it("is the root's for all that falls with it, also where the root had none", () => {
    start({ boundMs: HOUR }, BOUND_AT + 1)
      .when(fallen(), NOW)
      .then(fell({ evidence: FALL }));
    expect(row(on.run)?.doc).toMatchObject({ bound_at: BOUND_AT });
    start()
      .when(fallen('rb_parent', { ...ROOT, bound_at: null }), NOW)
      .then(fell({ evidence: { root: { bound_at: null } } }));
    expect(row(on.run)?.doc).toMatchObject({ bound_at: null });
  });

  describe('with a commit beyond it', () => {
    const listed = () => {
      const run = start();
      return run.when(fallen(), NOW);
    };

    it('gives that to a person, with owner, deadline and the fall that reaches it, and rolls nothing back', () => {
      const run = listed().then(
        fact('CommitBeyondBound', { mutation_id: MUTATION, evidence: FALL }),
        fact('RollbackOutOfBand', {
          rollback_id: ROLLBACK,
          evidence: FALL,
          committed_at: RECORDED_AT,
          owner: 'role:approver',
          deadline_at: NOW + REVIEW,
        }),
      );
      expect(row(run)).toMatchObject({
        dueAt: NOW + REVIEW,
        doc: {
          phase: 'beyond',
          owner: 'role:approver',
          deadline_at: NOW + REVIEW,
          beyond: { evidence: FALL, committed_at: RECORDED_AT },
          reviewed: null,
        },
      });
      expect(run.records().map(({ type }) => type)).not.toContain('MutationsFell');
      run.when(fallen(), NOW + 1).then(fact('TriggerRedundant'));
    });

    it('gives it to an administrator when nobody reviewed it in time', () => {
      const run = listed()
        .whenDue(NOW + REVIEW)
        .then(
          fact('RollbackEscalated', {
            reason: 'BOUND_NOT_REVIEWED',
            owner: 'role:administrator',
            deadline_at: NOW + 2 * REVIEW,
          }),
        );
      expect(row(run)).toMatchObject({ dueAt: null, doc: { phase: 'beyond', owner: 'role:administrator' } });
      run.when(reviewed('stands'), NOW + REVIEW + 1).then(fact('OutOfBandReviewed'));
    });

    it('leaves it when a person says that it stands, until another fall reaches it', () => {
      const run = listed()
        .when(reviewed('stands'), NOW + 1)
        .then(fact('OutOfBandReviewed', { verdict: 'stands', by: 'olga', reason: 'looked at the order' }))
        .thenAnswer({
          status: 'accepted',
          httpStatus: 200,
          body: { rollback_id: ROLLBACK, phase: 'reviewed', verdict: 'stands' },
        });
      expect(row(run)).toMatchObject({
        dueAt: null,
        doc: { phase: 'reviewed', deadline_at: null, reviewed: { verdict: 'stands', by: 'olga' } },
      });
      run.when(fallen(), NOW + 2).then(fact('TriggerRedundant'));
      run.when(fallen('rb_second_way'), NOW + 3).then(fact('TriggerRedundant'));
      const other = fallen('rb_other', { ...ROOT, rollback_id: 'rb_other_root' });
      run.when(other, NOW + 4).then(fact('CommitBeyondBound'), fact('RollbackOutOfBand'));
      expect(row(run)?.doc).toMatchObject({ phase: 'beyond', reviewed: null });
    });

    it("rolls it back when a person says so, on that person's word, with a bound of its own", () => {
      const run = listed()
        .when(reviewed('rolled_back'), NOW + 1)
        .then(
          fact('OutOfBandReviewed', { verdict: 'rolled_back' }),
          fell({
            rollback_id: ROLLBACK,
            evidence: {
              kind: 'human',
              source: 'olga',
              event_id: 'cmd-review-olga',
              root: { mutation_id: MUTATION, bound_at: NOW + 1 - HOUR },
            },
            admission: { command_id: 'cmd-review-olga' },
          }),
        );
      expect(row(run)).toMatchObject({
        dueAt: null,
        doc: { phase: 'marked', reviewed: { verdict: 'rolled_back' }, beyond: { committed_at: RECORDED_AT } },
      });
    });

    it('rolls it back like any other when a trigger of its own comes, before the review and after it', () => {
      const before = listed();
      before.when(contradicted(), NOW + 1).then(fell({}));
      const after = listed().when(reviewed('stands'), NOW + 1);
      after.when(contradicted(), NOW + 2).then(fell({ evidence: { root: { bound_at: NOW + 2 - HOUR } } }));
    });

    it('is listed once where several that it rests on fell together', () => {
      const other = { run_id: 'run-0', commit_id: 'mut_other' };
      const run = start();
      const both = refund({ effect_key: 'both', event_id: 'both', derived_from: [PARENT, other] });
      run.when(executed({ ...both, contract_digest: null }), RECORDED_AT + 1);
      const caused_by: Evidence = { ...EVIDENCE, kind: 'lineage', root: ROOT };
      const named = [PARENT, other].map(({ run_id, commit_id }) => ({ run_id, mutation_id: commit_id, caused_by }));
      const [first, ...others] = named;
      if (first === undefined) throw new Error('nothing fell');
      run.when(on.fallen.append('run-0', announced(first, ...others)), NOW);
      const listedOf = (type: string): readonly unknown[] =>
        run.recorded().flatMap((one) => (one.type === type ? [one.body['mutation_id']] : []));
      expect(listedOf('CommitBeyondBound').toSorted()).toEqual([MUTATION, mutationIdOf(both)].toSorted());
      expect(listedOf('TriggerRedundant')).toEqual([mutationIdOf(both)]);
      expect(listedOf('RollbackOutOfBand').toSorted()).toEqual([MUTATION, mutationIdOf(both)].toSorted());
    });

    it('lists nothing where its rollback stands', () => {
      start()
        .when(TRIGGERED, NOW)
        .when(fallen(), NOW + 1)
        .then(fact('TriggerRedundant'));
    });

    it('keeps it behind a held trigger, and puts it back into the list when that is rejected', () => {
      const careful = { boundMs: HOUR, limits: { trustThresholdPermille: 600 } };
      const run = start(careful);
      run
        .when(fallen(), NOW)
        .when(contradicted(), NOW + 1)
        .then(fact('TriggerHeld'));
      expect(row(run)?.doc).toMatchObject({ phase: 'held', beyond: { committed_at: RECORDED_AT } });
      run
        .when(said('RejectTrigger'), NOW + 2)
        .then(
          fact('TriggerRejected'),
          fact('SourceJudged'),
          fact('RollbackOutOfBand', { evidence: FALL, committed_at: RECORDED_AT, deadline_at: NOW + 2 + REVIEW }),
        );
      expect(row(run)?.doc).toMatchObject({ phase: 'beyond', deadline_at: NOW + 2 + REVIEW });
      const other = start(careful);
      other
        .when(contradicted(), NOW)
        .when(fallen(), NOW + 1)
        .then(fact('CommitBeyondBound'), fact('RollbackOutOfBand'))
        .when(fallen(), NOW + 2)
        .then(fact('TriggerRedundant'));
      expect(row(other)?.doc).toMatchObject({
        phase: 'held',
        held: { reason: 'SOURCE_UNTRUSTED' },
        beyond: { committed_at: RECORDED_AT },
      });
      other.when(reviewed('stands'), NOW + 3);
      expect(JSON.stringify(other.decision().answer)).toContain('a trigger of its own is held');
    });

    it('asks nobody again about a fall it was said to stand after, when somebody rejects another word', () => {
      const another = { ...ROOT, rollback_id: 'rb_another' };
      const left = () =>
        start({ boundMs: HOUR, limits: { trustThresholdPermille: 600 } })
          .when(fallen(), NOW)
          .when(reviewed('stands'), NOW + 1)
          .when(contradicted(), NOW + 2)
          .then(fact('TriggerHeld'));
      const run = left()
        .when(said('RejectTrigger'), NOW + 3)
        .then(fact('TriggerRejected'), fact('SourceJudged'))
        .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'rejected' } });
      expect(row(run)?.doc).toMatchObject({ phase: 'rejected', deadline_at: null, reviewed: { verdict: 'stands' } });
      run
        .when(fallen(), NOW + 4)
        .then(fact('TriggerRedundant'))
        .when(fallen('rb_other', another), NOW + 5)
        .then(fact('CommitBeyondBound'), fact('RollbackOutOfBand', { evidence: { event_id: 'rb_other' } }));
      left()
        .when(fallen('rb_other', another), NOW + 3)
        .then(fact('CommitBeyondBound'), fact('RollbackOutOfBand'))
        .when(said('RejectTrigger'), NOW + 4)
        .then(
          fact('TriggerRejected'),
          fact('SourceJudged'),
          fact('RollbackOutOfBand', { evidence: { event_id: 'rb_other' } }),
        );
    });

    it('takes a review from people with a role and a reason, once', () => {
      start()
        .when(reviewed('stands'), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 404, code: 'ROLLBACK_UNKNOWN' });
      listed()
        .when(reviewed('stands', 'olga', ['approver'], { reason: ' ' }), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'COMMAND_INVALID' })
        .when(reviewed('stands', 'olga', ['approver'], { mutation_id: '' }), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'COMMAND_INVALID' })
        .when(reviewed('stands', 'agent:a', ['approver']), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'JUDGE_NOT_A_PERSON' })
        .when(reviewed('stands', 'rita', ['reporter']), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'ROLE_REQUIRED' })
        .when(said('ConfirmTrigger'), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'NO_TRIGGER' })
        .when(reviewed('stands'), NOW)
        .when(reviewed('rolled_back', 'omar'), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'OUT_OF_BAND_REVIEWED' });
      start()
        .when(TRIGGERED, NOW)
        .when(reviewed('stands'), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'NOT_BEYOND_BOUND' });
    });

    it("says nothing of another tenant's", () => {
      const from = envelope('olga', ['approver'], { tenant: 'globex' });
      listed()
        .when(reviewed('stands', 'olga', ['approver'], { envelope: from }), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 404, code: 'ROLLBACK_UNKNOWN' });
    });
  });
});

describe.each(WAYS)('a commit without an effect, $way', ({ isRebuilt }) => {
  const start = (limits: Partial<AdmissionLimits> = {}) => {
    on = ledger({ isRebuilt, admission: { ...NO_LIMITS, ...limits }, reviewDeadlineMs: REVIEW });
    return on.run;
  };
  const plan = commit('plan', { assumption_refs: [REF] });
  const marked = fact('CheckpointRolledBack', { commit_id: plan.id, rollback_id: rollbackIdOf('acme', plan.id) });

  it('is rolled back alone: no second mark (E34, E20)', () => {
    const run = start().when(committed(plan), NOW).when(rollback(plan), NOW).then(marked);
    expect(run.rows('rollback')).toMatchObject([{ dueAt: null, doc: { phase: 'marked', deadline_at: null } }]);
    run.when(rollback(plan), NOW + 3).then(fact('TriggerRedundant'));
  });

  it('that was given to a person is marked all the same', () => {
    start()
      .when(rollback(plan), NOW)
      .whenDue(NOW + 60_000)
      .when(committed(plan), NOW + 60_001)
      .whenDue(NOW + 60_001)
      .then(marked);
  });

  it('falls to several sources that fire at once as one rollback (E21)', () => {
    const run = start().when(committed(plan), NOW);
    run.when(contradicted(), NOW).then(marked);
    for (const source of ['critic', 'verifier', 'crm'])
      run.when(contradicted(`ev-${source}`, source), NOW).then(fact('TriggerRedundant', { evidence: { source } }));
    expect(run.records().filter(({ type }) => type === 'CheckpointRolledBack')).toHaveLength(1);
  });

  it('that a successor bundle refuses falls at once, and only the ledger may say so (E28)', () => {
    const careful = { trustThresholdPermille: 600 };
    const gated = commit('gated', { gate: gateOf('risk', { amount: 900 }) });
    const rule = [{ name: 'limit', when: 'gate.amount <= 500.0', reason: 'it is too much' }];
    const run = start(careful);
    on.entries.append('risk', bundleRegistered('risk', rule, 1));
    run
      .when(committed(gated), NOW)
      .when(on.entries.append('risk', bundleRegistered('risk', rule, 2)), NOW + 1)
      .whenDue(NOW + 1)
      .then(fact('CheckpointRolledBack', { commit_id: gated.id }), fact('ReevaluationClosed'));
  });
});
