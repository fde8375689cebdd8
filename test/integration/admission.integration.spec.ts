// Admission on real parts: a stranger's trigger is held and confirmed, a burst opens a breaker that a person closes, and in the
// end all that should not stand is compensated.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createKafka } from '@recourse/kafka';
import { deriveId } from '@recourse/kernel';
import { createWorker, MemoryClaimStore, MemoryPositionStore, systemClock } from '@recourse/sdk';
import type { Worker } from '@recourse/sdk';
import { EDITOR, INITIATOR, itemsOf, OPERATOR, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const STOCK = ['inventory.get_reservation', 'inventory.release_stock', 'inventory.reserve_stock'];
const LIMIT = 4; // two for each of the two partitions
/** As the producer of the system calls itself. */
const SOURCE = 'spec';
let system: System;
let worker: Worker;

/** Reservations of a shop, by id. */
const reservations = new Map<string, Facts>();
const reservationOf = (args: unknown): string => String((args as Facts)['reservation']);

beforeAll(async () => {
  system = await startSystem({
    adapters: ['inventory'],
    envOf: {
      'mutation-ledger': {
        RECOURSE_SOURCE_TRUST: 'weighed',
        RECOURSE_SOURCE_TRUST_THRESHOLD_PERMILLE: '501',
        RECOURSE_STORM_LIMIT: String(LIMIT),
        RECOURSE_STORM_WINDOW_MS: '600000',
      },
    },
  });
  for (const name of STOCK) {
    const { status, body } = await system.post(
      'registry',
      '/v1/contracts',
      JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as object,
      { person: EDITOR, key: name },
    );
    if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
  }
  const seen = (args: unknown): Promise<Facts> => Promise.resolve(reservations.get(reservationOf(args)) ?? {});
  const release = (args: unknown): Promise<Facts> => {
    reservations.set(reservationOf(args), { ...reservations.get(reservationOf(args)), status: 'released' });
    return seen(args);
  };
  worker = createWorker({
    kafka: createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'inventory' }),
    codecs: system.codecs,
    adapter: 'inventory',
    tools: { 'inventory.get_reservation': seen, 'inventory.release_stock': release } as unknown as Parameters<
      typeof createWorker
    >[0]['tools'],
    clock: systemClock,
    claimStore: new MemoryClaimStore(),
    positions: new MemoryPositionStore(),
    workerId: 'inventory-1',
    groupId: 'inventory-workers',
    callTimeoutMs: 2_000,
  });
  await worker.start();
}, 400_000);
afterAll(async () => {
  await worker.stop();
  await system.stop();
}, 60_000);

/** A reservation on record that relies on an order, in a run of partition 0. */
async function reserved(order: string): Promise<{ readonly run: string; readonly mutation: string }> {
  const [run, reservation] = [runOn(0), `rsv-${order}`];
  const result = { reservation, order_id: order, sku: 'pen', quantity: 1, status: 'reserved' };
  reservations.set(reservation, result);
  const contractDigest = Buffer.from(
    String((await system.get('registry', '/v1/contracts/inventory.reserve_stock')).body['digest']),
    'hex',
  );
  const action = {
    tenant: TENANT,
    runId: run,
    agentId: 'agent-7',
    initiator: INITIATOR.subject,
    objective: 'serve the customer',
    stepId: order,
    callId: `call-${order}`,
    capability: 'inventory.reserve_stock',
    contractDigest,
    effectKey: `eff-${order}`,
    idempotencyKey: `key-${order}`,
    subjectRef: `order/${order}`,
    args: { order_id: order, sku: 'pen', quantity: 1 },
    assumptionRefs: [`order/${order}#paid`],
  };
  await system.producer.toolExecuted(action, {
    outcome: 'succeeded',
    result: result,
    priorValue: null,
    externalTransactionRef: reservation,
    committedAt: Date.now(),
    errorKind: null,
  });
  const mutation = deriveId('mut', TENANT, run, `eff-${order}`);
  await until('the mutation', async () =>
    (await system.get('ledger', `/v1/mutations/${mutation}`)).status === 200 ? true : null,
  );
  return { run, mutation };
}

const unpaid = (order: string): Promise<string> =>
  system.producer.assumptionInvalidated({
    tenant: TENANT,
    ref: `order/${order}#paid`,
    sourceKind: 'observation',
    statement: { paid: false },
    statedAt: Date.now(),
  });
const rollbacks = async (phase: string): Promise<readonly Facts[]> =>
  itemsOf(await system.get('ledger', `/v1/rollbacks?phase=${phase}`));
const compensated = async (): Promise<number> =>
  itemsOf(await system.get('orchestrator', '/v1/steps?phase=compensated')).length;

