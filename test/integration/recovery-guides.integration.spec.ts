// Runs docs/guides/operate-recoveries.md and docs/guides/write-a-worker.md: every command of their shell blocks, in order, against a
// running system, and every line of their TypeScript blocks is code of the example that runs here.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseContract } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import { createKafka } from '@recourse/kafka';
import { createWorker, guard, MemoryClaimStore, MemoryPositionStore, systemClock, ToolRejected } from '@recourse/sdk';
import type { Tool, Worker } from '@recourse/sdk';
import { cli, commandsIn, put, runCommand } from './guide.testing.js';
import type { Ran } from './guide.testing.js';
import { EDITOR, INITIATOR, itemsOf, OPERATOR, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, Person, System } from './system.testing.js';

const REQUESTER: Person = { subject: INITIATOR.subject, roles: ['requester'] };
const PAYMENTS = ['payments.get_refund', 'payments.reverse_refund', 'payments.issue_refund'];
const STORAGE = ['storage.get_object', 'storage.purge_object'];
const STOCK = ['inventory.get_reservation', 'inventory.release_stock', 'inventory.reserve_stock'];
const example = (name: string): Facts => JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts;
const variables: Record<string, string> = {};
let system: System;
let folder = '';

/** A provider whose reversals can be without effect, by refund. */
const refunds = new Map<string, 'settled' | 'reversed'>();
const broken = new Set<string>();
const refundOf = (args: unknown): string => String((args as Facts)['refund_id']);
const getRefund: Tool = (args) =>
  Promise.resolve({ refund_id: refundOf(args), status: refunds.get(refundOf(args)) ?? 'unknown' });
const reverseRefund: Tool = (args) => {
  if (!refunds.has(refundOf(args))) throw new ToolRejected('UNKNOWN', 'no such refund');
  if (!broken.has(refundOf(args))) refunds.set(refundOf(args), 'reversed');
  return Promise.resolve({ refund_id: refundOf(args), status: 'reversed' });
};
let payments: Worker;

/** The shop of the worker's guide, as its HTTP interface shows it. */
const HELD = { reservation: 'rsv-1', order_id: '7', sku: 'pen', quantity: 3, status: 'reserved' };
let shop: Server;
let stockWorker: ChildProcess | null = null;

async function openShop(): Promise<void> {
  shop = createServer((request, response) => {
    if (request.method === 'POST') HELD.status = 'released';
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(request.url?.includes('?') === true ? [HELD] : HELD));
  });
  await new Promise<void>((resolve) => {
    shop.listen(0, '127.0.0.1', resolve);
  });
}

/** Takes whatever it is told. */
let desk: Server;

