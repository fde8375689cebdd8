// The processes of a system: what each is told in its environment, and when it counts as ready.
//
// Boundary: plans; provisioning is system.ts, starting them is processes.ts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECEIVER } from '@recourse/example-drifted-refund';
import type { ProcessSpec as ExampleSpec } from '@recourse/example-drifted-refund';
import { ADAPTERS } from '@recourse/example-little-services';
import { root } from '../../../scripts/lib/paths.mjs';
import type { DatabaseAddress } from './databases.js';
import type { ProcessSpec } from './processes.js';
import { secretIn } from './secrets.js';
import { CONSOLE, NOTIFIER, SERVICES } from './system.plan.js';
import type { ServiceName, SystemOptions, SystemPlan } from './system.plan.js';
import type { StackFacts } from './stack.js';
import { layoutOf } from './stack-data.js';
import { userVariables } from './users.js';

/** A development stack lets every source roll back by itself, as often as it likes; production is careful (docs/reference/config.md). */
const OPEN_ADMISSION = { RECOURSE_SOURCE_TRUST: 'off', RECOURSE_STORM_LIMIT: '0', RECOURSE_CLOSURE_MAX: '0' } as const;

/** Services that ask workers, with the time a development stack gives these. */
const LEASING: readonly ServiceName[] = ['mutation-ledger', 'recovery-orchestrator'];
const SHORT_LEASE = { RECOURSE_LEASE_MS: '5000' } as const;

/** By which settings a service of this stack decides that are not the defaults. Pure. */
function tuningOf(service: ServiceName, { serviceEnv, envOf }: Pick<SystemOptions, 'serviceEnv' | 'envOf'>): Env {
  return {
    ...(LEASING.includes(service) ? SHORT_LEASE : {}),
    ...(service === 'mutation-ledger' ? OPEN_ADMISSION : {}),
    ...serviceEnv,
    ...envOf?.[service],
  };
}

type Env = Readonly<Record<string, string>>;

/** The same of all of them, as a file that `recourse audit story --settings` takes. Pure. */
export function settingsFileOf(options: Pick<SystemOptions, 'serviceEnv' | 'envOf'>): string {
  const all = Object.assign({}, ...SERVICES.map((service) => tuningOf(service, options))) as Env;
  return Object.entries(all)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

const ISSUER = 'https://issuer.recourse.test';
const AUDIENCE = 'recourse';
export interface Planning extends SystemOptions {
  readonly stack: StackFacts;
  readonly secrets: SystemPlan['secrets'];
  readonly logId: string;
  readonly databases: Readonly<Record<ServiceName, DatabaseAddress>>;
  readonly keyStoreUrl: string;
  readonly notifierDatabaseUrl: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly instances: number;
}

/** The first instance carries the service's name alone. */
export function processName(service: string, index: number): string {
  return index === 0 ? service : `${service}-${String(index + 1)}`;
}

/** Base addresses of the first instance of everything. */
export function urlsOf(ports: Readonly<Record<string, number>>): SystemPlan['urls'] {
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
    console: at(CONSOLE),
  };
}

export function issuerProcess({ dataDir, ports }: Planning): ProcessSpec {
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

export function serviceProcesses(plan: Planning): readonly ProcessSpec[] {
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
          RECOURSE_WIRES: 'open',
          RECOURSE_REGISTRY_URL: plan.stack.registryUrl,
          ...userVariables(plan.stack, plan.dataDir, service),
          RECOURSE_LOG_ID: plan.logId,
          RECOURSE_DATABASE_URL: plan.databases[service].url,
          RECOURSE_KEY_STORE_URL: plan.keyStoreUrl,
          RECOURSE_HTTP_PORT: port,
          RECOURSE_JWKS_URL: `http://127.0.0.1:${String(plan.ports['issuer'])}/jwks.json`,
          RECOURSE_JWT_ISSUER: ISSUER,
          RECOURSE_JWT_AUDIENCE: AUDIENCE,
          RECOURSE_DOCS: 'public',
          RECOURSE_EDGE_KEY_FILE: plan.secrets.edgeKeyFile,
          RECOURSE_INSTANCE: String(index + 1),
          ...(LEASING.includes(service) ? { RECOURSE_LEASE_KEY_FILE: plan.secrets.leaseKeyFile } : {}),
          ...tuningOf(service, plan),
        },
      };
    }),
  );
}

