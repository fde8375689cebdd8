// The system that the recovery benches measure: the services as processes, one worker, executions that stand, and the undo of a run.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { choosePorts, SERVICES } from '@recourse/dev-stack';
import type { Processes, ProcessSpec, SystemPlan } from '@recourse/dev-stack';
import { CONTRACT_EDITOR, tokenFrom } from '@recourse/example-drifted-refund';
import type { WireProducer } from '@recourse/kafka';
import type { ToolExecuted } from '@recourse/messages';
import { createProducer } from '@recourse/sdk';
import type { Producer } from '@recourse/sdk';
import type { Client } from 'pg';
import { PARTITIONS, withStack } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { COMMANDS, edgeCommands } from './edge-commands.js';
import { preload } from './preload.js';
import { ADAPTER, INITIATOR, PUT, RECOVERY_CONTRACTS, TENANT } from './recovery-actions.js';
import { RecoveryTail } from './recovery-tail.js';
import { withServices } from './running-services.js';
import type { RunningServices, ServicesWanted } from './running-services.js';
import { sleep } from './waits.js';
import { sharedClockMs } from './worker-process.js';

const WORKER = 'bench-worker';
const PATIENCE_MS = 30_000;
const RECORDED_WITHIN_MS = 900_000;
const POLL_MS = 200;
const SAMPLE_MS = 500;
/** As services have it unless told otherwise; what the development stack says is for demonstrations, where a worker dies. */
const LEASE_MS = '30000';

export interface RecoverySystem {
  readonly bench: BenchStack;
  readonly plan: SystemPlan;
  readonly tail: RecoveryTail;
  readonly producer: Producer;
  readonly digest: Buffer;
  /** Produces executions and waits until the ledger says of each that it can be undone. */
  stand(executions: number, execution: (index: number) => ToolExecuted): Promise<void>;
  /** Puts the request for a run's undo on the command wire, as the edge does; resolves with the moment before it was sent. */
  undo(run: string): Promise<number>;
  /** Names of the things the tool took back, in its order. */
  taken(): Promise<readonly string[]>;
  /** Watches the memory of the services and the worker until stopped: the most each held, in MB. */
  watchMemory(): { readonly stop: () => Promise<Readonly<Record<string, number>>> };
}

/** Starts everything, does the work, and takes everything away. */
export function withRecoverySystem<T>(
  work: (system: RecoverySystem) => Promise<T>,
  contracts = RECOVERY_CONTRACTS,
): Promise<T> {
  return withStack(async (bench) => {
    const { [WORKER]: port = 0 } = await choosePorts([WORKER]);
    const wanted: ServicesWanted = {
      adapters: [ADAPTER],
      partitions: PARTITIONS,
      reroute: (processes) => [...processes.map(patient), workerProcess(bench, port)],
    };
    return withServices(bench, wanted, (services) => withTools({ bench, services, port, contracts }, work));
  });
}

interface Tools {
  readonly bench: BenchStack;
  readonly services: RunningServices;
  /** Of the worker. */
  readonly port: number;
  readonly contracts: typeof RECOVERY_CONTRACTS;
}

async function withTools<T>(
  { bench, services, port, contracts }: Tools,
  work: (system: RecoverySystem) => Promise<T>,
): Promise<T> {
  const { plan, processes, wire, ledger } = services;
  const tail = await RecoveryTail.open(bench);
  const producer = await createProducer({ kafka: bench.kafka, codecs: bench.codecs, source: 'bench' });
  try {
    await bench.codecs.prepareWriter(COMMANDS, { register: true });
    return await work({
      bench,
      plan,
      tail,
      producer,
      digest: await registerContracts(plan, contracts),
      stand: (executions, execution) => stand(bench, ledger, executions, execution),
      undo: undoer(bench, wire, plan),
      taken: () => takenAt(port),
      watchMemory: () => watchMemory(processes),
    });
  } finally {
    await producer.close();
    await tail.close();
  }
}