async function openDesk(): Promise<string> {
  desk = createServer((request, response) => {
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => {
    desk.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${String((desk.address() as AddressInfo).port)}/recourse`; // it listens on TCP
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-recovery-guides-'));
  const secrets = [`whsec_${Buffer.alloc(32, 3).toString('base64')}`];
  put(folder, 'webhooks.json', {
    allow_loopback: true,
    endpoints: [
      {
        name: 'desk',
        url: await openDesk(),
        shape: 'generic',
        secrets,
        tenants: [TENANT],
        kinds: ['approval', 'forward_approval', 'incident'],
        remind_before_ms: 3_600_000,
        tell_ends: true,
      },
    ],
  });
  for (const name of STOCK) put(folder, `contracts/${name}.json`, example(name));
  await openShop();
  system = await startSystem({
    adapters: ['inventory', 'storage'],
    notifier: { webhooksFile: join(folder, 'webhooks.json') },
  });
  for (const name of [...PAYMENTS, ...STORAGE]) {
    const { status, body } = await system.post(
      'registry',
      '/v1/contracts',
      { ...example(name), version: undefined, ...(name === 'payments.issue_refund' ? { max_attempts: 1 } : {}) },
      { person: EDITOR, key: name },
    );
    if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
  }
  payments = createWorker({
    kafka: createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'payments' }),
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
  stockWorker?.kill('SIGTERM');
  shop.close();
  desk.close();
  await payments.stop();
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

interface Told {
  readonly run: string;
  readonly name: string;
  readonly capability: string;
  readonly args: Facts;
  readonly result: Facts;
  readonly handle: string | null;
  /** What it relies on. */
  readonly ref?: string;
}

/** An effect of an agent, on record. Returns its mutation. */
async function told({ run, name, capability, args, result, handle, ref }: Told): Promise<string> {
  const contractDigest = Buffer.from(
    String((await system.get('registry', `/v1/contracts/${capability}`)).body['digest']),
    'hex',
  );
  const action = {
    tenant: TENANT,
    runId: run,
    agentId: 'agent-7',
    initiator: INITIATOR.subject,
    objective: 'serve the customer',
    stepId: name,
    callId: `call-${name}`,
    capability,
    contractDigest,
    effectKey: `eff-${name}`,
    idempotencyKey: `key-${name}`,
    subjectRef: name,
    args,
    assumptionRefs: ref === undefined ? [] : [ref],
  };
  await system.producer.toolExecuted(action as Parameters<typeof system.producer.toolExecuted>[0], {
    outcome: 'succeeded',
    result: result as { readonly status: string },
    priorValue: null,
    externalTransactionRef: handle,
    committedAt: Date.now(),
    errorKind: null,
  });
  const id = deriveId('mut', TENANT, run, `eff-${name}`);
  await until('the mutation', async () =>
    (await system.get('ledger', `/v1/mutations/${id}`)).status === 200 ? id : null,
  );
  return id;
}

async function refunded(run: string, name: string, ref?: string): Promise<string> {
  refunds.set(`re-${name}`, 'settled');
  return told({
    run,
    name,
    capability: 'payments.issue_refund',
    args: { order_id: name, amount_minor: 5_000, currency: 'INR' },
    result: { refund_id: `re-${name}`, status: 'settled' },
    handle: `re-${name}`,
    ...(ref === undefined ? {} : { ref }),
  });
}

/** One whose handle the agent never told; the notifier has read of it. */
async function exposed(): Promise<string> {
  const id = await told({
    run: 'run-exposed',
    name: 'exposed',
    capability: 'payments.issue_refund',
    args: { order_id: 'exposed', amount_minor: 5_000, currency: 'INR' },
    result: { status: 'settled' },
    handle: null,
  });
  await until('the item', async () =>
    (await cli(system, OPERATOR, folder, 'items', '--kind', 'exposure')).out.includes(id) ? true : null,
  );
  return id;
}

/** One that its tool denied, and that the playbook of its guard gives to a person; the notifier has read of it. */
async function escalated(): Promise<string> {
  const capability = 'payments.issue_refund';
  const { body } = await system.get('registry', `/v1/contracts/${capability}`);
  const parsed = parseContract(String(body['body']));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const refund = guard(
    { execute: () => Promise.reject(Object.assign(new Error('not for this agent'), { status: 403 })) },
    {
      contract: parsed.contract,
      contractDigest: Buffer.from(String(body['digest']), 'hex'),
      mode: 'enforce',
      producer: system.producer,
      clock: systemClock,
    },
  );
  const answer = await refund({
    run: {
      tenant: TENANT,
      runId: 'run-denied',
      agentId: 'agent-7',
      initiator: INITIATOR.subject,
      objective: 'settle the complaint',
    },
    stepId: 'refund',
    args: { order_id: 'denied', amount_minor: 5_000, currency: 'INR' },
    target: null,
    assumptionRefs: [],
  });
  if (answer.kind !== 'failed') throw new Error(JSON.stringify(answer));
  const [id = ''] = answer.mutation_refs;
  await until('the item', async () =>
    (await cli(system, OPERATOR, folder, 'items', '--kind', 'escalated')).out.includes(id) ? true : null,
  );
  return id;
}

/** The step of a run, or of one of its mutations, once it is as it is looked for. */
async function stepIn(run: string, phase: string, mutation?: string): Promise<Facts> {
  return until(`a step of ${run} that is ${phase}`, async () => {
    const steps = itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${run}&phase=${phase}`));
    return steps.find((step) => mutation === undefined || step['mutation_id'] === mutation) ?? null;
  });
}

