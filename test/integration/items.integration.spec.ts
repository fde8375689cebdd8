// One walk along everything that waits for people, on real parts: each kind is in one list with owner and deadline, a webhook told it
// (with the runbook of its contract), and the command that the list prints, typed as it stands, ends it (A47, D18, E28, E45, E47, E50, P12).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractBody, contractDigest, parseContract, plainPayload } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import { commitIdOf } from '@recourse/lineage';
import type { Checkpoint } from '@recourse/messages';
import { connect, ToolRejected } from '@recourse/sdk';
import type { Action, ActionOutcome } from '@recourse/sdk';
import { walkAnswers } from './answers.testing.js';
import { cli, cliAt } from './guide.testing.js';
import { Receiver } from './receiver.testing.js';
import {
  ADMINISTRATOR,
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
import type { Facts, System } from './system.testing.js';

const RUNBOOK = 'runbooks/warehouse.md#by-hand';
const TREND_WINDOW_MS = 4_000;
/** Far more than three fill each of three windows, also where a rollback takes a second. */
const ROLLBACK_EVERY_MS = 333;
const WINDOW_MS = 600_000;
/** Routes that have something to tell in the end. */
const ROUTES_SEEN = 65;
/** A tenth of a window is left when people are warned; milliseconds. */
const WARNED_AFTER_MS = WINDOW_MS * 0.9;

const desk = new Receiver();
const folder = mkdtempSync(join(tmpdir(), 'recourse-items-'));
let system: System;

beforeAll(async () => {
  const webhooksFile = join(folder, 'webhooks.json');
  const endpoint = {
    name: 'desk',
    url: await desk.open(),
    shape: 'generic',
    secrets: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`],
    tenants: 'all',
    tell_ends: true,
  };
  writeFileSync(webhooksFile, JSON.stringify({ allow_loopback: true, endpoints: [endpoint] }), { mode: 0o600 });
  system = await startSystem({
    adapters: ['inventory', 'flags'],
    notifier: { webhooksFile },
    envOf: {
      'mutation-ledger': {
        RECOURSE_CONCLUDE_WITHIN_MS: '1000',
        RECOURSE_ASK_ATTEMPTS_MAX: '1',
        RECOURSE_LEASE_MS: '1000',
        RECOURSE_ACK_SYNC_MS: '500',
        RECOURSE_TREND_WINDOW_MS: String(TREND_WINDOW_MS),
        RECOURSE_TREND_MIN: '3',
        RECOURSE_TREND_FACTOR: '2',
      },
    },
  });
  await system.codecs.prepareWriter(EXECUTIONS, { register: false });
  for (const name of ['inventory.get_reservation', 'inventory.release_stock', 'flags.get_flag'])
    await register(name, {});
  await register('inventory.reserve_stock', { reversal_window_ms: WINDOW_MS });
  await register('flags.set_flag', {});
}, 400_000);
afterAll(async () => {
  await system.stop();
  desk.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const digests = new Map<string, Buffer>();

/** A contract of the examples; an effect's names the runbook. */
async function register(name: string, differs: Facts): Promise<void> {
  const file = JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts; // a contract is a JSON object
  const { compensation_mode: mode } = file;
  const runbook = mode === undefined ? {} : { compensation_mode: { ...(mode as Facts), runbook: RUNBOOK } };
  const { status, body } = await system.post(
    'registry',
    '/v1/contracts',
    { ...file, ...runbook, ...differs },
    { person: EDITOR, key: name },
  );
  if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
  digests.set(name, Buffer.from(String(body['digest']), 'hex'));
}

const RESERVE = {
  capability: 'inventory.reserve_stock',
  args: { order_id: 'o-1', sku: 'lamp', quantity: 1 },
} as const;
const RESERVED = {
  result: { reservation: 'rsv-1', order_id: 'o-1', sku: 'lamp', quantity: 1, status: 'reserved' },
} as const;

function digestOfContract(text: string): Buffer {
  const read = parseContract(text);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return contractDigest(contractBody(read.contract));
}

/** Tells of an execution; gives its mutation. */
async function tell(run: string, action: Partial<Action>, outcome: Partial<ActionOutcome> = {}): Promise<string> {
  const digest = digests.get(action.capability ?? '') ?? null;
  const told = executed(run, { contractDigest: digest, ...action }, outcome);
  await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'ToolExecuted', told));
  return deriveId('mut', TENANT, run, told.effect_key);
}

/** Somebody says that an effect should not stand. */
async function trigger(run: string, mutation: string): Promise<void> {
  await until('the mutation', async () =>
    (await system.get('ledger', `/v1/mutations/${mutation}`)).status === 200 ? true : null,
  );
  const body = { run_id: run, mutation_id: mutation, reason: 'the wrong order' };
  expect(await system.post('ledger', '/v1/triggers', body, {})).toMatchObject({ status: 201 });
}

/** What a person at the desk answers, by what they are asked. */
const desked =
  (settledAs: string) =>
  (question: string): string => {
    if (question.includes('took_effect')) return settledAs;
    return question.includes('rolled_back') ? 'stands' : 'looked into it';
  };

const wayOutOf = ({ way_out }: Facts): readonly string[] => String(way_out).split(' ').slice(1);
const isItem =
  ({ id, kind }: Facts) =>
  (one: Facts): boolean =>
    one['id'] === id && one['kind'] === kind;
const heardOf = ({ id, kind }: Facts, type: string): Promise<Facts> =>
  until(`${type} of ${String(kind)}`, () =>
    Promise.resolve(
      desk.heard.find(({ body }) => body['item_id'] === id && body['item_kind'] === kind && body['type'] === type)
        ?.body ?? null,
    ),
  );

/** The item is told of with all there is to know, and the command it prints, typed as it stands, ends it. */
async function walk(item: Facts, expected: Facts, { settledAs = 'accepted', person = OPERATOR } = {}): Promise<void> {
  const { runbook = null, ...known } = expected;
  expect(item).toMatchObject({ ...known, runbook, owner: expect.stringMatching(/^role:[a-z_]+$/u) });
  expect(Number(item['deadline_at'])).toBeGreaterThan(Date.now());
  expect(await heardOf(item, 'recourse.item.opened')).toMatchObject({
    ...known,
    runbook,
    owner: item['owner'],
    deadline_at: new Date(Number(item['deadline_at'])).toISOString(),
  });
  expect((await cli(system, person, folder, 'items')).out).toContain(String(item['way_out']));
  const ran = await cliAt({ system, person, folder, saidTo: desked(settledAs) }, wayOutOf(item));
  expect(ran).toMatchObject({ code: 0, note: '' });
  await until(`the end of ${String(item['kind'])}`, async () =>
    (await items(person)).some(isItem(item)) ? null : true,
  );
  await heardOf(item, 'recourse.item.ended');
}

const items = async (person = OPERATOR): Promise<readonly Facts[]> =>
  itemsOf(await system.get('notifier', '/v1/items?limit=500', person));
const itemWhere = (what: Facts, person = OPERATOR): Promise<Facts> =>
  until(
    `an item with ${JSON.stringify(what)}`,
    async () =>
      (await items(person)).find((one) => Object.entries(what).every(([name, value]) => one[name] === value)) ?? null,
    60_000,
  );

describe('an effect that nothing automatic takes back', () => {
  it.each([
    ['names no contract', { capability: 'inventory.paint_shelf' }, {}, 'UNCONTRACTED', null],
    ['came without its handle', RESERVE, { ...RESERVED, externalTransactionRef: null }, 'HANDLE_MISSING', RUNBOOK],
    [
      'overwrote a value that nobody captured',
      { capability: 'flags.set_flag', args: { flag: 'dark', value: true } },
      { result: { flag: 'dark', value: true, etag: 'e1' }, priorValue: null },
      'PRIOR_VALUE_MISSING',
      RUNBOOK,
    ],
  ] as const)(
    'since it %s',
    async (_why, action, outcome, reason, runbook) => {
      const run = runOn(0, 'exposed');
      const id = await tell(run, action, outcome);
      const { capability } = action;
      await walk(await itemWhere({ kind: 'exposure', id }), { run_id: run, capability, reason, runbook });
    },
    90_000,
  );
});

describe('an execution that nobody told the end of', () => {
  it.each([
    ['took_effect', 'EXECUTION_UNCERTAIN'],
    ['not_done', 'EXECUTION_UNCERTAIN'],
  ] as const)(
    'is settled as %s',
    async (settledAs, reason) => {
      const run = runOn(1, 'silent');
      const outcome = {
        outcome: 'uncertain',
        result: null,
        externalTransactionRef: null,
        errorKind: 'TIMEOUT',
      } as const;
      const id = await tell(run, RESERVE, outcome);
      const item = await itemWhere({ kind: 'execution', id });
      await walk(item, { run_id: run, capability: RESERVE.capability, reason, runbook: RUNBOOK }, { settledAs });
    },
    90_000,
  );
});

describe('a call that its agent gives to a person', () => {
  it('is an item of the guard', async () => {
    const run = runOn(0, 'denied');
    const agent = await connect({
      name: 'stock-agent',
      environment: { RECOURSE_WIRES: 'open' },
      brokers: [...system.stack.kafka.brokers],
      registryUrl: system.stack.registryUrl,
      contractsUrl: system.plan.urls.registry,
      ledgerUrl: system.plan.urls.ledger,
      recoveriesUrl: system.plan.urls.orchestrator,
      budgetUrl: system.plan.urls.budget,
      token: () => system.token({ subject: 'svc:warehouse', roles: ['agent'] }),
      stateDir: join(folder, 'agent'),
    });
    const guarded = await agent.guard(
      {
        execute: () => Promise.reject(new ToolRejected('FORBIDDEN', 'not this article')),
        externalTransactionRef: () => null,
      },
      { contract: RESERVE.capability },
    );
    const place = { runId: run, stepId: 'reserve', initiator: INITIATOR.subject, objective: 'serve the customer' };
    expect(await guarded(RESERVE.args, place)).toMatchObject({ directive: { action: 'ESCALATE_TO_HUMAN' } });
    await agent.close();
    const item = await itemWhere({ kind: 'escalated', run_id: run });
    await walk(item, { capability: RESERVE.capability, reason: 'POLICY_DENIED', runbook: RUNBOOK });
  }, 90_000);
});

describe('an execution under a contract that nobody has registered yet', () => {
  it('is an item of all tenants until the contract is there and somebody redrives it', async () => {
    const text = readFileSync('examples/contracts/labels.get_labels.json', 'utf8');
    const contract = { ...(JSON.parse(text) as Facts), tenant: TENANT, version: 1 }; // a contract is a JSON object
    const run = runOn(1, 'early');
    const contractDigest = digestOfContract(JSON.stringify(contract));
    await tell(run, { capability: 'labels.get_labels', contractDigest });
    const item = await itemWhere({ kind: 'parked' }, ADMINISTRATOR);
    await register('labels.get_labels', {});
    const known = { tenant: '*', run_id: '', capability: null, reason: 'CONTRACT_UNKNOWN' };
    await walk(item, known, { person: ADMINISTRATOR });
    await until('the mutation', async () =>
      itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`)).length === 1 ? true : null,
    );
  }, 90_000);
});

