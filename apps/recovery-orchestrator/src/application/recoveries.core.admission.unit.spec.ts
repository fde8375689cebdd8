import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { fact, harness, WAYS, wire } from '@recourse/testing';
import { REJECTED_TAKES } from '../domain/admission/admission.messages.js';
import type { AdmissionLimits } from '../domain/admission/admission.messages.js';
import { rollbackIdOf } from '../domain/rollback/rollback.decider.js';
import {
  contradicted,
  core,
  envelope,
  EVIDENCE,
  execution,
  markedInput,
  ref,
  REVIEW,
  ROLLBACK,
  RUN,
  terms,
  trigger,
  views,
  leg,
} from '../recoveries.testing.js';

const OPEN: AdmissionLimits = { trustThresholdPermille: null, storm: null, closureMax: null, boundMs: null };
const AUTO = terms({ impact: 'write', recovery_approval_mode: 'auto' });

/** Another commit of the run, contradicted by an event of its own unless told. */
function hit(id: string, event = `ev-${id}`, more: Readonly<Record<string, unknown>> = {}): RecordInput {
  return contradicted({ mutation_id: id, evidence: { ...EVIDENCE, event_id: event, ...more } });
}

function said(
  type: 'ConfirmTrigger' | 'RejectTrigger',
  id: string,
  by = 'olga',
  roles: readonly string[] = ['approver'],
  more: Readonly<Record<string, unknown>> = {},
): RecordInput {
  const body = {
    envelope: envelope(by, roles, { command_id: `cmd-${type}-${id}-${by}` }),
    run_id: RUN,
    rollback_id: rollbackIdOf(id),
    mutation_id: id,
    reason: 'looked at it',
    ...more,
  };
  return wire('recourse.recovery-commands', type, body, { key: RUN });
}

function closing(id: string, by = 'olga', roles: readonly string[] = ['operator']): RecordInput {
  return wire(
    'recourse.recovery-commands',
    'CloseBreaker',
    {
      envelope: envelope(by, roles, { command_id: `cmd-close-${by}` }),
      run_id: RUN,
      breaker_id: id,
      reason: 'a bad feed',
    },
    { key: RUN },
  );
}

function marks(id: string): RecordInput {
  return markedInput({
    mutation_id: id,
    rollback_id: rollbackIdOf(id),
    evidence: { ...EVIDENCE, event_id: `ev-${id}` },
    execution: execution(),
    ref: ref({ mutation_id: id, idempotency_key: `key-${id}` }),
    terms: AUTO,
  });
}

function source(both: ReturnType<typeof views>, name: string, trust: number, tenant = 'acme'): void {
  const body = JSON.stringify({
    owner: 'ops',
    doc: 'd',
    sensitivity: 'internal',
    access: 'stream',
    ttl_ms: 1_000,
    trust_permille: trust,
  });
  both.entries.append(
    name,
    fact('EntryRegistered', { kind: 'context_source', tenant, name, version: 1, digest: Buffer.alloc(32), body }),
  );
}

