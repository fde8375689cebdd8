// Where everything is: flags first, then the environment, then the file that a development stack leaves in its data directory.
import { readFileSync } from 'node:fs';
import {
  databaseUrl,
  file,
  hostPorts,
  optional,
  passwordFile,
  readConfig,
  secretPath,
  secretText,
  text,
  url,
  withPassword,
} from '@recourse/config';
import type { ConfigOf } from '@recourse/config';
import type { RegistryWriter, Signing } from '@recourse/kafka';
import { findStack } from '@recourse/sdk';
import type { StackFile } from '@recourse/sdk';
import { refuseBadAddresses } from './addresses.js';
import { CliProblem } from './problem.js';
import { areWiresSaidOpen, keysToldOf, OPERATOR, signingOf } from './signing.js';
import type { KeysTold, KeysWanted } from './signing.js';

export { OPERATOR };

const HTTP = { protocols: ['http:', 'https:'] } as const;

export const CLI_CONFIG = {
  dataDir: optional(text('RECOURSE_DATA_DIR', { doc: 'Data directory of a development stack.' })),
  contractsUrl: optional(url('RECOURSE_CONTRACTS_URL', { doc: 'Contract registry.', ...HTTP })),
  ledgerUrl: optional(url('RECOURSE_LEDGER_URL', { doc: 'Mutation ledger.', ...HTTP })),
  recoveriesUrl: optional(url('RECOURSE_RECOVERIES_URL', { doc: 'Recovery orchestrator.', ...HTTP })),
  budgetUrl: optional(url('RECOURSE_BUDGET_URL', { doc: 'Budget accountant.', ...HTTP })),
  notifierUrl: optional(url('RECOURSE_NOTIFIER_URL', { doc: 'Notifier.', ...HTTP })),
  issuerUrl: optional(url('RECOURSE_ISSUER_URL', { doc: 'Development issuer of tokens.', ...HTTP })),
  brokers: optional(
    hostPorts('RECOURSE_KAFKA_BROKERS', { doc: 'Kafka brokers, for audits, replays and `log accept-…`.' }),
  ),
  kafkaUser: optional(text('RECOURSE_KAFKA_USER', { doc: 'As whom Kafka is asked, by SCRAM-SHA-512.' })),
  kafkaPassword: optional(passwordFile('RECOURSE_KAFKA_PASSWORD_FILE', { doc: "Password of Kafka's user." })),
  kafkaCa: optional(
    file('RECOURSE_KAFKA_CA_FILE', { doc: 'Certificates, PEM, that sign those of the brokers: connections are TLS.' }),
  ),
  registryUrl: optional(
    url('RECOURSE_REGISTRY_URL', {
      doc: 'Schema registry, Confluent interface, for audits, replays and `log accept-…`.',
      ...HTTP,
    }),
  ),
  registryUser: optional(text('RECOURSE_REGISTRY_USER', { doc: 'Who may write to it, for `cluster make-schemas`.' })),
  registryPassword: optional(passwordFile('RECOURSE_REGISTRY_PASSWORD_FILE', { doc: 'Password of who may.' })),
  logId: optional(text('RECOURSE_LOG_ID', { doc: 'Id of the logs; every genesis hash commits to it.' })),
  databaseUrl: optional(
    databaseUrl('RECOURSE_DATABASE_URL', {
      doc: 'Database of the service whose log is meant, for `replay --compare` and `log accept-…`.',
    }),
  ),
  databasePassword: optional(
    passwordFile('RECOURSE_DATABASE_PASSWORD_FILE', { doc: 'Password for it, when the address has none.' }),
  ),
  keyStoreUrl: optional(
    databaseUrl('RECOURSE_KEY_STORE_URL', {
      doc: 'Database of the keys that seal payloads, for packets of decisions with `--open`.',
    }),
  ),
  keyStorePassword: optional(
    passwordFile('RECOURSE_KEY_STORE_PASSWORD_FILE', { doc: 'Password for it, when the address has none.' }),
  ),
  wires: optional(
    text('RECOURSE_WIRES', {
      doc: 'strict or open, for audits, replays and `log accept-…`; strict where a keyring is named, or a development stack keeps one.',
    }),
  ),
  keyringFile: optional(
    text('RECOURSE_KEYRING_FILE', {
      doc: 'Public keys that sign logs: what their owners did not sign is void then. A secure development stack keeps its own.',
    }),
  ),
  signingKeyFile: optional(
    secretPath('RECOURSE_SIGNING_KEY_FILE', {
      doc: 'Private key of the service that owns a log, for `log accept-…`; a secure development stack keeps it.',
    }),
  ),
  signingKeyId: optional(text('RECOURSE_SIGNING_KEY_ID', { doc: 'Id under which the keyring holds that key.' })),
  token: optional(secretText('RECOURSE_TOKEN', { doc: 'Bearer token. Prefer a file.' })),
  tokenFile: optional(text('RECOURSE_TOKEN_FILE', { doc: 'File that holds a bearer token.' })),
  tenant: optional(text('RECOURSE_TENANT', { doc: 'Tenant to ask about.' })),
} as const;

