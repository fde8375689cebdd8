import { describe, expect, it } from '@jest/globals';
import { deepFreeze } from '@recourse/testing';
import { BUDGETS, CANARY, endpoint, HEADS, MUTATIONS, RECOVERIES, recordOf, recordTypesOf } from './items.testing.js';
import type { HeardRecord } from './items.testing.js';
import { hear, HEARD } from './core.js';
import type { FollowedLog } from './core.js';
import { shownItem } from './reads/items.query.js';
import { newsOf } from './rules/delivery/occasion.decisions.js';
import { deliveryIdOf } from './rules/item/item.decisions.js';
import { capabilityOf, codeOf, isWaiting, keyOf, ownerOf, runbookOf } from './rules/item/item.messages.js';
import type { Thing } from './rules/item/item.messages.js';
import { bodyOf } from './rules/webhook/body.decisions.js';
import { SHAPES } from './rules/webhook/endpoint.messages.js';

const ASKED = {
  decision: 'request_approval',
  reason: 'HIGH_IMPACT',
  required_approvals: 2,
  deadline_at: 9_000,
  execution: { capability: 'payments.issue_refund' },
};

/** Folds records; what is known is frozen between them. */
function world(log: FollowedLog = RECOVERIES, ...records: readonly HeardRecord[]): Map<string, Thing> {
  const known = new Map<string, Thing>();
  records.forEach((record, index) => {
    for (const change of hear(log, deepFreeze(record)).then((key) => known.get(key), {
      topic: log,
      partition: 0,
      seq: index + 1,
      at: 100 * (index + 1),
    })) {
      if (change.op === 'put') known.set(keyOf(change.thing), deepFreeze(change.thing));
      else if (change.op === 'forget') known.delete(change.key);
    }
  });
  return known;
}

const told = (type: string, more: Readonly<Record<string, unknown>> = {}): HeardRecord =>
  recordOf(RECOVERIES, type, more);
const step = (...records: readonly HeardRecord[]): Thing | undefined =>
  world(RECOVERIES, ...records).get('step:step-1');
const decided = (more: Readonly<Record<string, unknown>> = {}): HeardRecord =>
  told('RecoveryPlanned', { ...ASKED, ...more });
const escalated = told('StepEscalated', { reason: 'RESOURCE_CHANGED', deadline_at: 20_000 });

describe('the table of meanings', () => {
  it.each([
    [MUTATIONS, HEARD[MUTATIONS]],
    [RECOVERIES, HEARD[RECOVERIES]],
    [BUDGETS, HEARD[BUDGETS]],
    [HEADS, HEARD[HEADS]],
    ['recourse.contracts', HEARD['recourse.contracts']],
  ] as const)('has a row for every record of %s and for no other', (log, table) => {
    expect(Object.keys(table).sort()).toEqual([...recordTypesOf(log)].sort());
  });

  it.each([MUTATIONS, RECOVERIES, BUDGETS, HEADS] as const)(
    'takes every record of %s about things nobody knows',
    (log) => {
      for (const type of recordTypesOf(log)) expect(() => world(log, recordOf(log, type))).not.toThrow();
    },
  );

  it.each([MUTATIONS, RECOVERIES, BUDGETS, HEADS] as const)('changes only things the record is about: %s', (log) => {
    for (const type of recordTypesOf(log)) {
      const record = recordOf(log, type);
      const about = hear(log, record).about;
      const changes = hear(log, record).then(() => undefined, { topic: log, partition: 0, seq: 1, at: 1 });
      expect(
        changes
          .flatMap((change) => (change.op === 'tell' ? [] : change.op === 'put' ? keyOf(change.thing) : change.key))
          .filter((key) => !about.includes(key)),
      ).toEqual([]);
    }
  });

  it('says nothing about a record that is newer than this build', () => {
    expect([
      hear(RECOVERIES, { type: 'StepSung', body: {} }).about,
      world(RECOVERIES, { type: 'toString', body: {} }).size,
    ]).toEqual([[], 0]);
  });
});

const toldOf = (type: string, more: Readonly<Record<string, unknown>> = {}): HeardRecord =>
  recordOf(MUTATIONS, type, more);

