// What the guide "Write a worker" says of a leg, on the worker's own tools and without a broker.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { LegRequested, StepReport } from '@recourse/messages';
import { ManualClock, MemoryClaimStore, runLeg } from '@recourse/sdk';
import { ShopClient, stockTools } from './stock.worker.js';

const NOW = 1_000;
const HELD = { reservation: 'rsv-1', order_id: '7', sku: 'pen', quantity: 3 };
let status = 'reserved';
let how: 'works' | 'answers without effect' | 'breaks after the effect' | number = 'works';
let released = 0;
let claimStore = new MemoryClaimStore();
beforeEach(() => {
  [status, how, released, claimStore] = ['reserved', 'works', 0, new MemoryClaimStore()];
});

/** The shop, as far as the worker sees of it. */
const shop: typeof fetch = (url, init) => {
  if (typeof url !== 'string') throw new Error('the worker asks by text');
  if (url.includes('?order_id='))
    return Promise.resolve(Response.json(url.endsWith('=7') ? [{ ...HELD, status }] : []));
  if (init?.method === 'GET') return Promise.resolve(Response.json({ ...HELD, status }));
  if (status === 'picked')
    return Promise.resolve(Response.json({ code: 'PICKED', message: 'it left the shelf' }, { status: 409 }));
  // A status: refused before anything is done, or, as a 404 and a 409 may be, said of what is done.
  if (how === 403) return Promise.resolve(Response.json({ code: 'FORBIDDEN', message: 'not yours' }, { status: how }));
  released += 1;
  if (typeof how === 'number') {
    status = 'released';
    return Promise.resolve(Response.json({ code: 'RELEASED', message: 'it is released' }, { status: how }));
  }
  if (how !== 'answers without effect') status = 'released';
  return Promise.resolve(
    how === 'breaks after the effect'
      ? Response.json({}, { status: 500 })
      : Response.json({ ...HELD, status: 'released' }),
  );
};

const STEP: LegRequested['steps'][number] = {
  step_id: 'step_1',
  call_timeout_ms: 1_000,
  agent_id: 'agent',
  subject_ref: '7',
  external_transaction_ref: 'rsv-1',
  key_lifetime_ms: null,
  call: {
    call_id: 'call',
    run_id: 'run-1',
    adapter_id: 'inventory',
    capability: 'inventory.release_stock',
    args: plainPayload({ reservation: 'rsv-1' }),
    approval_mode: 'network',
    policy_ref: null,
    idempotency_key: 'rev_key',
    reverses_mutation_ref: 'mut_1',
    then: [],
  },
  reconcile_capability: 'inventory.get_reservation',
  stale_capability: 'inventory.get_reservation',
  stale_condition: "observed.status == 'reserved'",
  stale_compares: null,
  verify_capability: 'inventory.get_reservation',
  success_condition: "observed.status == 'released'",
  verify_max_attempts: 1,
  verify_delay_ms: 0,
  calls_done: 0,
};
const LEG: LegRequested = {
  leg_id: 'leg_1',
  kind: 'compensate',
  tenant: 'shop',
  run_id: 'run-1',
  attempt: 1,
  lease_id: 'lease',
  not_after: NOW + 60_000,
  reconcile_first: false,
  for_observer: false,
  reason: 'agent_effect_compensation',
  steps: [STEP],
};

async function ends(leg: Partial<LegRequested> = {}): Promise<StepReport | undefined> {
  const parts = {
    workerId: 'w',
    tools: stockTools(new ShopClient('http://shop', shop)),
    clock: new ManualClock(NOW),
    claimStore,
    callTimeoutMs: 1_000,
  };
  return (await runLeg({ ...LEG, ...leg }, parts)).steps[0];
}

describe('a leg of the shop', () => {
  it('looks, claims, releases, and is verified by looking again', async () => {
    const report = await ends();
    expect([report?.outcome, report?.observations.map(({ phase, capability }) => `${phase} ${capability}`)]).toEqual([
      'verified',
      ['stale_check inventory.get_reservation', 'execute inventory.release_stock', 'verify inventory.get_reservation'],
    ]);
  });

  it('ends stale, and calls nothing, when somebody picked the article meanwhile', async () => {
    status = 'picked';
    expect([await ends(), released]).toMatchObject([{ outcome: 'stale', error_kind: 'STALE' }, 0]);
  });

  it('is not undone because the shop says so: nobody sees it released', async () => {
    how = 'answers without effect';
    expect(await ends()).toMatchObject({ outcome: 'unverified', error_kind: 'NOT_OBSERVED' });
  });

  it('is unknown when the answer is lost, and found out by the next attempt without another call', async () => {
    how = 'breaks after the effect';
    expect(await ends()).toMatchObject({ outcome: 'unknown', error_kind: 'TOOL_ERROR' });
    expect([await ends({ attempt: 2, reconcile_first: true }), released]).toMatchObject([{ outcome: 'verified' }, 1]);
  });

  it('has failed where the shop says by its status that it did nothing', async () => {
    how = 403;
    expect([await ends(), released]).toMatchObject([{ outcome: 'failed', error_kind: 'TOOL_REJECTED' }, 0]);
  });

  it.each([404, 409, 410])('is unknown on a %i, which the shop may say of what is done', async (answered) => {
    how = answered;
    expect([await ends(), released]).toMatchObject([{ outcome: 'unknown', error_kind: 'TOOL_ERROR' }, 1]);
    expect([await ends({ attempt: 2, reconcile_first: true }), released]).toMatchObject([{ outcome: 'verified' }, 1]);
  });

  it('calls a tool without a key once at most: the claim of a killed worker stands, and no later attempt calls', async () => {
    await claimStore.claim({ id: STEP.step_id, attempt: 1, workerId: 'killed' });
    expect(await ends()).toMatchObject({ outcome: 'unknown', error_kind: 'CLAIM_TAKEN' });
    expect([await ends({ attempt: 2, reconcile_first: true }), released]).toMatchObject([
      { outcome: 'not_executed', error_kind: 'RETRY_WITHOUT_KEY' },
      0,
    ]);
  });

  it('refuses a leg past its lease', async () => {
    expect([await ends({ not_after: NOW - 1 }), released]).toMatchObject([
      { outcome: 'refused_late', error_kind: 'LEASE_OVER' },
      0,
    ]);
  });

  it.each([
    ['7', 'verified', null],
    ['8', 'unverified', 'NOT_OBSERVED'],
  ])('finds out whether the reservation of order %s was made', async (order_id, outcome, error_kind) => {
    const step = {
      ...STEP,
      call: {
        ...STEP.call,
        capability: 'inventory.reserve_stock',
        args: plainPayload({ order_id, sku: 'pen', quantity: 3 }),
      },
      success_condition: null,
    };
    expect(await ends({ kind: 'reconcile', steps: [step] })).toMatchObject({ outcome, error_kind });
  });
});
