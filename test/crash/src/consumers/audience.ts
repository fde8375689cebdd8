// The consumers of these runs: who they are, how they read, and what each of them has heard.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcesses } from '@recourse/dev-stack';
import type { DatabaseAddress, DevStack, Processes, ProcessSpec, SystemPlan } from '@recourse/dev-stack';
import type { Pool } from 'pg';
import { PARTITIONS } from '../arena.js';
import { OPERATOR, TENANT } from '../edge.js';
import type { Command } from '../edge.js';
import { wordsInFile } from './file-listener.js';
import { GROUP } from './group-listener.js';
import { onceOf } from './heard.decisions.js';
import type { Word } from './heard.decisions.js';
import { wordsHeard } from './heard-table.js';
import type { ListenerEnv, ListenerKind } from './listener.js';

/** A consumer, which may be several processes. */
export interface Consumer {
  readonly name: string;
  readonly kind: ListenerKind;
  readonly scope: string;
  readonly processes: readonly string[];
  /** Starts when a third is told, from the beginning of the log. */
  readonly isLate: boolean;
}

export const CONSUMERS: readonly Consumer[] = [
  { name: 'mailer', kind: 'inbox', scope: TENANT, processes: ['mailer'], isLate: false },
  { name: 'reports', kind: 'inbox', scope: `${TENANT}/agent-1`, processes: ['reports'], isLate: true },
  { name: 'archive', kind: 'file', scope: TENANT, processes: ['archive'], isLate: false },
  { name: GROUP, kind: 'group', scope: TENANT, processes: [`${GROUP}-1`, `${GROUP}-2`], isLate: false },
];
/** Those that subscribe, and so are waited for. */
export const SUBSCRIBED = CONSUMERS.filter(({ kind }) => kind === 'inbox');

/** Long enough for any mode. */
const COMMIT_TO_USER_MS = 60_000;
const ENTRY = fileURLToPath(new URL('listener.main.js', import.meta.url));
const READY_WITHIN_MS = 60_000;

/** What registers a subscription. */
export function subscriptionOf({ name, scope }: Consumer): Command {
  const entry = {
    owner: 'platform',
    doc: 'Hears of rollbacks while it is killed.',
    consumer: name,
    scope,
    mode: 'async',
    commit_to_user_ms: COMMIT_TO_USER_MS,
  };
  return {
    side: 'registry',
    path: '/v1/entries/subscription',
    body: { name, entry },
    person: OPERATOR,
    key: `subscription-${name}`,
  };
}

export interface Place {
  readonly stack: DevStack;
  readonly plan: SystemPlan;
  readonly database: DatabaseAddress;
  readonly pool: Pool;
  readonly onTrouble: (what: string) => void;
}

/** Starts processes of some consumers, and starts again those that end by themselves. Errors: the first that does not run. */
export async function startConsumers(consumers: readonly Consumer[], place: Place): Promise<Processes> {
  const { stack, onTrouble } = place;
  const started = await startProcesses(
    consumers.flatMap((consumer) => consumer.processes.map((name) => specOf(name, consumer, place))),
    {
      logDir: join(stack.dataDir, 'logs'),
      book: stack.book,
      onExit: (name, how) => {
        onTrouble(`${name} ended by itself: ${how}`);
        void started.start(name).catch((cause: unknown) => {
          onTrouble(String(cause));
        });
      },
    },
  );
  return started;
}

/** What a consumer heard, in its order; of one that hears at least once, each word at its first time. */
export async function heardBy(
  { kind, name }: Consumer,
  { stack, pool }: Pick<Place, 'stack' | 'pool'>,
): Promise<readonly Word[]> {
  return kind === 'file' ? onceOf(await wordsInFile(folderOf(stack, name))) : wordsHeard(pool, name);
}

function specOf(name: string, { kind, scope }: Consumer, { stack, plan, database }: Place): ProcessSpec {
  const env: ListenerEnv = {
    NAME: name,
    KIND: kind,
    SCOPE: scope,
    BROKERS: stack.kafka.brokers.join(','),
    REGISTRY_URL: stack.registryUrl,
    LOG_ID: plan.logId,
    PARTITIONS: String(PARTITIONS),
    DATABASE_URL: database.url,
    DIRECTORY: folderOf(stack, name),
  };
  return { name, entry: ENTRY, env: { ...env }, readyUrl: null, readyWithinMs: READY_WITHIN_MS };
}

const folderOf = (stack: DevStack, name: string): string => join(stack.dataDir, 'consumers', name);