describe('a window that closes soon', () => {
  it('is an item until the effect is undone', async () => {
    const run = runOn(1, 'closing');
    const committedAt = Date.now() - WARNED_AFTER_MS + 1_500;
    const id = await tell(run, RESERVE, { ...RESERVED, externalTransactionRef: 'rsv-1', committedAt });
    const item = await itemWhere({ kind: 'window', id });
    const known = { run_id: run, capability: RESERVE.capability, reason: 'WINDOW_CLOSING', runbook: RUNBOOK };
    await walk(item, known);
    expect(itemsOf(await system.get('ledger', `/v1/undos?run_id=${run}`))).toHaveLength(1);
  }, 90_000);
});

describe('a consumer that is silent, and a runtime that keeps what fell', () => {
  it('are items of the same rollback', async () => {
    const agentId = 'told-agent';
    const entry = {
      owner: 'platform',
      doc: 'Hears of rollbacks.',
      consumer: 'mailer',
      scope: `${TENANT}/${agentId}`,
      mode: 'sync',
      commit_to_user_ms: 5_000,
    };
    expect(await system.post('registry', '/v1/entries/subscription', { name: 'mailer', entry }, {})).toMatchObject({
      status: 201,
    });
    const run = runOn(0, 'kept');
    const mutation = await tell(run, { capability: 'inventory.paint_shelf', agentId });
    await trigger(run, mutation);
    const silent = await itemWhere({ kind: 'delivery', run_id: run });
    const held = { run_id: run, commit_id: mutation, derived_from: [], stands: true, reached_user_at: null };
    const kept = { runtime: 'reports', commits: [held] };
    expect(await system.post('ledger', '/v1/reconciliations', kept, {})).toMatchObject({ status: 201 });
    await walk(await itemWhere({ kind: 'divergence' }), { reason: 'RUNTIME_DIVERGES' });
    await walk(silent, { run_id: run, reason: 'CONSUMER_SILENT' });
    expect(itemsOf(await system.get('ledger', `/v1/deliveries?run_id=${run}`))).toMatchObject([{ phase: 'reviewed' }]);
  }, 90_000);
});