export const SERVICES = ['contracts', 'ledger', 'recoveries', 'budgets'] as const;
/** Those that own logs, and the program that tells approvers. */
export type Service = (typeof SERVICES)[number] | 'notifier';

/** What the flags may say; names as commander gives them. */
export interface Flags {
  readonly json?: boolean;
  readonly dataDir?: string;
  readonly contractsUrl?: string;
  readonly ledgerUrl?: string;
  readonly recoveriesUrl?: string;
  readonly budgetUrl?: string;
  readonly notifierUrl?: string;
  readonly issuerUrl?: string;
  readonly brokers?: string;
  readonly registry?: string;
  readonly logId?: string;
  readonly databaseUrl?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly tenant?: string;
  readonly as?: string;
  readonly roles?: string;
}

/** A user of Kafka, and who signs its brokers; what is null is not asked. */
export interface KafkaUser {
  readonly user: string | null;
  readonly password: string | null;
  readonly ca: string | null;
}

/** Everything that is known; what is missing is asked for when it is needed. */
export interface Settings {
  /** Data directory of the development stack that was found; null without one. */
  readonly dataDir: string | null;
  readonly services: Readonly<Record<Service, string | null>>;
  readonly issuerUrl: string | null;
  readonly brokers: readonly string[] | null;
  /** As whom Kafka is asked: the environment's user, else one that a secure development stack keeps. */
  readonly kafkaAs: (user: string) => KafkaUser;
  readonly registryUrl: string | null;
  /** Who may write to it; null where it asks nobody. */
  readonly registryWriter: RegistryWriter | null;
  readonly logId: string | null;
  /** How logs are signed, and by whom; null where they are not, or nobody says. Errors: Failure(KEYRING_INVALID). */
  readonly signing: (wanted: KeysWanted) => Signing | null;
  /** The keyring for a process that reads logs for us. Errors: as of signing. */
  readonly keysTold: (wanted: Pick<KeysWanted, 'user'>) => KeysTold;
  /** Somebody says that nothing is signed. */
  readonly areWiresSaidOpen: boolean;
  /** Database of the service that owns a log, by service name. */
  readonly databaseOf: (service: string) => string | null;
  /** Database of the keys that seal payloads. */
  readonly keyStoreUrl: string | null;
  readonly token: string | null;
  readonly tokenFile: string | null;
  readonly tenant: string | null;
}

