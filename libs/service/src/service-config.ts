// Variables that programs share.
import {
  databaseUrl,
  file,
  hostPort,
  hostPorts,
  integer,
  networks,
  oneOf,
  optional,
  passwordFile,
  port,
  secretFile,
  secretPath,
  text,
  url,
  withPassword,
} from '@recourse/config';
import type { ConfigOf } from '@recourse/config';
import { ISOLATIONS } from '@recourse/kafka';
import type { LimitRates } from './edge/limits.js';

/** Variables of every program that reads logs, has a database of its own and answers HTTP. */
export const EDGE_CONFIG = {
  brokers: hostPorts('RECOURSE_KAFKA_BROKERS', { doc: 'Kafka brokers for the first connection.' }),
  kafkaVia: optional(
    hostPort('RECOURSE_KAFKA_VIA', {
      doc: 'One `host:port` that every connection to a broker goes to, whatever brokers advertise (a tunnel, a proxy).',
    }),
  ),
  kafkaUser: optional(
    text('RECOURSE_KAFKA_USER', {
      doc: 'As whom the program speaks to Kafka, by SCRAM-SHA-512. Together with the file of its password.',
    }),
  ),
  kafkaPassword: optional(passwordFile('RECOURSE_KAFKA_PASSWORD_FILE', { doc: "Password of Kafka's user." })),
  kafkaCa: optional(
    file('RECOURSE_KAFKA_CA_FILE', {
      doc: 'Certificates, PEM, that sign those of the brokers: connections are TLS. Without it they are in clear text.',
    }),
  ),
  wires: oneOf('RECOURSE_WIRES', ['strict', 'open'], {
    doc: '`strict`: wires and logs are signed, and nobody without a key in the keyring is believed. `open`: whoever reaches the broker is believed, as in the development stack.',
    fallback: 'strict',
  }),
  keyringFile: optional(
    text('RECOURSE_KEYRING_FILE', {
      doc: 'Public keys that speak on wires and sign logs, as JSON. Needed where wires are strict; read again when it changes.',
    }),
  ),
  signingKeyFile: optional(
    secretPath('RECOURSE_SIGNING_KEY_FILE', {
      doc: 'Ed25519 private key of this process, PKCS#8 in PEM. Needed by whoever writes where wires are strict.',
    }),
  ),
  signingKeyId: optional(text('RECOURSE_SIGNING_KEY_ID', { doc: 'Id under which the keyring holds that key.' })),
  registryUrl: url('RECOURSE_REGISTRY_URL', {
    doc: 'Schema registry, Confluent interface.',
    protocols: ['http:', 'https:'],
  }),
  logId: text('RECOURSE_LOG_ID', {
    doc: "Id of this deployment's logs; every genesis hash commits to it, so it never changes.",
  }),
  databaseUrl: databaseUrl('RECOURSE_DATABASE_URL', { doc: "The service's own database, with its own role." }),
  databasePassword: optional(
    passwordFile('RECOURSE_DATABASE_PASSWORD_FILE', { doc: 'Password of the role, when the address has none.' }),
  ),
  httpHost: text('RECOURSE_HTTP_HOST', { doc: 'Address the HTTP edge listens on.', fallback: '127.0.0.1' }),
  httpPort: port('RECOURSE_HTTP_PORT', { doc: 'Port the HTTP edge listens on.' }),
  jwksFile: optional(
    text('RECOURSE_JWKS_FILE', { doc: 'Public keys of the token issuer, as a file. Exactly one of file and address.' }),
  ),
  jwksUrl: optional(
    url('RECOURSE_JWKS_URL', {
      doc: 'Public keys of the token issuer, as an address. It is not ready before that has given keys once, and keeps them while it gives no others.',
      protocols: ['http:', 'https:'],
    }),
  ),
  jwtIssuer: text('RECOURSE_JWT_ISSUER', { doc: 'The only issuer whose tokens are taken.' }),
  jwtAudience: text('RECOURSE_JWT_AUDIENCE', { doc: 'The only audience for which tokens are taken.' }),
  directoryFile: optional(
    text('RECOURSE_DIRECTORY_FILE', {
      doc: 'People who have several accounts, as JSON: `{"<subject>": ["<account>", …]}`. Read again when it changes. Without it each account is its own person.',
    }),
  ),
  docs: oneOf('RECOURSE_DOCS', ['token', 'public'], {
    doc: 'Who reads the OpenAPI document and its page: whoever has a token, or everybody, as in a development stack.',
    fallback: 'token',
  }),
  trustedProxies: optional(
    networks('RECOURSE_TRUSTED_PROXIES', {
      doc: 'Proxies in front of the edge: whom they ask for (`X-Forwarded-For`) is believed, and counted in their place. Unset: nobody is.',
    }),
  ),
  addressPerSecond: integer('RECOURSE_ADDRESS_REQUESTS_PER_SECOND', {
    doc: 'Requests that one address may send in the long run, twice as many at once; beyond that 429. A proxy that is not trusted is one address, and a network of IPv6 (/64).',
    min: 1,
    max: 1_000_000,
    unit: 'requests a second',
    fallback: '5000',
  }),
  principalPerSecond: integer('RECOURSE_PRINCIPAL_REQUESTS_PER_SECOND', {
    doc: 'Requests that one person or program may send in the long run, twice as many at once; beyond that 429.',
    min: 1,
    max: 1_000_000,
    unit: 'requests a second',
    fallback: '1000',
  }),
  badTokensPerSecond: integer('RECOURSE_BAD_TOKENS_PER_SECOND', {
    doc: 'Tokens that are none which one address may send in the long run, twenty times as many at once; beyond that 429, before they are verified.',
    min: 1,
    max: 1_000_000,
    unit: 'tokens a second',
    fallback: '5',
  }),
  instance: text('RECOURSE_INSTANCE', { doc: 'Name of this process among those of its service.', fallback: '1' }),
  logLevel: oneOf('RECOURSE_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], {
    doc: 'Least severe level that is logged.',
    fallback: 'info',
  }),
} as const;