const idOf = (step: Facts): string => String(step['step_id']);
const comesTo = (phase: string, name: string) => async (): Promise<void> => {
  await until(`${name} to be ${phase}`, async () =>
    (await system.get('orchestrator', `/v1/steps/${String(variables[name])}`)).body['phase'] === phase ? true : null,
  );
};

/** A refund of a run of its own that should not stand: its step waits for a person. */
async function contradicted(name: string): Promise<Facts> {
  const mutation_id = await refunded(`run-${name}`, name);
  const asked = await system.post(
    'ledger',
    '/v1/triggers',
    { run_id: `run-${name}`, mutation_id, reason: 'the parcel left before' },
    { person: OPERATOR },
  );
  if (asked.status !== 201) throw new Error(JSON.stringify(asked.body));
  return stepIn(`run-${name}`, 'awaiting_approval');
}

/** The same, agreed to, with a provider that only says it took it back. */
async function failed(name: string): Promise<string> {
  broken.add(`re-${name}`);
  const step = await contradicted(name);
  const id = idOf(step);
  await cli(system, OPERATOR, folder, 'recoveries', 'approve', id, '--reason', 'seen', '--yes');
  await stepIn(`run-${name}`, 'manual');
  return id;
}

async function prepareDay(): Promise<void> {
  const step = await contradicted('first');
  Object.assign(variables, {
    STEP: idOf(step),
    DIGEST: String(step['action_digest']),
    DENIED: idOf(await contradicted('denied')),
  });
  // The notifier follows the logs, and lists a moment later than the orchestrator.
  await until('the item of the step', async () => {
    const items = itemsOf(await system.get('notifier', '/v1/items', OPERATOR));
    return items.find(({ kind, run_id }) => kind === 'approval' && run_id === 'run-first') ?? null;
  });
}

const FACT = 'shelf/9#counted';

/** Refunds of two runs that rest on one fact, which turned out false. */
async function prepareMany(): Promise<void> {
  variables['FACT'] = FACT;
  for (const name of ['many-1', 'many-2']) await refunded(`run-${name}`, name, FACT);
  await system.producer.assumptionInvalidated({
    tenant: TENANT,
    ref: FACT,
    statement: { counted: false },
    source: 'warehouse',
    sourceKind: 'observation',
    statedAt: Date.now(),
  });
  for (const name of ['many-1', 'many-2']) await stepIn(`run-${name}`, 'awaiting_approval');
}

/** The digest of the set that a preview shows, as a variable. */
const seenSet =
  (name: string, ...words: readonly string[]) =>
  async (): Promise<void> => {
    const { out } = await cli(system, OPERATOR, folder, '--json', 'recoveries', ...words, '--preview');
    variables[name] = (JSON.parse(out) as { readonly digest: string }).digest;
  };

async function prepareRun(): Promise<void> {
  variables['RUN'] = 'run-cancelled';
  await refunded('run-cancelled', 'early');
  await refunded('run-cancelled', 'late');
  await told({
    run: 'run-cancelled',
    name: 'purged',
    capability: 'storage.purge_object',
    args: { object: 'scan.pdf' },
    result: { object: 'scan.pdf', exists: false },
    handle: null,
  });
}

async function findSteps(): Promise<void> {
  for (const name of ['early', 'late'])
    variables[name.toUpperCase()] = idOf(
      await stepIn('run-cancelled', 'awaiting_approval', deriveId('mut', TENANT, 'run-cancelled', `eff-${name}`)),
    );
}

const taskOf = async (run: string): Promise<string> =>
  until('the task', async () => {
    const task = itemsOf(await system.get('orchestrator', `/v1/tasks?run_id=${run}&kind=correction`))[0];
    return task === undefined ? null : String(task['task_id']);
  });