describe('a commit that a later bundle cannot judge', () => {
  it('is an item until a person says whether it stands', async () => {
    const version = async (when: string): Promise<Facts> => {
      const entry = { owner: 'risk', doc: 'd', admission: [{ name: 'limit', when, reason: 'too much' }], recovery: [] };
      const asked = { name: 'reservations', entry };
      const { status, body } = await system.post('registry', '/v1/entries/policy_bundle', asked, { person: EDITOR });
      expect([status, body]).toEqual([201, expect.anything()]);
      return body;
    };
    const digest = Buffer.from(String((await version('true'))['digest']), 'hex');
    const run = runOn(1, 'unjudged');
    const inputs = plainPayload({ salt: 'as long as it has to be', gate: { amount: 7 } });
    const checkpoint: Checkpoint = {
      tenant: TENANT,
      run_id: run,
      agent_id: 'agent-7',
      initiator: null,
      objective: null,
      step_id: 'reserve',
      produced_by: 'call-1',
      subject_ref: null,
      parents: [],
      assumption_refs: [],
      release: null,
      state: null,
      committed_at: Date.now(),
      gate: {
        bundle: 'reservations',
        bundle_version: 1,
        bundle_digest: digest,
        verdict: 'admitted',
        inputs_sha256: inputs.sha256,
        inputs,
      },
    };
    const commit_id = commitIdOf(checkpoint);
    const taken = { event_id: `evt-${run}`, tenant: TENANT, run_id: run, commit_id, checkpoint };
    await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'CheckpointTaken', taken));
    await until('the commit', async () =>
      (await system.get('ledger', `/v1/commits/${commit_id}`)).status === 200 ? true : null,
    );
    await version('state.total < 100');
    await walk(await itemWhere({ kind: 'rollback', run_id: run }), { run_id: run, reason: 'UNJUDGED' });
    expect((await system.get('ledger', `/v1/commits/${commit_id}`)).body['standing']).toBe('stands');
  }, 90_000);
});

