// The system that the lineage benches measure: the services as processes, commits that stand, and the trigger that lets one fall.
import { SERVICES } from '@recourse/dev-stack';
import type { DevStack, Processes, SystemPlan } from '@recourse/dev-stack';
import { tokenFrom } from '@recourse/example-drifted-refund';
import type { OutgoingRecord, WireProducer } from '@recourse/kafka';
import type { CommitRef } from '@recourse/messages';
import { checkpointBody } from '@recourse/sdk';
import type { ToldCheckpoint } from '@recourse/sdk';
import type { Client } from 'pg';
import { withStack } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { COMMANDS, edgeCommands } from './edge-commands.js';
import { EXECUTIONS_TOPIC } from './preload.js';
import { cpuSeconds } from './process-cpu.js';
import { TENANT } from './recovery-actions.js';
import { withServices } from './running-services.js';
import type { RunningServices } from './running-services.js';
import { until } from './waits.js';

const OPERATOR = 'mira';
const BATCH = 1_000;
const RECORDED_WITHIN_MS = 1_800_000;
const PATIENCE_MS = 60_000;
const POLL_MS = 250;

/** Answers of the edge are JSON objects. */
export type Answered = Readonly<Record<string, unknown>>;

export interface LineageSystem {
  readonly bench: BenchStack;
  readonly plan: SystemPlan;
  /** The ledger's database. */
  readonly ledger: Client;
  /** Tells commits, in their order; resolves when the ledger has recorded them. */
  stand(commits: Iterable<ToldCheckpoint>): Promise<void>;
  /** Puts the statement that a commit should not stand on the command wire, as the edge does; resolves with the moment before it was sent. */
  trigger(commit: CommitRef): Promise<number>;
  /** What the ledger's edge answers. Errors: Error with status and answer. */
  read(path: string): Promise<Answered>;
  /** Registers a subscription. Errors: as for read. */
  subscribe(name: string, scope: string): Promise<void>;
  /** Retires a subscription: a tenant has room for a hundred. Errors: as for read. */
  withdraw(name: string): Promise<void>;
  /** Seconds of CPU each service and server has used; nothing where the machine does not tell. */
  cpu(): Readonly<Record<string, number>>;
}

/** Starts everything, does the work, and takes everything away. */
export function withLineageSystem<T>(partitions: number, work: (system: LineageSystem) => Promise<T>): Promise<T> {
  return withStack((bench) =>
    withServices(bench, { partitions }, async (services) => work(await systemOf(bench, services))),
  );
}

async function systemOf(bench: BenchStack, { plan, processes, wire, ledger }: RunningServices): Promise<LineageSystem> {
  for (const topic of [COMMANDS, EXECUTIONS_TOPIC]) await bench.codecs.prepareWriter(topic, { register: true });
  const send = edgeCommands(bench, wire, plan);
  return {
    bench,
    plan,
    ledger,
    ...(await edgeOf(plan)),
    cpu: () => cpuSeconds(pidsOf(bench, processes)),
    stand: (commits) => stand(bench, wire, ledger, commits),
    trigger: ({ run_id, commit_id }) =>
      send({
        type: 'TriggerRollback',
        route: 'POST /v1/triggers',
        tenant: TENANT,
        principal: OPERATOR,
        role: 'approver',
        idempotencyKey: commit_id,
        body: { run_id, mutation_id: commit_id, reason: 'the source was wrong' },
      }),
  };
}

/** Through a producer that tries again: a busy broker may lose its leader for a moment, and nothing is measured here. */
async function stand(
  { codecs }: BenchStack,
  wire: WireProducer,
  ledger: Client,
  commits: Iterable<ToldCheckpoint>,
): Promise<void> {
  const recorded = async (): Promise<number> =>
    Number((await ledger.query<{ readonly n: string }>('SELECT count(*) AS n FROM mutations.commit')).rows[0]?.n);
  const before = await recorded();
  let [told, batch] = [0, [] as OutgoingRecord[]];
  for (const commit of commits) {
    batch.push({
      key: Buffer.from(commit.checkpoint.run_id),
      value: codecs.encode(EXECUTIONS_TOPIC, 'CheckpointTaken', checkpointBody('bench', commit)),
    });
    told += 1;
    if (batch.length === BATCH) {
      await wire.send(EXECUTIONS_TOPIC, batch);
      batch = [];
    }
  }
  if (batch.length > 0) await wire.send(EXECUTIONS_TOPIC, batch);
  await until(`${String(told)} commits on record`, async () => (await recorded()) >= before + told, {
    withinMs: RECORDED_WITHIN_MS,
    pollMs: POLL_MS,
  });
}

async function edgeOf({ urls }: SystemPlan): Promise<Pick<LineageSystem, 'read' | 'subscribe' | 'withdraw'>> {
  const headers = {
    authorization: `Bearer ${await tokenFrom(urls.issuer, { subject: OPERATOR, roles: ['approver', 'operator'], tenant: TENANT })}`,
    'content-type': 'application/json',
  };
  const register = registrar(urls.registry, headers);
  const subscription = { owner: 'bench-team', doc: 'Hears of rollbacks.', mode: 'async', commit_to_user_ms: 5_000 };
  return {
    read: async (path) => {
      const response = await fetch(`${urls.ledger}${path}`, { headers });
      const body = (await response.json()) as Answered;
      if (!response.ok) throw new Error(`${path} was answered ${String(response.status)} ${JSON.stringify(body)}`);
      return body;
    },
    subscribe: (name, scope) =>
      register(name, '/v1/entries/subscription', { name, entry: { ...subscription, consumer: name, scope } }),
    withdraw: (name) =>
      register(`${name}-retired`, `/v1/entries/subscription/${name}/retire`, { reason: 'the bench has measured it' }),
  };
}

/** Sends commands to the registry until it takes them. Errors: Error for one that it refuses. */
function registrar(
  registry: string,
  headers: Readonly<Record<string, string>>,
): (key: string, path: string, body: object) => Promise<void> {
  const isTaken = async (key: string, path: string, body: object): Promise<boolean> => {
    const response = await fetch(`${registry}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...headers, 'idempotency-key': key },
    });
    if (response.status >= 400 && response.status < 500)
      throw new Error(`the registry refused ${key}: ${await response.text()}`);
    return response.status === 200 || response.status === 201;
  };
  return (key, path, body) =>
    until(`${key} at the registry`, () => isTaken(key, path, body), { withinMs: PATIENCE_MS, pollMs: POLL_MS });
}

function pidsOf({ stack }: BenchStack, processes: Processes): Readonly<Record<string, number | null>> {
  // A stack that this run started knows its servers; one that the environment named does not.
  const { pids } = stack as Partial<Pick<DevStack, 'pids'>>;
  return {
    ...Object.fromEntries(SERVICES.map((name) => [name, processes.pid(name)])),
    ...(pids === undefined ? {} : { kafka: pids.kafka, postgres: pids.postgres }),
    bench: process.pid,
  };
}
