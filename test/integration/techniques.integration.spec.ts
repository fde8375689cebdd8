// What a contract may say of its effect, on real parts: reservation, dry run, two people, an event that closes the window, an argument
// from another compensation; and a run in which one action has no contract (A51, A52, A68, B5, B6, B12).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closingRef } from '@recourse/contract';
import { cli } from './guide.testing.js';
import { Receiver } from './receiver.testing.js';
import { executed, EXECUTIONS, itemsOf, OPERATOR, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, Person, Reply, System } from './system.testing.js';
import { openWarehouse } from './warehouse.testing.js';
import type { ConnectedWarehouse } from './warehouse.testing.js';

const OWNER: Person = { subject: 'leela', roles: ['budget_owner'] };
const SECOND: Person = { subject: 'otto', roles: ['approver'] };
const desk = new Receiver();
const folder = mkdtempSync(join(tmpdir(), 'recourse-techniques-'));
let system: System;
let open: ConnectedWarehouse;

beforeAll(async () => {
  const webhooksFile = join(folder, 'webhooks.json');
  const endpoint = {
    name: 'desk',
    url: await desk.open(),
    shape: 'generic',
    secrets: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`],
    tenants: 'all',
  };
  writeFileSync(webhooksFile, JSON.stringify({ allow_loopback: true, endpoints: [endpoint] }), { mode: 0o600 });
  system = await startSystem({ adapters: ['inventory'], notifier: { webhooksFile } });
  open = await openWarehouse(system);
}, 400_000);
afterAll(async () => {
  await open.stop();
  await system.stop();
  desk.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const mutationsOf = async (run: string): Promise<readonly Facts[]> =>
  itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`));

/** The mutation of a run, of one capability where it has several, once it is as wanted. */
function mutationOf(run: string, state: Facts): Promise<Facts> {
  return until(
    `a mutation of ${run} as ${JSON.stringify(state)}`,
    async () =>
      (await mutationsOf(run)).find((one) => Object.entries(state).every(([name, value]) => one[name] === value)) ??
      null,
  );
}

function stepOf(run: string, phase: string): Promise<Facts> {
  return until(
    `the step of ${run} as ${phase}`,
    async () => itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${run}&phase=${phase}`))[0] ?? null,
  );
}

/** A person says that an effect should not stand. */
async function trigger(run: string, mutation: Facts): Promise<void> {
  const body = { run_id: run, mutation_id: mutation['mutation_id'], reason: 'the wrong order' };
  expect(await system.post('ledger', '/v1/triggers', body, {})).toMatchObject({ status: 201 });
}

const approve = ({ step_id, action_digest }: Facts, person: Person): Promise<Reply> =>
  system.post(
    'orchestrator',
    `/v1/steps/${String(step_id)}/approve`,
    { action_digest, reason: 'the customer called' },
    { person },
  );
const reviewOf = async ({ step_id }: Facts): Promise<Facts> =>
  (await system.get('orchestrator', `/v1/reviews/${String(step_id)}`)).body;

describe('a reservation', () => {
  it('is committed when its precondition still holds at the end of its hold; else it is given back with what its run did before, and never committed (A51, A53)', async () => {
    const [kept, broken] = [runOn(0, 'kept'), runOn(1, 'broken')];
    expect(await open.act('inventory.stage_stock', kept)).toMatchObject({ kind: 'held' });
    const saga = { onFailure: 'compensate' } as const;
    const box = `${broken}-box`;
    expect(await open.act('inventory.reserve_stock', broken, { order: box, ...saga })).toMatchObject({
      kind: 'succeeded',
    });
    expect(await open.act('inventory.stage_stock', broken, { quantity: 5, ...saga })).toMatchObject({ kind: 'held' });
    expect([open.warehouse.about(kept), open.warehouse.about(broken)]).toEqual([['stage'], ['stage']]);
    open.warehouse.inStock = 3;
    await mutationOf(kept, { execution_state: 'succeeded', recoverability: 'reversal_available' });
    expect(open.warehouse.about(kept)).toEqual(['stage', 'reserve']);
    const given = await mutationOf(broken, { recoverability: 'cancelled', reason: 'PRECONDITION_FAILED' });
    await until('the reservation given back', () =>
      Promise.resolve(open.warehouse.about(broken).includes('unstage') ? true : null),
    );
    expect(open.warehouse.about(broken)).toEqual(['stage', 'unstage']);
    await mutationOf(broken, { capability: 'inventory.reserve_stock', recoverability: 'compensated' });
    expect(open.warehouse.about(box)).toEqual(['reserve', 'release']);
    const [begun] = itemsOf(await system.get('ledger', `/v1/undos?run_id=${broken}`));
    const failed = { mutation_id: given['mutation_id'], step_id: 'inventory.stage_stock' };
    expect(begun).toMatchObject({ phase: 'listed', begun_by: failed });
    const shown = await cli(system, OPERATOR, folder, 'undos', 'show', String(begun?.['undo_id']));
    expect(shown.out).toContain(`failed step inventory.stage_stock (${String(given['mutation_id'])})`);
    expect(open.warehouse.of(String((given['execution'] as Facts)['staged_ref']))).toMatchObject({
      status: 'released',
    });
  }, 60_000);
});

describe('a dry run', () => {
  it('is shown to whoever agrees, before the effect and when it is to be undone, and commits nothing (A52)', async () => {
    const run = runOn(0, 'rehearsed');
    open.warehouse.inStock = 10;
    const call = { quantity: 4 };
    const order = 'inventory.order_stock';
    expect(await open.act(order, run, { ...call, isRehearsal: true })).toMatchObject({ kind: 'rehearsed' });
    expect(await open.act(order, run, call)).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
    const [item] = itemsOf(await system.get('orchestrator', `/v1/reviews?kind=forward&run_id=${run}`));
    expect(item).toMatchObject({ rehearsal: { body: { left: 6 } } });
    expect([open.warehouse.about(run), await mutationsOf(run)]).toEqual([[], []]);
    const id = String(item?.['approval_id']);
    expect((await cli(system, OPERATOR, folder, 'approvals', 'show', id)).out).toMatch(/dry run says.*left.*6/);
    expect((await cli(system, OPERATOR, folder, 'approvals', 'approve', id, '--reason', 'seen', '--yes')).code).toBe(0);
    expect(await open.act(order, run, call)).toMatchObject({ kind: 'succeeded' });
    await trigger(run, await mutationOf(run, { recoverability: 'reversal_available' }));
    expect(await reviewOf(await stepOf(run, 'awaiting_approval'))).toMatchObject({
      action: { rehearsal: { json: { left: 6 } } },
    });
    expect(open.warehouse.about(run)).toEqual(['reserve']);
  }, 60_000);
});

describe('a connected agent', () => {
  it('reserves what a call may cost, and acts beyond the ceiling only once a person has said so (P8)', async () => {
    const run = runOn(1, 'priced');
    const ceiling = { scope: 'run', scope_id: run, currency: 'EUR', ceiling_minor: 1_000 };
    expect(await system.post('budget', '/v1/budgets', ceiling, { person: OWNER })).toMatchObject({ status: 201 });
    const buy = (order: string, priceMinor: number) => open.act('inventory.buy_stock', run, { order, priceMinor });
    const used = async (): Promise<unknown> =>
      itemsOf(await system.get('budget', `/v1/budgets?scope=run&scope_id=${run}`, OWNER))[0]?.['used_minor'];
    expect(await buy(`${run}-small`, 4_000)).toMatchObject({ kind: 'succeeded' });
    expect(await used()).toBe(400);
    expect(await buy(`${run}-large`, 8_000)).toMatchObject({ kind: 'refused', code: 'BUDGET_ESCALATED' });
    expect([open.warehouse.about(`${run}-large`), await used()]).toEqual([[], 400]);
    const [asked] = itemsOf(await system.get('budget', `/v1/escalations?run_id=${run}`, OWNER));
    const agreed = await cli(
      system,
      OPERATOR,
      folder,
      'budgets',
      'approve',
      String(asked?.['escalation_id']),
      '--reason',
      'paid for',
      '--yes',
    );
    expect(agreed).toMatchObject({ code: 0 });
    expect(await buy(`${run}-large`, 8_000)).toMatchObject({ kind: 'succeeded' });
    expect([open.warehouse.about(`${run}-large`), await used()]).toEqual([['reserve'], 1_200]);
  }, 60_000);
});

describe('a compensation that needs two people', () => {
  it('goes with the second of two different ones, not with the same one twice, and keeps both names (A68)', async () => {
    const run = runOn(1, 'dual');
    await open.act('inventory.sell_stock', run);
    await trigger(run, await mutationOf(run, { recoverability: 'reversal_available' }));
    const step = await stepOf(run, 'awaiting_approval');
    expect(step).toMatchObject({ required_approvals: 2 });
    expect(await approve(step, OPERATOR)).toMatchObject({ status: 200, body: { phase: 'awaiting_approval' } });
    for (const subject of [OPERATOR.subject, OPERATOR.subject.toUpperCase()])
      expect(await approve(step, { ...OPERATOR, subject })).toMatchObject({
        status: 409,
        body: { code: 'SAME_APPROVER' },
      });
    expect(open.warehouse.about(run)).toEqual(['reserve']);
    expect(await approve(step, SECOND)).toMatchObject({ status: 200 });
    await mutationOf(run, { recoverability: 'compensated' });
    expect(open.warehouse.about(run)).toEqual(['reserve', 'release']);
    expect(await reviewOf(await stepOf(run, 'compensated'))).toMatchObject({
      approvals: { required: 2, given: [{ by: OPERATOR.subject }, { by: SECOND.subject }] },
    });
  }, 60_000);
});

describe('an event that closes the window', () => {
  it('takes the compensation from whoever was about to agree, and the item leads to the event (B5)', async () => {
    const run = runOn(0, 'picked');
    await open.act('inventory.lend_stock', run);
    await trigger(run, await mutationOf(run, { recoverability: 'reversal_available' }));
    const step = await stepOf(run, 'awaiting_approval');
    await system.producer.assumptionDeclared({
      tenant: TENANT,
      ref: closingRef(run, 'picked'),
      statement: { at: 'gate 4' },
      statedAt: Date.now(),
    });
    await mutationOf(run, { recoverability: 'manual_resolution_required', reason: 'CLOSED_BY:picked' });
    await stepOf(run, 'manual');
    expect(await approve(step, OPERATOR)).toMatchObject({ status: 409, body: { code: 'WINDOW_CLOSED' } });
    const retry = await system.post(
      'orchestrator',
      `/v1/steps/${String(step['step_id'])}/retry`,
      { reason: 'again' },
      {},
    );
    expect(retry).toMatchObject({ status: 409, body: { code: 'WINDOW_CLOSED' } });
    const item = await reviewOf(step);
    expect(item).toMatchObject({
      phase: 'manual',
      reason: 'REVERSAL_EXPIRED',
      why: expect.stringContaining('by an event that the mutation names'),
      owner: 'role:administrator',
      deadline_at: expect.any(Number),
      may: ['resolve', 'check', 'escalate'],
    });
    const { path } = (item['links'] as Readonly<Record<string, Facts>>)['mutation'] ?? {};
    expect((await system.get('ledger', String(path))).body).toMatchObject({ reason: 'CLOSED_BY:picked' });
    expect(open.warehouse.about(run)).toEqual(['reserve']);
  }, 60_000);
});

describe('a compensation that takes an argument from another one', () => {
  it('goes after it, with what its verified compensation answered (B6)', async () => {
    const run = runOn(1, 'covered');
    await open.act('inventory.reserve_stock', run);
    await open.act('inventory.cover_stock', run);
    const [reserved] = await Promise.all([
      mutationOf(run, { capability: 'inventory.reserve_stock', recoverability: 'reversal_available' }),
      mutationOf(run, { capability: 'inventory.cover_stock', execution_state: 'succeeded' }),
    ]);
    const undo = { run_id: run, mutation_ids: [], reason: 'the customer changed their mind' };
    expect(await system.post('ledger', '/v1/undos', undo, {})).toMatchObject({ status: 201 });
    await mutationOf(run, { capability: 'inventory.cover_stock', recoverability: 'compensated' });
    expect(open.warehouse.about(run)).toEqual(['reserve', 'reserve', 'release', 'drop']);
    const receipt = `rc_${String((reserved['ref'] as Facts)['external_transaction_ref'])}`;
    expect(open.warehouse.calls.find(({ what, of }) => what === 'drop' && of === run)?.args).toMatchObject({ receipt });
  }, 60_000);
});

describe('a run in which one action has no contract', () => {
  it("is undone where a contract says how; the rest is a person's, who is told at once and not only at the undo (B12, A47)", async () => {
    const run = runOn(0, 'uncontracted');
    const bare = executed(run, { capability: 'inventory.paint_shelf', contractDigest: null, subjectRef: null });
    await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'ToolExecuted', bare));
    await open.act('inventory.reserve_stock', run);
    const exposed = await mutationOf(run, { recoverability: 'manual_resolution_required', reason: 'UNCONTRACTED' });
    expect(exposed).toMatchObject({ awaited: { owner: 'role:operator', deadline_at: expect.any(Number) } });
    const [told] = await until('the notice', () =>
      Promise.resolve(desk.about(run).length > 0 ? desk.about(run) : null),
    );
    expect(told?.body).toMatchObject({
      type: 'recourse.item.opened',
      item_kind: 'exposure',
      item_id: exposed['mutation_id'],
      capability: 'inventory.paint_shelf',
      reason: 'UNCONTRACTED',
      deadline_at: expect.any(String),
    });
    expect((await cli(system, OPERATOR, folder, 'items')).out).toContain(String(exposed['mutation_id']));
    await mutationOf(run, { capability: 'inventory.reserve_stock', recoverability: 'reversal_available' });
    const undo = { run_id: run, mutation_ids: [], reason: 'nobody asked for this' };
    const { body } = await system.post('ledger', '/v1/undos', undo, {});
    const report = await until('the report', async () => {
      const found = (await system.get('ledger', `/v1/undos/${String(body['undo_id'])}`)).body;
      return found['outcome'] === 'still_open' ? null : found;
    });
    expect(report).toMatchObject({
      outcome: 'partly_undone',
      items: [
        { capability: 'inventory.reserve_stock', outcome: 'undone_with_residue' },
        { capability: 'inventory.paint_shelf', outcome: 'not_undone', reason: 'UNCONTRACTED' },
      ],
    });
    const reviews = await system.get('orchestrator', `/v1/reviews?run_id=${run}`);
    const tasks = await system.get('orchestrator', `/v1/tasks?run_id=${run}`);
    expect(itemsOf(reviews)).toMatchObject([{ reason: 'UNCONTRACTED', owner: 'role:administrator' }]);
    expect(
      itemsOf(tasks)
        .map(({ task_kind }) => task_kind)
        .sort(),
    ).toEqual(['audit_note', 'correction', 'support']);
    expect(open.warehouse.about(run)).toEqual(['reserve', 'release']);
  }, 60_000);
});
