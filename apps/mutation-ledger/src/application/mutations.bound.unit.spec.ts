// The bound of rollbacks: how far back a fall goes, what stands beyond, and who looks at that (E13, E14); commits without an
// effect, which nothing is to be compensated of (E34).
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import type { CheckpointRolledBack, CommitBeyondBound, Evidence, LineageRoot } from '@recourse/messages';
import { fact, harness, logged, WAYS, wire } from '@recourse/testing';
import { NO_LIMITS } from '../domain/admission/admission.messages.js';
import type { AdmissionLimits } from '../domain/admission/admission.messages.js';
import { rollbackIdOf } from '../domain/rollback/rollback.decider.js';
import {
  contradicted,
  core,
  envelope,
  EVIDENCE,
  markedInput,
  MUTATION,
  REVIEW,
  ROLLBACK,
  RUN,
  TENANT,
  trigger,
  views,
} from '../recoveries.testing.js';

const HOUR = 3_600_000;
const NOW = 10 * HOUR;
const ROOT: LineageRoot = { rollback_id: 'rb_root', run_id: 'run-0', mutation_id: 'mut_root', bound_at: 4_711 };
/** The fall of a parent. */
const FALL: Evidence = {
  kind: 'lineage',
  event_id: 'rb_parent',
  ref: 'commit/mut_parent#stands',
  source: 'service:mutation-ledger',
  statement: null,
  stated_at: 5_000,
  partition: 2,
  position: 7,
  root: ROOT,
};
const SUCCESSOR: Evidence = {
  kind: 'policy_reevaluation',
  event_id: 'reev_1',
  ref: null,
  source: 'service:mutation-ledger',
  statement: null,
  stated_at: 5_000,
  partition: -1,
  position: -1,
  root: null,
};

function beyond(more: Partial<CommitBeyondBound> = {}): RecordInput {
  return logged(
    'recourse.mutations',
    'CommitBeyondBound',
    {
      tenant: TENANT,
      run_id: RUN,
      mutation_id: MUTATION,
      evidence: FALL,
      agent_id: 'a',
      subject_ref: null,
      committed_at: 77,
      derived_from: [],
      ...more,
    },
    1,
    { key: RUN },
  );
}

function checkpointMarked(id: string, more: Partial<CheckpointRolledBack> = {}): RecordInput {
  const body = {
    tenant: TENANT,
    run_id: RUN,
    commit_id: id,
    rollback_id: rollbackIdOf(id),
    evidence: EVIDENCE,
    agent_id: 'a',
    step_id: 's1',
    produced_by: 'p',
    subject_ref: null,
    assumption_refs: [],
    derived_from: [],
    committed_at: 1,
    recorded_hash: Buffer.alloc(32),
    resume: null,
    consumers: [],
    harden_at: null,
    ...more,
  };
  return logged('recourse.mutations', 'CheckpointRolledBack', body, 2, { key: RUN });
}

function reviewed(
  verdict: 'stands' | 'rolled_back',
  by = 'olga',
  roles: readonly string[] = ['approver'],
  more: Readonly<Record<string, unknown>> = {},
): RecordInput {
  return wire(
    'recourse.recovery-commands',
    'ReviewOutOfBand',
    {
      envelope: envelope(by, roles, { command_id: `cmd-review-${by}` }),
      run_id: RUN,
      mutation_id: MUTATION,
      verdict,
      reason: 'looked at the order',
      ...more,
    },
    { key: RUN },
  );
}

function said(type: 'ConfirmTrigger' | 'RejectTrigger'): RecordInput {
  return wire(
    'recourse.recovery-commands',
    type,
    {
      envelope: envelope('olga', ['approver'], { command_id: `cmd-${type}` }),
      run_id: RUN,
      rollback_id: ROLLBACK,
      mutation_id: MUTATION,
      reason: 'looked at it',
    },
    { key: RUN },
  );
}

