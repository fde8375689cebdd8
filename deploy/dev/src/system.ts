// What runs on top of the stack: the four services, the development issuer and the example's processes.
//
// Boundary: provisions topics, schemas, databases and keys, chooses ports and says which processes to start; starting them
// is processes.ts' business. The demo, the e2e suites, the crash runs and the benches all run this system.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESSES, RECEIVER } from '@recourse/example-drifted-refund';
import type { ProcessSpec as ExampleSpec } from '@recourse/example-drifted-refund';
import { ADAPTERS, LITTLE_PROCESSES } from '@recourse/example-little-services';
import { createKafka } from '@recourse/kafka';
import type { DatabaseAddress } from './databases.js';
import { choosePorts } from './ports.js';
import { provision, topicSpecs } from './provision.js';
import type { DatabaseSpec } from './provision.js';
import { registerSchemas } from './register-schemas.js';
import { keysIn, logIdIn, secretIn } from './secrets.js';
import type { StackFacts } from './stack.js';
import { NOTIFIER, SERVICES } from './system.plan.js';
import type { SystemOptions, SystemPlan } from './system.plan.js';
import {
  exampleProcesses,
  issuerProcess,
  notifierProcesses,
  processName,
  serviceProcesses,
  urlsOf,
} from './system-processes.js';
import type { Planning } from './system-processes.js';

/** Database of the keys that seal payloads: apart from every service's own. */
const KEYS = 'keys';

/** Provisions what the processes need and plans them. Errors: those of Kafka, registry and PostgreSQL. */
export async function planSystem(stack: StackFacts, options: SystemOptions): Promise<SystemPlan> {
  const { dataDir, instances = 1, withNotifier = false } = options;
  const secrets = keysIn(join(dataDir, 'secrets'));
  const logId = logIdIn(join(dataDir, 'secrets'));
  const { databases, keyStoreUrl, notifierDatabaseUrl } = await provisionSystem(stack, options);
  const examples = examplesOf(options);
  const ports = await choosePorts([
    'issuer',
    ...SERVICES.flatMap((name) => Array.from({ length: instances }, (_, index) => processName(name, index))),
    ...examples.map(({ name }) => name),
    ...(withNotifier ? [NOTIFIER, RECEIVER.name] : []),
  ]);
  const urls = urlsOf(ports);
  const plan = { ...options, stack, secrets, logId, databases, keyStoreUrl, notifierDatabaseUrl, ports, instances };
  writeSystemFile(dataDir, { stack, urls, logId, databases, keyStoreUrl });
  return {
    processes: [
      issuerProcess(plan),
      ...serviceProcesses(plan),
      ...exampleProcesses(plan, examples),
      ...(withNotifier ? notifierProcesses(plan) : []),
    ],
    urls,
    databases,
    keyStoreUrl,
    logId,
    secrets,
  };
}

function examplesOf({ withExample = true, withLittleServices = false }: SystemOptions): readonly ExampleSpec[] {
  return [...(withExample ? PROCESSES : []), ...(withLittleServices ? LITTLE_PROCESSES : [])];
}

type Provisioned = Pick<Planning, 'databases' | 'keyStoreUrl' | 'notifierDatabaseUrl'>;

/** Makes topics, databases and schemas. */
async function provisionSystem(stack: StackFacts, options: SystemOptions): Promise<Provisioned> {
  const { dataDir, partitions = 2, withLittleServices = false, withNotifier = false, adapters = [] } = options;
  const { onProgress: say = () => undefined } = options;
  const topics = topicSpecs(partitions, [...new Set([...adapters, ...(withLittleServices ? ADAPTERS : [])])]);
  const owners = [...SERVICES, KEYS, ...(withNotifier ? [NOTIFIER] : [])];
  const kafka = createKafka({ brokers: [...stack.kafka.brokers], clientId: 'provisioning' });
  const [addresses] = await Promise.all([
    provision(stack, kafka, { topics, databases: owners.map((name) => databaseSpec(dataDir, name)) }),
    registerSchemas(stack, { dataDir, topics: topics.map(({ name }) => name), say }),
  ]);
  const addressOf = (owner: string): DatabaseAddress | undefined =>
    addresses.find(({ database }) => database === databaseName(owner));
  return {
    // One was asked for per service.
    databases: Object.fromEntries(SERVICES.map((name) => [name, addressOf(name)])) as SystemPlan['databases'],
    keyStoreUrl: addressOf(KEYS)?.url ?? '',
    notifierDatabaseUrl: addressOf(NOTIFIER)?.url ?? '',
  };
}

function databaseSpec(dataDir: string, owner: string): DatabaseSpec {
  const name = databaseName(owner);
  return { name, role: name, password: secretIn(join(dataDir, 'secrets'), `${owner}.password`) };
}

function databaseName(owner: string): string {
  return `recourse_${owner.replaceAll('-', '_')}`;
}

/** Says where everything is, for the command line (apps/cli/src/config.ts); it holds passwords. */
function writeSystemFile(
  dataDir: string,
  {
    stack,
    urls,
    logId,
    databases,
    keyStoreUrl,
  }: Pick<SystemPlan, 'urls' | 'logId' | 'databases' | 'keyStoreUrl'> & { readonly stack: StackFacts },
): void {
  const addresses = Object.fromEntries(Object.entries(databases).map(([name, { url }]) => [name, url]));
  const system = {
    urls,
    brokers: stack.kafka.brokers,
    registry_url: stack.registryUrl,
    log_id: logId,
    databases: addresses,
    key_store_url: keyStoreUrl,
  };
  writeFileSync(join(dataDir, 'system.json'), `${JSON.stringify(system, null, 2)}\n`, { mode: 0o600 });
}
