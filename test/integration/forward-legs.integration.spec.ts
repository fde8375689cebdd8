// The ledger asks workers, on real parts: a held effect goes when its hold ends or never, and an uncertain one is found out.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { createKafka } from '@recourse/kafka';
import {
  createWorker,
  guard,
  happened,
  HttpApprovals,
  MemoryClaimStore,
  MemoryPositionStore,
  notHappened,
  systemClock,
} from '@recourse/sdk';
import type { ForwardTool, GuardedResult, GuardOptions, Tool, Worker } from '@recourse/sdk';
import { EDITOR, INITIATOR, itemsOf, OPERATOR, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const HOLD_MS = 5_000;
const OBSERVE = 'payments.get_refund';
const REVERSE = 'payments.reverse_refund';
const REFUND = 'payments.issue_refund';
const HELD_REFUND = 'payments.issue_later_refund';
const ASKED_REFUND = 'payments.issue_asked_refund';
const CANCEL = 'payments.cancel_refund';
const AGENT = { subject: 'refund-agent', roles: ['agent'] };

/** A provider that deduplicates by key and remembers every effect. */
class Provider {
  readonly refunds = new Map<string, { readonly refund_id: string; status: string }>();
  readonly calls: string[] = [];

  issue(key: string): { readonly refund_id: string; readonly status: string } {
    this.calls.push(key);
    const refund = this.refunds.get(key) ?? { refund_id: `re_${key}`, status: 'settled' };
    this.refunds.set(key, refund);
    return refund;
  }

  /** The tool as the agent guards it, and as the worker lets it go. */
  readonly forward: ForwardTool = {
    execute: (_args, { idempotencyKey }) => Promise.resolve({ ...this.issue(idempotencyKey) }),
    externalTransactionRef: (result) => String((result as { readonly refund_id?: string }).refund_id),
  };

  readonly observe: Tool = (args, { phase, idempotencyKey }) => {
    const { refund_id } = args as { readonly refund_id?: string };
    if (phase === 'reconcile' && refund_id === undefined) {
      const made = this.refunds.get(idempotencyKey);
      return Promise.resolve(made === undefined ? notHappened() : happened({ ...made }, made.refund_id));
    }
    const found = [...this.refunds.values()].find((refund) => refund.refund_id === refund_id);
    return found === undefined ? Promise.reject(new Error('no such refund')) : Promise.resolve({ ...found });
  };

  readonly reverse: Tool = (args) => {
    const { refund_id } = args as { readonly refund_id?: string };
    for (const refund of this.refunds.values()) if (refund.refund_id === refund_id) refund.status = 'reversed';
    return Promise.resolve({ refund_id: refund_id ?? null, status: 'reversed' });
  };
}

const provider = new Provider();
const contracts = new Map<string, { readonly contract: Contract; readonly digest: Buffer }>();
let system: System;
let worker: Worker;

function shipped(name: string, as: string = name, changes: Facts = {}): Facts & { readonly name: string } {
  return {
    ...(JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts),
    version: undefined,
    ...changes,
    name: as,
  };
}

async function register(body: Facts & { readonly name: string }): Promise<void> {
  const { name } = body;
  const answer = await system.post('registry', '/v1/contracts', body, { person: EDITOR, key: name });
  if (answer.status !== 201) throw new Error(`${name}: ${JSON.stringify(answer.body)}`);
  const { digest, body: text, contract } = (await system.get('registry', `/v1/contracts/${name}`, EDITOR)).body;
  const parsed = parseContract(typeof text === 'string' ? text : JSON.stringify(contract));
  if (!parsed.ok) throw new Error(`${name}: ${JSON.stringify(parsed.problems)}`);
  contracts.set(name, { contract: parsed.contract, digest: Buffer.from(String(digest), 'hex') });
}

function contractOf(capability: string): { readonly contract: Contract; readonly digest: Buffer } {
  const known = contracts.get(capability);
  if (known === undefined) throw new Error(capability);
  return known;
}

async function act(
  capability: string,
  run: string,
  tool: ForwardTool,
  more: Partial<GuardOptions> = {},
): Promise<GuardedResult> {
  const { contract, digest } = contractOf(capability);
  return guard(tool, {
    contract,
    contractDigest: digest,
    mode: 'enforce',
    producer: system.producer,
    clock: systemClock,
    ...more,
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
    assumptionRefs: [],
  });
}

async function mutationOf(run: string, isIt: (mutation: Facts) => boolean): Promise<Facts> {
  return until(`the mutation of ${run}`, async () => {
    const [mutation] = itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`));
    return mutation !== undefined && isIt(mutation) ? mutation : null;
  });
}

const made = (run: string): number => provider.calls.filter((key) => key === keyOf.get(run)).length;
const keyOf = new Map<string, string>();

beforeAll(async () => {
  system = await startSystem();
  await register(shipped(OBSERVE));
  await register(shipped(REVERSE));
  await register(shipped(REFUND));
  await register(shipped('mail.cancel_message', CANCEL, { reconcile_capability: OBSERVE }));
  await register(shipped(REFUND, HELD_REFUND, { commit_hold_ms: HOLD_MS, cancel_capability: CANCEL }));
  await register(
    shipped(REFUND, ASKED_REFUND, { commit_hold_ms: HOLD_MS, cancel_capability: CANCEL, forward_approval: 'human' }),
  );
  worker = createWorker({
    kafka: createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'worker' }),
    codecs: system.codecs,
    adapter: 'payments',
    tools: { [OBSERVE]: provider.observe, [REVERSE]: provider.reverse },
    forwardTools: { [HELD_REFUND]: provider.forward, [ASKED_REFUND]: provider.forward },
    clock: systemClock,
    claimStore: new MemoryClaimStore(),
    positions: new MemoryPositionStore(),
    workerId: 'worker-1',
    groupId: 'workers',
    callTimeoutMs: 2_000,
  });
  await worker.start();
}, 400_000);
afterAll(async () => {
  await worker.stop();
  await system.stop();
}, 60_000);

describe('an effect that its contract holds', () => {
  it('goes through a worker when the hold ends, once, and can then be undone', async () => {
    const run = runOn(0, 'held');
    expect(await act(HELD_REFUND, run, provider.forward)).toMatchObject({ kind: 'held', hold_ms: HOLD_MS });
    const held = await mutationOf(run, () => true);
    keyOf.set(run, String((held['execution'] as Facts)['idempotency_key']));
    expect([held['recoverability'], made(run)]).toEqual(['pending_commit', 0]);
    const gone = await mutationOf(run, ({ execution_state }) => execution_state === 'succeeded');
    expect(gone).toMatchObject({
      recoverability: 'reversal_available',
      ref: { external_transaction_ref: `re_${String(keyOf.get(run))}` },
    });
    expect(made(run)).toBe(1);
  }, 90_000);

  it('never goes when it is taken back inside the hold', async () => {
    const run = runOn(1, 'cancelled');
    await act(HELD_REFUND, run, provider.forward);
    const held = await mutationOf(run, () => true);
    keyOf.set(run, String((held['execution'] as Facts)['idempotency_key']));
    const cancel = (person = OPERATOR) =>
      system.post(
        'ledger',
        `/v1/mutations/${String(held['mutation_id'])}/cancel`,
        { reason: 'the wrong order' },
        { person },
      );
    const stranger = await cancel({ ...OPERATOR, subject: 'another-agent', roles: ['agent'] });
    expect([stranger.status, stranger.body['code']]).toEqual([403, 'EFFECT_OF_ANOTHER']);
    expect(await cancel()).toMatchObject({
      status: 200,
      body: { recoverability: 'cancelled', reason: 'CANCELLED_BY_PERSON' },
    });
    await new Promise((resolve) => {
      setTimeout(resolve, HOLD_MS + 2_000);
    });
    expect(await mutationOf(run, () => true)).toMatchObject({ recoverability: 'cancelled', execution_state: 'failed' });
    expect(made(run)).toBe(0);
    expect((await cancel()).status).toBe(200);
  }, 90_000);
});

describe('a held effect whose contract wants people asked before it', () => {
  it('goes once they agreed to it, and not for whoever only plans it', async () => {
    const [asked, planned] = [runOn(0, 'asked'), runOn(1, 'planned')];
    const approvals = new HttpApprovals({ url: system.plan.urls.orchestrator, token: () => system.token(AGENT) });
    expect(await act(ASKED_REFUND, asked, provider.forward, { approvals })).toMatchObject({ code: 'APPROVAL_PENDING' });
    const [question] = itemsOf(
      await system.get('orchestrator', `/v1/forward-approvals?state=awaiting&run_id=${asked}`),
    );
    const said = { action_digest: question?.['action_digest'], reason: 'the customer called' };
    const path = `/v1/forward-approvals/${String(question?.['approval_id'])}/approve`;
    expect((await system.post('orchestrator', path, said, { person: OPERATOR })).status).toBe(200);
    expect(await act(ASKED_REFUND, asked, provider.forward, { approvals })).toMatchObject({ kind: 'held' });
    // Whoever may write to the wire plans it as a guard would that had asked.
    expect(
      await act(ASKED_REFUND, planned, provider.forward, {
        contract: { ...contractOf(ASKED_REFUND).contract, forward_approval: 'policy' },
      }),
    ).toMatchObject({ kind: 'held' });
    const ended = ({ recoverability }: Facts): boolean =>
      recoverability !== 'pending_commit' && recoverability !== 'planned';
    expect(await mutationOf(asked, ended)).toMatchObject({ execution_state: 'succeeded' });
    const kept = await mutationOf(planned, ended);
    expect(kept).toMatchObject({ execution_state: 'failed', recoverability: 'cancelled', reason: 'APPROVAL_MISSING' });
    expect(provider.calls).not.toContain((kept['execution'] as Facts)['idempotency_key']);
  }, 90_000);
});

describe('an effect nobody knows the end of', () => {
  it('is found out by a worker, and recovered like every other', async () => {
    const run = runOn(0, 'uncertain');
    const crashing: ForwardTool = {
      ...provider.forward,
      execute: (_args, { idempotencyKey }) => {
        provider.issue(idempotencyKey);
        return Promise.reject(new Error('the connection broke'));
      },
    };
    expect(await act(REFUND, run, crashing)).toMatchObject({ kind: 'uncertain' });
    expect(await mutationOf(run, ({ execution_state }) => execution_state === 'uncertain')).toMatchObject({
      recoverability: 'pending_commit',
    });
    const found = await mutationOf(run, ({ execution_state }) => execution_state === 'succeeded');
    expect(found).toMatchObject({
      recoverability: 'reversal_available',
      forward: { asks: [{ kind: 'reconcile', answered: 'met' }] },
    });
    const trigger = { run_id: run, mutation_id: found['mutation_id'], reason: 'the customer was paid already' };
    expect((await system.post('ledger', '/v1/triggers', trigger, { person: OPERATOR })).status).toBe(201);
    const step = await until(
      'the step',
      async () =>
        itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${run}&phase=awaiting_approval`))[0] ?? null,
    );
    const approval = { action_digest: step['action_digest'], reason: 'taken back' };
    expect(
      (
        await system.post('orchestrator', `/v1/steps/${String(step['step_id'])}/approve`, approval, {
          person: OPERATOR,
        })
      ).status,
    ).toBe(200);
    expect(await mutationOf(run, ({ recoverability }) => recoverability === 'compensated')).toMatchObject({
      execution_state: 'succeeded',
    });
  }, 120_000);
});
