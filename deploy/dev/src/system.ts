// What runs on top of the stack: the four services, the development issuer and the example's processes.
//
// Boundary: provisions topics, schemas, databases and keys, chooses ports and says which processes to start; starting them
// is processes.ts' business. The demo, the e2e suites, the crash runs and the benches all run this system.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESSES, RECEIVER } from '@recourse/example-drifted-refund';
import type { ProcessSpec as ExampleSpec, StoryUrls } from '@recourse/example-drifted-refund';
import { ADAPTERS, LITTLE_PROCESSES } from '@recourse/example-little-services';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { createCodecs, SCHEMAS, TOPICS } from '@recourse/messages';
import { root } from '../../../scripts/lib/paths.mjs';
import type { DatabaseAddress } from './databases.js';
import { choosePorts } from './ports.js';
import type { ProcessSpec } from './processes.js';
import { provision, topicSpecs } from './provision.js';
import type { StackFacts } from './stack.js';

export const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** A development stack lets every source roll back by itself, as often as it likes; production is careful (docs/reference/config.md). */
const OPEN_ADMISSION = { RECOURSE_SOURCE_TRUST: 'off', RECOURSE_STORM_LIMIT: '0', RECOURSE_CLOSURE_MAX: '0' } as const;

/** Database of the keys that seal payloads: apart from every service's own. */
const KEYS = 'keys';

/** Tells approvers what waits: a program beside the services, with a database of its own. */
const NOTIFIER = 'notifier';

/** Services that ask workers. */
const LEASING: readonly ServiceName[] = ['mutation-ledger', 'recovery-orchestrator'];

export interface SystemOptions {
  /** Where keys and the processes' own files live. */
  readonly dataDir: string;
  /** Instances of every service. Default 1. */
  readonly instances?: number;
  /** Partitions of a partitioned topic. Default 2. */
  readonly partitions?: number;
  /** Without them only the services and the issuer run. Default true. */
  readonly withExample?: boolean;
  /** The little services and their worker, which serves their adapters. Default false. */
  readonly withLittleServices?: boolean;
  /** Adapters that workers serve, beside those of the processes above: each gets its request topic. Default: payments. */
  readonly adapters?: readonly string[];
  /** The notifier, and an example of a receiver it tells. Default false. */
  readonly withNotifier?: boolean;
  /** Name under which loyalty subscribes to rollbacks; it only follows them unless told. */
  readonly subscribedAs?: string;
  /** Endpoints the notifier tells instead of the example's: the path of a file as docs/guides/operate-recoveries.md shows it. */
  readonly webhooksFile?: string;
  /** Added to the environment of the notifier. */
  readonly notifierEnv?: Readonly<Record<string, string>>;
  /** Brokers the services are told of, for a proxy in between. Default: the stack's. */
  readonly serviceBrokers?: readonly string[];
  /** Added to the environment of every service. */
  readonly serviceEnv?: Readonly<Record<string, string>>;
  /** Added to the environment of one service. */
  readonly envOf?: Readonly<Partial<Record<ServiceName, Readonly<Record<string, string>>>>>;
  readonly onProgress?: (line: string) => void;
}

export interface SystemPlan {
  readonly processes: readonly ProcessSpec[];
  /** Base addresses of the first instance of everything. */
  readonly urls: StoryUrls & {
    readonly worker: string;
    readonly services: string;
    readonly notifier: string;
    readonly receiver: string;
  };
  readonly databases: Readonly<Record<ServiceName, DatabaseAddress>>;
  readonly keyStoreUrl: string;
  readonly logId: string;
  readonly secrets: { readonly edgeKeyFile: string; readonly leaseKeyFile: string };
}

const ISSUER = 'https://issuer.recourse.test';
const AUDIENCE = 'recourse';
const EXAMPLES = PROCESSES.map(({ name }) => name);
const LITTLE = LITTLE_PROCESSES.map(({ name }) => name);
/** Topics whose schemas are registered side by side; a cold registry takes no more. */
const REGISTER_AT_ONCE = 3;

