// A rehearsed agent on real parts: a guarded refund that was made, contradicted, agreed to and taken back, with all that a sound
// system has around it. What probes, stories, evals and packets are shown on.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseContract } from '@recourse/contract';
import { createKafka } from '@recourse/kafka';
import { createWorker, guard, HttpBudget, MemoryClaimStore, MemoryPositionStore, systemClock } from '@recourse/sdk';
import type { GuardedTool, Tool, Worker } from '@recourse/sdk';
import { put } from './guide.testing.js';
import { EDITOR, INITIATOR, itemsOf, OPERATOR, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, Person, System, SystemNeeds } from './system.testing.js';

const PAYMENTS = ['payments.get_refund', 'payments.reverse_refund', 'payments.issue_refund'];
export const AGENT = 'agent-7';
const AGENT_ITSELF: Person = { subject: `svc:${AGENT}`, roles: ['agent'] };
const OWNER: Person = { subject: 'bela', roles: ['budget_owner'] };
const RELEASE = { prompt: 'p1', model: 'm1', policy: 'g1', tools: 't1', context: 'c1', eval: 'e1', memory: 'm1' };

/** What a refund says beside its order. */
export interface RefundMore {
  readonly objective?: string;
  readonly reason?: string;
}

export interface Rehearsal {
  readonly system: System;
  readonly folder: string;
  /** What was undone in the rehearsal. */
  readonly mutation: string;
  /** Makes a refund under the guard. Returns its mutation, once it is on record. */
  readonly refund: (run: string, order: string, more?: RefundMore) => Promise<string>;
  /** Orders whose reversal the provider only pretends. */
  readonly lies: Set<string>;
  /** What webhooks were told. */
  readonly told: readonly string[];
  /** The warehouse says that the order was shipped; returns the step that waits for people. */
  readonly contradict: (run: string, order: string) => Promise<string>;
  /** The operator agrees, and the refund is seen to be reversed. */
  readonly agree: (step: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts it, and rehearses one undo in `run-rehearsal`. Errors: the first part that does not become ready. */
export async function rehearse(needs: Pick<SystemNeeds, 'withAuditor'> = {}): Promise<Rehearsal> {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-rehearsal-'));
  const told: string[] = [];
  const desk = await openDesk(told);
  tellDesk(folder, desk);
  const system = await startSystem({ ...needs, notifier: { webhooksFile: join(folder, 'webhooks.json') } });
  const refunds = new Map<string, string>();
  const lies = new Set<string>();
  const worker = workerOf(system, refunds, lies);
  const stop = async (): Promise<void> => {
    await worker.stop();
    desk.close();
    await system.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await worker.start();
    await prepare(system);
    const mutation = await refunded(system, refunds, { run: 'run-rehearsal', order: 'rehearsal' });
    const rehearsal: Rehearsal = {
      system,
      folder,
      mutation,
      refund: (run, order, more) => refunded(system, refunds, { run, order, ...more }),
      lies,
      told,
      contradict: (run, order) => contradicted(system, run, order),
      agree: (step) => agreed(system, step),
      stop,
    };
    await rehearsal.agree(await rehearsal.contradict('run-rehearsal', 'rehearsal'));
    await judged(system);
    return rehearsal;
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/** Has the notifier tell the desk. */
function tellDesk(folder: string, desk: Server): void {
  put(folder, 'webhooks.json', {
    allow_loopback: true,
    endpoints: [
      {
        name: 'desk',
        url: urlOf(desk),
        shape: 'generic',
        secrets: [`whsec_${Buffer.alloc(32, 3).toString('base64')}`],
        tenants: [TENANT],
      },
    ],
  });
}

async function openDesk(told: string[]): Promise<Server> {
  const desk = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => told.push(chunk.toString('utf8')));
    request.on('end', () => response.end());
  });
  await new Promise<void>((resolve) => {
    desk.listen(0, '127.0.0.1', resolve);
  });
  return desk;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/recourse`; // it listens on TCP

function workerOf(system: System, refunds: Map<string, string>, lies: ReadonlySet<string>): Worker {
  const idOf = (args: unknown): string => String((args as Facts)['refund_id']);
  const look: Tool = (args) => Promise.resolve({ refund_id: idOf(args), status: refunds.get(idOf(args)) ?? 'unknown' });
  const reverse: Tool = (args) => {
    if (!lies.has(idOf(args).replace(/^re-/, ''))) refunds.set(idOf(args), 'reversed');
    return Promise.resolve({ refund_id: idOf(args), status: 'reversed' });
  };
  return createWorker({
    kafka: createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'payments' }),
    codecs: system.codecs,
    adapter: 'payments',
    tools: { 'payments.get_refund': look, 'payments.reverse_refund': reverse },
    clock: systemClock,
    claimStore: new MemoryClaimStore(),
    positions: new MemoryPositionStore(),
    workerId: 'payments-1',
    groupId: 'payments-workers',
    callTimeoutMs: 2_000,
  });
}

/** Contracts, charter, source, policy, subscription and ceilings: what a sound system has. */
async function prepare(system: System): Promise<void> {
  const send = async (side: 'registry' | 'budget', path: string, body: object, person: Person): Promise<void> => {
    const key = `${path}-${JSON.stringify(body).length.toString()}-${person.subject}`;
    // A service whose database or broker is slow at the start says 503: whoever asks again, under the same key, gets an answer.
    const answer = await until(`an answer of ${path}`, async () => {
      const one = await system.post(side, path, body, { person, key });
      return one.status === 503 ? null : one;
    });
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  };
  for (const name of PAYMENTS) {
    const contract = JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts;
    const caps = contract['blast_radius'];
    const capped =
      caps === undefined ? {} : { blast_radius: { ...(caps as Facts), max_calls_per_run: 2, max_subjects_per_run: 1 } };
    await send('registry', '/v1/contracts', { ...contract, version: undefined, ...capped }, EDITOR);
  }
  const common = { owner: 'otto', doc: 'Of the rehearsal.' };
  const entry = (kind: string, name: string, body: object): Promise<void> =>
    send('registry', `/v1/entries/${kind}`, { name, entry: { ...common, ...body } }, EDITOR);
  await entry('agent_charter', 'refunds', {
    agent: AGENT,
    purpose: 'Refunds.',
    allowed: ['payments.issue_refund'],
    denied: [],
  });
  await entry('context_source', 'spec', { sensitivity: 'internal', access: 'stream', ttl_ms: 3_600_000 });
  await entry('subscription', 'loyalty', {
    consumer: 'loyalty',
    scope: TENANT,
    mode: 'poll',
    commit_to_user_ms: 5_000,
  });
  await send(
    'budget',
    '/v1/budgets',
    { scope: 'tenant', scope_id: TENANT, currency: 'INR', ceiling_minor: 5_000_000 },
    OWNER,
  );
}

async function refunded(
  system: System,
  refunds: Map<string, string>,
  {
    run,
    order,
    objective = 'settle the complaint',
    reason,
  }: { readonly run: string; readonly order: string } & RefundMore,
): Promise<string> {
  const tool = await toolOf(system, refunds, order);
  const answer = await tool({
    run: {
      tenant: TENANT,
      runId: run,
      agentId: AGENT,
      initiator: INITIATOR.subject,
      objective,
      release: RELEASE,
    },
    stepId: 'refund',
    args: { order_id: order, amount_minor: 5_000, currency: 'INR', ...(reason === undefined ? {} : { reason }) },
    target: null,
    assumptionRefs: [`order/${order}#not_shipped`],
  });
  if (answer.kind !== 'succeeded') throw new Error(JSON.stringify(answer));
  const [id = ''] = answer.mutation_refs;
  await until('the effect with its way back', async () => {
    const { body: found } = await system.get('ledger', `/v1/mutations/${id}`);
    return found['recoverability'] === 'reversal_available' ? id : null;
  });
  return id;
}

