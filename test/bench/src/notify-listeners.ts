// Consumers of rollbacks for the notify bench, all in this process, and what each of them heard.
import { systemClock, createRollbackConsumer, MemoryInbox } from '@recourse/sdk';
import { say } from './bench-stack.js';
import type { LineageSystem } from './lineage-system.js';
import { TENANT } from './recovery-actions.js';
import { sharedClockMs } from './worker-process.js';

/** Consumers that subscribe and start side by side. */
const START_AT_ONCE = 10;

/** What a consumer was told about one commit, and when. */
export interface Heard {
  readonly what: 'commit' | 'rollback';
  readonly commitId: string;
  readonly atMs: number;
}

export interface Listeners {
  /** What each consumer heard, in its order. */
  readonly heard: readonly (readonly Heard[])[];
  /** Errors that consumers met on their way. */
  readonly troubles: readonly unknown[];
  /** Stops them and takes their subscriptions away. */
  stop(): Promise<void>;
}

/** Did a consumer hear each commit once and its rollback once after it, and of nothing else? Pure. */
export function isEachOnceInOrder(heard: readonly Pick<Heard, 'what' | 'commitId'>[], ids: readonly string[]): boolean {
  const at = new Map(heard.map(({ what, commitId }, index) => [`${what} ${commitId}`, index] as const));
  return (
    heard.length === 2 * ids.length &&
    at.size === heard.length &&
    ids.every((id) => (at.get(`commit ${id}`) ?? Infinity) < (at.get(`rollback ${id}`) ?? -1))
  );
}

/** Registers a subscription for each of so many consumers to what an agent commits, and starts them. */
export async function listen(
  system: LineageSystem,
  { agent, count, partitions }: { readonly agent: string; readonly count: number; readonly partitions: number },
): Promise<Listeners> {
  say(`${String(count)} consumers subscribe`);
  const troubles: unknown[] = [];
  const opened: Listener[] = [];
  for (let from = 0; from < count; from += START_AT_ONCE) {
    const names = Array.from(
      { length: Math.min(START_AT_ONCE, count - from) },
      (_, at) => `${agent}-${String(from + at)}`,
    );
    const scope = `${TENANT}/${agent}`;
    opened.push(
      ...(await Promise.all(names.map((consumer) => open(system, { consumer, scope, partitions, troubles })))),
    );
  }
  return {
    heard: opened.map(({ heard }) => heard),
    troubles,
    stop: async () => {
      await Promise.all(opened.map(({ stop }) => stop()));
    },
  };
}

interface Listener {
  readonly heard: readonly Heard[];
  readonly stop: () => Promise<void>;
}

interface Wanted {
  readonly consumer: string;
  readonly scope: string;
  readonly partitions: number;
  /** Takes the errors that the consumer meets. */
  readonly troubles: unknown[];
}

async function open(
  { bench, plan, subscribe, withdraw }: LineageSystem,
  { consumer, scope, partitions, troubles }: Wanted,
): Promise<Listener> {
  await subscribe(consumer, scope);
  const heard: Heard[] = [];
  const note =
    (what: Heard['what']) =>
    ({ commitId }: { readonly commitId: string }): Promise<void> => {
      heard.push({ what, commitId, atMs: sharedClockMs() });
      return Promise.resolve();
    };
  const made = createRollbackConsumer({
    kafka: bench.kafka,
    codecs: bench.codecs,
    logId: plan.logId,
    partitionCount: partitions,
    clock: systemClock,
    subscription: { consumer, scope, mode: 'async' },
    inbox: new MemoryInbox(),
    onTrouble: (cause) => {
      troubles.push(cause);
    },
    onCommit: note('commit'),
    onRollback: note('rollback'),
  });
  await made.start();
  return {
    heard,
    stop: async () => {
      await made.stop();
      await withdraw(consumer);
    },
  };
}