describe('triggers of a source', () => {
  it('wait for a person while nobody knows it; confirmed ones go on, and their source with them', async () => {
    await reserved('first');
    await unpaid('first');
    const held = await until('a held trigger', async () => (await rollbacks('held'))[0] ?? null);
    expect(held).toMatchObject({ phase: 'held', owner: 'role:approver', held: { reason: 'SOURCE_UNTRUSTED' } });
    const id = String(held['rollback_id']);
    expect((await system.get('ledger', `/v1/rollbacks/${id}`)).body).toMatchObject({
      rollback_id: id,
      evidence: { source: SOURCE },
    });
    expect(
      (
        await system.post(
          'ledger',
          `/v1/rollbacks/${id}/confirm`,
          { reason: 'the bank says so' },
          { person: { subject: 'rita', roles: ['reporter'] } },
        )
      ).status,
    ).toBe(403);
    expect(
      await system.post('ledger', `/v1/rollbacks/${id}/confirm`, { reason: 'the bank says so' }, { person: OPERATOR }),
    ).toMatchObject({ status: 200, body: { phase: 'opened', verdict: 'confirmed' } });
    await until('its compensation', async () => ((await compensated()) === 1 ? true : null));
    expect((await system.get('ledger', '/v1/sources')).body).toMatchObject({
      items: [{ source: SOURCE, weight_permille: 550, confirmed: 1, rejected: 0, precision: 1, held: 0 }],
    });
  }, 120_000);

  it('open a breaker in a burst; what is held goes on once a person closes it, and nothing is lost', async () => {
    const orders = ['a', 'b', 'c', 'd', 'e'];
    for (const order of orders) await reserved(order);
    for (const order of orders) await unpaid(order);
    // The burst opens the breaker over the call as well, in whichever order.
    const breaker = await until(
      'the breaker over the source',
      async () => itemsOf(await system.get('ledger', '/v1/breakers')).find(({ scope }) => scope === 'source') ?? null,
    );
    expect(breaker).toMatchObject({
      phase: 'open',
      scope: 'source',
      name: SOURCE,
      owner: 'role:operator',
      limit: LIMIT / 2,
    });
    const held = await until('three held triggers', async () => {
      const found = await rollbacks('held');
      return found.length === 3 ? found : null;
    });
    expect(held.map((row) => (row['held'] as Facts)['reason'])).toEqual([
      'BREAKER_OPEN',
      'BREAKER_OPEN',
      'BREAKER_OPEN',
    ]);
    // As for a run that no path can name.
    const path = `/v1/breakers/in-body/${String(breaker['breaker_id'])}/close`;
    const close = { reason: 'a real outage of the bank', run_id: String(breaker['run_id']) };
    expect(await system.post('ledger', path, close, { person: OPERATOR })).toMatchObject({
      status: 200,
      body: { phase: 'closed' },
    });
    await until('all rollbacks', async () => ((await rollbacks('held')).length === 0 ? true : null));
    // Breakers over the call are their own to close; one may open only when what was held is marked.
    await until(
      'every compensation',
      async () => {
        for (const open of itemsOf(await system.get('ledger', '/v1/breakers')))
          await system.post(
            'ledger',
            `/v1/breakers/${String(open['run_id'])}/${String(open['breaker_id'])}/close`,
            { reason: 'the same' },
            { person: OPERATOR },
          );
        return (await compensated()) === 6 ? true : null;
      },
      90_000,
    );
    const { body } = await system.get('ledger', '/v1/limits');
    expect(body).toMatchObject({
      settings: { storm_limit: LIMIT, source_trust_threshold_permille: 501, trend_min: 30, trend_factor: 3 },
    });
    // A burst is no steady rise.
    expect(itemsOf(await system.get('ledger', '/v1/trends'))).toEqual([]);
    // The orchestrator counts what it did; the ledger hears of it after that.
    const reported = await until('the report of the ledger', async () => {
      const found = itemsOf(await system.get('ledger', '/v1/reports/rollbacks?by=agent'));
      return found[0]?.['compensated'] === 6 ? found : null;
    });
    expect(reported).toMatchObject([{ name: 'agent-7', rollbacks: 6, compensated: 6 }]);
  }, 240_000);

  it('count whatever the agent says of the fact before and after, where their source is registered as heavier (D65)', async () => {
    const bank = { owner: 'ops', doc: 'd', sensitivity: 'internal', access: 'stream', ttl_ms: 600_000 };
    const entry = { name: 'bank', entry: { ...bank, trust_permille: 900 } };
    expect((await system.post('registry', '/v1/entries/context_source', entry, { person: EDITOR })).status).toBe(201);
    const said = { tenant: TENANT, ref: 'order/veto#paid', statement: { order: 'veto' } };
    const agent = { ...said, source: 'agent-7' };
    const paidUntil = Date.now();
    const { mutation } = await reserved('veto');
    await system.producer.assumptionReaffirmed({ ...agent, statedAt: Date.now() });
    const standing = async (): Promise<Facts | undefined> =>
      itemsOf(await system.get('ledger', `/v1/assumptions?ref=${encodeURIComponent(said.ref)}`))[0];
    await until('the word of the agent', async () => ((await standing())?.['verdict'] === 'holds' ? true : null));
    await system.producer.assumptionInvalidated({
      ...said,
      source: 'bank',
      sourceKind: 'observation',
      statedAt: paidUntil,
    });
    await until('the word of the bank', async () => ((await standing())?.['verdict'] === 'invalidated' ? true : null));
    const fallen = await until(
      'the trigger',
      async () =>
        (await Promise.all(['held', 'opened', 'marked'].map(rollbacks)))
          .flat()
          .find((row) => row['mutation_id'] === mutation) ?? null,
    );
    expect((await system.get('ledger', `/v1/rollbacks/${String(fallen['rollback_id'])}`)).body).toMatchObject({
      evidence: { source: 'bank' },
    });
    const againAt = Date.now();
    await system.producer.assumptionReaffirmed({ ...agent, statedAt: againAt });
    await until('both words', async () => {
      const now = await standing();
      const words = (now?.['sides'] ?? []) as readonly Facts[];
      const isHeard = words.some((word) => word['source'] === 'agent-7' && word['stated_at'] === againAt);
      return isHeard && now?.['is_disputed'] === true ? true : null;
    });
    expect(await standing()).toMatchObject({ verdict: 'invalidated', source: 'bank' });
  }, 120_000);
});