describe('a commit beyond the bound of a fall', () => {
  const beyond = toldOf('RollbackOutOfBand', { deadline_at: 7_000 });
  const rollback = (...records: readonly HeardRecord[]): Thing | undefined =>
    world(MUTATIONS, ...records).get(keyOf({ thing: 'rollback', id: String(beyond.body['rollback_id']) }));

  it('waits for a review until its deadline, and is another item once that is over', () => {
    expect(rollback(beyond)?.item).toMatchObject({
      kind: 'rollback',
      reason: 'BEYOND_BOUND',
      deadlineAt: 7_000,
      opening: 'recourse.mutations/0/1',
    });
    expect(
      rollback(beyond, toldOf('RollbackEscalated', { reason: 'BOUND_NOT_REVIEWED', deadline_at: 9_000 }))?.item,
    ).toMatchObject({ reason: 'BOUND_NOT_REVIEWED', deadlineAt: 9_000, opening: 'recourse.mutations/0/2' });
  });

  it('says so where a later version of its bundle could not judge it (E28)', () => {
    const evidence = { ...(beyond.body['evidence'] as object), kind: 'policy_reevaluation' };
    expect(rollback(toldOf('RollbackOutOfBand', { evidence }))?.item).toMatchObject({
      kind: 'rollback',
      reason: 'UNJUDGED',
    });
  });

  it.each(['OutOfBandReviewed', 'MutationsFell', 'CheckpointRolledBack', 'TriggerUnmatched', 'TriggerRejected'])(
    'is over with %s',
    (type) => {
      expect(rollback(beyond, toldOf(type))).toBeUndefined();
    },
  );

  it('is what is held all the while, where a fall reaches what waits for its own word', () => {
    const held = toldOf('TriggerHeld', { reason: 'SOURCE_UNTRUSTED', deadline_at: 9_000 });
    expect(rollback(held, beyond)?.item).toEqual(rollback(held)?.item);
  });

  it('comes back when what was held over it is rejected', () => {
    expect(
      rollback(beyond, toldOf('TriggerHeld', { reason: 'SOURCE_UNTRUSTED' }), toldOf('TriggerRejected'), beyond)?.item,
    ).toMatchObject({ reason: 'BEYOND_BOUND', opening: 'recourse.mutations/0/4' });
  });
});

describe('an execution nobody told the end of', () => {
  it('is one item, however often a worker looked and found nothing out', () => {
    const overdue = (deadline_at: number) => toldOf('ExecutionOverdue', { execution_state: 'uncertain', deadline_at });
    expect([...world(MUTATIONS, overdue(7_000), overdue(9_000)).values()].map(({ item }) => item)).toMatchObject([
      { kind: 'execution', deadlineAt: 9_000, opening: 'recourse.mutations/0/1' },
    ]);
  });
});

describe('a runtime that keeps what fell', () => {
  const found = toldOf('LineageReconciled', { runtime: 'reports', deadline_at: 7_000 });
  const runtime = (...records: readonly HeardRecord[]): Thing | undefined =>
    [...world(MUTATIONS, ...records).values()].find(({ thing }) => thing === 'runtime');

  it('waits for a person until its deadline, once however often it is compared, and until they have dealt with it', () => {
    expect(runtime(found, found)?.item).toMatchObject({
      kind: 'divergence',
      reason: 'RUNTIME_DIVERGES',
      deadlineAt: 7_000,
      opening: 'recourse.mutations/0/1',
    });
    const clean = toldOf('LineageReconciled', { runtime: 'reports', deadline_at: null, contaminated: [] });
    expect(runtime(found, clean)?.item).not.toBeNull();
    expect(runtime(clean)).toBeUndefined();
    expect(runtime(found, toldOf('DivergenceReviewed', { runtime: 'reports' }))).toBeUndefined();
  });
});

