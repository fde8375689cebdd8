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
import { plannedTopics } from '@recourse/service/provision';
import type { ClusterPlan } from '@recourse/service/provision';
import type { DatabaseAddress } from './databases.js';
import { auditedIn, auditorProcesses } from './auditing.js';
import { choosePortsAgain } from './ports.js';
import { planOf, provision } from './provision.js';
import type { DatabaseSpec } from './provision.js';
import { registerSchemas } from './register-schemas.js';
import { keysIn, logIdIn, keyringFileOf, passwordFileOf, signingKeyOf, secretIn } from './secrets.js';
import type { StackFacts } from './stack.js';
import { AUDITOR, CONSOLE, NOTIFIER, SERVICES, WITNESS } from './system.plan.js';
import type { SystemOptions, SystemPlan } from './system.plan.js';
import {
  consoleProcess,
  exampleProcesses,
  issuerProcess,
  notifierProcesses,
  processName,
  serviceProcesses,
  settingsFileOf,
  urlsOf,
} from './system-processes.js';
import type { Planning } from './system-processes.js';
import { makeKeyring, makeUsers, ownerAccess, usersOf } from './users.js';

/** Database of the keys that seal payloads: apart from every service's own. */
const KEYS = 'keys';

/** Provisions what the processes need and plans them. Errors: those of Kafka, registry and PostgreSQL. */
export async function planSystem(stack: StackFacts, options: SystemOptions): Promise<SystemPlan> {
  const { dataDir, instances = 1, withNotifier = false, withAuditor = false, withConsole = false } = options;
  const secrets = keysIn(join(dataDir, 'secrets'));
  const logId = logIdIn(join(dataDir, 'secrets'));
  const examples = examplesOf(stack, options);
  const cluster = clusterOf(stack, options, examples);
  const { databases, keyStoreUrl, notifierDatabaseUrl } = await provisionSystem(stack, options, cluster);
  const ports = await choosePortsAgain(dataDir, [
    'issuer',
    ...SERVICES.flatMap((name) => Array.from({ length: instances }, (_, index) => processName(name, index))),
    ...examples.map(({ name }) => name),
    ...(withNotifier ? [NOTIFIER, RECEIVER.name] : []),
    ...(withAuditor ? [WITNESS, AUDITOR] : []),
    ...(withConsole ? [CONSOLE] : []),
  ]);
  const urls = urlsOf(ports);
  const plan = { ...options, stack, secrets, logId, databases, keyStoreUrl, notifierDatabaseUrl, ports, instances };
  writeFileSync(join(dataDir, 'settings.env'), settingsFileOf(options), { mode: 0o600 });
  writeSystemFile(dataDir, { stack, urls, logId, databases, keyStoreUrl, cluster });
  return {
    processes: [
      issuerProcess(plan),
      ...serviceProcesses(plan),
      ...exampleProcesses(plan, examples),
      ...(withNotifier ? notifierProcesses(plan) : []),
      ...(withAuditor ? auditorProcesses(plan) : []),
      ...(withConsole ? [consoleProcess(plan)] : []),
    ],
    urls,
    databases,
    keyStoreUrl,
    logId,
    secrets,
    audited: withAuditor ? auditedIn(dataDir) : null,
  };
}

/** Who observes has nothing to do where nobody knows who is who. */
function examplesOf(
  { owner }: Pick<StackFacts, 'owner'>,
  { withExample = true, withLittleServices = false }: SystemOptions,
): readonly ExampleSpec[] {
  const all = [...(withExample ? PROCESSES : []), ...(withLittleServices ? LITTLE_PROCESSES : [])];
  return all.filter(({ speaksAs }) => owner !== null || speaksAs?.as !== 'worker' || speaksAs.observes !== true);
}

/** What the cluster should be, kept where `recourse provision --check` finds it. */
function clusterOf(stack: StackFacts, options: SystemOptions, examples: readonly ExampleSpec[]): ClusterPlan {
  const { dataDir, partitions, withLittleServices = false, adapters: given = [] } = options;
  const adapters = [...new Set([...given, ...(withLittleServices ? ADAPTERS : [])])];
  const users = stack.owner === null ? null : [...usersOf(examples, adapters)];
  const plan = planOf(partitions, adapters, { users, brokers: stack.kafka.brokers.length });
  makeKeyring(plan, join(dataDir, 'secrets'));
  writeFileSync(join(dataDir, 'cluster.json'), `${JSON.stringify(plan, null, 2)}\n`);
  return plan;
}

type Provisioned = Pick<Planning, 'databases' | 'keyStoreUrl' | 'notifierDatabaseUrl'>;

/** Makes topics, users, databases and schemas. */
async function provisionSystem(
  stack: StackFacts,
  { dataDir, withNotifier = false, onProgress: say = () => undefined }: SystemOptions,
  cluster: ClusterPlan,
): Promise<Provisioned> {
  const topics = plannedTopics(cluster);
  const owners = [...SERVICES, KEYS, ...(withNotifier ? [NOTIFIER] : [])];
  const kafka = createKafka({
    brokers: [...stack.kafka.brokers],
    clientId: 'provisioning',
    ...ownerAccess(stack),
  });
  const [addresses] = await Promise.all([
    provision(stack, kafka, { topics, databases: owners.map((name) => databaseSpec(dataDir, name)) }),
    registerSchemas(stack, { dataDir, topics: topics.map(({ name }) => name), say }),
    makeUsers(kafka, cluster, join(dataDir, 'secrets')),
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
    cluster,
  }: Pick<SystemPlan, 'urls' | 'logId' | 'databases' | 'keyStoreUrl'> & {
    readonly stack: StackFacts;
    readonly cluster: ClusterPlan;
  },
): void {
  const addresses = Object.fromEntries(Object.entries(databases).map(([name, { url }]) => [name, url]));
  const system = {
    urls,
    brokers: stack.kafka.brokers,
    registry_url: stack.registryUrl,
    log_id: logId,
    databases: addresses,
    key_store_url: keyStoreUrl,
    keyring_file: cluster.users === null ? null : keyringFileOf(join(dataDir, 'secrets')),
    // Files of private keys and of passwords, by user; empty where nobody is asked.
    signing_keys: Object.fromEntries(
      (cluster.users ?? []).map(({ name }) => [name, signingKeyOf(join(dataDir, 'secrets'), name)]),
    ),
    kafka_users: Object.fromEntries(
      (cluster.users ?? []).map(({ name }) => [name, passwordFileOf(join(dataDir, 'secrets'), name)]),
    ),
  };
  writeFileSync(join(dataDir, 'system.json'), `${JSON.stringify(system, null, 2)}\n`, { mode: 0o600 });
}
