// What every consumer of the crash runs needs to know, and how a notice becomes a word.
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs, TopicRecords } from '@recourse/messages';
import { announcedIn } from '@recourse/sdk';
import type { NOTIFICATIONS_TOPIC } from '@recourse/sdk';
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

/** A record of the notifications log. */
type Notice = TopicRecords[typeof NOTIFICATIONS_TOPIC];

/** The words of a notice, two of each commit that was rolled back, named by their place in the log; none for those that announce no rollback. */
export function wordsAt(partition: number, seq: number, notice: Notice): readonly Word[] {
  if (notice.type !== 'RollbackAnnounced') return [];
  return announcedIn(notice.body).flatMap(({ run_id: runId, mutation_id: commitId }, index) =>
    (['commit', 'rollback'] as const).map((kind): Word => {
      const id = `${kind} ${String(partition)}/${String(seq)}/${String(index)}`;
      return { id, kind, runId, commitId };
    }),
  );
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
