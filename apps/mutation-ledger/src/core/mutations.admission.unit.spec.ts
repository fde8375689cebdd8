import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import { rollbackIdOf } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import { entrySaid, fact, WAYS, eachMember } from '@recourse/testing';
import { NO_LIMITS, REJECTED_TAKES } from '../rules/admission/admission.messages.js';
import type { AdmissionLimits } from '../rules/admission/admission.messages.js';
import { mutationIdOf } from './executions.js';
import {
  command,
  envelope,
  executed,
  ledger,
  refund,
  REFUND_DIGEST,
  RUN,
  state,
  statement,
  triggerOf,
  fell,
} from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';

const REVIEW = 400_000;
const NAMES = ['mut_1', 'mut_2', 'mut_3', 'mut_4', ...Array.from({ length: 9 }, (_, at) => `m${String(at)}`)];

/** The ledger of the story that runs. */
let on: Ledger;

/** Effects of a run, each with a ref of its own; without a contract nothing counts toward a capability. */
function effectOf(name: string, tenant = 'acme', contract: Buffer | null = null) {
  return refund({
    tenant,
    event_id: `told-${name}`,
    effect_key: name,
    call_id: `call-${name}`,
    contract_digest: contract,
    assumption_refs: [`order/${name}#open`],
    committed_at: 1,
  });
}
const idOf = (name: string, tenant = 'acme'): string => mutationIdOf(effectOf(name, tenant));

function begun(
  admission: Partial<AdmissionLimits>,
  isRebuilt: boolean,
  names = NAMES,
  contract: Buffer | null = null,
): Ledger {
  const made = ledger({ isRebuilt, admission: { ...NO_LIMITS, ...admission }, reviewDeadlineMs: REVIEW });
  for (const name of names) made.run.when(executed(effectOf(name, 'acme', contract)), 500);
  return made;
}

/** A statement against one of them, an event of its own unless told. */
function hit(
  name: string,
  event = `ev-${name}`,
  more: { readonly source?: string; readonly tenant?: string } = {},
): RecordInput {
  return state(on.assumptions, statement('invalidated', event, { ref: `order/${name}#open`, ...more }));
}
const first = (): RecordInput => hit('mut_1', 'ev-1');

function said(
  type: 'ConfirmTrigger' | 'RejectTrigger',
  name: string,
  by = 'olga',
  roles: readonly string[] = ['approver'],
  more: Readonly<Record<string, unknown>> = {},
): RecordInput {
  return command(type, envelope(by, roles, { command_id: `cmd-${type}-${name}-${by}` }), {
    run_id: RUN,
    rollback_id: rollbackIdOf('acme', idOf(name)),
    mutation_id: idOf(name),
    reason: 'looked at it',
    ...more,
  });
}

function closing(id: string, by = 'olga', roles: readonly string[] = ['operator']): RecordInput {
  const from = envelope(by, roles, { command_id: `cmd-close-${by}-${id}` });
  return command('CloseBreaker', from, { run_id: RUN, breaker_id: id, reason: 'a bad feed' });
}

const trigger = (by = 'rita', name = 'mut_1'): RecordInput => triggerOf(RUN, idOf(name), 'acme', by);

function source(name: string, trust: number, tenant = 'acme', terms: Readonly<Record<string, unknown>> = {}): void {
  const body = JSON.stringify({
    owner: 'ops',
    doc: 'd',
    sensitivity: 'internal',
    access: 'stream',
    ttl_ms: 100_000,
    trust_permille: trust,
    ...terms,
  });
  on.entries.append(
    name,
    fact('EntryRegistered', { kind: 'context_source', tenant, name, version: 1, digest: Buffer.alloc(32), body }),
  );
}