/** What has to be there before a command, what it has to show, and with which exit code where that is not 0. The first that fits and was not used counts. */
interface Expected {
  readonly of: RegExp;
  readonly shows: RegExp;
  readonly code?: number;
  readonly before?: () => Promise<void>;
}
const OPERATE: readonly Expected[] = [
  {
    of: /recourse items$/,
    shows: /approval +acme +run-first +payments\.issue_refund[\s\S]+recourse recoveries approve step_/,
    before: prepareDay,
  },
  {
    of: /recoveries list --state open/,
    shows: /STEP +TENANT +RUN +PHASE +REASON +OWNER +DEADLINE[\s\S]+run-first +awaiting_approval/,
  },
  { of: /reviews show/, shows: /ready +yes[\s\S]+you may +\S*approve[\s\S]+"order_id":"first"/ },
  {
    of: /recoveries show "\$STEP"/,
    shows:
      /awaiting_approval[\s\S]+"order_id":"first"[\s\S]+payments\.reverse_refund[\s\S]+"refund_id":"re-first"[\s\S]+notified twice/,
  },
  {
    of: /notifications endpoints/,
    shows: /desk +on +generic +http:\/\/127\.0\.0\.1:\d+ +acme +approval, forward_approval, incident/,
  },
  { of: /notifications test desk/, shows: /state +delivered/ },
  {
    of: /notifications list --endpoint desk/,
    shows:
      /desk +acme +test +- +- +delivered[\s\S]*desk +acme +opened +approval|desk +acme +opened +approval[\s\S]*desk +acme +test +- +- +delivered/,
  },
  { of: /recoveries approve "\$STEP"/, shows: /step_id/ },
  {
    of: /recoveries show "\$STEP"/,
    shows: /compensated[\s\S]+verify by payments\.get_refund: \{[^}]*"status":"reversed"/,
    before: comesTo('compensated', 'STEP'),
  },
  { of: /recoveries deny/, shows: /step_id/ },
  { of: /recoveries resolve "\$DENIED"/, shows: /step_id/ },
  {
    of: /recoveries list --state manual/,
    shows: /run-failed +manual +VERIFICATION_FAILED/,
    before: async () => {
      variables['FAILED'] = await failed('failed');
    },
  },
  { of: /recoveries show "\$FAILED"/, shows: /VERIFICATION_FAILED/ },
  {
    of: /recoveries retry/,
    shows: /step_id/,
    before: () => {
      broken.clear();
      return Promise.resolve();
    },
  },
  { of: /recoveries approve "\$FAILED"/, shows: /step_id/ },
  {
    of: /recoveries check/,
    shows: /step_id/,
    before: async () => {
      await comesTo('compensated', 'FAILED')();
      variables['REPAIRED'] = await failed('repaired');
      refunds.set('re-repaired', 'reversed');
    },
  },
  { of: /recoveries show "\$REPAIRED"/, shows: /resolved/, before: comesTo('resolved', 'REPAIRED') },
  {
    of: /recoveries escalate/,
    shows: /incident/,
    before: async () => {
      variables['HOPELESS'] = await failed('hopeless');
    },
  },
  {
    of: /incidents list/,
    shows: /inc_\S+ +sev2/,
    before: async () => {
      variables['INCIDENT'] = String(
        (
          await until(
            'the incident',
            async () => itemsOf(await system.get('orchestrator', '/v1/incidents?run_id=run-hopeless'))[0] ?? null,
          )
        )['incident_id'],
      );
    },
  },
  { of: /incidents show/, shows: /runbooks\/refunds\.md[\s\S]+takes nothing back/ },
  { of: /recoveries abandon/, shows: /step_id/ },
  { of: /incidents close/, shows: /incident_id/ },
  {
    of: /approve-all --fact "\$FACT" --preview/,
    shows: /run-many-1[\s\S]+run-many-2[\s\S]+steps +2\n[\s\S]*value +100\.00 INR\n[\s\S]*digest +[0-9a-f]{64}/,
    before: prepareMany,
  },
  {
    of: /approve-all --fact "\$FACT" --digest "\$SET"/,
    shows: /2 of 2 done/,
    before: seenSet('SET', 'approve-all', '--fact', FACT),
  },
  {
    of: /retry-all --why VERIFICATION_FAILED --preview/,
    shows: /run-outage[\s\S]+VERIFICATION_FAILED[\s\S]+steps +1\n/,
    before: async () => {
      await failed('outage');
      broken.clear();
    },
  },
  {
    of: /retry-all --why VERIFICATION_FAILED --digest "\$TRIES"/,
    shows: /1 of 1 done/,
    before: seenSet('TRIES', 'retry-all', '--why', 'VERIFICATION_FAILED'),
  },
  {
    of: /assumptions preview/,
    shows: /said by +warehouse[\s\S]+rely on it by name +1\n[\s\S]*would fall +1\n/,
    before: async () => {
      variables['REF'] = 'order/4713#not_shipped';
      await refunded('run-relying', 'relying', variables['REF']);
    },
  },
  {
    of: /undo "\$RUN" --preview/,
    shows: /storage\.purge_object[\s\S]+cannot be undone[\s\S]+effects that need approval/,
    before: prepareRun,
  },
  { of: /undo "\$RUN" --reason/, shows: /See what becomes of it: recourse undos show/ },
  {
    of: /undos list/,
    shows: /run-cancelled/,
    before: async () => {
      variables['UNDO'] = String(
        (
          await until(
            'the undo',
            async () => itemsOf(await system.get('ledger', '/v1/undos?run_id=run-cancelled'))[0] ?? null,
          )
        )['undo_id'],
      );
    },
  },
  {
    of: /recoveries list --run "\$RUN" --state open/,
    shows: /awaiting_approval[\s\S]+manual|manual[\s\S]+awaiting_approval/,
    before: findSteps,
  },
  { of: /recoveries approve "\$EARLY"/, shows: /step_id/ },
  { of: /recoveries list --run "\$RUN" --state waiting/, shows: /waiting +ORDER/, before: comesTo('waiting', 'EARLY') },
  { of: /recoveries approve "\$LATE"/, shows: /step_id/ },
  {
    of: /undos show/,
    shows: /partly undone[\s\S]+undone with residue[\s\S]+not undone/,
    before: async () => {
      await comesTo('compensated', 'LATE')();
      await comesTo('compensated', 'EARLY')();
      // The orchestrator knows first; the ledger's report follows its log.
      await until('the report of the undo to be whole', async () =>
        (await system.get('ledger', `/v1/undos/${String(variables['UNDO'])}`)).body['outcome'] === 'partly_undone'
          ? true
          : null,
      );
    },
  },
  {
    of: /items --kind exposure/,
    shows: /exposure +acme +run-exposed +payments\.issue_refund +HANDLE_MISSING[\s\S]+recourse mutations settle mut_/,
    before: async () => {
      variables['EXPOSED'] = await exposed();
    },
  },
  { of: /mutations show "\$EXPOSED"/, shows: /HANDLE_MISSING[\s\S]+waits for +role:operator/ },
  { of: /mutations settle "\$EXPOSED"/, shows: /settled_as +accepted/ },
  {
    of: /items --kind escalated/,
    shows: /escalated +acme +run-denied +payments\.issue_refund +POLICY_DENIED[\s\S]+recourse mutations settle mut_\S+/,
    before: async () => {
      variables['ESCALATED'] = await escalated();
    },
  },
  { of: /mutations settle "\$ESCALATED"/, shows: /settled_as +repaired/ },
  {
    of: /tasks list/,
    shows: /correction/,
    before: async () => {
      variables['CORRECTION'] = await taskOf('run-cancelled');
    },
  },
  { of: /tasks show/, shows: /storage\.purge_object/ },
  { of: /tasks close/, shows: /task_id/ },
  { of: /recoveries list --run "\$RUN"$/, shows: /run-cancelled/ },
  {
    of: /kill-switch on/,
    shows: /no-reversals/,
    before: async () => {
      variables['STOPPED'] = idOf(await contradicted('stopped'));
    },
  },
  { of: /recoveries approve "\$STOPPED"/, shows: /step_id/ },
  {
    of: /recoveries list --state halted/,
    shows: /run-stopped +halted +KILL_SWITCH/,
    before: comesTo('halted', 'STOPPED'),
  },
  { of: /kill-switch off/, shows: /no-reversals/ },
  { of: /recoveries show "\$STOPPED"/, shows: /compensated/, before: comesTo('compensated', 'STOPPED') },
  { of: /report exposure/, shows: /storage\.purge_object/ },
  { of: /report manual/, shows: /payments\.reverse_refund|payments\.issue_refund/ },
];