describe('a step', () => {
  it('waits for the approvals it asks for', () => {
    expect(step(decided())).toEqual({
      thing: 'step',
      id: 'step-1',
      tenant: 'acme',
      runId: 'run-1',
      recoveryId: 'rec-1',
      stepId: 'step-1',
      capability: 'payments.issue_refund',
      runbook: null,
      item: {
        kind: 'approval',
        owner: 'a person',
        opening: 'recourse.recoveries/0/1',
        openedAt: 100,
        deadlineAt: 9_000,
        reason: 'HIGH_IMPACT',
        requiredApprovals: 2,
        approvals: 0,
      },
    });
  });

  it('waits for nobody when the machine may go on', () => {
    expect(step(decided({ decision: 'compensate_now', required_approvals: 0 }))?.item).toBeNull();
  });

  it('waits until the last approval is there', () => {
    expect(step(decided(), told('StepApproved'))?.item).toMatchObject({
      approvals: 1,
      opening: 'recourse.recoveries/0/1',
    });
    expect(step(decided(), told('StepApproved'), told('StepApproved'))?.item).toBeNull();
  });

  it("is a person's when they denied it: nothing is undone, and somebody says what becomes of the effect", () => {
    const { item: asked } = step(decided()) ?? {};
    expect(step(decided(), told('StepDenied'))?.item).toMatchObject({
      kind: 'manual',
      reason: 'DENIED',
      owner: asked?.owner,
      deadlineAt: asked?.deadlineAt,
    });
    expect(step(decided(), told('StepDenied'), told('StepResolved'))).toBeUndefined();
  });

  it.each(['LegDispatched', 'StepWaits'])('waits no more after %s, and is still known', (type) => {
    expect(step(decided(), told(type, { members: [{ step: { step_id: 'step-1' } }] }))).toMatchObject({ item: null });
  });

  it('waits no more when the glass was broken by as many as it takes', () => {
    expect(step(decided(), told('GlassBroken', { is_complete: false }))?.item).not.toBeNull();
    expect(step(decided(), told('GlassBroken', { is_complete: true }))?.item).toBeNull();
  });

  it('is forgotten when it is resolved or compensated, and by no other outcome', () => {
    expect(step(decided(), escalated, told('StepResolved'))).toBeUndefined();
    expect(
      step(decided(), told('LegSettled', { members: [{ step_id: 'step-1', outcome: 'compensated' }] })),
    ).toBeUndefined();
    expect(step(decided(), told('LegSettled', { members: [{ step_id: 'step-1', outcome: 'failed' }] }))).toBeDefined();
  });

  it('is asked for anew when a fact that people relied on changed, and stays whose it is', () => {
    const changed = told('FactChanged', { required_approvals: 2, deadline_at: 30_000, attempt: null });
    expect(step(decided(), told('StepApproved'), changed)?.item).toMatchObject({
      kind: 'approval',
      reason: 'FACT_CHANGED',
      approvals: 0,
      requiredApprovals: 2,
      opening: 'recourse.recoveries/0/3',
      deadlineAt: 30_000,
    });
    expect(step(decided(), escalated, changed)?.item).toMatchObject({
      kind: 'manual',
      reason: 'RESOURCE_CHANGED',
      deadlineAt: 30_000,
    });
  });

  it('is asked for by nobody while a fact is noted of what is out', () => {
    const sent = told('LegDispatched', { members: [{ step: { step_id: 'step-1' } }] });
    expect(step(decided(), sent, told('FactChanged', { attempt: 1 }))).toMatchObject({ item: null });
  });

  it('is asked for by as many as before when a fact changes a second time: who had agreed has not', () => {
    const changed = (required_approvals: number): HeardRecord =>
      told('FactChanged', { required_approvals, deadline_at: 30_000, attempt: null });
    expect(step(decided(), changed(2), told('StepApproved'), changed(3), told('StepApproved'))?.item).toMatchObject({
      approvals: 1,
      requiredApprovals: 3,
      opening: 'recourse.recoveries/0/2',
    });
  });

  it('that is given to a person is another item than the approval nobody gave', () => {
    expect(step(decided(), escalated)?.item).toMatchObject({
      kind: 'manual',
      opening: 'recourse.recoveries/0/2',
      openedAt: 200,
      deadlineAt: 20_000,
      reason: 'RESOURCE_CHANGED',
    });
  });

  it('that was never seen before is told of without its capability', () => {
    expect(step(escalated)).toMatchObject({ capability: null, item: { kind: 'manual' } });
  });

  it('stays halted when it is halted again, with the deadline it has then', () => {
    const halted = (deadline_at: number): HeardRecord => told('StepHalted', { reason: 'KILL_SWITCH', deadline_at });
    expect(step(decided(), halted(5_000), halted(6_000))?.item).toMatchObject({
      kind: 'halted',
      opening: 'recourse.recoveries/0/2',
      deadlineAt: 6_000,
      reason: 'KILL_SWITCH',
    });
    expect(
      step(decided(), halted(5_000), told('LegDispatched', { members: [{ step: { step_id: 'step-1' } }] }))?.item,
    ).toBeNull();
  });

  it('that is bound or tried again asks people where the contract does', () => {
    for (const type of ['StepBound', 'StepReopened']) {
      expect(
        step(decided(), escalated, told(type, { required_approvals: 1, deadline_at: 30_000, reason: 'HIGH_IMPACT' }))
          ?.item,
      ).toMatchObject({ kind: 'approval', opening: 'recourse.recoveries/0/3', requiredApprovals: 1, approvals: 0 });
      expect(step(decided(), escalated, told(type, { required_approvals: 0 }))?.item).toBeNull();
    }
  });

  it('stays with the person who has a look taken, with another deadline', () => {
    for (const type of ['LookDispatched', 'LookAnswered'])
      expect(step(decided(), escalated, told(type, { deadline_at: 40_000 }))?.item).toMatchObject({
        kind: 'manual',
        opening: 'recourse.recoveries/0/2',
        deadlineAt: 40_000,
      });
  });

  it('that another worker was to confirm and did not is an item of its own', () => {
    const looked = [told('LookDispatched', { deadline_at: 30_000 }), told('LookAnswered', { deadline_at: 40_000 })];
    expect(step(decided({ decision: 'compensate_now' }), ...looked)?.item).toBeNull();
    expect(step(decided({ decision: 'compensate_now' }), ...looked, escalated)?.item).toMatchObject({
      kind: 'manual',
      opening: 'recourse.recoveries/0/4',
    });
  });

  it('stays with the person who has it when the ledger learns more, and is decided anew else', () => {
    const advanced = told('MutationAdvanced', { ...ASKED, deadline_at: 50_000 });
    expect(step(decided(), escalated, advanced)?.item).toMatchObject({ kind: 'manual', deadlineAt: 20_000 });
    expect(step(decided({ decision: 'reconcile_first' }), advanced)?.item).toMatchObject({
      kind: 'approval',
      opening: 'recourse.recoveries/0/2',
    });
    expect(
      step(decided({ decision: 'reconcile_first' }), told('MutationAdvanced', { ...ASKED, decision: 'compensate_now' }))
        ?.item,
    ).toBeNull();
  });
});