/** Variables that every service has: it also owns a log, seals payloads and takes commands. */
export const SERVICE_CONFIG = {
  ...EDGE_CONFIG,
  sessionTimeoutMs: integer('RECOURSE_KAFKA_SESSION_TIMEOUT_MS', {
    doc: 'How long an instance may be silent before others take over its partitions. No less than the `group.min.session.timeout.ms` of the brokers, which is 6000 unless they say otherwise.',
    min: 500,
    max: 60_000,
    unit: 'milliseconds',
    fallback: '6000',
  }),
  wireIsolation: oneOf('RECOURSE_WIRES_ISOLATION', ISOLATIONS, {
    doc: '`committed`: a record of a transaction is read from a wire once it is committed, and what lies behind an open one waits. `uncommitted`: every record is read at once, also those that are taken back later. Logs are always read as they lie.',
    fallback: 'committed',
  }),
  transactionOpenMs: integer('RECOURSE_TRANSACTION_OPEN_MS', {
    doc: 'How long a transaction of somebody else may hold a partition of a wire before the service is not ready, with `TRANSACTION_OPEN`.',
    min: 1_000,
    max: 3_600_000,
    unit: 'milliseconds',
    fallback: '30000',
  }),
  clockAheadMaxMs: integer('RECOURSE_CLOCK_AHEAD_MAX_MS', {
    doc: 'How far the clock of the database may be ahead of the clock of the service; beyond that nothing is decided.',
    min: 1_000,
    max: 86_400_000,
    unit: 'milliseconds',
    fallback: '60000',
  }),
  keyStoreUrl: databaseUrl('RECOURSE_KEY_STORE_URL', {
    doc: "Database of the keys that seal payloads, apart from every service's own.",
  }),
  keyStorePassword: optional(
    passwordFile('RECOURSE_KEY_STORE_PASSWORD_FILE', { doc: 'Password for the key store, when the address has none.' }),
  ),
  keyBelievedMs: integer('RECOURSE_KEY_BELIEVED_MS', {
    doc: 'How long a key is used without asking the key store again whether it was destroyed.',
    min: 1_000,
    max: 60_000,
    unit: 'milliseconds',
    fallback: '60000',
  }),
  sealWindowMs: integer('RECOURSE_SEAL_WINDOW_MS', {
    doc: 'Length of a retention window: what was recorded about a subject within one window is erased together.',
    min: 60_000,
    max: 400 * 86_400_000,
    unit: 'milliseconds',
    fallback: '2592000000',
  }),
  edgeKey: secretFile('RECOURSE_EDGE_KEY_FILE', {
    doc: 'Key under which the edge signs commands and the loop checks them.',
  }),
  patienceMs: integer('RECOURSE_PATIENCE_MS', {
    doc: 'Longest wait for the outcome of a command before 202 is answered.',
    min: 0,
    max: 60_000,
    unit: 'milliseconds',
    fallback: '10000',
  }),
  traceFile: optional(
    text('RECOURSE_TRACE_FILE', {
      doc: 'File to which spans of recoveries are appended, one OpenTelemetry JSON export request per line. Without it nothing is traced.',
    }),
  ),
} as const;