/** The notifier, and the receiver it tells unless other endpoints are given. */
export function notifierProcesses(plan: Planning): readonly ProcessSpec[] {
  const { dataDir, ports, stack, logId, webhooksFile, notifierEnv } = plan;
  const urls = urlsOf(ports);
  const secret = `whsec_${Buffer.from(secretIn(join(dataDir, 'secrets'), 'webhook.key'), 'hex').toString('base64')}`;
  const file = webhooksFile ?? exampleEndpoints(dataDir, urls.receiver, secret);
  return [
    ...(webhooksFile === undefined ? [receiverProcess(plan, secret)] : []),
    {
      name: NOTIFIER,
      entry: join(root, 'apps/notifier/dist/main.js'),
      stage: 2,
      readyWithinMs: 60_000,
      readyUrl: `${urls.notifier}/health/ready`,
      env: {
        RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
        RECOURSE_WIRES: 'open',
        RECOURSE_REGISTRY_URL: stack.registryUrl,
        ...userVariables(stack, dataDir, NOTIFIER),
        RECOURSE_LOG_ID: logId,
        RECOURSE_DATABASE_URL: plan.notifierDatabaseUrl,
        RECOURSE_HTTP_PORT: String(ports[NOTIFIER]),
        RECOURSE_JWKS_URL: `${urls.issuer}/jwks.json`,
        RECOURSE_JWT_ISSUER: ISSUER,
        RECOURSE_JWT_AUDIENCE: AUDIENCE,
        RECOURSE_DOCS: 'public',
        RECOURSE_WEBHOOKS_FILE: file,
        RECOURSE_LEDGER_URL: urls.ledger,
        RECOURSE_RECOVERIES_URL: urls.orchestrator,
        RECOURSE_BUDGET_URL: urls.budget,
        ...(CONSOLE in ports ? { RECOURSE_CONSOLE_URL: urls.console } : {}),
        ...notifierEnv,
      },
    },
  ];
}

/** The console, which signs people in at the development issuer. */
export function consoleProcess({ ports, dataDir }: Planning): ProcessSpec {
  const urls = urlsOf(ports);
  return {
    name: CONSOLE,
    entry: join(root, 'apps/console/dist/main.js'),
    stage: 1,
    readyUrl: `${urls.console}/health`,
    env: {
      RECOURSE_HTTP_PORT: String(ports[CONSOLE]),
      RECOURSE_CONSOLE_URL: urls.console,
      RECOURSE_JWT_ISSUER: ISSUER,
      RECOURSE_OIDC_DISCOVERY_URL: `${urls.issuer}/.well-known/openid-configuration`,
      RECOURSE_CONTRACTS_URL: urls.registry,
      RECOURSE_LEDGER_URL: urls.ledger,
      RECOURSE_RECOVERIES_URL: urls.orchestrator,
      RECOURSE_BUDGET_URL: urls.budget,
      RECOURSE_NOTIFIER_URL: urls.notifier,
      RECOURSE_CONSOLE_DRILLS_FILE: join(dataDir, 'drills.jsonl'),
    },
  };
}

/** The example receiver, which checks the signature of what it is told. */
function receiverProcess({ ports }: Planning, secret: string): ProcessSpec {
  return {
    name: RECEIVER.name,
    entry: RECEIVER.entry,
    stage: 1,
    readyUrl: `${urlsOf(ports).receiver}/health`,
    env: { PORT: String(ports[RECEIVER.name]), WEBHOOK_SECRET: secret },
  };
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

export function exampleProcesses(plan: Planning, examples: readonly ExampleSpec[]): readonly ProcessSpec[] {
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
  return examples.map(({ name, entry, variables, optional, speaksAs }): ProcessSpec => {
    const port = String(ports[name]);
    const wanted = [...variables, ...optional].filter((variable) => known[variable] !== undefined);
    return {
      name,
      entry,
      stage: 2,
      readyUrl: `http://127.0.0.1:${port}/health`,
      env: {
        PORT: port,
        DATA_DIR: join(layoutOf(dataDir).programs, name),
        ...(speaksAs === undefined ? {} : userVariables(stack, dataDir, name)),
        ...Object.fromEntries(wanted.map((variable) => [variable, known[variable] ?? ''])),
        ...(speaksAs?.as === 'worker' && speaksAs.observes === true
          ? { WORKER_ID: `${name}-1`, OBSERVES: 'true' }
          : {}),
      },
    };
  });
}
