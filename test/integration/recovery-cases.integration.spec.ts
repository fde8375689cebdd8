// Five ways a recovery goes, on real parts (C74 to C78): each from the effect of a guarded tool to what the provider and every list say at the end.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { createKafka } from '@recourse/kafka';
import {
  createWorker,
  guard,
  happened,
  MemoryClaimStore,
  MemoryPositionStore,
  notHappened,
  systemClock,
  ToolRejected,
} from '@recourse/sdk';
import type { ForwardTool, GuardedResult, Tool, Worker } from '@recourse/sdk';
import {
  EDITOR,
  executed,
  EXECUTIONS,
  INITIATOR,
  itemsOf,
  OPERATOR,
  runOn,
  startSystem,
  TENANT,
  until,
} from './system.testing.js';
import type { Facts, Side, System } from './system.testing.js';

const OBSERVE = 'payments.get_refund';
const REVERSE = 'payments.reverse_refund';
const REFUND = 'payments.issue_refund';
const WIRE = 'bank.send_wire';
const RESERVE = 'inventory.reserve_stock';
const SIDES: Readonly<Record<string, Side>> = { 'mutation-ledger': 'ledger', 'recovery-orchestrator': 'orchestrator' };

interface Refund {
  readonly refund_id: string;
  status: string;
}

/** A provider that deduplicates by key and writes down every call. */
class Provider {
  readonly refunds = new Map<string, Refund>();
  /** Calls that would reverse a refund: its id and the key they came with. */
  readonly reversals: { readonly refundId: string; readonly key: string }[] = [];
  /** Refunds whose next reversal is refused, without an effect. */
  readonly busy = new Set<string>();
  /** Refunds whose reversals are all refused, without an effect. */
  readonly refused = new Set<string>();

  /** The tool as the agent guards it. */
  readonly forward: ForwardTool = {
    execute: (_args, { idempotencyKey }) => Promise.resolve({ ...this.issue(idempotencyKey) }),
    externalTransactionRef: (result) => String((result as { readonly refund_id?: string }).refund_id),
  };

  /** The same tool, whose answer is lost after the effect. */
  readonly timingOut: ForwardTool = {
    ...this.forward,
    execute: (_args, { idempotencyKey }) => {
      this.issue(idempotencyKey);
      return Promise.reject(new Error('no answer in time'));
    },
  };

  readonly observe: Tool = (args, { phase, idempotencyKey }) => {
    const { refund_id: id } = args as { readonly refund_id?: string };
    if (phase === 'reconcile' && id === undefined) {
      const made = this.refunds.get(idempotencyKey);
      return Promise.resolve(made === undefined ? notHappened() : happened({ ...made }, made.refund_id));
    }
    const found = this.find(id);
    return found === undefined ? Promise.reject(new Error('no such refund')) : Promise.resolve({ ...found });
  };

  readonly reverse: Tool = (args, { idempotencyKey: key }) => {
    const { refund_id: refundId = '' } = args as { readonly refund_id?: string };
    this.reversals.push({ refundId, key });
    if (this.busy.delete(refundId)) return Promise.reject(new ToolRejected('busy', 'come back later'));
    if (this.refused.has(refundId))
      return Promise.reject(new ToolRejected('blocked', `${refundId} is blocked by its bank: DISPUTE-7`));
    const refund = this.find(refundId);
    if (refund !== undefined) refund.status = 'reversed';
    return Promise.resolve({ refund_id: refundId, status: 'reversed' });
  };

  find(id: string | undefined): Refund | undefined {
    return [...this.refunds.values()].find(({ refund_id }) => refund_id === id);
  }

  private issue(key: string): Refund {
    const refund = this.refunds.get(key) ?? { refund_id: `re_${key}`, status: 'settled' };
    this.refunds.set(key, refund);
    return refund;
  }
}

/** A warehouse whose every answer is a long page. */
class Warehouse {
  readonly released: string[] = [];

  readonly observe: Tool = (args) => {
    const { reservation = '' } = args as { readonly reservation?: string };
    return Promise.resolve({
      reservation,
      order_id: 'o',
      sku: 'pen',
      quantity: 1,
      status: this.released.includes(reservation) ? 'released' : 'reserved',
      history: 'x'.repeat(30_000),
    });
  };

  readonly release: Tool = (args) => {
    const { reservation = '' } = args as { readonly reservation?: string };
    this.released.push(reservation);
    return Promise.resolve({ reservation, status: 'released' });
  };
}

const provider = new Provider();
const warehouse = new Warehouse();
const contracts = new Map<string, { readonly contract: Contract; readonly digest: Buffer }>();
let system: System;
let workers: readonly Worker[];

