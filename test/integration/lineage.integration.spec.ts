// Lineage on real parts: what another run made of an effect falls with it and is undone first, also when it is recorded after the fall (E9, B17).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createKafka } from '@recourse/kafka';
import { deriveId } from '@recourse/kernel';
import { createWorker, MemoryClaimStore, MemoryPositionStore, systemClock } from '@recourse/sdk';
import type { Worker } from '@recourse/sdk';
import { EDITOR, INITIATOR, itemsOf, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const STOCK = ['inventory.get_reservation', 'inventory.release_stock', 'inventory.reserve_stock'];
let system: System;
let worker: Worker;

/** Reservations of a shop by id, and those that were released, in order. */
const reservations = new Map<string, Facts>();
const released: string[] = [];
const reservationOf = (args: unknown): string => String((args as Facts)['reservation']);

beforeAll(async () => {
  system = await startSystem({
    adapters: ['inventory'],
    envOf: { 'mutation-ledger': { RECOURSE_SOURCE_TRUST: 'off' } },
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
    released.push(reservationOf(args));
    reservations.set(reservationOf(args), { ...reservations.get(reservationOf(args)), status: 'released' });
    return seen(args);
  };
  worker = createWorker({
    kafka: createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'inventory' }),
    codecs: system.codecs,
    adapter: 'inventory',
    tools: { 'inventory.get_reservation': seen, 'inventory.release_stock': release } as unknown as Parameters<
      typeof createWorker
    >[0]['tools'], // answers are plain JSON
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

interface Made {
  readonly runId: string;
  readonly mutationId: string;
}

/** A reservation on record in a run of a partition, made from others. */
async function reserved(order: string, partition: number, derivedFrom: readonly Made[] = []): Promise<Made> {
  const [runId, reservation] = [runOn(partition), `rsv-${order}`];
  const result = { reservation, order_id: order, sku: 'pen', quantity: 1, status: 'reserved' };
  reservations.set(reservation, result);
  const contractDigest = Buffer.from(
    String((await system.get('registry', '/v1/contracts/inventory.reserve_stock')).body['digest']),
    'hex',
  );
  await system.producer.toolExecuted(
    {
      tenant: TENANT,
      runId,
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
      derivedFrom,
    },
    {
      outcome: 'succeeded',
      result,
      priorValue: null,
      externalTransactionRef: reservation,
      committedAt: Date.now(),
      errorKind: null,
    },
  );
  const mutationId = deriveId('mut', TENANT, runId, `eff-${order}`);
  await until('the mutation', async () =>
    (await system.get('ledger', `/v1/mutations/${mutationId}`)).status === 200 ? true : null,
  );
  return { runId, mutationId };
}

const compensated = ({ mutationId }: Made): Promise<true> =>
  until(
    `${mutationId} compensated`,
    async () =>
      (await system.get('ledger', `/v1/mutations/${mutationId}`)).body['recoverability'] === 'compensated'
        ? true
        : null,
    60_000,
  );

describe('an effect of another run that was made from one that falls', () => {
  it('falls with it, and is undone first', async () => {
    const parent = await reserved('parent', 0);
    const child = await reserved('child', 1, [parent]);
    const grandchild = await reserved('grandchild', 0, [child]);
    await system.producer.assumptionInvalidated({
      tenant: TENANT,
      ref: 'order/parent#paid',
      sourceKind: 'observation',
      statement: { paid: false },
      statedAt: Date.now(),
    });
    for (const one of [parent, child, grandchild]) await compensated(one);
    expect(released).toEqual(['rsv-grandchild', 'rsv-child', 'rsv-parent']);
    const [step] = itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${child.runId}`));
    expect((await system.get('orchestrator', `/v1/steps/${String(step?.['step_id'])}`)).body).toMatchObject({
      phase: 'compensated',
      outstanding: [],
    });
    const late = await reserved('late', 1, [parent]);
    await compensated(late);
    expect(released.at(-1)).toBe('rsv-late');
  }, 200_000);
});
