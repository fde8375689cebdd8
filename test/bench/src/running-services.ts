// Services as processes on an empty stack, for benches that measure the whole system.
import { join } from 'node:path';
import { dropDatabase, planSystem, SERVICES, startProcesses } from '@recourse/dev-stack';
import type { Processes, ProcessSpec, SystemOptions, SystemPlan } from '@recourse/dev-stack';
import type { WireProducer } from '@recourse/kafka';
import { TOPICS } from '@recourse/messages';
import { Client } from 'pg';
import { emptyTopics, say } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';

export interface RunningServices {
  readonly plan: SystemPlan;
  readonly processes: Processes;
  readonly wire: WireProducer;
  /** The ledger's database. */
  readonly ledger: Client;
}

export interface ServicesWanted extends Pick<SystemOptions, 'adapters' | 'partitions'> {
  /** Changes what is started. */
  readonly reroute?: (processes: readonly ProcessSpec[]) => readonly ProcessSpec[];
}

/** Starts the services, does the work, and stops them. */
export async function withServices<T>(
  bench: BenchStack,
  { reroute = (all) => all, ...options }: ServicesWanted,
  work: (services: RunningServices) => Promise<T>,
): Promise<T> {
  // A stack that the environment named may hold what others left.
  const topics = TOPICS.map(({ name }) => name);
  await emptyTopics(bench, topics, options.partitions);
  for (const service of SERVICES) await dropDatabase(bench.stack, `recourse_${service.replaceAll('-', '_')}`);
  say('starting the services');
  const dataDir = join(bench.folder, 'system');
  const plan = await planSystem(bench.stack, { ...options, dataDir, withExample: false });
  const processes = await startProcesses(reroute(plan.processes), { logDir: join(bench.folder, 'logs') });
  const wire = await bench.kafka.wireProducer();
  const ledger = await connectLedger(plan);
  try {
    return await work({ plan, processes, wire, ledger });
  } finally {
    await ledger.end();
    await wire.close();
    await processes.stop();
  }
}

async function connectLedger({ databases }: SystemPlan): Promise<Client> {
  const ledger = new Client({ connectionString: databases['mutation-ledger'].url });
  // Without a listener a server that ends takes this process along before it can say what it was doing.
  ledger.on('error', (cause) => {
    say(`the ledger's database: ${cause.message}`);
  });
  await ledger.connect();
  return ledger;
}
