// One run through all of it on real processes (D54), and docs/guides/autonomy.md: every command of its shell blocks, in order.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run as recourse } from '@recourse/cli';
import { parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { createKafka } from '@recourse/kafka';
import {
  createSignals,
  createWorker,
  guardFunction,
  HttpApprovals,
  HttpBudget,
  MemoryClaimStore,
  MemoryPositionStore,
  systemClock,
} from '@recourse/sdk';
import type { GuardedResult, Signals, Tool, Worker } from '@recourse/sdk';
import { walkAnswers } from './answers.testing.js';
import { cli, commandsIn, put, runCommand, yamlIn } from './guide.testing.js';
import { EDITOR, INITIATOR, itemsOf, OPERATOR, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, Person, System } from './system.testing.js';

const REFUND = 'payments.issue_refund';
const AGENT: Person = { subject: 'refund-agent', roles: ['agent'] };
const OWNER: Person = { subject: 'olga', roles: ['budget_owner', 'approver', 'operator'] };
const REF = 'order/4711#not_shipped';
const RUN = 'run-all-of-it';
const AMOUNT = 5_000;
/** Routes that have something to tell by then. */
const ROUTES_SEEN = 50;
const about = { tenant: TENANT, agentId: AGENT.subject, taskKind: 'refund_order' };
const example = (name: string): Facts => JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts;
const variables: Record<string, string> = {};
const refunds = new Map<string, 'settled' | 'reversed'>();
const refundOf = (args: unknown): string => String((args as Facts)['refund_id']);
let system: System;
let signals: Signals;
let payments: Worker;
let contract: Contract;
let digest: Buffer;
let folder = '';

const reverseRefund: Tool = (args) => {
  refunds.set(refundOf(args), 'reversed');
  return Promise.resolve({ refund_id: refundOf(args), status: 'reversed' });
};
const getRefund: Tool = (args) =>
  Promise.resolve({ refund_id: refundOf(args), status: refunds.get(refundOf(args)) ?? 'unknown' });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-autonomy-'));
  put(folder, 'policies/refund_order.yaml', yamlIn('autonomy'));
  system = await startSystem();
  const kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'autonomy' });
  signals = await createSignals({ kafka, codecs: system.codecs, source: 'critic' });
  payments = createWorker({
    kafka,
    codecs: system.codecs,
    adapter: 'payments',
    tools: { 'payments.get_refund': getRefund, 'payments.reverse_refund': reverseRefund },
    clock: systemClock,
    claimStore: new MemoryClaimStore(),
    positions: new MemoryPositionStore(),
    workerId: 'payments-1',
    groupId: 'payments-workers',
    callTimeoutMs: 2_000,
  });
  await payments.start();
}, 400_000);
afterAll(async () => {
  await payments.stop();
  await signals.close();
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** One refund by the agent, as its guard lets it. */
function refund(run: string, order: string, assumptionRefs: readonly string[] = []): Promise<GuardedResult> {
  const edge = (url: string) => ({ url, token: () => system.token(AGENT) });
  const tool = guardFunction(
    () => {
      refunds.set(`rf_${order}`, 'settled');
      return Promise.resolve({ refund_id: `rf_${order}`, status: 'settled' });
    },
    {
      contract,
      contractDigest: digest,
      mode: 'enforce',
      producer: system.producer,
      clock: systemClock,
      budget: new HttpBudget(edge(system.plan.urls.budget)),
      approvals: new HttpApprovals(edge(system.plan.urls.orchestrator)),
      extras: { externalTransactionRef: () => `rf_${order}` },
      place: () => ({
        run: {
          tenant: TENANT,
          runId: run,
          agentId: AGENT.subject,
          initiator: INITIATOR.subject,
          objective: 'settle the complaint',
        },
        stepId: `refund-${order}`,
        target: order,
        assumptionRefs,
      }),
    },
  );
  return tool({ order_id: order, amount_minor: AMOUNT, currency: 'INR' });
}

async function standing(): Promise<Facts | null> {
  const query = `agent_id=${AGENT.subject}&task_kind=${about.taskKind}`;
  return itemsOf(await system.get('budget', `/v1/autonomy?${query}`))[0] ?? null;
}
const onRung = (rung: string): Promise<Facts> =>
  until(`the rung ${rung}`, async () => {
    const found = await standing();
    return found?.['rung'] === rung ? found : null;
  });
const reservation = (phase: string): Promise<Facts> =>
  until(`a reservation that is ${phase}`, async () => {
    const rows = itemsOf(await system.get('budget', `/v1/reservations?run_id=${RUN}&phase=${phase}`));
    return rows.find(({ mutation_id }) => mutation_id === variables['MUTATION']) ?? null;
  });
const report = async (): Promise<readonly Facts[]> => {
  const { out } = await cli(system, OWNER, folder, 'report', 'outcomes', '--json');
  return (JSON.parse(out) as { readonly items: readonly Facts[] }).items;
};

describe('one run through all of it (D54)', () => {
  it('declares what the tool does, what has to be earned, and whose word counts', async () => {
    for (const name of ['payments.get_refund', 'payments.reverse_refund', REFUND])
      expect(
        await system.post('registry', '/v1/contracts', example(name), { person: EDITOR, key: name }),
      ).toMatchObject({ status: 201 });
    const { body } = await system.get('registry', `/v1/contracts/${REFUND}`, EDITOR);
    const read = parseContract(String(body['body']));
    if (!read.ok) throw new Error('the registered contract parses');
    [contract, digest] = [read.contract, Buffer.from(String(body['digest']), 'hex')];
    const [register = ''] = commandsIn('autonomy');
    expect(await runCommand(register, { system, person: OWNER, folder, variables })).toMatchObject({ code: 0 });
  }, 60_000);

  it('lets nobody act alone who has earned nothing', async () => {
    expect(await refund('run-too-early', '1')).toMatchObject({
      kind: 'refused',
      code: 'BUDGET_REFUSED',
      problems: [{ message: expect.stringMatching(/^RUNG_TOO_LOW: the agent has earned read at refund_order/) }],
    });
  }, 60_000);

  it('lets an agent earn it, by what others say', async () => {
    const scores = {
      ...{ evidence_confidence: 1, policy_confidence: 1, eval_score: 1, tool_reliability: 0.9 },
      ...{ task_risk: 0.1, user_impact: 0.1, approval_history: 0.5 },
    } as const;
    for (const [score, value] of Object.entries(scores))
      await signals.score({ ...about, score: score as keyof typeof scores, value, statedAt: Date.now() });
    variables['AUTONOMY'] = String((await onRung('auto_execute'))['autonomy_id']);
    await signals.score({ ...about, score: 'eval_score', value: 1, statedAt: Date.now(), source: AGENT.subject });
  }, 60_000);

  it('commits the effect and debits what it may leave behind', async () => {
    await system.producer.assumptionDeclared({
      tenant: TENANT,
      ref: REF,
      statement: { shipped: false },
      statedAt: Date.now(),
    });
    const done = await refund(RUN, '4711', [REF]);
    expect(done).toMatchObject({ kind: 'succeeded' });
    [variables['MUTATION'] = ''] = done.mutation_refs;
    await reservation('settled');
  }, 60_000);

  it('finds the assumption stale, and takes the effect back once a person agrees', async () => {
    await system.producer.assumptionInvalidated({
      tenant: TENANT,
      ref: REF,
      sourceKind: 'observation',
      statement: { shipped: true },
      statedAt: Date.now(),
    });
    const step = await until('the step', async () => {
      const steps = itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${RUN}&phase=awaiting_approval`));
      return steps[0] ?? null;
    });
    const { code } = await cli(
      system,
      OPERATOR,
      folder,
      'recoveries',
      'approve',
      String(step['step_id']),
      '--reason',
      'seen',
      '--yes',
    );
    expect(code).toBe(0);
    await until('the mutation to be compensated', async () =>
      (await system.get('ledger', `/v1/mutations/${String(variables['MUTATION'])}`)).body['recoverability'] ===
      'compensated'
        ? true
        : null,
    );
    expect(refunds.get('rf_4711')).toBe('reversed');
  }, 60_000);

  it('gives the debt back, and the agent goes down a rung', async () => {
    await reservation('refunded');
    const fallen = await onRung('execute_with_approval');
    expect(fallen).toMatchObject({ earned: 'execute_with_approval', undone: [{ id: variables['MUTATION'] }] });
    const changes = itemsOf(
      await system.get('budget', `/v1/autonomy-changes?autonomy_id=${String(variables['AUTONOMY'])}`),
    );
    expect(changes).toContainEqual(
      expect.objectContaining({
        cause: 'compensation_verified',
        mutation_id: variables['MUTATION'],
        before: 'auto_execute',
        rung: 'execute_with_approval',
      }),
    );
  }, 60_000);

  it('so that a person is asked before its next refund, whatever the contract asks', async () => {
    expect(contract.forward_approval).toBe('policy');
    expect(await refund('run-next', '4712')).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
  }, 60_000);

  it('accounts for what the work cost: nothing per trusted outcome while there is none', async () => {
    const work = { tenant: TENANT, agentId: AGENT.subject, workflowId: 'refunds', runId: RUN, endedAt: Date.now() };
    const cost = { amount_minor: 30, currency: 'USD' };
    const poor = { ...work, accepted: true, grounded: false, policyCompliant: true, cost };
    await signals.outcome(poor);
    const found = (trusted: number) =>
      until(
        `${String(trusted)} trusted outcomes`,
        async () => (await report()).find((row) => row['trusted'] === trusted) ?? null,
      );
    expect(await found(0)).toMatchObject({
      outcomes: 1,
      money: expect.arrayContaining([
        expect.objectContaining({ currency: 'USD', cost_per_trusted_outcome_minor: null }),
      ]),
    });
    // prettier-ignore
    await signals.outcome({ ...work, accepted: true, grounded: true, policyCompliant: true, cost: { amount_minor: 12, currency: 'USD' } });
    expect(await found(1)).toMatchObject({
      outcomes: 2,
      money: expect.arrayContaining([expect.objectContaining({ currency: 'USD', cost_per_trusted_outcome_minor: 42 })]),
    });
  }, 60_000);

  it('and proves it all: every chain is sound', async () => {
    const out: string[] = [];
    const tell = (text: string): void => void out.push(text);
    const code = await recourse(['audit', 'verify', '--json'], {
      terminal: {
        out: tell,
        note: tell,
        isInteractive: false,
        ask: () => Promise.reject(new Error('nobody is asked')),
      },
      environment: {
        RECOURSE_KAFKA_BROKERS: system.stack.kafka.brokers.join(','),
        RECOURSE_REGISTRY_URL: system.stack.registryUrl,
        RECOURSE_LOG_ID: system.plan.logId,
      },
      folder,
      fetch,
    });
    expect([code, out.join('\n')]).toEqual([0, expect.stringContaining('"ok": true')]);
  }, 60_000);
});

describe('the guide to earned autonomy', () => {
  const EXPECTED: Readonly<Record<string, RegExp>> = {
    'entry register': /autonomy_policy/,
    'autonomy show': /refund-agent +refund_order +execute_with_approval/,
    'autonomy explain': /eval_score +1 +1 +0\.20[\s\S]*compensation_verified/,
    'autonomy freeze': /person/,
    'autonomy unfreeze': /execute_with_approval/,
    'report outcomes': /USD/,
  };

  it.each(commandsIn('autonomy'))(
    '%s',
    async (command) => {
      const [, expected = /nothing/] =
        Object.entries(EXPECTED).find(([words]) => command.includes(`recourse ${words}`)) ?? [];
      const ran = await runCommand(command, { system, person: OWNER, folder, variables });
      expect([ran.code, ran.note]).toEqual([0, expect.any(String)]);
      expect(ran.out).toMatch(expected);
    },
    60_000,
  );

  it('wrote what it says', () => {
    expect(existsSync(join(folder, 'outcomes.csv'))).toBe(true);
  });

  it('tells of an incident, which takes a rung at once', async () => {
    const now = Date.now();
    await signals.score({ ...about, score: 'eval_score', value: 0.85, statedAt: now });
    await signals.incident({ ...about, incident: 'policy_violation', reason: 'refunded twice', statedAt: now });
    expect(await onRung('draft')).toMatchObject({ capped_by: 'violation' });
  }, 60_000);
});

describe('whatever is read of it', () => {
  it('is answered as the documents of the services say, and no more', async () => {
    const seen = await walkAnswers(system, ['registry', 'ledger', 'orchestrator', 'budget']);
    expect(seen).toBeGreaterThanOrEqual(ROUTES_SEEN);
  }, 120_000);
});
