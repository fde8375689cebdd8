// Loyalty as a subscriber: what it makes of a refund is a commit of its own, which falls with the refund; and it says so.
//
// Boundary: tells commits and acknowledges; points are the journal's, and a rollback is acknowledged once the journal holds it.
// Its inbox is memory: on a start all is heard again, and an acknowledgement that is told twice is one.
import { Failure } from '@recourse/kernel';
import { commitIdOf } from '@recourse/lineage';
import type { Checkpoint, CommitRef } from '@recourse/messages';
import { createProducer, createRollbackConsumer, MemoryInbox, NOTIFICATIONS_TOPIC, systemClock } from '@recourse/sdk';
import type { Recourse } from '../common/recourse.js';

export interface Subscriber {
  /** Tells the commit that points for an order are, made from a refund. */
  derived(grant: { readonly mutation_id: string; readonly order: string }, runId: string): Promise<void>;
  stop(): Promise<void>;
}

export interface SubscriberOptions {
  readonly name: string;
  readonly tenant: string;
  readonly logId: string;
  /** Takes back what was made of a commit that fell; what it has not kept is not acknowledged. The same commit may come again. */
  readonly apply: (commitId: string) => Promise<void>;
}

/** The commit of points for an order. */
export function pointsCommit(tenant: string, order: string, refund: CommitRef, committedAt: number): Checkpoint {
  return {
    tenant,
    run_id: `loyalty-${order}`,
    agent_id: 'loyalty',
    initiator: null,
    objective: 'thank the customer',
    step_id: 'grant_points',
    produced_by: 'loyalty',
    subject_ref: `order/${order}`,
    parents: [refund],
    assumption_refs: [],
    gate: null,
    release: null,
    state: null,
    committed_at: committedAt,
  };
}

/** Subscribes under a name that is registered. Errors: Failure(TOPIC_MISSING); those of the consumer. */
export async function subscribe({
  kafka,
  codecs,
  name,
  tenant,
  logId,
  apply,
}: Recourse & SubscriberOptions): Promise<Subscriber> {
  const partitionCount = await notificationPartitions(kafka);
  const producer = await createProducer({ kafka, codecs, source: name });
  const rollbacks = createRollbackConsumer({
    kafka,
    codecs,
    logId,
    partitionCount,
    subscription: { consumer: name, scope: tenant, mode: 'async' },
    inbox: new MemoryInbox(),
    clock: systemClock,
    onRollback: ({ commitId }) => apply(commitId),
    onTrouble: (cause) =>
      process.stderr.write(`subscriber: ${cause instanceof Error ? cause.message : String(cause)}\n`),
  });
  await rollbacks.start();
  return {
    derived: async ({ mutation_id, order }, runId) => {
      const refund: CommitRef = { run_id: runId, commit_id: mutation_id };
      const checkpoint = pointsCommit(tenant, order, refund, Date.now());
      const commitId = commitIdOf(checkpoint);
      await rollbacks.transact((_, own) =>
        own.derive({ commit: { run_id: checkpoint.run_id, commit_id: commitId }, parents: [refund] }),
      );
      await producer.checkpointTaken({ commitId, checkpoint });
    },
    stop: async () => {
      await rollbacks.stop();
      await producer.close();
    },
  };
}

async function notificationPartitions(kafka: Recourse['kafka']): Promise<number> {
  const admin = await kafka.admin();
  const count = await admin.partitionCount(NOTIFICATIONS_TOPIC).finally(() => admin.close());
  if (count === null) throw new Failure('TOPIC_MISSING', NOTIFICATIONS_TOPIC);
  return count;
}