/** Variables of every service that asks workers, and people after them. */
export const LEASE_CONFIG = {
  leaseKey: secretFile('RECOURSE_LEASE_KEY_FILE', {
    doc: 'Secret that signs leases, so that nobody can answer a request they were not sent.',
  }),
  leaseMs: integer('RECOURSE_LEASE_MS', {
    doc: 'Longest a worker may hold a leg.',
    min: 1_000,
    max: 3_600_000,
    unit: 'milliseconds',
    fallback: '30000',
  }),
  reviewDeadlineMs: integer('RECOURSE_REVIEW_DEADLINE_MS', {
    doc: 'How long an open item may wait for a person.',
    min: 1_000,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '86400000',
  }),
} as const;

export type EdgeConfig = ConfigOf<typeof EDGE_CONFIG>;
export type ServiceConfig = ConfigOf<typeof SERVICE_CONFIG>;

/** How often somebody may ask. */
export function limitsOf({
  addressPerSecond,
  principalPerSecond,
  badTokensPerSecond,
}: Pick<EdgeConfig, 'addressPerSecond' | 'principalPerSecond' | 'badTokensPerSecond'>): LimitRates {
  return {
    address: { burst: 2 * addressPerSecond, perSecond: addressPerSecond },
    principal: { burst: 2 * principalPerSecond, perSecond: principalPerSecond },
    badTokens: { burst: 20 * badTokensPerSecond, perSecond: badTokensPerSecond },
  };
}

/** Where the keys are. Errors: TypeError unless exactly one place is given. */
export function jwksOf({
  jwksFile,
  jwksUrl,
}: Pick<ServiceConfig, 'jwksFile' | 'jwksUrl'>): { readonly file: string } | { readonly url: string } {
  if (jwksFile !== undefined && jwksUrl === undefined) return { file: jwksFile };
  if (jwksUrl !== undefined && jwksFile === undefined) return { url: jwksUrl };
  throw new TypeError('set exactly one of RECOURSE_JWKS_FILE (a path) and RECOURSE_JWKS_URL (an address)');
}

/** The address with the password of the file, when there is one. Errors: Failure(CONFIG_INVALID). */
export function databaseUrlOf({
  databaseUrl,
  databasePassword,
}: Pick<ServiceConfig, 'databaseUrl' | 'databasePassword'>): string {
  return withPassword(databaseUrl, databasePassword);
}

/** Address of the key store, with its password. Errors: Failure(CONFIG_INVALID). */
export function keyStoreUrlOf({
  keyStoreUrl,
  keyStorePassword,
}: Pick<ServiceConfig, 'keyStoreUrl' | 'keyStorePassword'>): string {
  return withPassword(keyStoreUrl, keyStorePassword);
}
