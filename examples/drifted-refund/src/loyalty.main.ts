// Loyalty: a downstream service that relied on a refund, and must learn that it was rolled back.
import { join } from 'node:path';
import { Failure } from '@recourse/kernel';
import { createNotificationConsumer, FilePositionStore, NOTIFICATIONS_TOPIC, systemClock } from '@recourse/sdk';
import type { Notification, NotificationConsumer } from '@recourse/sdk';
import { z } from 'zod';
import { readEnvironment } from './common/environment.js';
import { Journal } from './common/journal.js';
import { reachRecourse, untilReached } from './common/recourse.js';
import type { Recourse } from './common/recourse.js';
import { answering, HttpAnswer, serve } from './common/serve.js';
import { subscribe } from './loyalty/subscriber.js';
import type { Subscriber } from './loyalty/subscriber.js';
import { EMPTY_LOYALTY, evolveLoyalty, fallOf, heardIn, newIn } from './loyalty/loyalty.state.js';
import type { LoyaltyEvent, LoyaltyState } from './loyalty/loyalty.state.js';

const grantBody = z.strictObject({
  run_id: z.string().min(1),
  mutation_id: z.string().min(1),
  order: z.string().min(1),
  points: z.int().min(1),
});

const env = readEnvironment(
  'PORT',
  'DATA_DIR',
  'RECOURSE_KAFKA_BROKERS',
  'RECOURSE_REGISTRY_URL',
  'RECOURSE_LOG_ID',
  'SUBSCRIBED_AS',
  'TENANT',
);
const journal = await Journal.open<LoyaltyState, LoyaltyEvent>({
  path: join(env.DATA_DIR, 'loyalty.jsonl'),
  initial: EMPTY_LOYALTY,
  evolve: evolveLoyalty,
});
let consumer: NotificationConsumer | null = null;
let subscriber: Subscriber | null = null;

await serve({
  port: env.PORT,
  isReady: () => consumer !== null,
  routes: (app) => {
    app.post(
      '/points',
      answering(async (request) => {
        const body = grantBody.safeParse(request.body);
        if (!body.success)
          return new HttpAnswer(422, {
            code: 'INPUT_INVALID',
            message: 'run_id, mutation_id, order and points are needed',
          });
        const { run_id, ...grant } = body.data;
        const { mutation_id } = grant;
        await journal.transact((state) => ({
          events: state.grants[mutation_id] === undefined ? [{ type: 'PointsGranted', ...grant }] : [],
          answer: undefined,
        }));
        await subscriber?.derived(grant, run_id);
        return new HttpAnswer(201, journal.state.grants[mutation_id] ?? {});
      }),
    );
    app.get(
      '/points',
      answering(() => Promise.resolve({ grants: Object.values(journal.state.grants) })),
    );
    app.get(
      '/notifications',
      answering(() => Promise.resolve({ notifications: journal.state.heard })),
    );
  },
  stop: async () => {
    await consumer?.stop();
    await subscriber?.stop();
    await journal.close();
  },
});
if (env.SUBSCRIBED_AS !== undefined) {
  const name = env.SUBSCRIBED_AS;
  subscriber = await untilReached('subscribe', () =>
    subscribe({
      ...reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, 'loyalty-subscriber'),
      name,
      tenant: env.TENANT,
      logId: env.RECOURSE_LOG_ID,
      apply: withdraw,
    }),
  );
}
consumer = await untilReached('follow notifications', () =>
  follow(reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, 'loyalty')),
);

async function follow({ kafka, codecs }: Recourse): Promise<NotificationConsumer> {
  const admin = await kafka.admin();
  const partitionCount = await admin.partitionCount(NOTIFICATIONS_TOPIC).finally(() => admin.close());
  if (partitionCount === null) throw new Failure('TOPIC_MISSING', NOTIFICATIONS_TOPIC);
  const following = createNotificationConsumer({
    kafka,
    codecs,
    logId: env.RECOURSE_LOG_ID,
    partitionCount,
    clock: systemClock,
    positions: new FilePositionStore(join(env.DATA_DIR, 'positions')),
    onNotification: hear,
    onTrouble: (partition, cause) =>
      process.stderr.write(
        `partition ${String(partition)}: ${cause instanceof Error ? cause.message : String(cause)}\n`,
      ),
  });
  await following.start();
  return following;
}

/** Takes points back, on disk before anybody is told. */
async function withdraw(commitId: string): Promise<void> {
  await journal.transact((state) => ({ events: fallOf(state, commitId), answer: undefined }));
}

/** Hears each commit of a notification once, however often it is told. Who is not subscribed takes points back here. */
async function hear(notification: Notification): Promise<void> {
  const told = heardIn(notification);
  await journal.transact((state) => ({
    events: newIn(state, told).map((heard): LoyaltyEvent => ({ type: 'NotificationHeard', heard })),
    answer: undefined,
  }));
  if (notification.type !== 'RollbackAnnounced' || env.SUBSCRIBED_AS !== undefined) return;
  for (const { mutation_id } of told) await withdraw(mutation_id);
}
