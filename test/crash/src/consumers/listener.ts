// What every consumer of the crash runs needs to know, and how a notice becomes a word.
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import type { Notification } from '@recourse/sdk';
import type { Word } from './heard.decisions.js';

/** How a consumer reads. */
export const LISTENER_KINDS = ['inbox', 'file', 'group'] as const;
export type ListenerKind = (typeof LISTENER_KINDS)[number];

/** Where everything is, and who this consumer is. */
export interface Listener {
  readonly name: string;
  readonly scope: string;
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly logId: string;
  readonly partitionCount: number;
  readonly databaseUrl: string;
  /** Where files are kept; of the consumer alone. */
  readonly directory: string;
}

/** Variables of a listener's process. */
export interface ListenerEnv {
  readonly NAME: string;
  readonly KIND: ListenerKind;
  readonly SCOPE: string;
  readonly BROKERS: string;
  readonly REGISTRY_URL: string;
  readonly LOG_ID: string;
  readonly PARTITIONS: string;
  readonly DATABASE_URL: string;
  readonly DIRECTORY: string;
}

/** Reads them. Errors: the first that is not set. */
export function listenerOf(env: NodeJS.ProcessEnv): Listener {
  const given = (name: keyof ListenerEnv): string => {
    const value = env[name];
    if (value === undefined || value === '') throw new Error(`${name} is not set`);
    return value;
  };
  return {
    name: given('NAME'),
    scope: given('SCOPE'),
    logId: given('LOG_ID'),
    partitionCount: Number(given('PARTITIONS')),
    databaseUrl: given('DATABASE_URL'),
    directory: given('DIRECTORY'),
    kafka: createKafka({ brokers: given('BROKERS').split(','), clientId: given('NAME') }),
    codecs: createCodecs(createSchemaRegistry({ url: given('REGISTRY_URL') })),
  };
}

/** The word of a record of the notifications log, named by its place there; null for those that name no commit or rollback. */
export function wordAt(
  partition: number,
  seq: number,
  { type, body }: Pick<Notification, 'type' | 'body'>,
): Word | null {
  if (type !== 'CommitAnnounced' && type !== 'RollbackAnnounced') return null;
  const { run_id, mutation_id } = body as { readonly run_id: string; readonly mutation_id: string }; // both types have them; a picked union forgets which
  return {
    id: `${String(partition)}/${String(seq)}`,
    kind: type === 'CommitAnnounced' ? 'commit' : 'rollback',
    runId: run_id,
    commitId: mutation_id,
  };
}

/** The word of a consumer that is handed commits and rollbacks, named by its commit: it has no place. */
export function wordOf(
  kind: Word['kind'],
  { runId, commitId }: { readonly runId: string; readonly commitId: string },
): Word {
  return { id: `${kind} ${commitId}`, kind, runId, commitId };
}

/** Says what went wrong, for the log of the process. */
export function complain(cause: unknown): void {
  process.stderr.write(`${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
}