/** Provisions what the processes need and plans them. Errors: those of Kafka, registry and PostgreSQL. */
export async function planSystem(stack: StackFacts, options: SystemOptions): Promise<SystemPlan> {
  const {
    dataDir,
    instances = 1,
    partitions = 2,
    withExample = true,
    withLittleServices = false,
    withNotifier = false,
    adapters = [],
  } = options;
  const secrets = keysIn(join(dataDir, 'secrets'));
  const logId = logIdIn(join(dataDir, 'secrets'));
  const kafka = createKafka({ brokers: [...stack.kafka.brokers], clientId: 'provisioning' });
  const owners = [...SERVICES, KEYS, ...(withNotifier ? [NOTIFIER] : [])];
  const passwords = new Map(owners.map((name) => [name, secretIn(join(dataDir, 'secrets'), `${name}.password`)]));
  const topics = topicSpecs(partitions, [...new Set([...adapters, ...(withLittleServices ? ADAPTERS : [])])]);
  const [addresses] = await Promise.all([
    provision(stack, kafka, {
      topics,
      databases: owners.map((name) => ({
        name: databaseName(name),
        role: databaseName(name),
        password: passwords.get(name) ?? '',
      })),
    }),
    registerSchemas(stack, {
      dataDir,
      topics: topics.map(({ name }) => name),
      say: options.onProgress ?? (() => undefined),
    }),
  ]);
  const databases = Object.fromEntries(
    SERVICES.map((name) => [name, addresses.find(({ database }) => database === databaseName(name))]),
  ) as Record<ServiceName, DatabaseAddress>;
  const keyStoreUrl = addresses.find(({ database }) => database === databaseName(KEYS))?.url ?? '';
  const notifierDatabaseUrl = addresses.find(({ database }) => database === databaseName(NOTIFIER))?.url ?? '';
  const names = portNames(instances, [
    ...(withExample ? EXAMPLES : []),
    ...(withLittleServices ? LITTLE : []),
    ...(withNotifier ? [NOTIFIER, RECEIVER.name] : []),
  ]);
  const ports = await choosePorts(names);
  const plan = { ...options, stack, secrets, logId, databases, keyStoreUrl, notifierDatabaseUrl, ports, instances };
  writeSystemFile(dataDir, { stack, urls: urlsOf(ports), logId, databases, keyStoreUrl });
  return {
    processes: [
      issuerProcess(plan),
      ...serviceProcesses(plan),
      ...exampleProcesses(plan, [...(withExample ? PROCESSES : []), ...(withLittleServices ? LITTLE_PROCESSES : [])]),
      ...(withNotifier ? notifierProcesses(plan) : []),
    ],
    urls: urlsOf(ports),
    databases,
    keyStoreUrl,
    logId,
    secrets,
  };
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

interface Planning extends SystemOptions {
  readonly stack: StackFacts;
  readonly secrets: SystemPlan['secrets'];
  readonly logId: string;
  readonly databases: Readonly<Record<ServiceName, DatabaseAddress>>;
  readonly keyStoreUrl: string;
  readonly notifierDatabaseUrl: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly instances: number;
}

function portNames(instances: number, examples: readonly string[]): readonly string[] {
  const services = SERVICES.flatMap((name) =>
    Array.from({ length: instances }, (_, index) => processName(name, index)),
  );
  return ['issuer', ...services, ...examples];
}

/** The first instance carries the service's name alone. */
export function processName(service: string, index: number): string {
  return index === 0 ? service : `${service}-${String(index + 1)}`;
}

function urlsOf(ports: Readonly<Record<string, number>>): SystemPlan['urls'] {
  const at = (name: string): string => `http://127.0.0.1:${String(ports[name] ?? 0)}`;
  return {
    issuer: at('issuer'),
    registry: at('contract-registry'),
    ledger: at('mutation-ledger'),
    orchestrator: at('recovery-orchestrator'),
    budget: at('budget-accountant'),
    provider: at('payment-provider'),
    warehouse: at('warehouse'),
    agent: at('agent'),
    loyalty: at('loyalty'),
    worker: at('worker'),
    services: at('services'),
    notifier: at(NOTIFIER),
    receiver: at(RECEIVER.name),
  };
}

function issuerProcess({ dataDir, ports }: Planning): ProcessSpec {
  const port = String(ports['issuer']);
  return {
    name: 'issuer',
    entry: join(root, 'libs/service/dist/dev-issuer.main.js'),
    readyUrl: `http://127.0.0.1:${port}/jwks.json`,
    stage: 0,
    env: {
      RECOURSE_ISSUER_PORT: port,
      RECOURSE_ISSUER_DATA_DIR: join(dataDir, 'issuer'),
      RECOURSE_JWT_ISSUER: ISSUER,
      RECOURSE_JWT_AUDIENCE: AUDIENCE,
    },
  };
}

function serviceProcesses(plan: Planning): readonly ProcessSpec[] {
  return SERVICES.flatMap((service) =>
    Array.from({ length: plan.instances }, (_, index): ProcessSpec => {
      const name = processName(service, index);
      const port = String(plan.ports[name]);
      return {
        name,
        entry: join(root, `apps/${service}/dist/main.js`),
        stage: 1,
        readyWithinMs: 60_000,
        // A second instance may own nothing yet and is ready all the same; the first must be.
        readyUrl: `http://127.0.0.1:${port}/health/${index === 0 && plan.instances === 1 ? 'ready' : 'startup'}`,
        env: {
          RECOURSE_KAFKA_BROKERS: (plan.serviceBrokers ?? plan.stack.kafka.brokers).join(','),
          RECOURSE_REGISTRY_URL: plan.stack.registryUrl,
          RECOURSE_LOG_ID: plan.logId,
          RECOURSE_DATABASE_URL: plan.databases[service].url,
          RECOURSE_KEY_STORE_URL: plan.keyStoreUrl,
          RECOURSE_HTTP_PORT: port,
          RECOURSE_JWKS_URL: `http://127.0.0.1:${String(plan.ports['issuer'])}/jwks.json`,
          RECOURSE_JWT_ISSUER: ISSUER,
          RECOURSE_JWT_AUDIENCE: AUDIENCE,
          RECOURSE_EDGE_KEY_FILE: plan.secrets.edgeKeyFile,
          RECOURSE_INSTANCE: String(index + 1),
          ...(LEASING.includes(service)
            ? { RECOURSE_LEASE_KEY_FILE: plan.secrets.leaseKeyFile, RECOURSE_LEASE_MS: '5000' }
            : {}),
          ...(service === 'recovery-orchestrator' ? OPEN_ADMISSION : {}),
          ...plan.serviceEnv,
          ...plan.envOf?.[service],
        },
      };
    }),
  );
}

/** The notifier, and the receiver it tells unless other endpoints are given. */
function notifierProcesses(plan: Planning): readonly ProcessSpec[] {
  const { dataDir, ports, stack, logId, webhooksFile, notifierEnv } = plan;
  const urls = urlsOf(ports);
  const secret = `whsec_${Buffer.from(secretIn(join(dataDir, 'secrets'), 'webhook.key'), 'hex').toString('base64')}`;
  const file = webhooksFile ?? exampleEndpoints(dataDir, urls.receiver, secret);
  return [
    ...(webhooksFile === undefined
      ? [
          {
            name: RECEIVER.name,
            entry: RECEIVER.entry,
            stage: 1,
            readyUrl: `${urls.receiver}/health`,
            env: { PORT: String(ports[RECEIVER.name]), WEBHOOK_SECRET: secret },
          },
        ]
      : []),
    {
      name: NOTIFIER,
      entry: join(root, 'apps/notifier/dist/main.js'),
      stage: 2,
      readyWithinMs: 60_000,
      readyUrl: `${urls.notifier}/health/ready`,
      env: {
        RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
        RECOURSE_REGISTRY_URL: stack.registryUrl,
        RECOURSE_LOG_ID: logId,
        RECOURSE_DATABASE_URL: plan.notifierDatabaseUrl,
        RECOURSE_HTTP_PORT: String(ports[NOTIFIER]),
        RECOURSE_JWKS_URL: `${urls.issuer}/jwks.json`,
        RECOURSE_JWT_ISSUER: ISSUER,
        RECOURSE_JWT_AUDIENCE: AUDIENCE,
        RECOURSE_WEBHOOKS_FILE: file,
        RECOURSE_RECOVERIES_URL: urls.orchestrator,
        RECOURSE_BUDGET_URL: urls.budget,
        ...notifierEnv,
      },
    },
  ];
}

function exampleEndpoints(dataDir: string, receiver: string, secret: string): string {
  const path = join(dataDir, 'webhooks.json');
  const endpoints = [
    {
      name: 'approvers',
      url: `${receiver}/hook`,
      shape: 'generic',
      secrets: [secret],
      tenants: 'all',
      remind_before_ms: 3_600_000,
    },
  ];
  writeFileSync(path, `${JSON.stringify({ allow_loopback: true, endpoints }, null, 2)}\n`, { mode: 0o600 });
  return path;
}

function exampleProcesses(plan: Planning, examples: readonly ExampleSpec[]): readonly ProcessSpec[] {
  const { dataDir, ports, stack, logId } = plan;
  const urls = urlsOf(ports);
  const known: Readonly<Record<string, string>> = {
    RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
    RECOURSE_REGISTRY_URL: stack.registryUrl,
    RECOURSE_LOG_ID: logId,
    PROVIDER_URL: urls.provider,
    RECOURSE_CONTRACTS_URL: urls.registry,
    RECOURSE_ISSUER_URL: urls.issuer,
    RECOURSE_BUDGET_URL: urls.budget,
    LOYALTY_URL: urls.loyalty,
    WORKER_ID: 'worker-1',
    ...(plan.subscribedAs === undefined ? {} : { SUBSCRIBED_AS: plan.subscribedAs }),
    ...(plan.serviceEnv?.['RECOURSE_TRACE_FILE'] === undefined
      ? {}
      : { RECOURSE_TRACE_FILE: plan.serviceEnv['RECOURSE_TRACE_FILE'] }),
    SERVICES_URL: urls.services,
    ADAPTERS: ADAPTERS.join(','),
  };
  return examples.map(({ name, entry, variables, optional }): ProcessSpec => {
    const port = String(ports[name]);
    const wanted = [...variables, ...optional].filter((variable) => known[variable] !== undefined);
    return {
      name,
      entry,
      stage: 2,
      readyUrl: `http://127.0.0.1:${port}/health`,
      env: {
        PORT: port,
        DATA_DIR: join(dataDir, 'example', name),
        ...Object.fromEntries(wanted.map((variable) => [variable, known[variable] ?? ''])),
      },
    };
  });
}

interface Registering {
  readonly dataDir: string;
  readonly topics: readonly string[];
  readonly say: (line: string) => void;
}

/** Registers the schemas of every topic, once per content and data directory: each topic has subjects of its own. */
async function registerSchemas(stack: StackFacts, { dataDir, topics, say }: Registering): Promise<void> {
  const wanted = createHash('sha256')
    .update(JSON.stringify([SCHEMAS, TOPICS, topics, stack.kafka.clusterId]))
    .digest('hex');
  const marker = join(dataDir, 'schemas-registered');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  const codecs = createCodecs(createSchemaRegistry({ url: stack.registryUrl, timeoutMs: 30_000 }));
  const waiting = [...topics];
  let done = 0;
  await Promise.all(
    Array.from({ length: REGISTER_AT_ONCE }, async () => {
      for (let topic = waiting.shift(); topic !== undefined; topic = waiting.shift()) {
        await codecs.prepareWriter(topic, { register: true });
        done += 1;
        say(`registered schemas of ${String(done)}/${String(topics.length)} topics`);
      }
    }),
  );
  writeFileSync(marker, wanted);
}

function keysIn(folder: string): SystemPlan['secrets'] {
  secretIn(folder, 'edge.key');
  secretIn(folder, 'lease.key');
  return { edgeKeyFile: join(folder, 'edge.key'), leaseKeyFile: join(folder, 'lease.key') };
}

/** Id of the logs of this data directory: as old as its data. */
function logIdIn(folder: string): string {
  return `dev-${secretIn(folder, 'log.id').slice(0, 16)}`;
}

function secretIn(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  if (!existsSync(path)) writeFileSync(path, randomBytes(32).toString('hex'), { mode: 0o600 });
  return readFileSync(path, 'utf8').trim();
}

const databaseName = (service: string): string => `recourse_${service.replaceAll('-', '_')}`;