describe('what else waits for people', () => {
  it('a rollback the ledger did not mark, until it does', () => {
    const late = toldOf('RollbackEscalated', { reason: 'COMMIT_NOT_MARKED', deadline_at: 7_000 });
    expect(world(MUTATIONS, late).get('rollback:rb-1')?.item).toMatchObject({
      kind: 'rollback',
      reason: 'COMMIT_NOT_MARKED',
    });
    expect(world(MUTATIONS, late, toldOf('MutationsFell')).has('rollback:rb-1')).toBe(false);
  });

  it('each task, until it is closed', () => {
    const tasks = [
      { task_id: 'task-1', kind: 'correction', owner: 'role:approver', deadline_at: 7_000 },
      { task_id: 'task-2', kind: 'support', owner: 'role:requester', deadline_at: 8_000 },
    ];
    const opened = told('TasksOpened', { tasks, capability: 'mail.send_message' });
    expect(world(RECOVERIES, opened).get('task:task-2')).toMatchObject({
      stepId: 'step-1',
      capability: 'mail.send_message',
      item: { kind: 'task', reason: 'SUPPORT', deadlineAt: 8_000 },
    });
    expect([...world(RECOVERIES, opened, told('TaskClosed')).keys()]).toEqual(['task:task-2']);
  });

  it('an incident, by its severity, until it is closed', () => {
    const opened = told('IncidentOpened', { severity: 'sev2', deadline_at: 7_000 });
    expect(world(RECOVERIES, decided(), opened).get('incident:inc-1')).toMatchObject({
      capability: 'payments.issue_refund',
      item: { kind: 'incident', reason: 'SEV2' },
    });
    expect(world(RECOVERIES, opened, told('IncidentClosed')).has('incident:inc-1')).toBe(false);
  });

  it('a question before an effect, until as many agreed as it takes, one refused, or its time is over', () => {
    const asked = told('ForwardApprovalRequested', {
      required_approvals: 2,
      deadline_at: 7_000,
      mode: 'dual_control',
      capability: 'payments.issue_refund',
      decided_by: null,
    });
    const agreed = told('ForwardApprovalDecided', { verdict: 'approve' });
    const item = (...more: readonly HeardRecord[]): unknown =>
      world(RECOVERIES, asked, ...more).get('forward:ask-1')?.item ?? null;
    expect(item()).toMatchObject({ kind: 'forward_approval', reason: 'FORWARD_DUAL_CONTROL', requiredApprovals: 2 });
    expect(item(agreed)).toMatchObject({ approvals: 1 });
    expect([
      item(agreed, agreed),
      item(told('ForwardApprovalDecided', { verdict: 'deny' })),
      item(told('ForwardApprovalExpired')),
    ]).toEqual([null, null, null]);
    expect(item(told('ForwardApprovalExpired'), asked)).toMatchObject({
      opening: 'recourse.recoveries/0/3',
      approvals: 0,
    });
  });

  it('and no question that a routine rule decides in the same turn', () => {
    const asked = told('ForwardApprovalRequested', {
      required_approvals: 1,
      deadline_at: 7_000,
      mode: 'human',
      capability: 'channels.post_message',
      decided_by: 'policy:notices@1',
    });
    const agreed = told('ForwardApprovalDecided', { verdict: 'approve', by: 'policy:notices@1' });
    for (const records of [[asked], [asked, agreed], [asked, agreed, told('ForwardApprovalUsed')]])
      expect(world(RECOVERIES, ...records).get('forward:ask-1')?.item ?? null).toBeNull();
  });

  it('a reservation above a ceiling, until it is decided or given back; with its next owner it is the same question', () => {
    const about = (type: string, more: Readonly<Record<string, unknown>> = {}): HeardRecord =>
      recordOf(BUDGETS, type, more);
    const asked = about('BudgetEscalated', { deadline_at: 7_000, capability: 'payments.issue_refund' });
    const item = (...more: readonly HeardRecord[]): unknown =>
      world(BUDGETS, asked, ...more).get('escalation:res-1')?.item ?? null;
    expect(item(about('BudgetOverdue', { about: 'ceiling', deadline_at: 8_000 }))).toMatchObject({
      kind: 'budget',
      opening: 'recourse.budgets/0/1',
      deadlineAt: 8_000,
      reason: 'CEILING_EXCEEDED',
    });
    expect(item(about('BudgetOverrun', { deadline_at: 9_000 }))).toMatchObject({
      opening: 'recourse.budgets/0/2',
      reason: 'OVERRUN',
    });
    expect([item(about('EscalationDecided')), item(about('BudgetReleased')), item(about('BudgetSettled'))]).toEqual([
      null,
      null,
      null,
    ]);
    expect(world(BUDGETS, about('BudgetOverdue', { about: 'unsettled' })).get('escalation:res-1')?.item?.reason).toBe(
      'UNSETTLED',
    );
  });
});