describe.each(WAYS)('the bound of a rollback, $way', ({ isRebuilt }) => {
  const start = (limits: Partial<AdmissionLimits> = { boundMs: HOUR }) =>
    harness(core({ admission: { ...NO_LIMITS, ...limits } }), { isRebuilt, views: views() });
  type Run = ReturnType<typeof start>;
  const row = (run: Run) => run.rows('rollback')[0];

  it('is on record with it: so long before it was opened, or none', () => {
    const run = start()
      .when(contradicted(), NOW)
      .then(fact('RollbackOpened', { bound_at: NOW - HOUR }));
    expect(row(run)?.doc).toMatchObject({ phase: 'opened', bound_at: NOW - HOUR });
    start({})
      .when(contradicted(), NOW)
      .then(fact('RollbackOpened', { bound_at: null }));
    start()
      .when(trigger(), NOW)
      .then(fact('RollbackOpened', { bound_at: NOW - HOUR }));
  });

  it('is set when a held trigger is let through', () => {
    start({ boundMs: HOUR, trustThresholdPermille: 600 })
      .when(contradicted(), NOW)
      .when(said('ConfirmTrigger'), NOW + 5)
      .then(fact('RollbackOpened', { bound_at: NOW + 5 - HOUR }), fact('SourceJudged'));
  });

  it("is the root's for all that falls with it, also where the root had none", () => {
    start()
      .when(contradicted({ evidence: FALL }), NOW)
      .then(fact('RollbackOpened', { bound_at: 4_711, evidence: FALL }));
    start()
      .when(contradicted({ evidence: { ...FALL, root: { ...ROOT, bound_at: null } } }), NOW)
      .then(fact('RollbackOpened', { bound_at: null }));
  });

  describe('with a commit beyond it', () => {
    const listed = () => start().when(beyond(), NOW);

    it('gives that to a person, with owner, deadline and the fall that reaches it, and rolls nothing back', () => {
      const run = listed().then(
        fact('RollbackOutOfBand', {
          rollback_id: ROLLBACK,
          evidence: FALL,
          committed_at: 77,
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
          beyond: { evidence: FALL, committed_at: 77 },
          reviewed: null,
        },
      });
      expect(run.records().map(({ type }) => type)).not.toContain('RollbackOpened');
      run.when(beyond(), NOW + 1).thenNothing();
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
      run.when(beyond(), NOW + 2).thenNothing();
      run.when(beyond({ evidence: { ...FALL, event_id: 'rb_other' } }), NOW + 3).then(fact('RollbackOutOfBand'));
      expect(row(run)?.doc).toMatchObject({ phase: 'beyond', reviewed: null });
    });

    it("rolls it back when a person says so, on that person's word, with a bound of its own", () => {
      const run = listed()
        .when(reviewed('rolled_back'), NOW + 1)
        .then(
          fact('OutOfBandReviewed', { verdict: 'rolled_back' }),
          fact('RollbackOpened', {
            rollback_id: ROLLBACK,
            bound_at: NOW + 1 - HOUR,
            evidence: { kind: 'human', source: 'olga', event_id: 'cmd-review-olga', root: null },
            command_id: 'cmd-review-olga',
          }),
        );
      expect(row(run)).toMatchObject({
        dueAt: NOW + 1 + 60_000,
        doc: { phase: 'opened', reviewed: { verdict: 'rolled_back' }, beyond: { committed_at: 77 } },
      });
      run.when(markedInput(), NOW + 2);
      expect(row(run)?.doc).toMatchObject({ phase: 'marked' });
    });

    it('opens it like any other when a trigger of its own comes, before the review and after it', () => {
      listed()
        .when(contradicted(), NOW + 1)
        .then(fact('RollbackOpened'));
      listed()
        .when(reviewed('stands'), NOW + 1)
        .when(contradicted(), NOW + 2)
        .then(fact('RollbackOpened', { bound_at: NOW + 2 - HOUR }));
      listed()
        .when(contradicted({ evidence: { ...FALL, partition: 1, root: { ...ROOT, rollback_id: 'rb_2' } } }), NOW + 1)
        .then(fact('RollbackOpened', { bound_at: 4_711 }));
    });

    it('records nothing where its rollback stands', () => {
      start()
        .when(contradicted(), NOW)
        .when(beyond(), NOW + 1)
        .thenNothing();
      start()
        .when(contradicted(), NOW)
        .when(markedInput(), NOW + 1)
        .when(beyond(), NOW + 2)
        .thenNothing();
    });

    it('keeps it behind a held trigger, and puts it back into the list when that is rejected', () => {
      const run = start({ boundMs: HOUR, trustThresholdPermille: 600 })
        .when(beyond(), NOW)
        .when(contradicted(), NOW + 1)
        .then(fact('TriggerHeld'));
      expect(row(run)?.doc).toMatchObject({ phase: 'held', beyond: { committed_at: 77 } });
      run
        .when(said('RejectTrigger'), NOW + 2)
        .then(
          fact('TriggerRejected'),
          fact('SourceJudged'),
          fact('RollbackOutOfBand', { evidence: FALL, committed_at: 77, deadline_at: NOW + 2 + REVIEW }),
        );
      expect(row(run)?.doc).toMatchObject({ phase: 'beyond', deadline_at: NOW + 2 + REVIEW });
      const other = start({ trustThresholdPermille: 600 })
        .when(contradicted(), NOW)
        .when(beyond(), NOW + 1)
        .then(fact('RollbackOutOfBand'))
        .when(beyond(), NOW + 2)
        .thenNothing();
      expect(row(other)?.doc).toMatchObject({
        phase: 'held',
        held: { reason: 'SOURCE_UNTRUSTED' },
        beyond: { committed_at: 77 },
      });
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
        .when(contradicted(), NOW)
        .when(reviewed('stands'), NOW)
        .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'NOT_BEYOND_BOUND' });
    });

    it("says nothing of another tenant's", () => {
      listed()
        .when(
          reviewed('stands', 'olga', ['approver'], { envelope: envelope('olga', ['approver'], { tenant: 'globex' }) }),
          NOW,
        )
        .thenAnswer({ status: 'rejected', httpStatus: 404, code: 'ROLLBACK_UNKNOWN' });
    });
  });
});