const WORKER: readonly Expected[] = [
  { of: /contract register/, shows: /inventory\.reserve_stock/ },
  { of: /contract answer/, shows: /inventory\.release_stock/ },
  {
    of: /worker\.main\.js/,
    shows: /^asked on partitions 0, 1$/mu,
    before: () => {
      Object.assign(variables, {
        BROKERS: system.stack.kafka.brokers.join(','),
        REGISTRY: system.stack.registryUrl,
        SHOP: `http://127.0.0.1:${String((shop.address() as AddressInfo).port)}`,
        DIRECTORY: folder,
      });
      return Promise.resolve();
    },
  },
  {
    of: /undo "\$RUN"/,
    shows: /undone/,
    before: async () => {
      variables['RUN'] = 'run-order';
      await told({
        run: 'run-order',
        name: '7',
        capability: 'inventory.reserve_stock',
        args: { order_id: '7', sku: 'pen', quantity: 3 },
        result: { ...HELD },
        handle: 'rsv-1',
      });
    },
  },
  {
    of: /recoveries show "\$STEP"/,
    shows: /compensated[\s\S]+verify by inventory\.get_reservation/,
    before: async () => {
      variables['STEP'] = idOf(await stepIn('run-order', 'compensated'));
    },
  },
];

/** Starts the worker as the guide does, and waits until it has joined its group. */
async function startStockWorker(command: string): Promise<Ran> {
  const words = command
    .split(' ')
    .slice(1)
    .map((word) => word.replace(/^"\$(\w+)"$/, (_, name: string) => variables[name] ?? ''));
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  stockWorker = child;
  const lines: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    lines.push(chunk.toString());
  });
  await until('the worker', () => Promise.resolve(lines.join('').includes('asked on partitions') ? true : null));
  return { code: 0, out: lines.join(''), note: '' };
}