describe('what is taken from a text', () => {
  it('is a code, or the word that it is none', () => {
    expect([codeOf('HIGH_IMPACT'), codeOf('sev1'), codeOf('ask Asha'), codeOf('')]).toEqual([
      'HIGH_IMPACT',
      'SEV1',
      'UNRECOGNIZED',
      'UNRECOGNIZED',
    ]);
  });
  it('is a capability, or nothing', () => {
    expect([capabilityOf('payments.issue_refund'), capabilityOf('asha@example.org'), capabilityOf('Asha')]).toEqual([
      'payments.issue_refund',
      null,
      null,
    ]);
  });
});

describe('an owner and a runbook', () => {
  it('are told where they name a role or a way to a page, and nobody and no prose besides', () => {
    expect(['role:operator', 'adapter:payments', 'service:mutation-ledger', 'asha@example.org'].map(ownerOf)).toEqual([
      'role:operator',
      'adapter:payments',
      'service:mutation-ledger',
      'a person',
    ]);
    const [path, link] = ['runbooks/refunds.md#by-hand', 'https://wiki.example.org/runbooks/refunds?v=2'];
    expect([path, link, 'ask Asha Rao', 'https://user:secret@example.org/x', null].map(runbookOf)).toEqual([
      path,
      link,
      null,
      null,
      null,
    ]);
  });

  const compensation = { mode: 'manual_runbook', reason: 'x', runbook: 'runbooks/refunds.md', accepted_by: null };
  const execution = { tenant: 'acme', run_id: 'run-1', capability: 'crm.send_mail' };
  it.each([
    ['an effect', MUTATIONS, 'MutationRecorded', { execution, review_by: 9_000, terms: { compensation } }],
    ['a window', MUTATIONS, 'WindowClosing', { capability: 'crm.send_mail', runbook: 'runbooks/refunds.md' }],
    ['an execution', MUTATIONS, 'ExecutionOverdue', { capability: 'crm.send_mail', runbook: 'runbooks/refunds.md' }],
    ['a step', RECOVERIES, 'RecoveryPlanned', { ...ASKED, execution, contracts: [{ compensation }], contract: 0 }],
  ] as const)('are those of its contract: %s', (_what, log, type, more) => {
    const [waits] = world(log, recordOf(log, type, { owner: 'role:operator', ...more })).values();
    expect(waits).toMatchObject({
      capability: 'crm.send_mail',
      runbook: 'runbooks/refunds.md',
      item: { owner: 'role:operator' },
    });
  });
});

