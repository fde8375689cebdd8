// What the registry, people and kill switches say, obeyed on real parts: by the guard, the orchestrator, the accountant and at the command line.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import {
  cachedEntries,
  guardFunction,
  HttpApprovals,
  HttpEntries,
  HttpStanding,
  MemoryConsents,
  MemoryQueryLog,
  memoryReads,
  systemClock,
} from '@recourse/sdk';
import type { GuardedResult } from '@recourse/sdk';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli as runCli } from './guide.testing.js';
import type { Ran } from './guide.testing.js';
import { EDITOR, INITIATOR, itemsOf, OPERATOR, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, Person, System } from './system.testing.js';

const AGENT: Person = { subject: 'svc:refunds', roles: ['agent'] };
const RUN = 'run-governed';
const REFUND = 'payments.issue_refund';
let system: System;
let contract: Contract;
let digest: Buffer;
let calls = 0;

beforeAll(async () => {
  system = await startSystem();
  for (const name of ['payments.get_refund', 'payments.reverse_refund', REFUND]) {
    const body = {
      ...(JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as object),
      ...(name === REFUND ? { forward_approval: 'human' } : {}),
    };
    expect(await system.post('registry', '/v1/contracts', body, { person: EDITOR, key: name })).toMatchObject({
      status: 201,
    });
  }
  const { body } = await system.get('registry', `/v1/contracts/${REFUND}`, EDITOR);
  const read = parseContract(String(body['body']));
  if (!read.ok) throw new Error('the registered contract parses');
  [contract, digest] = [read.contract, Buffer.from(String(body['digest']), 'hex')];
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

const cli = (person: Person, ...args: readonly string[]): Promise<Ran> =>
  runCli(system, person, process.cwd(), ...args);
const edge = (side: 'registry' | 'ledger' | 'orchestrator') => ({
  url: system.plan.urls[side],
  token: () => system.token(AGENT),
});

/** One refund by the agent, as its guard lets it. */
function refund(order: string, more: { readonly policyBundles?: readonly string[] } = {}): Promise<GuardedResult> {
  const tool = guardFunction(
    () => {
      calls += 1;
      return Promise.resolve({ refund_id: `rf_${order}`, status: 'settled' });
    },
    {
      contract,
      contractDigest: digest,
      mode: 'enforce',
      producer: system.producer,
      clock: systemClock,
      approvals: new HttpApprovals(edge('orchestrator')),
      standing: new HttpStanding(edge('ledger')),
      entries: cachedEntries(new HttpEntries(edge('registry')), { clock: systemClock, ttlMs: 100 }),
      extras: { externalTransactionRef: () => `rf_${order}` },
      place: () => ({
        run: { tenant: TENANT, runId: RUN, agentId: 'agent-7', initiator: 'asha', objective: 'settle the complaint' },
        stepId: `refund-${order}`,
        target: order,
        assumptionRefs: [],
      }),
      ...more,
    },
  );
  return tool({ order_id: order, amount_minor: 5_000, currency: 'INR' });
}
const questions = async (): Promise<readonly Facts[]> =>
  itemsOf(await system.get('orchestrator', `/v1/reviews?kind=forward&run_id=${RUN}`));
async function approved(order: string): Promise<GuardedResult> {
  expect(await refund(order)).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
  const [open] = await questions();
  expect(
    (await cli(OPERATOR, 'approvals', 'approve', String(open?.['approval_id']), '--reason', 'seen', '--yes')).code,
  ).toBe(0);
  return refund(order);
}

describe('a forward approval on real parts', () => {
  it('stops the guard until somebody else than the initiator agrees, and is used once', async () => {
    expect(await refund('4711')).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
    expect(await refund('4711')).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
    const open = await questions();
    expect(open).toMatchObject([
      {
        capability: REFUND,
        agent_id: 'agent-7',
        initiator: 'asha',
        requested_by: AGENT.subject,
        round: 1,
        required_approvals: 1,
      },
    ]);
    const id = String(open[0]?.['approval_id']);
    expect(await cli(INITIATOR, 'approvals', 'approve', id, '--reason', 'seen', '--yes')).toMatchObject({
      code: 3,
      note: expect.stringContaining('SELF_APPROVAL'),
    });
    expect((await cli(OPERATOR, 'approvals', 'list')).out).toContain(id);
    expect((await cli(OPERATOR, 'approvals', 'show', id)).out).toContain('4711');
    expect(await cli(OPERATOR, 'approvals', 'approve', id, '--reason', 'seen', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('approved'),
    });
    expect(calls).toBe(0);
    expect(await refund('4711')).toMatchObject({ kind: 'succeeded' });
    expect([calls, (await system.get('orchestrator', `/v1/forward-approvals/${id}`, AGENT)).body]).toMatchObject([
      1,
      { status: 'used', attempt: 1 },
    ]);
    expect(
      (await system.get('orchestrator', `/v1/forward-approvals/${id}`, { ...AGENT, tenant: 'globex' })).status,
    ).toBe(404);
  }, 60_000);

  it('that is denied stops the guard with the reason', async () => {
    await refund('4712');
    const [open] = await questions();
    expect(
      (await cli(OPERATOR, 'approvals', 'deny', String(open?.['approval_id']), '--yes', '--reason', 'not ours to give'))
        .code,
    ).toBe(0);
    expect(await refund('4712')).toMatchObject({
      kind: 'refused',
      code: 'APPROVAL_DENIED',
      problems: [{ message: 'not ours to give' }],
    });
    expect(calls).toBe(1);
  }, 60_000);
});

describe('the answer on a mutation', () => {
  it('is given from the ledger and the contract it executed under', async () => {
    const [mutation] = await until('the refund', async () => {
      const { body } = await system.get('ledger', `/v1/mutations?run_id=${RUN}&state=reversal_available`);
      const items = itemsOf({ status: 200, body });
      return items.length > 0 ? items : null;
    });
    const { code, out } = await cli(OPERATOR, 'contract', 'answer', String(mutation?.['mutation_id']));
    expect(code).toBe(0);
    for (const part of [
      'now, to an equivalent state: payments.reverse_refund',
      'one person with the role approver, neither agent-7 nor asha',
      'Verified how?',
      'With which residue?',
    ])
      expect(out).toContain(part);
  }, 60_000);
});

describe('a routine message on real parts', () => {
  const MESSAGES = 'run-messages';
  const POST = 'channels.post_message';
  const RULER: Person = { subject: 'noor', roles: ['contract_editor'] };
  const RULE = {
    name: 'status',
    capabilities: [POST],
    risk_max: 'medium',
    impacts: ['customer_visible'],
    when: 'args.channel == "status"',
    window_ms: 86_400_000,
    per_agent: 4,
    per_tenant: 8,
    reason: 'status lines are routine',
  };
  let terms: Contract;
  let termsDigest: Buffer;
  let posted = 0;
  /** One message; each is an effect of its own in one run, so that all count on one partition. */
  const post = (text: string, channel = 'status'): Promise<GuardedResult> => {
    const tool = guardFunction(
      () => {
        posted += 1;
        return Promise.resolve({ channel, post_id: `post_${text}`, text });
      },
      {
        contract: terms,
        contractDigest: termsDigest,
        mode: 'enforce',
        producer: system.producer,
        clock: systemClock,
        approvals: new HttpApprovals(edge('orchestrator')),
        standing: new HttpStanding(edge('ledger')),
        extras: { externalTransactionRef: () => `post_${text}` },
        place: () => ({
          run: {
            tenant: TENANT,
            runId: MESSAGES,
            agentId: 'status-agent',
            initiator: 'asha',
            objective: 'say how it goes',
          },
          stepId: `post-${text}`,
          target: `${channel}/${text}`,
          assumptionRefs: [],
        }),
      },
    );
    return tool({ channel, text });
  };
  const register = (routine: readonly object[], person: Person) =>
    system.post(
      'registry',
      '/v1/entries/policy_bundle',
      { name: 'notices', entry: { owner: 'ops', doc: 'd', admission: [], recovery: [], routine } },
      { person },
    );
  const asked = async (text: string): Promise<Facts> =>
    itemsOf(await system.get('orchestrator', `/v1/forward-approvals?state=awaiting&run_id=${MESSAGES}`)).find((each) =>
      JSON.stringify(each).includes(text),
    ) ?? {};

  beforeAll(async () => {
    for (const name of ['channels.get_post', POST]) {
      const body = JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as object;
      expect(await system.post('registry', '/v1/contracts', body, { person: EDITOR, key: name })).toMatchObject({
        status: 201,
      });
    }
    const { body } = await system.get('registry', `/v1/contracts/${POST}`, EDITOR);
    const read = parseContract(String(body['body']));
    if (!read.ok) throw new Error('the registered contract parses');
    [terms, termsDigest] = [read.contract, Buffer.from(String(body['digest']), 'hex')];
  }, 60_000);

  it('may not be widened to what no rule lets go', async () => {
    for (const [more, path] of [
      [{ risk_max: 'high' }, '/routine/0'],
      [{ capabilities: [REFUND] }, '/routine/0/capabilities'],
    ] as const)
      expect(await register([{ ...RULE, ...more }], RULER)).toMatchObject({
        status: 422,
        body: { code: 'ENTRY_REFUSED', problems: [{ code: 'ROUTINE_FORBIDDEN', path }] },
      });
  }, 60_000);

  it('is a person’s under a rule of whoever edited its contract', async () => {
    expect(await register([RULE], EDITOR)).toMatchObject({ status: 201 });
    expect(await post('edited')).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
    expect(await asked('edited')).toMatchObject({ not_routine: [{ code: 'RULE_OF_CONCERNED' }] });
  }, 60_000);

  it('goes at once within the caps of a rule, is on record as decided by policy, and is a person’s beyond', async () => {
    const guide =
      /^```yaml\n(name: notices\n[\s\S]*?)^```/m.exec(readFileSync('docs/guides/contracts.md', 'utf8'))?.[1] ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'recourse-routine-'));
    writeFileSync(join(folder, 'notices.yaml'), guide.replace('per_agent: 20', 'per_agent: 4'));
    expect(await cli(RULER, 'entry', 'register', 'policy-bundle', join(folder, 'notices.yaml'))).toMatchObject({
      code: 0,
    });
    rmSync(folder, { recursive: true, force: true });
    expect(await post('one')).toMatchObject({ kind: 'succeeded' });
    expect(await post('two')).toMatchObject({ kind: 'succeeded' });
    expect(posted).toBe(2);
    const used = itemsOf(
      await system.get('orchestrator', `/v1/forward-approvals?state=used&run_id=${MESSAGES}`),
    ).filter((each) => each['capability'] === POST);
    expect(used).toMatchObject([1, 2].map(() => ({ decided_by: 'policy:notices@2', routine: { rule: 'status' } })));
    const list = await cli(OPERATOR, 'approvals', 'list', '--state', 'used', '--run', MESSAGES);
    expect(list.out).toMatch(/channels\.post_message +status-agent +used +1 of 1 +policy:notices@2/);

    expect(await post('three')).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
    const id = String((await asked('three'))['approval_id']);
    const { out } = await cli(OPERATOR, 'approvals', 'show', id);
    expect(out).toMatch(/not let go by +notices@2\/status: CAP_REACHED: 2 of 2 in 24 h for agent status-agent/);
    expect((await cli(OPERATOR, 'approvals', 'approve', id, '--reason', 'seen', '--yes')).code).toBe(0);
    expect(await post('three')).toMatchObject({ kind: 'succeeded' });
    expect(await post('other', 'customers')).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
    expect(await asked('other')).toMatchObject({ not_routine: [{ code: 'CONDITION_FALSE' }] });
    expect(posted).toBe(3);
  }, 60_000);

  it('shows the rule that let it go in the item of its recovery', async () => {
    const first = await until(
      'the first message',
      async () =>
        itemsOf(await system.get('ledger', `/v1/mutations?run_id=${MESSAGES}`)).find((each) =>
          JSON.stringify(each).includes('post_one'),
        ) ?? null,
    );
    expect(
      (
        await system.post(
          'ledger',
          '/v1/triggers',
          { run_id: MESSAGES, mutation_id: first['mutation_id'], reason: 'it was wrong' },
          {},
        )
      ).status,
    ).toBe(201);
    const step = await until(
      'its step',
      async () =>
        itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${MESSAGES}`)).find(
          (each) => each['mutation_id'] === first['mutation_id'],
        ) ?? null,
    );
    const { out } = await cli(OPERATOR, 'reviews', 'show', String(step['step_id']));
    expect(out).toMatch(/agreed before by +policy:notices@2\/status/);
  }, 60_000);
});

describe('a kill switch on real parts', () => {
  const SWITCH = [
    '--over',
    'agent:agent-7',
    '--halts-recovery',
    '--reason',
    'double refunds',
    '--runbook',
    'runbooks/refunds.md',
  ];

  it('stops the guard, reservations and what the orchestrator would send, and lets all of them go on once it is lifted', async () => {
    const [mutation] = itemsOf(await system.get('ledger', `/v1/mutations?run_id=${RUN}&state=reversal_available`));
    expect(await cli(OPERATOR, 'kill-switch', 'on', 'agent-7', ...SWITCH)).toMatchObject({ code: 0 });
    expect((await cli(OPERATOR, 'kill-switch', 'list')).out).toMatch(
      /agent-7 +acme +agent agent-7 and its undoing +sev1 +double refunds/,
    );
    const stopped = await until('the switch in the guard', async () => {
      const answer = await refund('4713');
      return 'code' in answer && answer.code === 'KILL_SWITCH' ? answer : null;
    });
    expect(stopped).toMatchObject({ kind: 'refused', mutation_refs: [] });
    const reservation = {
      run_id: RUN,
      effect_key: 'eff-x',
      capability: REFUND,
      agent_id: 'agent-7',
      values: [{ amount_minor: 1, currency: 'INR' }],
    };
    const isRefused = async (): Promise<true | null> => {
      const { status, body } = await system.post('budget', '/v1/reservations', reservation, { person: AGENT });
      return status === 403 && body['code'] === 'KILL_SWITCH' ? true : null;
    };
    await until('the switch in the accountant', isRefused);

    expect(
      (
        await system.post(
          'ledger',
          '/v1/triggers',
          { run_id: RUN, mutation_id: mutation?.['mutation_id'], reason: 'wrong order' },
          {},
        )
      ).status,
    ).toBe(201);
    const step = await until(
      'the step',
      async () => itemsOf(await system.get('orchestrator', `/v1/reviews?run_id=${RUN}`))[0] ?? null,
    );
    const verdict = { action_digest: step['action_digest'], reason: 'seen' };
    expect(
      await system.post('orchestrator', `/v1/steps/${String(step['step_id'])}/approve`, verdict, {}),
    ).toMatchObject({ status: 200, body: { phase: 'halted', reason: 'KILL_SWITCH' } });
    expect(itemsOf(await system.get('orchestrator', `/v1/reviews?state=halted&run_id=${RUN}`))).toMatchObject([
      { phase: 'halted', owner: 'role:operator', deadline_at: expect.any(Number) },
    ]);

    expect(await cli(OPERATOR, 'kill-switch', 'off', 'agent-7', '--reason', 'fixed')).toMatchObject({ code: 0 });
    // No worker runs here: the look at the facts, before the dispatch, is what goes out.
    const sent = await until('the step going on', async () => {
      const { body } = await system.get('orchestrator', `/v1/steps/${String(step['step_id'])}`);
      return body['phase'] === 'observing' ? body : null;
    });
    expect(sent).toMatchObject({ attempt: 0, owner: 'adapter:payments' });
    expect(await approved('4713')).toMatchObject({ kind: 'succeeded' });
  }, 120_000);
});

describe('entries on real parts', () => {
  const EDIT: Person = { subject: 'ravi', roles: ['contract_editor'] };

  it('bind the guard and memory as the registry has them', async () => {
    const register = (kind: string, name: string, entry: object) =>
      system.post('registry', `/v1/entries/${kind}`, { name, entry }, { person: EDIT });
    expect(
      (
        await register('policy_bundle', 'refunds', {
          owner: 'ops',
          doc: 'd',
          admission: [{ name: 'small', when: 'gate.value.amount_minor < 100', reason: 'too large' }],
          recovery: [],
        })
      ).status,
    ).toBe(201);
    expect(
      await until('the bundle', async () => {
        const answer = await refund('4714', { policyBundles: ['refunds'] });
        return 'code' in answer && answer.code !== 'POLICY_UNKNOWN' ? answer : null;
      }),
    ).toMatchObject({ code: 'POLICY_REFUSED' });
    expect(
      (
        await register('agent_charter', 'agent-7', {
          owner: 'otto',
          doc: 'd',
          agent: 'agent-7',
          purpose: 'p',
          allowed: ['payments.*'],
          denied: [REFUND],
        })
      ).status,
    ).toBe(201);
    await until('the charter', async () => {
      const answer = await refund('4714');
      return 'code' in answer && answer.code === 'INTENT_DENIED' ? true : null;
    });
    expect(
      (
        await register('context_source', 'crm', {
          owner: 'ops',
          doc: 'd',
          sensitivity: 'personal',
          access: 'read',
          ttl_ms: 60_000,
        })
      ).status,
    ).toBe(201);
    const observedAt = Date.now();
    const consents = new MemoryConsents();
    await consents.grant({ tenant: TENANT, subject: 'customer/7', purpose: 'support' });
    const read = memoryReads({
      find: () => Promise.resolve({ value: 1, source: 'crm', subject: 'customer/7', observedAt }),
      sources: new HttpEntries(edge('registry')),
      clock: systemClock,
      consents,
      log: new MemoryQueryLog(),
    });
    expect(
      await until('the source', async () => {
        const answer = await read({ tenant: TENANT, agentId: 'agent-7', runId: RUN, key: 'k', purpose: 'support' });
        return answer.kind === 'read' ? answer : null;
      }),
    ).toMatchObject({ value: 1 });
    expect(calls).toBe(2);
  }, 60_000);
});