describe.each(WAYS)('admission, $way', ({ isRebuilt }) => {
  const start = (limits: Partial<AdmissionLimits>) => {
    on = begun(limits, isRebuilt);
    return on.run;
  };
  type Run = ReturnType<typeof start>;
  const rollback = (run: Run, name = 'mut_1') =>
    run.rows('rollback').find(({ doc }) => doc['mutation_id'] === idOf(name));
  const doc = (run: Run, kind: string) => run.rows(kind)[0]?.doc;

  describe('of evidence that the terms of its source forbid (D56)', () => {
    it('waits for a person where it is as old as its source lets evidence be, whatever the source weighs', () => {
      const run = start({});
      source('crm', 1_000, 'acme', { ttl_ms: 1_000 });
      const stale = hit('mut_1', 'ev-1', { source: 'crm' });
      const statedAt = Number(stale.body['stated_at']);
      run
        .when(stale, statedAt + 1_000)
        .then(fact('TriggerHeld', { reason: 'EVIDENCE_STALE', detail: 'it is 1000 ms old, and lives 1000 ms' }))
        .when(said('ConfirmTrigger', 'mut_1'), statedAt + 2_000)
        .then(fell({}), fact('SourceJudged'));
      const fresh = hit('mut_2', 'ev-2', { source: 'crm' });
      run.when({ ...fresh, body: { ...fresh.body, stated_at: statedAt + 2_001 } }, statedAt + 3_000).then(fell({}));
    });

    it('waits where the source is registered for other tenants alone, and not where it is for all', () => {
      const run = start({});
      source('crm', 1_000, 'globex');
      run
        .when(hit('mut_1', 'ev-1', { source: 'crm' }), 1_000)
        .then(fact('TriggerHeld', { reason: 'SOURCE_WITHOUT_ACCESS' }));
      source('crm', 1_000, '*');
      run.when(hit('mut_2', 'ev-2', { source: 'crm' }), 1_001).then(fell({}));
    });

    it('waits where it is more sensitive than what its source carries', () => {
      const run = start({});
      source('crm', 1_000, 'acme', { sensitivity: 'personal' });
      const marked = (name: string, sensitivity: string): RecordInput => {
        const told = hit(name, `ev-${name}`, { source: 'crm' });
        const payload = plainPayload({ shipped: true });
        const content_type = `${payload.content_type}; sensitivity=${sensitivity}`;
        return { ...told, body: { ...told.body, statement: { ...payload, content_type } } };
      };
      run
        .when(marked('mut_1', 'payment'), 1_000)
        .then(fact('TriggerHeld', { reason: 'EVIDENCE_TOO_SENSITIVE' }))
        .when(marked('mut_2', 'personal'), 1_001)
        .then(fell({}));
    });
  });

  describe('of a source nobody knows', () => {
    const held = () => start({ trustThresholdPermille: 600 }).when(first(), 1_000);

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
      run.when(said('ConfirmTrigger', 'mut_1'), 900_000).then(fell({}), fact('SourceJudged'));
    });

    it('goes on when a person confirms it, and its source gains weight', () => {
      const run = held()
        .when(said('ConfirmTrigger', 'mut_1'), 2_000)
        .then(
          fell({
            rollback_id: rollbackIdOf('acme', idOf('mut_1')),
            admission: { confirmed_by: 'olga' },
            evidence: { event_id: 'ev-1' },
          }),
          fact('SourceJudged', { source: 'warehouse', confirmed: true, weight_permille: 550, by: 'olga' }),
        )
        .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'opened', verdict: 'confirmed' } });
      expect(rollback(run)?.doc).toMatchObject({
        phase: 'marked',
        held: null,
        confirmed_by: 'olga',
        judged: { verdict: 'confirmed', by: 'olga' },
      });
      expect([run.rows('held'), doc(run, 'source')]).toMatchObject([
        [],
        { weight_permille: 550, confirmed: 1, rejected: 0 },
      ]);
    });

    it('ends when a person rejects it, and its source loses three times as much', () => {
      const run = held()
        .when(said('RejectTrigger', 'mut_1'), 2_000)
        .then(
          fact('TriggerRejected', { event_id: 'ev-1', by: 'olga' }),
          fact('SourceJudged', { confirmed: false, weight_permille: 500 - REJECTED_TAKES, agent_id: null }),
        );
      expect(rollback(run)).toMatchObject({
        dueAt: null,
        doc: { phase: 'rejected', deadline_at: null, judged: { verdict: 'rejected' } },
      });
      expect(run.rows('held')).toEqual([]);
      run.when(first(), 3_000).then(fact('TriggerRedundant'));
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
        .then(fell({}), fact('SourceJudged', { weight_permille: 600 }), fact('HeldReviewed'));
      run.whenDue(3_000).then(fell({ mutation_id: idOf('mut_3'), admission: { confirmed_by: null } }));
      run.when(hit('mut_4'), 4_000).then(fell({ mutation_id: idOf('mut_4') }));
      expect(run.rows('held')).toEqual([]);
    });

    it('is heard again from a person, who needs no weight, and from no other stranger', () => {
      const run = held()
        .when(hit('mut_1', 'ev-2', { source: 'another' }), 2_000)
        .then(fact('TriggerRedundant'));
      run
        .when(trigger(), 3_000)
        .then(fell({ admission: { confirmed_by: null, command_id: `cmd-rita-${idOf('mut_1')}` } }))
        .thenAnswer({ status: 'accepted', httpStatus: 201, body: { held: false, redundant: false } });
      expect(run.rows('held')).toEqual([]);
    });

    it('is held as well when an agent sends it as a command, and says so', () => {
      start({ trustThresholdPermille: 600 })
        .when(trigger('agent:critic'), 1_000)
        .then(fact('TriggerHeld'))
        .thenAnswer({ status: 'accepted', httpStatus: 202, body: { held: true, redundant: false } });
    });

    it.each([
      ['agent-9', ['agent', 'reporter'], 'TriggerHeld'],
      ['svc:nightly', ['reporter'], 'TriggerHeld'],
      ['agent-1', ['agent', 'reporter'], 'MutationsFell'],
      ['rita', ['reporter'], 'MutationsFell'],
    ])('is no person’s word where %s says it as %j, whatever its name: %s', (by, roles, expected) => {
      const from = envelope(by, roles, { command_id: `cmd-${by}` });
      const about = { run_id: RUN, mutation_id: idOf('mut_1'), reason: 'wrong order' };
      const run = start({ trustThresholdPermille: 600 }).when(command('TriggerRollback', from, about), 1_000);
      expect(eachMember(run.recorded()).map(({ type }) => type)).toContain(expected);
    });

    it('is judged by nobody who stands behind it: the owner of the source, or of the agent that said so', () => {
      const run = start({ trustThresholdPermille: 600 });
      source('crm', 560);
      const words = { owner: 'otto', doc: 'd', agent: 'agent-9', purpose: 'p', allowed: ['x.*'], denied: [] };
      on.entries.append('e', entrySaid('agent_charter', { name: 'a', tenant: 'acme', body: words }));
      const from = envelope('agent-9', ['agent', 'reporter'], { command_id: 'cmd-agent' });
      const about = { run_id: RUN, mutation_id: idOf('mut_2'), reason: 'wrong order' };
      run.when(hit('mut_1', 'ev-1', { source: 'crm' }), 1_000).when(command('TriggerRollback', from, about), 1_000);
      expect(run.rows('held')).toHaveLength(2);
      for (const [name, by] of [
        ['mut_1', 'ops'],
        ['mut_2', 'otto'],
      ] as const)
        run.when(said('ConfirmTrigger', name, by), 2_000).thenAnswer({ httpStatus: 403, code: 'SELF_JUDGEMENT' });
      run.when(said('ConfirmTrigger', 'mut_2', 'ops'), 2_000).then(fell({}), fact('SourceJudged'));
    });

    it("is judged by no owner of its source, the platform's or the tenant's: neither puts the other out", () => {
      const run = start({ trustThresholdPermille: 600 });
      source('crm', 560, '*', { owner: 'petra' });
      source('crm', 560, 'acme', { owner: 'ops' });
      run.when(hit('mut_1', 'ev-1', { source: 'crm' }), 1_000);
      for (const by of ['petra', 'ops'])
        run.when(said('ConfirmTrigger', 'mut_1', by), 2_000).thenAnswer({ httpStatus: 403, code: 'SELF_JUDGEMENT' });
      run.when(said('ConfirmTrigger', 'mut_1', 'olga'), 2_000).thenAnswer({ status: 'accepted' });
    });

    it('is judged by a person alone, with the role, not by whom it came from, and once', () => {
      const run = start({ trustThresholdPermille: 600 }).when(hit('mut_1', 'ev-1', { source: 'rita' }), 1_000);
      run
        .when(said('ConfirmTrigger', 'mut_1', 'Rita'), 2_000)
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
    const run = start({ trustThresholdPermille: 600 });
    source('warehouse', 700, '*');
    run.when(first(), 1_000).then(fell({}));
    source('warehouse', 100);
    run.when(hit('mut_2'), 2_000).then(fact('TriggerHeld', { detail: 'its source weighs 100 of 600 thousandths' }));
  });

  it('judges what is rolled back already, without taking it back', () => {
    const run = start({ trustThresholdPermille: 600 })
      .when(trigger(), 1_000)
      .then(fell({}))
      .when(said('RejectTrigger', 'mut_1'), 2_000)
      .then(
        fact('SourceJudged', {
          confirmed: false,
          source: 'rita',
          agent_id: 'agent-1',
          capability: 'payments.issue_refund',
        }),
      );
    expect(rollback(run)?.doc).toMatchObject({ phase: 'marked', judged: { verdict: 'rejected' } });
  });

  it('lets all of a source go that is trusted from now on, also by a word about what is rolled back already', () => {
    const run = start({ trustThresholdPermille: 600 });
    source('warehouse', 560);
    run.when(hit('mut_2'), 1_000).then(fact('TriggerHeld'));
    source('warehouse', 700);
    run.when(first(), 1_001).then(fell({}));
    source('warehouse', 560);
    run
      .when(said('ConfirmTrigger', 'mut_1'), 2_000)
      .then(fact('SourceJudged', { weight_permille: 610 }), fact('HeldReviewed'))
      .whenDue(2_000)
      .then(fell({ evidence: { event_id: 'ev-mut_2' } }));
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
      run.whenDue(6_000);
      expect(
        eachMember(run.recorded())
          .map(({ type, body }) => [type, body['mutation_id']])
          .sort(),
      ).toEqual(['m3', 'm4'].map((name) => ['MutationsFell', idOf(name)]).sort());
      expect([run.rows('held'), doc(run, 'breaker')]).toMatchObject([
        [],
        { phase: 'closed', deadline_at: null, closed: { by: 'olga' } },
      ]);
      run.when(closing(id, 'omar'), 7_000).thenAnswer({ status: 'rejected', httpStatus: 409, code: 'BREAKER_CLOSED' });
      run
        .when(hit('m5'), 7_000)
        .then(fell({}))
        .when(hit('m6'), 7_001)
        .then(fell({}))
        .when(hit('m7'), 7_002)
        .then(fact('BreakerOpened'), fact('TriggerHeld'));
    });

    it.each([
      ['the agent of what it holds', 'agent-1'],
      ['who owns that agent', 'otto'],
      ['for whom it acted', 'Ada'],
      ['its source', 'warehouse'],
      ['who answers for its source', 'sven'],
    ])('is not closed by %s', (_who, by) => {
      const run = burst().when(hit('m3'), 1_002).then(opened, fact('TriggerHeld'));
      const words = { doc: 'd', tenant: 'acme' };
      const charter = { ...words, owner: 'otto', agent: 'agent-1', purpose: 'p', allowed: ['x.*'], denied: [] };
      const source = { ...words, owner: 'sven', sensitivity: 'internal', access: 'read', ttl_ms: 1_000 };
      for (const [kind, name, body] of [
        ['agent_charter', 'a', charter],
        ['context_source', 'warehouse', source],
      ] as const) {
        const { tenant, ...entry } = body;
        on.entries.append('e', entrySaid(kind, { name, tenant, body: entry }));
      }
      const id = String(doc(run, 'breaker')?.['breaker_id']);
      run
        .when(closing(id, by), 6_000)
        .thenNothing()
        .thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' })
        .when(closing(id), 6_000)
        .then(fact('BreakerClosed', { by: 'olga' }));
    });

    it('counts an event once, however many commits it hits, and lets the rest of it through', () => {
      const relying = (name: string) =>
        executed({ ...effectOf(name), assumption_refs: ['feed/1#right', `order/${name}#open`] });
      const run = start(LIMIT);
      for (const name of ['s1', 's2', 's3']) run.when(relying(name), 900);
      run
        .when(state(on.assumptions, statement('invalidated', 'one', { ref: 'feed/1#right' })), 1_000)
        .then(fell({}, {}, {}))
        .when(hit('m4', 'two'), 1_003)
        .then(fell({}))
        .when(hit('m5', 'three'), 1_004)
        .then(fact('BreakerOpened'), fact('TriggerHeld'))
        .when(relying('s4'), 1_005)
        .then(fact('MutationRecorded'), fact('TriggerUnmatched'))
        .whenDue(1_005)
        .then(fell({ mutation_id: idOf('s4') }));
    });

    it.each([
      ['for other refs', undefined],
      ['by other sources', 'source'],
    ])('takes the id of an event that is used %s for no event that passed', (_how, own) => {
      const one = (name: string) => hit(name, 'one', own === undefined ? {} : { source: `feed-${name}` });
      start(LIMIT)
        .when(one('m1'), 1_000)
        .when(one('m2'), 1_001)
        .when(one('m3'), 1_002)
        .then(fact('BreakerOpened'), fact('TriggerHeld'))
        .when(one('m4'), 9_000)
        .then(fact('TriggerHeld'));
    });

    it('is none where triggers come slowly, nor where people ask', () => {
      const slow = start(LIMIT);
      for (let at = 0; at < 8; at += 1) slow.when(hit(`m${String(at)}`), 1_000 + at * 500).then(fell({}));
      const people = start(LIMIT);
      for (let at = 0; at < 8; at += 1)
        people.when(trigger('rita', `m${String(at)}`), 1_000).then(fell({ admission: { storm_window_ms: 0 } }));
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
        .when(executed(effectOf('m4', 'globex')), 1_001)
        .when(hit('m4', 'd', { tenant: 'globex' }), 1_001)
        .then(fell({ tenant: 'globex' }));
    });

    it('of one capability is told before the mark that is one too many, and holds no mark', () => {
      on = begun(LIMIT, isRebuilt, NAMES, REFUND_DIGEST);
      const counted = fact('StormCounted', { capability: 'payments.reverse_refund' });
      const { run } = on;
      run
        .when(hit('m1'), 1_000)
        .then(counted, fell({}))
        .when(hit('m2'), 1_001)
        .then(counted, fell({}))
        .when(hit('m3'), 1_002)
        .then(fact('BreakerOpened', { scope: 'source' }), fact('TriggerHeld'));
      run
        .when(closing(String(doc(run, 'breaker')?.['breaker_id'])), 1_500)
        .whenDue(1_500)
        .then(
          fact('BreakerOpened', { scope: 'capability', name: 'payments.reverse_refund', count: 3 }),
          fell({ mutation_id: idOf('m3') }),
        );
      const over = run.rows('breaker').find(({ doc: breaker }) => breaker['scope'] === 'capability');
      run.when(trigger('rita', 'm4'), 1_600).then(fell({}));
      run.when(closing(String(over?.key)), 2_000).then(fact('BreakerClosed', { scope: 'capability' }));
    });
  });

  describe('of an event that takes down too much', () => {
    it('holds the rest, and goes on with all of it when a person confirms one', () => {
      const run = start({ closureMax: 2 })
        .when(hit('m1', 'big'), 1_000)
        .when(hit('m2', 'big'), 1_001)
        .then(fell({ admission: { closure_counted: true } }));
      run
        .when(hit('m3', 'big'), 1_002)
        .then(fact('TriggerHeld', { reason: 'CLOSURE_LIMIT' }))
        .when(hit('m4', 'big'), 1_003)
        .then(fact('TriggerHeld'))
        .when(hit('m5', 'small'), 1_004)
        .then(fell({}));
      run
        .when(said('ConfirmTrigger', 'm3'), 2_000)
        .then(fell({ mutation_id: idOf('m3') }), fact('SourceJudged'), fact('HeldReviewed', { lifts_closure: true }))
        .whenDue(2_000)
        .then(fell({ mutation_id: idOf('m4') }));
      run.when(hit('m6', 'big'), 3_000).then(fell({ mutation_id: idOf('m6') }));
      expect(run.rows('held')).toEqual([]);
    });

    it('holds that of another source, though its event has the id of one that a person let through', () => {
      const run = start({ closureMax: 1 });
      for (const [name, source] of [
        ['m1', 's1'],
        ['m2', 's1'],
        ['m3', 's2'],
        ['m4', 's2'],
      ] as const)
        run.when(hit(name, 'big', { source }), 1_000);
      expect(run.rows('held')).toHaveLength(2);
      run.when(said('ConfirmTrigger', 'm2'), 2_000);
      expect(run.rows('held')).toHaveLength(1);
    });
  });

  it('touches no row of a limit where none is set', () => {
    const run = start({})
      .when(first(), 1_000)
      .then(fell({ admission: { storm_window_ms: 0, closure_counted: false } }));
    expect(['source', 'storm', 'breaker', 'closure', 'held'].flatMap((kind) => run.rows(kind))).toEqual([]);
  });

  it('refuses a trigger without evidence or without a commit (E8)', () => {
    start({})
      .when({ ...trigger(), body: { ...trigger().body, reason: '  ' } }, 1_000)
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'COMMAND_INVALID' })
      .when(triggerOf(RUN, ''), 1_000)
      .thenAnswer({ status: 'rejected', httpStatus: 422, code: 'COMMAND_INVALID' });
  });
});