describe.each(WAYS)('admission, $way', ({ isRebuilt }) => {
  const start = (limits: Partial<AdmissionLimits>, both = views()) =>
    harness(core({ admission: { ...OPEN, ...limits } }), { isRebuilt, views: both });
  type Run = ReturnType<typeof start>;
  const rollback = (run: Run, id = 'mut_1') => run.rows('rollback').find(({ doc }) => doc['mutation_id'] === id);
  const doc = (run: Run, kind: string) => run.rows(kind)[0]?.doc;

  describe('of a source nobody knows', () => {
    const held = (both = views()) => start({ trustThresholdPermille: 600 }, both).when(contradicted(), 1_000);

    it('waits in a list, with owner, deadline and reason, and rolls nothing back', () => {
      const run = held().then(
        fact('TriggerHeld', {
          reason: 'SOURCE_UNTRUSTED',
          detail: 'its source weighs 500 of 600 thousandths',
          owner: 'role:approver',
          deadline_at: 1_000 + REVIEW,
        }),
      );
      expect(rollback(run)).toMatchObject({
        dueAt: 1_000 + REVIEW,
        doc: {
          phase: 'held',
          held: { reason: 'SOURCE_UNTRUSTED' },
          owner: 'role:approver',
          deadline_at: 1_000 + REVIEW,
        },
      });
      expect(run.rows('held')).toHaveLength(1);
    });

    it('is given to a person when nobody judged it in time, and stays held', () => {
      const run = held()
        .whenDue(1_000 + REVIEW)
        .then(fact('RollbackEscalated', { reason: 'TRIGGER_HELD', owner: 'role:administrator' }));
      expect(rollback(run)).toMatchObject({
        dueAt: null,
        doc: { phase: 'held', owner: 'role:administrator', deadline_at: 1_000 + 2 * REVIEW },
      });
      run.when(said('ConfirmTrigger', 'mut_1'), 900_000).then(fact('RollbackOpened'), fact('SourceJudged'));
    });

    it('goes on when a person confirms it, and its source gains weight', () => {
      const run = held()
        .when(said('ConfirmTrigger', 'mut_1'), 2_000)
        .then(
          fact('RollbackOpened', { rollback_id: ROLLBACK, confirmed_by: 'olga', evidence: EVIDENCE }),
          fact('SourceJudged', { source: 'warehouse', confirmed: true, weight_permille: 550, by: 'olga' }),
        )
        .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'opened', verdict: 'confirmed' } });
      expect(rollback(run)?.doc).toMatchObject({
        phase: 'opened',
        held: null,
        confirmed_by: 'olga',
        judged: { verdict: 'confirmed', by: 'olga' },
      });
      expect([run.rows('held'), doc(run, 'source')]).toMatchObject([
        [],
        { weight_permille: 550, confirmed: 1, rejected: 0 },
      ]);
      run.when(marks('mut_1'), 3_000);
      expect(rollback(run)?.doc).toMatchObject({ phase: 'marked' });
    });

    it('ends when a person rejects it, and its source loses three times as much', () => {
      const run = held()
        .when(said('RejectTrigger', 'mut_1'), 2_000)
        .then(
          fact('TriggerRejected', { event_id: 'ev-1', by: 'olga' }),
          fact('SourceJudged', { confirmed: false, weight_permille: 500 - REJECTED_TAKES }),
        );
      expect(rollback(run)).toMatchObject({
        dueAt: null,
        doc: { phase: 'rejected', deadline_at: null, judged: { verdict: 'rejected' } },
      });
      expect(run.rows('held')).toEqual([]);
      run.when(contradicted(), 3_000).then(fact('TriggerRedundant'));
      run
        .when(hit('mut_1', 'ev-9'), 4_000)
        .then(fact('TriggerHeld', { detail: 'its source weighs 350 of 600 thousandths' }));
      expect(rollback(run)?.doc).toMatchObject({ phase: 'held', judged: null });
    });

    it('lets all of a source through once people have confirmed enough of it', () => {
      const run = held()
        .when(hit('mut_2'), 1_100)
        .when(hit('mut_3'), 1_200)
        .when(said('ConfirmTrigger', 'mut_1'), 2_000);
      run
        .when(said('ConfirmTrigger', 'mut_2'), 3_000)
        .then(fact('RollbackOpened'), fact('SourceJudged', { weight_permille: 600 }), fact('HeldReviewed'));
      run.whenDue(3_000).then(fact('RollbackOpened', { mutation_id: 'mut_3', confirmed_by: null }));
      run.when(hit('mut_4'), 4_000).then(fact('RollbackOpened', { mutation_id: 'mut_4' }));
      expect(run.rows('held')).toEqual([]);
    });

    it('is heard again from a person, who needs no weight, and from no other stranger', () => {
      const run = held()
        .when(hit('mut_1', 'ev-2', { source: 'another' }), 2_000)
        .then(fact('TriggerRedundant'));
      run
        .when(trigger(), 3_000)
        .then(fact('RollbackOpened', { confirmed_by: null, command_id: 'cmd-rita' }))
        .thenAnswer({ status: 'accepted', httpStatus: 201, body: { held: false, redundant: false } });
      expect(run.rows('held')).toEqual([]);
    });

    it('is held as well when an agent sends it as a command, and says so', () => {
      start({ trustThresholdPermille: 600 })
        .when(trigger('agent:critic'), 1_000)
        .then(fact('TriggerHeld'))
        .thenAnswer({ status: 'accepted', httpStatus: 202, body: { held: true, redundant: false } });
    });

    it('is judged by a person alone, with the role, not by whom it came from, and once', () => {
      const run = start({ trustThresholdPermille: 600 }).when(hit('mut_1', 'ev-1', { source: 'rita' }), 1_000);
      run
        .when(said('ConfirmTrigger', 'mut_1', 'Rita '), 2_000)
        .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'SELF_JUDGEMENT' });
      run
        .when(said('ConfirmTrigger', 'mut_1', 'agent:a1'), 2_000)
        .thenAnswer({ status: 'rejected', code: 'JUDGE_NOT_A_PERSON' });
      run
        .when(said('ConfirmTrigger', 'mut_1', 'olga', ['reporter']), 2_000)
        .thenAnswer({ status: 'rejected', code: 'ROLE_REQUIRED' });
      run
        .when(said('ConfirmTrigger', 'mut_9'), 2_000)
        .thenAnswer({ status: 'rejected', httpStatus: 404, code: 'ROLLBACK_UNKNOWN' });
      run
        .when(said('ConfirmTrigger', 'mut_1', 'olga', ['approver'], { rollback_id: 'rb_other' }), 2_000)
        .thenAnswer({ status: 'rejected', code: 'ROLLBACK_UNKNOWN' });
      run.when(said('ConfirmTrigger', 'mut_1'), 2_000).thenAnswer({ status: 'accepted' });
      run
        .when(said('RejectTrigger', 'mut_1', 'omar'), 2_000)
        .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'TRIGGER_JUDGED' });
    });
  });

  it("of a registered source begins with the trust it was registered with, its tenant's own first", () => {
    const both = views();
    source(both, 'warehouse', 700, '*');
    const run = start({ trustThresholdPermille: 600 }, both).when(contradicted(), 1_000).then(fact('RollbackOpened'));
    source(both, 'warehouse', 100);
    run.when(hit('mut_2'), 2_000).then(fact('TriggerHeld', { detail: 'its source weighs 100 of 600 thousandths' }));
  });

  it('judges what is rolled back already, without taking it back', () => {
    const run = start({ trustThresholdPermille: 600 })
      .when(trigger(), 1_000)
      .then(fact('RollbackOpened'))
      .when(said('RejectTrigger', 'mut_1'), 2_000)
      .then(fact('SourceJudged', { confirmed: false, source: 'rita' }));
    expect(rollback(run)?.doc).toMatchObject({ phase: 'opened', judged: { verdict: 'rejected' } });
  });

  describe('of a storm', () => {
    const LIMIT = { storm: { limit: 2, windowMs: 1_000 } } as const;
    const burst = () => start(LIMIT).when(hit('m1'), 1_000).when(hit('m2'), 1_001);
    const opened = fact('BreakerOpened', {
      scope: 'source',
      name: 'warehouse',
      count: 3,
      limit: 2,
      window_ms: 1_000,
      owner: 'role:operator',
      deadline_at: 1_002 + REVIEW,
    });

    it('opens a breaker and holds what comes, until a person closes it; then everything goes on', () => {
      const run = burst()
        .when(hit('m3'), 1_002)
        .then(
          opened,
          fact('TriggerHeld', { reason: 'BREAKER_OPEN', detail: 'a burst opened the breaker over source warehouse' }),
        );
      run.when(hit('m4'), 5_000).then(fact('TriggerHeld', { detail: 'a breaker is open over source warehouse' }));
      const id = String(doc(run, 'breaker')?.['breaker_id']);
      run
        .when(closing(id, 'agent:a1'), 6_000)
        .thenAnswer({ status: 'rejected', code: 'JUDGE_NOT_A_PERSON' })
        .when(closing(id, 'olga', ['approver']), 6_000)
        .thenAnswer({ status: 'rejected', code: 'ROLE_REQUIRED' });
      run
        .when(closing(id), 6_000)
        .then(fact('BreakerClosed', { by: 'olga' }))
        .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'closed' } });
      run
        .whenDue(6_000)
        .then(fact('RollbackOpened', { mutation_id: 'm3' }), fact('RollbackOpened', { mutation_id: 'm4' }));
      expect([run.rows('held'), doc(run, 'breaker')]).toMatchObject([
        [],
        { phase: 'closed', deadline_at: null, closed: { by: 'olga' } },
      ]);
      run.when(closing(id, 'omar'), 7_000).thenAnswer({ status: 'rejected', httpStatus: 409, code: 'BREAKER_CLOSED' });
      run
        .when(hit('m5'), 7_000)
        .then(fact('RollbackOpened'))
        .when(hit('m6'), 7_001)
        .then(fact('RollbackOpened'))
        .when(hit('m7'), 7_002)
        .then(fact('BreakerOpened'), fact('TriggerHeld'));
    });

    it('counts an event once, however many commits it hits, and lets the rest of it through', () => {
      const run = start(LIMIT)
        .when(hit('m1', 'one'), 1_000)
        .when(hit('m2', 'one'), 1_001)
        .when(hit('m3', 'one'), 1_002)
        .then(fact('RollbackOpened'))
        .when(hit('m4', 'two'), 1_003)
        .then(fact('RollbackOpened'));
      run
        .when(hit('m5', 'three'), 1_004)
        .then(fact('BreakerOpened'), fact('TriggerHeld'))
        .when(hit('m6', 'one'), 1_005)
        .then(fact('RollbackOpened'));
    });

    it('is none where triggers come slowly, nor where people ask', () => {
      const slow = start(LIMIT);
      for (let at = 0; at < 8; at += 1) slow.when(hit(`m${String(at)}`), 1_000 + at * 500).then(fact('RollbackOpened'));
      const people = start(LIMIT);
      for (let at = 0; at < 8; at += 1)
        people
          .when(trigger('rita', ['reporter'], { mutation_id: `m${String(at)}` }), 1_000)
          .then(fact('RollbackOpened', { storm_window_ms: 0 }));
      expect(people.rows('storm')).toEqual([]);
    });

    it('is one of the tenant when several sources make it', () => {
      const run = start(LIMIT)
        .when(hit('m1', 'a', { source: 's1' }), 1_000)
        .when(hit('m2', 'b', { source: 's2' }), 1_000);
      run
        .when(hit('m3', 'c', { source: 's3' }), 1_000)
        .then(
          fact('BreakerOpened', { scope: 'tenant', name: 'acme' }),
          fact('TriggerHeld', { detail: 'a burst opened the breaker over tenant acme' }),
        );
      run
        .when(contradicted({ tenant: 'globex', mutation_id: 'm4', evidence: { ...EVIDENCE, event_id: 'd' } }), 1_001)
        .then(fact('RollbackOpened', { tenant: 'globex' }));
    });

    it('of one capability stops calls, not marks, and lets them go once it is closed', () => {
      const run = start(LIMIT)
        .when(marks('m1'), 1_000)
        .then(fact('StormCounted', { capability: 'payments.cancel_refund' }), fact('StepDecided'), leg())
        .when(marks('m2'), 1_001);
      run
        .when(marks('m3'), 1_002)
        .then(
          fact('BreakerOpened', { scope: 'capability', name: 'payments.cancel_refund' }),
          fact('StepDecided'),
          fact('StepHalted', { reason: 'BREAKER_OPEN', owner: 'role:operator' }),
        );
      run.when(marks('m4'), 1_003).then(fact('StepDecided'), fact('StepHalted', { reason: 'BREAKER_OPEN' }));
      const id = String(doc(run, 'breaker')?.['breaker_id']);
      run.when(closing(id), 2_000).then(fact('BreakerClosed')).whenDue(2_000);
      expect(run.rows('step').map(({ doc: step }) => step['phase'])).toEqual([
        'dispatched',
        'dispatched',
        'dispatched',
        'dispatched',
      ]);
      expect(run.rows('halt')).toEqual([]);
    });
  });

  describe('of an event that takes down too much', () => {
    it('holds the rest, and goes on with all of it when a person confirms one', () => {
      const run = start({ closureMax: 2 })
        .when(hit('m1', 'big'), 1_000)
        .when(hit('m2', 'big'), 1_001)
        .then(fact('RollbackOpened', { closure_counted: true }));
      run
        .when(hit('m3', 'big'), 1_002)
        .then(fact('TriggerHeld', { reason: 'CLOSURE_LIMIT' }))
        .when(hit('m4', 'big'), 1_003)
        .then(fact('TriggerHeld'))
        .when(hit('m5', 'small'), 1_004)
        .then(fact('RollbackOpened'));
      run
        .when(said('ConfirmTrigger', 'm3'), 2_000)
        .then(
          fact('RollbackOpened', { mutation_id: 'm3' }),
          fact('SourceJudged'),
          fact('HeldReviewed', { lifts_closure: true }),
        )
        .whenDue(2_000)
        .then(fact('RollbackOpened', { mutation_id: 'm4' }));
      run.when(hit('m6', 'big'), 3_000).then(fact('RollbackOpened', { mutation_id: 'm6' }));
      expect(run.rows('held')).toEqual([]);
    });
  });

  it('touches no row of a limit where none is set', () => {
    const run = start({})
      .when(contradicted(), 1_000)
      .then(fact('RollbackOpened', { storm_window_ms: 0, closure_counted: false }))
      .when(marks('mut_1'), 2_000);
    expect(['source', 'storm', 'breaker', 'closure', 'held', 'pace'].flatMap((kind) => run.rows(kind))).toEqual([]);
  });

  it('refuses a trigger without evidence or without a commit (E8)', () => {
    start({})
      .when(trigger('rita', ['reporter'], { reason: '  ' }), 1_000)
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'COMMAND_INVALID' })
      .when(trigger('rita', ['reporter'], { mutation_id: '' }), 1_000)
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'COMMAND_INVALID' });
  });
});

describe('the rest of a large event', () => {
  it('goes on in bounded parts, to the last', () => {
    const run = harness(core({ admission: { ...OPEN, closureMax: 1 } }), { views: views() }).when(
      hit('m0', 'big'),
      1_000,
    );
    for (let at = 0; at < 210; at += 1) run.when(hit(`x${String(at)}`, 'big'), 1_001);
    run.when(said('ConfirmTrigger', 'x0'), 2_000);
    expect(run.rows('held').filter(({ dueAt }) => dueAt !== null)).toHaveLength(200);
    run.whenDue(2_000);
    expect([run.records().filter(({ type }) => type === 'RollbackOpened').length, run.rows('held')]).toEqual([211, []]);
  });
});