describe('a trigger that is held, and a breaker', () => {
  const held = toldOf('TriggerHeld', { reason: 'SOURCE_UNTRUSTED', deadline_at: 9_000 });
  const opened = toldOf('BreakerOpened', { scope: 'tenant', deadline_at: 9_000 });

  it('wait for a person', () => {
    expect(world(MUTATIONS, held).get('rollback:rb-1')?.item).toMatchObject({
      kind: 'rollback',
      reason: 'SOURCE_UNTRUSTED',
    });
    expect(world(MUTATIONS, opened).get('breaker:brk-1:run-1')?.item).toMatchObject({
      kind: 'breaker',
      reason: 'BREAKER_TENANT',
    });
  });

  it.each(['MutationsFell', 'TriggerUnmatched', 'TriggerRejected'])('is over with %s', (type) => {
    expect(world(MUTATIONS, held, toldOf(type)).size).toBe(0);
  });

  it('is over when somebody closes it, on the partition where it was closed', () => {
    expect(world(MUTATIONS, opened, toldOf('BreakerClosed')).size).toBe(0);
    const elsewhere = toldOf('BreakerOpened', { scope: 'tenant', deadline_at: 9_000, run_id: 'run-2' });
    expect([...world(MUTATIONS, opened, elsewhere).keys()]).toEqual(['breaker:brk-1:run-1', 'breaker:brk-1:run-2']);
    expect([...world(MUTATIONS, opened, elsewhere, toldOf('BreakerClosed')).keys()]).toEqual(['breaker:brk-1:run-2']);
  });
});

describe('a record that could not be taken', () => {
  const parked = (log: FollowedLog, reason: string) =>
    recordOf(log, 'RecordParked', { reason, topic: 'recourse.executions', offset: 7 });
  const LOGS = [MUTATIONS, RECOVERIES, BUDGETS, 'recourse.contracts', 'recourse.assumptions'] as const;

  it.each(LOGS)('waits for an administrator of all tenants in whatever log, for four hours: %s', (log) => {
    expect(world(log, parked(log, 'CONTRACT_UNKNOWN')).get('parked:parked-1')).toMatchObject({
      tenant: '*',
      log: 'recourse.executions/1/7',
      item: { kind: 'parked', reason: 'CONTRACT_UNKNOWN', owner: 'role:administrator', deadlineAt: 14_400_100 },
    });
  });

  it.each(LOGS)('is over once somebody redrove or discarded it: %s', (log) => {
    expect(world(log, parked(log, 'CONTRACT_UNKNOWN'), recordOf(log, 'ParkedResolved')).size).toBe(0);
  });

  it('is asked about once it was looked at, and not while it stands behind another', () => {
    expect(world(MUTATIONS, parked(MUTATIONS, 'BEHIND')).size).toBe(0);
    const looked = world(MUTATIONS, parked(MUTATIONS, 'BEHIND'), parked(MUTATIONS, 'STILL_FAILING'));
    expect(looked.get('parked:parked-1')?.item?.reason).toBe('STILL_FAILING');
  });
});

describe('a weaker version of a contract', () => {
  const CONTRACTS = 'recourse.contracts';
  const of = (type: string, more: Readonly<Record<string, unknown>> = {}): HeardRecord =>
    recordOf(CONTRACTS, type, { name: 'payments.issue_refund', digest: Buffer.alloc(32, 7), retires: false, ...more });
  const proposed = of('RegistrationProposed', { expires_at: 9_000 });

  it('waits for a second person, with an owner, until it would lapse', () => {
    const waits = { kind: 'proposal', reason: 'CONTRACT_WEAKER', owner: 'role:contract_editor', deadlineAt: 9_000 };
    expect([...world(CONTRACTS, proposed).values()]).toMatchObject([
      { tenant: 'acme', runId: '', capability: 'payments.issue_refund', item: waits },
    ]);
    const platform = of('RegistrationProposed', { tenant: '*', retires: true });
    expect([...world(CONTRACTS, platform).values()]).toMatchObject([
      { tenant: '*', item: { reason: 'CONTRACT_RETIRING', owner: 'role:platform_editor' } },
    ]);
  });

  it.each(['ContractRegistered', 'ContractRetired', 'RegistrationDropped'])('waits no more after %s', (type) => {
    expect(world(CONTRACTS, proposed, of(type)).size).toBe(0);
    const another = { digest: Buffer.alloc(32, 8) };
    expect(world(CONTRACTS, proposed, of(type, another)).size).toBe(1);
  });
});