describe.each(WAYS)('a commit without an effect, $way', ({ isRebuilt }) => {
  const start = (limits: Partial<AdmissionLimits> = {}) =>
    harness(core({ admission: { ...NO_LIMITS, ...limits } }), { isRebuilt, views: views() });

  it('is rolled back alone once it is marked: no step, no recovery, no second mark (E34, E20)', () => {
    const run = start()
      .when(trigger('rita', ['reporter'], { mutation_id: 'cp_1' }), NOW)
      .when(checkpointMarked('cp_1'), NOW + 1)
      .then(fact('RollbackMarked', { rollback_id: rollbackIdOf('cp_1'), mutation_id: 'cp_1' }));
    expect([run.rows('rollback'), run.rows('step'), run.rows('recovery')]).toMatchObject([
      [{ dueAt: null, doc: { phase: 'marked', deadline_at: null } }],
      [],
      [],
    ]);
    run.when(checkpointMarked('cp_1'), NOW + 2).thenNothing();
    run.when(trigger('rita', ['reporter'], { mutation_id: 'cp_1' }), NOW + 3).then(fact('TriggerRedundant'));
    start().when(checkpointMarked('cp_2'), NOW).thenNothing();
  });

  it('that was given to a person is marked all the same', () => {
    start()
      .when(trigger('rita', ['reporter'], { mutation_id: 'cp_1' }), NOW)
      .whenDue(NOW + 60_000)
      .when(checkpointMarked('cp_1'), NOW + 60_001)
      .then(fact('RollbackMarked'));
  });

  it('falls to several sources that fire at once as one rollback (E21)', () => {
    const run = start().when(contradicted({ mutation_id: 'cp_1' }), NOW);
    for (const source of ['critic', 'verifier', 'crm'])
      run
        .when(contradicted({ mutation_id: 'cp_1', evidence: { ...EVIDENCE, source, event_id: `ev-${source}` } }), NOW)
        .then(fact('TriggerRedundant', { evidence: { source } }));
    run.when(checkpointMarked('cp_1'), NOW + 1);
    expect(run.records().filter(({ type }) => type === 'RollbackOpened')).toHaveLength(1);
  });

  it('that a successor bundle refuses falls at once, and only the ledger may say so (E28)', () => {
    const careful = { trustThresholdPermille: 600 };
    start(careful)
      .when(contradicted({ mutation_id: 'cp_1', evidence: SUCCESSOR }), NOW)
      .then(fact('RollbackOpened', { evidence: SUCCESSOR }));
    start(careful)
      .when(contradicted({ mutation_id: 'cp_1', evidence: { ...SUCCESSOR, partition: 0, position: 4 } }), NOW)
      .then(fact('TriggerHeld'));
    start(careful)
      .when(contradicted({ mutation_id: 'cp_1', evidence: { ...SUCCESSOR, source: 'somebody' } }), NOW)
      .then(fact('TriggerHeld'));
  });
});
