// Environment of the auditor, and of a witness.
import {
  file,
  hostPorts,
  integer,
  oneOf,
  optional,
  passwordFile,
  port,
  secretPath,
  secretTextFile,
  text,
  url,
} from '@recourse/config';
import type { ConfigOf } from '@recourse/config';

const MS = { unit: 'milliseconds' } as const;

export const CONFIG = {
  brokers: hostPorts('RECOURSE_KAFKA_BROKERS', { doc: 'Kafka brokers for the first connection.' }),
  kafkaUser: optional(text('RECOURSE_KAFKA_USER', { doc: 'As whom the auditor speaks to Kafka, by SCRAM-SHA-512.' })),
  kafkaPassword: optional(passwordFile('RECOURSE_KAFKA_PASSWORD_FILE', { doc: "Password of Kafka's user." })),
  kafkaCa: optional(
    file('RECOURSE_KAFKA_CA_FILE', { doc: 'Certificates, PEM, that sign those of the brokers: connections are TLS.' }),
  ),
  wires: oneOf('RECOURSE_WIRES', ['strict', 'open'], {
    doc: '`strict`: what the owner of a log did not sign is void. `open`: whoever reaches the broker is believed.',
    fallback: 'strict',
  }),
  keyringFile: optional(text('RECOURSE_KEYRING_FILE', { doc: 'Public keys that sign logs, as JSON.' })),
  signingKeyFile: optional(
    secretPath('RECOURSE_SIGNING_KEY_FILE', {
      doc: "Key that signs the auditor's records in its log, where wires are strict.",
    }),
  ),
  signingKeyId: optional(text('RECOURSE_SIGNING_KEY_ID', { doc: 'Id under which the keyring holds that key.' })),
  registryUrl: url('RECOURSE_REGISTRY_URL', {
    doc: 'Schema registry, Confluent interface.',
    protocols: ['http:', 'https:'],
  }),
  logId: text('RECOURSE_LOG_ID', { doc: 'Id of the logs; every genesis hash commits to it.' }),
  keyName: text('RECOURSE_AUDITOR_NAME', {
    doc: 'Name under which heads are signed; readers know the key by it.',
    fallback: 'recourse-auditor',
  }),
  key: secretTextFile('RECOURSE_AUDITOR_KEY_FILE', {
    doc: 'Ed25519 private key that signs heads, PKCS#8 in PEM. Nobody who writes a log has it.',
  }),
  folder: text('RECOURSE_AUDITOR_FOLDER', {
    doc: 'Where trees and signed heads are kept, outside the cluster. What is lost is read again, but for wires.',
  }),
  witnesses: optional(
    text('RECOURSE_AUDITOR_WITNESSES', {
      doc: 'Witnesses that sign every head with the auditor: `<verifier key>=<address>`, with commas.',
    }),
  ),
  everyRecords: integer('RECOURSE_AUDITOR_EVERY_RECORDS', {
    doc: 'A partition that has grown by so many records is signed at once.',
    min: 1,
    max: 10_000_000,
    unit: 'records',
    fallback: '10000',
  }),
  everyMs: integer('RECOURSE_AUDITOR_EVERY_MS', {
    doc: 'Whatever has grown is signed so often.',
    min: 100,
    max: 86_400_000,
    ...MS,
    fallback: '5000',
  }),
  voidsPermilleMax: integer('RECOURSE_AUDITOR_VOIDS_PERMILLE_MAX', {
    doc: 'Void records among the last two thousand of a partition above which an alarm is raised.',
    min: 1,
    max: 1_000,
    unit: 'thousandths',
    fallback: '100',
  }),
  httpHost: text('RECOURSE_HTTP_HOST', { doc: 'Address its health is told on.', fallback: '127.0.0.1' }),
  httpPort: port('RECOURSE_HTTP_PORT', { doc: 'Port its health is told on.' }),
  logLevel: oneOf('RECOURSE_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], {
    doc: 'Least severe level that is logged.',
    fallback: 'info',
  }),
} as const;
export type AuditorConfig = ConfigOf<typeof CONFIG>;

export const WITNESS_CONFIG = {
  keyName: text('RECOURSE_WITNESS_NAME', { doc: 'Name under which the witness signs.', fallback: 'recourse-witness' }),
  key: secretTextFile('RECOURSE_WITNESS_KEY_FILE', { doc: 'Ed25519 private key of the witness, PKCS#8 in PEM.' }),
  auditors: text('RECOURSE_WITNESS_AUDITORS', {
    doc: 'Verifier keys of the auditors whose heads it signs, with commas.',
  }),
  folder: text('RECOURSE_WITNESS_FOLDER', { doc: 'Where it keeps what it signed last of each log.' }),
  httpHost: text('RECOURSE_HTTP_HOST', { doc: 'Address it listens on.', fallback: '127.0.0.1' }),
  httpPort: port('RECOURSE_HTTP_PORT', { doc: 'Port it listens on.' }),
} as const;