describe('rollbacks that come steadily faster', () => {
  const rose = toldOf('TrendRose', { scope: 'agent', name: 'agent-1', deadline_at: 9_000 });

  it('wait for a person with a deadline, by whose they are, until one has looked (E47)', () => {
    expect(world(MUTATIONS, rose).get('trend:trd-1')?.item).toMatchObject({
      kind: 'trend',
      reason: 'TREND_AGENT',
      deadlineAt: 9_000,
    });
    expect(world(MUTATIONS, rose, toldOf('TrendReviewed', { scope: 'agent', name: 'agent-1' })).size).toBe(0);
  });
});

describe('an agent that rises no further', () => {
  const changed = (frozen_by: string | null, frozen_at: number | null = 5) =>
    recordOf(BUDGETS, 'AutonomyChanged', { run_id: null, standing: { frozen_by, frozen_at } });

  it('waits for a person who lets it, by why it was frozen, with an owner and a deadline (D37)', () => {
    expect(world(BUDGETS, changed('corrections')).get('autonomy:aut-1')).toMatchObject({
      tenant: 'acme',
      item: { kind: 'freeze', reason: 'FROZEN_CORRECTIONS', owner: 'role:approver', deadlineAt: 86_400_005 },
    });
  });

  it('is the same item whatever else is said of it meanwhile, and over once it may rise', () => {
    const again = world(BUDGETS, changed('person'), changed('person'));
    expect(again.get('autonomy:aut-1')?.item?.opening).toBe('recourse.budgets/0/1');
    expect(world(BUDGETS, changed('replay_failed'), changed(null, null)).size).toBe(0);
  });

  it('is nothing anybody waits for where it was never frozen', () => {
    expect(world(BUDGETS, changed(null, null)).size).toBe(0);
  });
});

describe('a ceiling that moved', () => {
  const moved = recordOf(BUDGETS, 'CeilingMoved', { scope: 'run', scope_id: 'run-1', cause: 'lowered', until: null });
  const place = { topic: BUDGETS, partition: 0, seq: 7, at: 100 };

  it('waits for nobody, and whoever hears of the tenant is told once (A84)', () => {
    expect(world(BUDGETS, moved).size).toBe(0);
    expect(hear(BUDGETS, moved).then(() => undefined, place)).toMatchObject([
      { op: 'tell', thing: { thing: 'ceiling', runId: 'run-1', item: { reason: 'CEILING_LOWERED', deadlineAt: 100 } } },
    ]);
  });
});

describe('alarms of the auditor', () => {
  const found = { topic: 'recourse.mutations', partition: 2, offset: 7 };
  const raised = recordOf(HEADS, 'AlarmRaised', {
    ...found,
    finding: 'cut_tail',
    owner: 'role:auditor',
    deadline_at: 9_000,
  });

  it('say which log and partition they are about, to whoever lists them and to whoever is told', () => {
    const thing = world(HEADS, raised).get('alarm:alm-1');
    expect(thing?.log).toBe('recourse.mutations/2');
    expect(thing && isWaiting(thing) ? shownItem(thing, 0).log : null).toBe('recourse.mutations/2');
    const [told] = newsOf(undefined, thing, [endpoint()], { topic: HEADS, partition: 0, seq: 1, at: 0 }).queued;
    const bases = { ledger: 'https://l.test', recoveries: 'https://r.test', budgets: 'https://b.test' };
    for (const shape of SHAPES) expect(told && bodyOf(shape, told.notice, bases)).toContain('recourse.mutations/2');
  });

  it('repeat nothing that is no name of a topic', () => {
    expect(world(HEADS, recordOf(HEADS, 'AlarmRaised', { ...found, topic: CANARY })).get('alarm:alm-1')?.log).toBe(
      undefined,
    );
  });

  it('wait for a person with an owner and a deadline, by what was found, until they are closed (P11)', () => {
    expect(world(HEADS, raised).get('alarm:alm-1')?.item).toMatchObject({
      kind: 'alarm',
      reason: 'CUT_TAIL',
      owner: 'role:auditor',
      deadlineAt: 9_000,
    });
    expect(world(HEADS, raised, recordOf(HEADS, 'AlarmClosed')).size).toBe(0);
  });

  it('wait on where somebody says that they are closed, until the auditor has signed it (P11)', () => {
    const said = recordOf(HEADS, 'AlarmClosed', { note: null });
    expect(world(HEADS, raised, said).get('alarm:alm-1')?.item).toMatchObject({ kind: 'alarm' });
    expect(world(HEADS, raised, said, recordOf(HEADS, 'AlarmClosed'), raised).size).toBe(1);
  });
});