describe('the rest of a large event', () => {
  it('goes on in bounded parts, to the last', () => {
    const names = ['m0', ...Array.from({ length: 210 }, (_, at) => `x${String(at)}`)];
    on = begun({ closureMax: 1 }, false, names);
    const { run } = on;
    for (const name of names) run.when(hit(name, 'big'), 1_001);
    run.when(said('ConfirmTrigger', 'x0'), 2_000);
    expect(run.rows('held').filter(({ dueAt }) => dueAt !== null)).toHaveLength(200);
    run.whenDue(2_000);
    expect([run.records().filter(({ type }) => type === 'MutationsFell').length, run.rows('held')]).toEqual([211, []]);
  });

  it('goes on though a person rolls back by another word the one that would have gone on with it', () => {
    const names = ['m0', ...Array.from({ length: 210 }, (_, at) => `x${String(at)}`)];
    on = begun({ closureMax: 1 }, false, names);
    const { run } = on;
    for (const name of names) run.when(hit(name, 'big'), 1_001);
    run.when(said('ConfirmTrigger', 'x0'), 2_000);
    const last = run.rows('held').find(({ doc }) => doc['has_more'] === true);
    run.when(triggerOf(RUN, String(last?.doc['mutation_id']), 'acme', 'rita'), 2_000).then(fell({}));
    run.whenDue(2_000);
    expect(run.rows('held')).toEqual([]);
    expect(run.rows('rollback').filter(({ doc }) => doc['phase'] === 'marked')).toHaveLength(211);
  });
});

