// Recourse as it is run: Kafka, registry, the four services as processes of their own, a worker of the SDK, a driver.
//
// The eleven executions of each run are on record before a cell begins; then the bench waits until all are at rest.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { choosePorts, factsOf } from '@recourse/dev-stack';
import type { ProcessSpec, StackFacts, SystemPlan } from '@recourse/dev-stack';
import { PARTITIONS, prepareWriters, say } from '../bench-stack.js';
import { EXECUTIONS_TOPIC } from '../preload.js';
import { cpuSeconds } from '../process-cpu.js';
import { ADAPTER } from '../recovery-actions.js';
import { patient, registerContracts, stand } from '../recovery-system.js';
import { sum } from '../rounds.js';
import { withServices } from '../running-services.js';
import type { RunningServices } from '../running-services.js';
import { Traffic } from '../traffic.js';
import { sleep } from '../waits.js';
import { openHelper } from '../worker-process.js';
import type { Loaded } from './closed-loop.js';
import type { Cell } from './drive.js';
import type { Engine, Ground, RunningEngine } from './engine.js';
import { executionOf, PEER_CONTRACTS } from './recourse-actions.js';
import { EFFECTS } from './work.js';

const WORKER = 'bench-worker';
/** At rest: less CPU than this in half a second, of all processes together. They poll. */
const REST_SECONDS = 0.25;
const REST_POLL_MS = 500;
const REST_POLLS = 40;

export interface DriverTask {
  readonly facts: StackFacts;
  readonly folder: string;
  readonly plan: SystemPlan;
  readonly digest: string;
  readonly agentPort: number;
}
interface WorkerPorts {
  readonly agent: number;
  readonly gate: number;
}

/** `isFlushed`: the broker flushes each append to disk before it answers, as the peers' stores do; its default is not to. */
export function recourseEngine(name: string, isFlushed: boolean): Engine {
  return {
    name,
    needsKafka: true,
    ...(isFlushed ? { kafkaSettings: { 'log.flush.interval.messages': '1' } } : {}),
    settings: () =>
      `one broker, ${String(PARTITIONS)} partitions; each append ${isFlushed ? 'flushed to disk' : 'in the page cache'} when it is acknowledged; UndoRun on the command wire`,
    missing: () => null,
    with: withRecourse,
  };
}

async function withRecourse<T>(ground: Ground, work: (running: RunningEngine) => Promise<T>): Promise<T> {
  const { bench, profiles } = ground;
  const ports = await choosePorts(['agent', 'gate']);
  const wanted = {
    adapters: [ADAPTER],
    partitions: PARTITIONS,
    reroute: (processes: readonly ProcessSpec[]) =>
      [...processes.map(patient), workerProcess(ground, ports)].map((spec) => profiled(spec, profiles)),
  };
  return withServices(bench, wanted, (services) => withDriver(ground, services, ports, work));
}

async function withDriver<T>(
  { bench, stack, toolPort }: Ground,
  { plan, processes, ledger }: RunningServices,
  ports: WorkerPorts,
  work: (running: RunningEngine) => Promise<T>,
): Promise<T> {
  const digest = await registerContracts(plan, PEER_CONTRACTS);
  await prepareWriters(bench, EXECUTIONS_TOPIC);
  const { kafka, registry, postgres } = stack.pids;
  const services = Object.fromEntries(processes.names.map((name) => [name, processes.pid(name)]));
  const pids = { kafka, registry, postgres, ...services };
  const task: DriverTask = {
    facts: factsOf(bench.stack),
    folder: bench.folder,
    plan,
    digest: digest.toString('hex'),
    agentPort: ports.agent,
  };
  const driver = await openHelper<Cell, Loaded>('./peers/recourse-driver.main.js', task);
  const traffic = await Traffic.open(bench);
  try {
    return await work({
      driver,
      gatePorts: { http: toolPort, memory: ports.gate },
      pids,
      traffic,
      prepare: async (cell, runs) => {
        // What is still being settled would be missing from the count of what can be undone.
        await untilAtRest(pids);
        const execution = executionOf(cell, digest, Date.now() - runs * EFFECTS);
        await stand(bench, ledger, runs * EFFECTS, execution);
        await untilAtRest(pids);
      },
    });
  } finally {
    await traffic.close();
    await driver.close();
  }
}

function workerProcess({ bench, toolPort }: Ground, { agent, gate }: WorkerPorts): ProcessSpec {
  const { stack, folder } = bench;
  return {
    name: WORKER,
    entry: fileURLToPath(new URL('./recourse-worker.main.js', import.meta.url)),
    args: [String(toolPort), String(gate)],
    stage: 2,
    readyUrl: `http://127.0.0.1:${String(agent)}/health`,
    env: {
      PORT: String(agent),
      DATA_DIR: join(folder, WORKER),
      RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
      RECOURSE_REGISTRY_URL: stack.registryUrl,
    },
  };
}

/** Node writes the profile as the process ends. */
function profiled(spec: ProcessSpec, folder: string | null): ProcessSpec {
  if (folder === null) return spec;
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${spec.name}.cpuprofile`];
  return { ...spec, nodeFlags: [...(spec.nodeFlags ?? []), ...flags] };
}

/** What was recorded may still be read by services that need it later. */
async function untilAtRest(pids: RunningEngine['pids']): Promise<void> {
  const used = (): number => sum(Object.values(cpuSeconds(pids)));
  for (let left = REST_POLLS, before = used(), quiet = 0; quiet < 2; left -= 1) {
    if (left === 0) {
      say('the services did not come to rest; measuring all the same');
      return;
    }
    await sleep(REST_POLL_MS);
    const now = used();
    quiet = now - before < REST_SECONDS ? quiet + 1 : 0;
    before = now;
  }
}