describe('an effect that waits for people', () => {
  const effect = (...records: readonly HeardRecord[]): Thing | undefined =>
    world(MUTATIONS, ...records).get('mutation:mut-1');
  const exposed = toldOf('MutationRecorded', {
    execution: { tenant: 'acme', run_id: 'run-1', capability: 'crm.send_mail' },
    execution_state: 'succeeded',
    review_by: 9_000,
    reason: 'REVERSAL_ARGS_INCOMPLETE:refund_id',
  });
  const overdue = toldOf('ExecutionOverdue', { execution_state: 'uncertain', deadline_at: 8_000 });
  const closing = toldOf('WindowClosing', { closes_at: 7_000 });

  it('is an item where nothing automatic takes it back, and none where nobody need look', () => {
    expect(effect(exposed)).toMatchObject({
      tenant: 'acme',
      runId: 'run-1',
      capability: 'crm.send_mail',
      item: { kind: 'exposure', reason: 'REVERSAL_ARGS_INCOMPLETE', deadlineAt: 9_000 },
    });
    expect(effect(toldOf('MutationRecorded', { review_by: null }))).toBeUndefined();
  });

  it('is an item where its agent gives the call to a person, with the kind of error (D18)', () => {
    const escalated = (execution_state: string): HeardRecord =>
      toldOf('MutationRecorded', {
        execution: { tenant: 'acme', run_id: 'run-1', capability: 'crm.send_mail' },
        execution_state,
        review_by: 9_000,
        reason: 'ESCALATED:POLICY_DENIED',
      });
    expect(effect(escalated('failed'))?.item).toMatchObject({
      kind: 'escalated',
      reason: 'POLICY_DENIED',
      deadlineAt: 9_000,
    });
    expect(effect(escalated('uncertain'))?.item).toMatchObject({ kind: 'execution', reason: 'POLICY_DENIED' });
    expect(effect(escalated('failed'), toldOf('MutationSettled'))).toBeUndefined();
  });

  it('is an item where nobody told its end, or its window closes', () => {
    expect(effect(overdue)?.item).toMatchObject({
      kind: 'execution',
      reason: 'EXECUTION_UNCERTAIN',
      deadlineAt: 8_000,
    });
    expect(effect(closing)?.item).toMatchObject({ kind: 'window', reason: 'WINDOW_CLOSING', deadlineAt: 7_000 });
  });

  it('is an item where somebody else named its handle first, and none where the handle is its own', () => {
    const judged = (review_by: number | null): HeardRecord => toldOf('HandleJudged', { review_by });
    expect(effect(judged(9_000))?.item).toMatchObject({
      kind: 'exposure',
      reason: 'HANDLE_CLAIMED',
      deadlineAt: 9_000,
    });
    expect(effect(judged(null))).toBeUndefined();
    expect(effect(judged(9_000), toldOf('MutationSettled'))).toBeUndefined();
  });

  it('is over once a person settles it or somebody tells how it ended', () => {
    for (const asked of [exposed, overdue]) expect(effect(asked, toldOf('MutationSettled'))).toBeUndefined();
    expect(effect(overdue, toldOf('MutationRecorded', { review_by: null }))).toBeUndefined();
  });

  it("is its recovery's once it falls; how it ended is still asked", () => {
    expect(effect(exposed, toldOf('MutationsFell', { execution_state: 'succeeded' }))).toBeUndefined();
    expect(effect(overdue, toldOf('MutationsFell', { execution_state: 'uncertain' }))?.item?.kind).toBe('execution');
  });

  it('is warned of no more once its window was used or is over, and an item of another kind stays', () => {
    expect(effect(closing, toldOf('RecoverabilityChanged'))).toBeUndefined();
    expect(effect(exposed, toldOf('RecoverabilityChanged'))?.item?.kind).toBe('exposure');
  });
});

describe('a consumer that is silent', () => {
  const overdue = toldOf('DeliveryOverdue', { deadline_at: 9_000 });

  it('waits for a person until it answers, or they have said what was done about it', () => {
    expect(
      world(MUTATIONS, overdue).get(`delivery:${deliveryIdOf({ rollback_id: 'rb-1', consumer: 'warehouse' })}`)?.item,
    ).toMatchObject({
      kind: 'delivery',
      reason: 'CONSUMER_SILENT',
      deadlineAt: 9_000,
    });
    for (const end of ['ConsumerAcknowledged', 'DeliveryReviewed'])
      expect(world(MUTATIONS, overdue, toldOf(end)).size).toBe(0);
  });
});