describe('rollbacks that come steadily faster', () => {
  it('are an item of their tenant and of their agent', async () => {
    const made: (readonly [run: string, mutation: string])[] = [];
    for (let nth = 0; nth < 60; nth += 1) {
      const run = runOn(0, 'rising');
      made.push([run, await tell(run, { capability: 'inventory.paint_shelf', agentId: 'hasty-agent' })]);
    }
    const next = async (): Promise<void> => {
      const [run = '', mutation = ''] = made.shift() ?? [];
      await trigger(run, mutation);
    };
    await next();
    await pause(3 * TREND_WINDOW_MS);
    const isRisen = async (): Promise<boolean> => (await items()).filter(({ kind }) => kind === 'trend').length === 2;
    while (!(await isRisen()) && made.length > 0) {
      await next();
      await pause(ROLLBACK_EVERY_MS);
    }
    for (const reason of ['TREND_AGENT', 'TREND_TENANT']) await walk(await itemWhere({ kind: 'trend', reason }), {});
  }, 120_000);
});

describe('whatever is read of all that', () => {
  it('is answered as the documents of the services say, and no more', async () => {
    const seen = await walkAnswers(system, ['registry', 'ledger', 'orchestrator', 'budget', 'notifier']);
    expect(seen).toBeGreaterThanOrEqual(ROUTES_SEEN);
  }, 120_000);
});

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
