// A transaction with rubbish in it, as somebody leaves it open who may write.
import { rawClient } from '@recourse/kafka';
import { TOPICS } from '@recourse/messages';
import { ownerAccess, PARTITIONS, until } from './system.testing.js';
import type { System } from './system.testing.js';

export interface Open {
  commit(): Promise<void>;
  abort(): Promise<void>;
}

/** Rubbish on every partition of some topics, under one transaction. `lastsMs`: after which the broker ends it; the client's default otherwise. */
export async function beginTransaction(
  { stack }: Pick<System, 'stack'>,
  { id, topics, lastsMs }: { readonly id: string; readonly topics: readonly string[]; readonly lastsMs?: number },
): Promise<Open> {
  const producer = rawClient(stack.kafka.brokers, ownerAccess(stack).sasl).producer({
    transactionalId: id,
    maxInFlightRequests: 1,
    idempotent: true,
    ...(lastsMs === undefined ? {} : { transactionTimeout: lastsMs }),
    retry: { retries: 5 },
  });
  await producer.connect();
  // The broker makes the topic of transactions when it is asked for the first.
  const transaction = await until('a coordinator', () => producer.transaction());
  for (const topic of topics) {
    const length = TOPICS.find(({ name }) => name === topic)?.partitioned === true ? PARTITIONS : 1;
    const messages = Array.from({ length }, (_none, partition) => ({ key: 'run-1', value: 'rubbish', partition }));
    await transaction.send({ topic, messages });
  }
  const end = async (how: 'commit' | 'abort'): Promise<void> => {
    await transaction[how]();
    await producer.disconnect();
  };
  return { commit: () => end('commit'), abort: () => end('abort') };
}