describe('one decision on many triggers', () => {
  const shared = (name: string) =>
    executed({ ...effectOf(name), assumption_refs: ['feed/1#right', `order/${name}#open`] });
  const against = (event: string) => state(on.assumptions, statement('invalidated', event, { ref: 'feed/1#right' }));
  const begin = (limits: Partial<AdmissionLimits>, names: readonly string[], effectsMax?: number) => {
    on = ledger({
      admission: { ...NO_LIMITS, ...limits },
      reviewDeadlineMs: REVIEW,
      ...(effectsMax === undefined ? {} : { effectsMax }),
    });
    for (const name of names) on.run.when(shared(name), 500);
    return on.run;
  };

  it('lets as many fall as the event may take down, newest first, and holds the rest', () => {
    begin({ closureMax: 2 }, ['m1', 'm2', 'm3'])
      .when(against('big'), 1_000)
      .then(
        fell({ mutation_id: idOf('m3') }, { mutation_id: idOf('m2') }),
        fact('TriggerHeld', { mutation_id: idOf('m1'), reason: 'CLOSURE_LIMIT' }),
      );
    expect(on.run.rows('closure')[0]?.doc).toMatchObject({ hits: 2 });
  });

  it('counts the event once (D4)', () => {
    const run = begin({ storm: { limit: 1, windowMs: 1_000 } }, ['m1', 'm2', 'm3']).when(against('big'), 1_000);
    expect(eachMember(run.recorded()).map(({ type }) => type)).toEqual(Array(3).fill('MutationsFell'));
    expect(run.rows('storm').map(({ doc }) => (doc['events'] as readonly unknown[]).length)).toEqual([1, 1]);
  });

  it('rolls a commit back once, whose refs fell both before it was recorded (E20)', () => {
    const run = begin({}, []);
    against('one');
    state(on.assumptions, statement('invalidated', 'two', { ref: 'order/m1#open' }));
    run
      .when(shared('m1'), 1_000)
      .then(fact('MutationRecorded'), fact('TriggerUnmatched'), fact('TriggerRedundant'))
      .whenDue(1_000)
      .then(fell({ mutation_id: idOf('m1'), admission: { was_remembered: true } }));
  });

  it('marks what it records anew from the new record, not from the row before', () => {
    const run = begin({}, []);
    const told = { ...effectOf('m1'), result: null, external_transaction_ref: null };
    run.when(executed({ ...told, outcome: 'uncertain' }), 600);
    hit('m1');
    run
      .when(executed({ ...told, event_id: 'later' }), 1_000)
      .then(fact('MutationRecorded', { execution_state: 'succeeded' }), fact('TriggerUnmatched'))
      .whenDue(1_000)
      .then(fell({ execution_state: 'succeeded' }));
  });

  it('marks what does not fit it in decisions of their own (L4)', () => {
    const long = 'x'.repeat(100_000);
    on = ledger();
    for (const name of ['m1', 'm2', 'm3', 'm4', 'm5'])
      on.run.when(
        executed({
          ...effectOf(name),
          assumption_refs: ['feed/1#right'],
          args: plainPayload({ order_id: name, note: long }),
        }),
        500,
      );
    on.run.when(against('big'), 1_000);
    expect(eachMember(on.run.recorded()).map(({ type }) => type)).toEqual([
      'MutationsFell',
      'MutationsFell',
      'MutationsFell',
      'TriggerUnmatched',
      'TriggerUnmatched',
    ]);
    on.run.whenDue(1_000).then(fell({}, {}));
  });

  it('overtakes none that does not fit it: what was executed before stays until then, and goes in order', () => {
    on = ledger();
    const sizes = { m1: 10, m2: 120_000, m3: 120_000, m4: 120_000, m5: 10, m6: 10 };
    for (const [name, size] of Object.entries(sizes))
      on.run.when(
        executed({
          ...effectOf(name),
          assumption_refs: ['feed/1#right'],
          args: plainPayload({ order_id: name, note: 'x'.repeat(size) }),
        }),
        500,
      );
    const namesIn = () =>
      eachMember(on.run.recorded()).map(({ type, body }) => [
        type,
        Object.keys(sizes).find((name) => idOf(name) === body['mutation_id']),
      ]);
    on.run.when(against('big'), 1_000);
    expect(namesIn()).toEqual([
      ...['m6', 'm5', 'm4', 'm3'].map((name) => ['MutationsFell', name]),
      ...['m2', 'm1'].map((name) => ['TriggerUnmatched', name]),
    ]);
    on.run.whenDue(1_000);
    expect(namesIn()).toEqual(['m2', 'm1'].map((name) => ['MutationsFell', name]));
  });
});