async function register(name: string, more: Facts = {}): Promise<void> {
  const body = {
    ...(JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts),
    version: undefined,
    ...more,
  };
  const answer = await system.post('registry', '/v1/contracts', body, { person: EDITOR, key: name });
  if (answer.status !== 201) throw new Error(`${name}: ${JSON.stringify(answer.body)}`);
  const { digest, body: text, contract } = (await system.get('registry', `/v1/contracts/${name}`, EDITOR)).body;
  const parsed = parseContract(typeof text === 'string' ? text : JSON.stringify(contract));
  if (!parsed.ok) throw new Error(`${name}: ${JSON.stringify(parsed.problems)}`);
  contracts.set(name, { contract: parsed.contract, digest: Buffer.from(String(digest), 'hex') });
}

function contractOf(name: string): { readonly contract: Contract; readonly digest: Buffer } {
  const known = contracts.get(name);
  if (known === undefined) throw new Error(`${name} is not registered`);
  return known;
}

/** A refund through the guard, that relied on its order not having been shipped. */
async function refund(run: string, tool: ForwardTool = provider.forward): Promise<GuardedResult> {
  const { contract, digest } = contractOf(REFUND);
  await system.producer.assumptionDeclared({
    tenant: TENANT,
    ref: factOf(run),
    statement: { shipped: false },
    statedAt: Date.now() - 1_000,
  });
  return guard(tool, {
    contract,
    contractDigest: digest,
    mode: 'enforce',
    producer: system.producer,
    clock: systemClock,
  })({
    run: {
      tenant: TENANT,
      runId: run,
      agentId: 'refund-agent',
      initiator: INITIATOR.subject,
      objective: 'give the money back',
    },
    stepId: 'refund',
    args: { order_id: run, amount_minor: 4_200, currency: 'INR' },
    target: null,
    assumptionRefs: [factOf(run)],
  });
}

const factOf = (run: string): string => `order/${run}#not_shipped`;

/** A check finds out later that the refund should not stand. */
async function invalidate(run: string): Promise<void> {
  await system.producer.assumptionInvalidated({
    tenant: TENANT,
    ref: factOf(run),
    statement: { shipped: true },
    statedAt: Date.now(),
    sourceKind: 'observation',
  });
}

async function mutationOf(run: string, state: Facts): Promise<Facts> {
  return until(`the mutation of ${run} as ${JSON.stringify(state)}`, async () => {
    const [mutation] = itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`));
    return mutation !== undefined && Object.entries(state).every(([name, value]) => mutation[name] === value)
      ? mutation
      : null;
  });
}

async function stepOf(run: string, phase: string): Promise<Facts> {
  return until(
    `the step of ${run} as ${phase}`,
    async () => itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${run}&phase=${phase}`))[0] ?? null,
  );
}

/** A person agrees to exactly what is shown. */
async function approve(run: string): Promise<void> {
  const { step_id, action_digest } = await stepOf(run, 'awaiting_approval');
  expect(
    await system.post(
      'orchestrator',
      `/v1/steps/${String(step_id)}/approve`,
      { action_digest, reason: 'the order went out' },
      { person: OPERATOR },
    ),
  ).toMatchObject({ status: 200 });
}

/** Does a text stand in the clear in a record of the log of recoveries? */
async function isInLog(text: string): Promise<boolean> {
  const topic = 'recourse.recoveries';
  const kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'spec' });
  const [admin, reader] = [await kafka.admin(), await kafka.rawReader()];
  let isFound = false;
  for (let partition = 0; partition < ((await admin.partitionCount(topic)) ?? 0); partition += 1) {
    const { high } = await reader.range(topic, partition);
    for (let at = 0; at < high;) {
      const { records } = await reader.read(topic, partition, at);
      isFound ||= records.some(({ value }) => value?.includes(text) === true);
      at += records.length;
    }
  }
  await Promise.all([admin.close(), reader.close()]);
  return isFound;
}

const refundIdOf = (mutation: Facts): string => String((mutation['ref'] as Facts)['external_transaction_ref']);
const reversalsOf = (mutation: Facts): readonly string[] =>
  provider.reversals.filter(({ refundId }) => refundId === refundIdOf(mutation)).map(({ key }) => key);
const keyOf = (mutation: Facts): string => `rev_${String(mutation['mutation_id'])}`;

function workerOf(adapter: string, tools: Readonly<Record<string, Tool>>): Worker {
  return createWorker({
    kafka: createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'worker' }),
    codecs: system.codecs,
    adapter,
    tools,
    clock: systemClock,
    claimStore: new MemoryClaimStore(),
    positions: new MemoryPositionStore(),
    workerId: `${adapter}-1`,
    groupId: `${adapter}-workers`,
    callTimeoutMs: 2_000,
  });
}