const personFor = (command: string): Person =>
  / contract register/.test(command) ? EDITOR : / undo /.test(command) ? REQUESTER : OPERATOR;

describe.each([
  ['operate-recoveries', OPERATE],
  ['write-a-worker', WORKER],
] as const)('the guide %s', (guide, expectations) => {
  const commands = commandsIn(guide);

  it('has exactly the commands that are expected of it, in this order', () => {
    expect(commands).toHaveLength(expectations.length);
    expect(commands.filter((command, at) => expectations[at]?.of.test(command) !== true)).toEqual([]);
  });

  it.each(commands.map((command, at) => [at + 1, command] as const))(
    'runs command %i: %s',
    async (at, command) => {
      const expected = expectations[at - 1];
      await expected?.before?.();
      const ran = command.startsWith('npx ')
        ? await runCommand(command, { system, person: personFor(command), folder, variables })
        : await startStockWorker(command);
      expect({ code: ran.code, problem: ran.code === 0 ? '' : ran.note }).toEqual({
        code: expected?.code ?? 0,
        problem: '',
      });
      expect(ran.out).toMatch(expected?.shows ?? /$^/);
    },
    90_000,
  );
});

it('the provider shows what the guide says: reversed once where it was agreed to, and not where it was given up', () => {
  expect(Object.fromEntries(refunds)).toEqual({
    're-first': 'reversed',
    're-denied': 'settled',
    're-many-1': 'reversed',
    're-many-2': 'reversed',
    're-outage': 'settled',
    're-failed': 'reversed',
    're-repaired': 'reversed',
    're-hopeless': 'settled',
    're-early': 'reversed',
    're-late': 'reversed',
    're-relying': 'settled',
    're-stopped': 'reversed',
  });
  expect(HELD.status).toBe('released');
});

it('the guide of the worker quotes code that is there', () => {
  const code = ['examples/sdk-function/src/stock.worker.ts', 'examples/little-services/src/worker.main.ts']
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const blocks = [...readFileSync('docs/guides/write-a-worker.md', 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
    (block) => block[1] ?? '',
  );
  expect(blocks).toHaveLength(5);
  expect(blocks.filter((block) => !code.includes(block))).toEqual([]);
});