/** A service that leases does so for as long as it would without a development stack. */
export function patient(spec: ProcessSpec): ProcessSpec {
  return spec.env?.['RECOURSE_LEASE_MS'] === undefined
    ? spec
    : { ...spec, env: { ...spec.env, RECOURSE_LEASE_MS: LEASE_MS } };
}

function workerProcess({ stack, folder }: BenchStack, port: number): ProcessSpec {
  return {
    name: WORKER,
    entry: fileURLToPath(new URL('./recovery-worker.main.js', import.meta.url)),
    stage: 2,
    readyUrl: `http://127.0.0.1:${String(port)}/health`,
    env: {
      PORT: String(port),
      DATA_DIR: join(folder, WORKER),
      RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
      RECOURSE_REGISTRY_URL: stack.registryUrl,
    },
  };
}

/** Registers contracts in their order; the digest of the one under which things are put down. */
export async function registerContracts({ urls }: SystemPlan, contracts: typeof RECOVERY_CONTRACTS): Promise<Buffer> {
  const authorization = `Bearer ${await tokenFrom(urls.issuer, { ...CONTRACT_EDITOR, tenant: TENANT })}`;
  for (const contract of contracts) {
    const deadline = sharedClockMs() + PATIENCE_MS;
    for (;;) {
      const response = await fetch(`${urls.registry}/v1/contracts`, {
        method: 'POST',
        body: JSON.stringify(contract),
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': `bench-${contract.name}` },
      });
      if (response.status === 200 || response.status === 201) break;
      if ((response.status >= 400 && response.status < 500) || sharedClockMs() > deadline)
        throw new Error(`the registry refused ${contract.name}: ${await response.text()}`);
      await sleep(POLL_MS);
    }
  }
  const { digest } = (await (
    await fetch(`${urls.registry}/v1/contracts/${PUT}`, { headers: { authorization } })
  ).json()) as { readonly digest: string };
  return Buffer.from(digest, 'hex');
}

/** Produces executions and waits until the ledger says of each that it can be undone. */
export async function stand(
  bench: BenchStack,
  ledger: Client,
  executions: number,
  execution: (index: number) => ToolExecuted,
): Promise<void> {
  const standing = async (): Promise<number> => {
    const { rows } = await ledger.query<{ readonly n: string }>(
      `SELECT count(*) AS n FROM "mutations"."mutation" WHERE recoverability = 'reversal_available'`,
    );
    return Number(rows[0]?.n);
  };
  const before = await standing();
  await preload(bench, executions, execution);
  const deadline = sharedClockMs() + RECORDED_WITHIN_MS;
  while ((await standing()) < before + executions) {
    if (sharedClockMs() > deadline)
      throw new Error(`the ledger did not record ${String(executions)} executions in time`);
    await sleep(POLL_MS);
  }
}

/** Puts the request for a run's undo on the command wire, as the edge does. */
export function undoer(bench: BenchStack, wire: WireProducer, plan: SystemPlan): (run: string) => Promise<number> {
  const send = edgeCommands(bench, wire, plan);
  return (run) =>
    send({
      type: 'UndoRun',
      route: 'POST /v1/undos',
      tenant: TENANT,
      principal: INITIATOR,
      role: 'requester',
      idempotencyKey: run,
      body: { run_id: run, mutation_ids: [], reason: 'the bench takes it back' },
    });
}

async function takenAt(port: number): Promise<readonly string[]> {
  const { taken } = (await (await fetch(`http://127.0.0.1:${String(port)}/taken`)).json()) as {
    readonly taken: readonly string[];
  };
  return taken;
}

function watchMemory(processes: Processes): { readonly stop: () => Promise<Readonly<Record<string, number>>> } {
  const most: Record<string, number> = {};
  const look = async (): Promise<void> => {
    for (const name of [...SERVICES, WORKER]) {
      const pid = processes.pid(name);
      if (pid !== null) most[name] = Math.max(most[name] ?? 0, await residentMb(pid));
    }
  };
  const timer = setInterval(() => {
    void look();
  }, SAMPLE_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await look();
      return most;
    },
  };
}

const run = promisify(execFile);

async function residentMb(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]).catch(() => ({ stdout: '0' }));
  return Number(stdout) / 1_024;
}