/** The agent's tool under its guard. */
async function toolOf(system: System, refunds: Map<string, string>, order: string): Promise<GuardedTool> {
  const { body } = await system.get('registry', '/v1/contracts/payments.issue_refund');
  const parsed = parseContract(String(body['body']));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const token = (): Promise<string> => system.token(AGENT_ITSELF);
  return guard(
    {
      execute: () => {
        refunds.set(`re-${order}`, 'settled');
        return Promise.resolve({ refund_id: `re-${order}`, status: 'settled' });
      },
      externalTransactionRef: (result) => String((result as Facts)['refund_id']),
    },
    {
      contract: parsed.contract,
      contractDigest: Buffer.from(String(body['digest']), 'hex'),
      mode: 'enforce',
      producer: system.producer,
      clock: systemClock,
      budget: new HttpBudget({ url: system.plan.urls.budget, token }),
    },
  );
}

async function contradicted(system: System, run: string, order: string): Promise<string> {
  await system.producer.assumptionInvalidated({
    eventId: `shipped-${order}`,
    tenant: TENANT,
    sourceKind: 'observation',
    ref: `order/${order}#not_shipped`,
    statement: { order, shipped: true },
    statedAt: Date.now(),
  });
  const step = await until(
    `a step of ${run} that waits`,
    async () => itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${run}&phase=awaiting_approval`))[0] ?? null,
  );
  return String(step['step_id']);
}

async function agreed(system: System, id: string): Promise<void> {
  const { body } = await system.get('orchestrator', `/v1/steps/${id}`);
  const answer = await system.post(
    'orchestrator',
    `/v1/steps/${id}/approve`,
    { action_digest: body['action_digest'], reason: 'the parcel is on its way' },
    { person: OPERATOR, key: `agree-${id}` },
  );
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  await until(`the mutation of ${id} to be compensated`, async () => {
    const mutation = await system.get('ledger', `/v1/mutations/${String(body['mutation_id'])}`);
    return mutation.body['recoverability'] === 'compensated' ? true : null;
  });
}

/** A person says that the warehouse was right. */
async function judged(system: System): Promise<void> {
  const [rollback] = itemsOf(await system.get('ledger', '/v1/rollbacks?run_id=run-rehearsal'));
  const path = `/v1/rollbacks/${String(rollback?.['rollback_id'])}/confirm`;
  const answer = await system.post('ledger', path, { reason: 'it was shipped' }, { person: OPERATOR, key: 'judge' });
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
}