beforeAll(async () => {
  system = await startSystem({ adapters: ['inventory'] });
  for (const name of [OBSERVE, REVERSE, REFUND, 'bank.get_wire', WIRE]) await register(name);
  // A tool that takes keys: its steps go together, as many as a leg holds.
  const idempotency = { mechanism: 'The warehouse deduplicates by key.', key_lifetime_ms: 86_400_000 };
  await register('inventory.get_reservation');
  await register('inventory.release_stock', { idempotency });
  await register(RESERVE, { idempotency, blast_radius: { max_calls_per_run: 20, scope: 'single_subject' } });
  workers = [
    workerOf('payments', { [OBSERVE]: provider.observe, [REVERSE]: provider.reverse }),
    workerOf('inventory', {
      'inventory.get_reservation': warehouse.observe,
      'inventory.release_stock': warehouse.release,
    }),
  ];
  for (const worker of workers) await worker.start();
}, 400_000);
afterAll(async () => {
  for (const worker of workers) await worker.stop();
  await system.stop();
}, 60_000);

describe('a recovery', () => {
  it('of an action that went well and proves wrong afterwards compensates it (C74)', async () => {
    const run = runOn(0, 'invalid');
    expect(await refund(run)).toMatchObject({ kind: 'succeeded' });
    const made = await mutationOf(run, { recoverability: 'reversal_available' });
    await invalidate(run);
    await approve(run);
    await mutationOf(run, { recoverability: 'compensated' });
    expect([provider.find(refundIdOf(made))?.status, reversalsOf(made)]).toEqual(['reversed', [keyOf(made)]]);
    expect(await stepOf(run, 'compensated')).toMatchObject({ reason: 'SUCCESS_CONDITION_HELD' });
  }, 90_000);

  it('of an action that timed out and is found to have happened compensates it (C75)', async () => {
    const run = runOn(1, 'lost');
    expect(await refund(run, provider.timingOut)).toMatchObject({ kind: 'uncertain' });
    await mutationOf(run, { execution_state: 'uncertain' });
    await invalidate(run);
    const found = await mutationOf(run, { execution_state: 'succeeded' });
    expect(found).toMatchObject({ forward: { asks: [{ kind: 'reconcile', answered: 'met' }] } });
    await approve(run);
    await mutationOf(run, { recoverability: 'compensated' });
    expect([provider.find(refundIdOf(found))?.status, reversalsOf(found)]).toEqual(['reversed', [keyOf(found)]]);
  }, 120_000);

  it('tries its compensation again under the same key, which the provider sees (C76)', async () => {
    const run = runOn(0, 'retried');
    await refund(run);
    const made = await mutationOf(run, { recoverability: 'reversal_available' });
    provider.busy.add(refundIdOf(made));
    await invalidate(run);
    await approve(run);
    await mutationOf(run, { recoverability: 'compensated' });
    expect(reversalsOf(made)).toEqual([keyOf(made), keyOf(made)]);
    expect(keyOf(made)).not.toBe((made['execution'] as Facts)['idempotency_key']);
    expect(await stepOf(run, 'compensated')).toMatchObject({ attempt: 2 });
  }, 90_000);

  it('of eleven effects whose tools answer in long pages goes on, leg by leg, to its end: each is undone once, the last first', async () => {
    const run = runOn(1, 'pages');
    const { digest } = contractOf(RESERVE);
    const orders = Array.from({ length: 11 }, (_, index) => `${run}-${String(index).padStart(2, '0')}`);
    for (const order of orders) {
      const told = executed(
        run,
        {
          capability: RESERVE,
          contractDigest: digest,
          stepId: order,
          effectKey: `eff-${order}`,
          idempotencyKey: `key-${order}`,
          subjectRef: 'order/o',
          args: { order_id: 'o', sku: 'pen', quantity: 1 },
          assumptionRefs: [factOf(run)],
        },
        {
          result: { reservation: order, order_id: 'o', sku: 'pen', quantity: 1, status: 'reserved' },
          externalTransactionRef: order,
        },
      );
      await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'ToolExecuted', told));
    }
    await until('eleven effects', async () =>
      itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`)).length === 11 ? true : null,
    );
    await invalidate(run);
    await until('the recovery to end', async () => {
      const found = itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`));
      return found.every(({ recoverability }) => recoverability === 'compensated') ? true : null;
    });
    expect(warehouse.released).toEqual([...orders].reverse());
  }, 90_000);

  it("whose tool refuses each time is a person's, who reads what the tool said (C59)", async () => {
    const run = runOn(0, 'refused');
    await refund(run);
    const made = await mutationOf(run, { recoverability: 'reversal_available' });
    const said = `blocked: ${refundIdOf(made)} is blocked by its bank: DISPUTE-7`;
    provider.refused.add(refundIdOf(made));
    await invalidate(run);
    await approve(run);
    const { step_id } = await stepOf(run, 'manual');
    const { body: item } = await system.get('orchestrator', `/v1/reviews/${String(step_id)}`);
    expect(item).toMatchObject({
      reconciliation: {
        outcome: 'failed',
        reason: 'TOOL_FAILED',
        attempt: 3,
        error_kind: 'TOOL_REJECTED',
        said: { json: said },
        looked: null,
      },
    });
    // What a tool says may be about people: the log holds it sealed, and its run in the clear.
    expect([await isInLog('DISPUTE-7'), await isInLog(run)]).toEqual([false, true]);
  }, 90_000);

  it('of what somebody changed outside stops at a person, and writes nothing (C77)', async () => {
    const run = runOn(1, 'changed');
    await refund(run);
    const made = await mutationOf(run, { recoverability: 'reversal_available' });
    const outside = provider.find(refundIdOf(made));
    if (outside === undefined) throw new Error('the provider has no such refund');
    outside.status = 'disputed';
    await invalidate(run);
    await approve(run);
    const step = await stepOf(run, 'manual');
    expect(step).toMatchObject({
      reason: 'RESOURCE_CHANGED',
      owner: 'role:administrator',
      deadline_at: expect.any(Number),
    });
    expect([outside.status, reversalsOf(made)]).toEqual(['disputed', []]);
    const { body: item } = await system.get('orchestrator', `/v1/reviews/${String(step['step_id'])}`);
    expect(item).toMatchObject({
      may: ['resolve', 'retry', 'check', 'escalate'],
      reconciliation: {
        outcome: 'stale',
        observations: [{ phase: 'stale_check', observed: { json: { status: 'disputed' } } }],
      },
    });
  }, 90_000);

  it('of what no tool compensates is an item with enough context to act on (C78, C62)', async () => {
    const run = runOn(0, 'wire');
    const { digest } = contractOf(WIRE);
    const told = executed(
      run,
      {
        capability: WIRE,
        contractDigest: digest,
        subjectRef: 'account/DE1',
        args: { iban: 'DE1', amount_minor: 900, currency: 'EUR' },
        assumptionRefs: [factOf(run)],
      },
      { result: { wire: 'w_1', status: 'accepted' }, externalTransactionRef: 'w_1' },
    );
    await system.producer.assumptionDeclared({
      tenant: TENANT,
      ref: factOf(run),
      statement: { shipped: false },
      statedAt: Date.now() - 1_000,
    });
    await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'ToolExecuted', told));
    const made = await mutationOf(run, { execution_state: 'succeeded' });
    await invalidate(run);
    const { step_id } = await stepOf(run, 'manual');
    const { status, body: item } = await system.get('orchestrator', `/v1/reviews/${String(step_id)}`);
    expect([status, item]).toMatchObject([
      200,
      {
        ready: true,
        missing: [],
        run_id: run,
        mutation_id: made['mutation_id'],
        reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION',
        why: expect.stringContaining('correction'),
        owner: 'role:administrator',
        deadline_at: expect.any(Number),
        untrusted: { objective: 'give the money back' },
        proposed_by: { agent_id: 'refund-agent', initiator: INITIATOR.subject, call_id: 'call-1' },
        action: {
          capability: WIRE,
          effect: expect.any(String),
          args: { json: { iban: 'DE1', amount_minor: 900, currency: 'EUR' } },
        },
        resource: { external_ref: 'w_1' },
        facts: {
          then: { refs: [factOf(run)] },
          now: { ref: factOf(run), source: 'spec', statement: { json: { shipped: true } } },
        },
        forward: { state: 'succeeded', found_out: null },
        compensation_mode: { mode: 'not_supported', accepted_by: expect.any(String), runbook: null },
        lacking: [],
        compensation: null,
        links: { trace: { trace_id: expect.stringMatching(/^[0-9a-f]{32}$/u), url: null } },
        may: ['resolve', 'escalate'],
      },
    ]);
    expect(await resolved(item)).toMatchObject([
      { mutation_id: made['mutation_id'] },
      { items: [{ run_id: run, outcome: 'manual' }] },
      { step_id, decision_record: { record_hash: linksOf(item)['record']?.['record_hash'] } },
    ]);
    expect(provider.reversals.some(({ refundId }) => refundId === 'w_1')).toBe(false);
  }, 90_000);
});

function linksOf(item: Facts): Readonly<Record<string, Facts>> {
  return item['links'] as Readonly<Record<string, Facts>>;
}

/** What the three links of an item lead to: mutation, recovery, record. */
async function resolved(item: Facts): Promise<readonly Facts[]> {
  const links = linksOf(item);
  return Promise.all(
    ['mutation', 'recovery', 'record'].map(async (name) => {
      const { service, path } = links[name] ?? {};
      const reply = await system.get(SIDES[String(service)] ?? 'orchestrator', String(path));
      if (reply.status !== 200) throw new Error(`${name} was answered ${String(reply.status)}`);
      return reply.body;
    }),
  );
}