/** Resolves every address once. Errors: CliProblem(ADDRESS_INVALID, ENVIRONMENT_INVALID), ConnectProblem(STACK_FILE_UNREADABLE). */
export function resolveSettings(flags: Flags, environment: NodeJS.ProcessEnv, folder: string): Settings {
  refuseBadAddresses(flags, CLI_CONFIG);
  const env = environmentOf(environment);
  const system = findStack(flags.dataDir ?? env.dataDir, folder);
  return {
    dataDir: system?.dataDir ?? null,
    services: {
      contracts: flags.contractsUrl ?? env.contractsUrl ?? system?.urls.registry ?? null,
      ledger: flags.ledgerUrl ?? env.ledgerUrl ?? system?.urls.ledger ?? null,
      recoveries: flags.recoveriesUrl ?? env.recoveriesUrl ?? system?.urls.orchestrator ?? null,
      budgets: flags.budgetUrl ?? env.budgetUrl ?? system?.urls.budget ?? null,
      notifier: flags.notifierUrl ?? env.notifierUrl ?? system?.urls.notifier ?? null,
    },
    issuerUrl: flags.issuerUrl ?? env.issuerUrl ?? system?.urls.issuer ?? null,
    brokers: brokersOf(flags, env) ?? system?.brokers ?? null,
    kafkaAs: (user) => kafkaUserOf(user, env, system),
    registryUrl: flags.registry ?? env.registryUrl ?? system?.registryUrl ?? null,
    registryWriter: registryWriterOf(env),
    logId: flags.logId ?? env.logId ?? system?.logId ?? null,
    signing: (wanted) => signingOf(wanted, environment, system),
    keysTold: (wanted) => keysToldOf(wanted, environment, system),
    areWiresSaidOpen: areWiresSaidOpen(environment),
    databaseOf: (service) => {
      const named = flags.databaseUrl ?? env.databaseUrl;
      return named === undefined ? (system?.databases[service] ?? null) : withPassword(named, env.databasePassword);
    },
    keyStoreUrl:
      env.keyStoreUrl === undefined
        ? (system?.keyStoreUrl ?? null)
        : withPassword(env.keyStoreUrl, env.keyStorePassword),
    token: flags.token ?? (flags.tokenFile === undefined ? (env.token ?? null) : null),
    tokenFile: flags.tokenFile ?? env.tokenFile ?? null,
    tenant: flags.tenant ?? env.tenant ?? null,
  };
}

function brokersOf({ brokers }: Flags, env: ConfigOf<typeof CLI_CONFIG>): readonly string[] | undefined {
  return brokers === undefined ? env.brokers : CLI_CONFIG.brokers.schema.parse(brokers);
}

function registryWriterOf({
  registryUser: username,
  registryPassword: password,
}: ConfigOf<typeof CLI_CONFIG>): RegistryWriter | null {
  if (username !== undefined && password !== undefined) return { username, password };
  if (username === undefined && password === undefined) return null;
  throw new CliProblem('ENVIRONMENT_INVALID', 'only half of who writes to the registry is told', 'usage', {
    remedy: 'Set both of RECOURSE_REGISTRY_USER and RECOURSE_REGISTRY_PASSWORD_FILE, or neither.',
  });
}

function kafkaUserOf(wanted: string, env: ConfigOf<typeof CLI_CONFIG>, system: StackFile | null): KafkaUser {
  const { kafkaUser = null, kafkaPassword = null, kafkaCa: ca = null } = env;
  if ((kafkaUser === null) !== (kafkaPassword === null))
    throw new CliProblem('ENVIRONMENT_INVALID', "only half of Kafka's user is told", 'usage', {
      remedy: 'Set both of RECOURSE_KAFKA_USER and RECOURSE_KAFKA_PASSWORD_FILE, or neither.',
    });
  const kept = system?.kafkaUsers[wanted];
  if (kafkaUser !== null || kept === undefined) return { user: kafkaUser, password: kafkaPassword, ca };
  return { user: wanted, password: readFileSync(kept, 'utf8').trimEnd(), ca };
}

/** Only our own variables are looked at: a shell may well hold those of the services. */
function environmentOf(environment: NodeJS.ProcessEnv): ConfigOf<typeof CLI_CONFIG> {
  const read = readConfig(
    CLI_CONFIG,
    Object.fromEntries(Object.values(CLI_CONFIG).map(({ name }) => [name, environment[name]])),
  );
  if (read.ok) return read.config;
  const problems = read.problems.map(({ code, message }) => ({ code, message }));
  throw new CliProblem('ENVIRONMENT_INVALID', `${problems.length} variables cannot be used`, 'usage', { problems });
}

/** The value, or what to do about its absence. Errors: CliProblem(ADDRESS_UNKNOWN). */
export function known<T>(value: T | null, what: string, flag: string): T {
  if (value !== null) return value;
  throw new CliProblem('ADDRESS_UNKNOWN', `nothing says ${what}`, 'usage', {
    remedy: `Start a stack with \`npm start\`, name its --data-dir, or pass ${flag}.`,
  });
}
