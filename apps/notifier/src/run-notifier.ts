// Puts the notifier together from its configuration, and runs it until it is told to stop.
//
// Boundary: the only place where its real parts meet: Kafka, registry, PostgreSQL, HTTP in and out.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { OwnLog } from '@recourse/event-log';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { createAuthenticate, databaseUrlOf, jwksOf, serveDocs, ServiceModule } from '@recourse/service';
import type { EdgeContext } from '@recourse/service';
import { createLogger, Metrics } from '@recourse/telemetry';
import type { Logger } from '@recourse/telemetry';
import { EndpointSender } from './sender/endpoint-sender.js';
import { LogFollower } from './follower/log-follower.js';
import type { FollowedPartition } from './follower/log-follower.js';
import { Notifier } from './notifier.js';
import type { NotifierConfig } from './config.js';
import { FOLLOWED_LOGS } from './core.js';
import type { FollowedLog } from './core.js';
import { DeliveriesController } from './http/deliveries.controller.js';
import { NOTIFIER_CONTEXT } from './http/notifier-context.js';
import type { NotifierContext } from './http/notifier-context.js';
import { PostgresNotifierStore } from './store/notifier-store.postgres.js';
import { sendWebhook } from './sender/webhook.http.js';

const NAME = 'notifier';
const BODY_BYTES_MAX = 64 * 1_024;

/** A page of the log a store keeps at once; a log is opened for one partition. */
interface Opened {
  readonly topic: FollowedLog;
  readonly partition: number;
  readonly log: OwnLog;
}

/** Starts the notifier; HTTP answers once the database and the logs are there. Errors: what no retry helps against. */
export async function startNotifier(config: NotifierConfig): Promise<void> {
  const logger = createLogger({ service: NAME, instance: config.instance, level: config.logLevel });
  const authenticate = createAuthenticate({
    issuer: config.jwtIssuer,
    audience: config.jwtAudience,
    jwks: jwksOf(config),
  });
  const metrics = new Metrics({ service: NAME });
  metrics.collectProcess();
  const store = await persistently(logger, 'database', () => PostgresNotifierStore.open(databaseUrlOf(config)));
  const kafka = createKafka({
    brokers: config.brokers,
    clientId: `${NAME}-${config.instance}`,
    ...(config.kafkaVia === undefined ? {} : { via: config.kafkaVia }),
    logger: ({ level, message, fields }) => {
      logger[level]({ kafka: fields }, message);
    },
  });
  const opened = await persistently(logger, 'logs', () =>
    openLogs(kafka, createCodecs(createSchemaRegistry({ url: config.registryUrl })), config.logId),
  );
  const notifier = notifierOf({ config, store, opened, metrics, logger });
  metrics.beforeRead(() => measured(config, store, metrics));
  const app = await edgeOf(config, notifier, { authenticate, metrics, store, logger });
  notifier.start();
  logger.info({ url: await app.getUrl(), endpoints: config.endpoints.map(({ name }) => name) }, 'listening');
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopping ??= stopped(app, notifier, opened, store));
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      void stop().finally(() => {
        process.exit(0);
      });
    });
}

async function stopped(
  app: NestFastifyApplication,
  notifier: Notifier,
  opened: readonly Opened[],
  store: PostgresNotifierStore,
): Promise<void> {
  await notifier.stop();
  await app.close();
  await Promise.all(opened.map(({ log }) => log.close()));
  await store.close();
}

interface Parts {
  readonly config: NotifierConfig;
  readonly store: PostgresNotifierStore;
  readonly opened: readonly Opened[];
  readonly metrics: Metrics;
  readonly logger: Logger;
}

function notifierOf({ config, store, opened, metrics, logger }: Parts): Notifier {
  const { endpoints, timeoutMs, giveUpMs, keepMs } = config;
  const [now, policy, bases] = [
    Date.now,
    { backoff: { baseMs: config.retryBaseMs, maxMs: config.retryMaxMs }, giveUpMs },
    basesOf(config),
  ];
  return new Notifier({
    followers: opened.map(({ topic, partition, log }) => ({
      name: `${topic}/${String(partition)}`,
      follower: new LogFollower({ topic, partition, log: followed(log), store, endpoints, now }),
    })),
    senders: endpoints.map((endpoint) => ({
      name: endpoint.name,
      sender: new EndpointSender({
        endpoint,
        store,
        send: sendWebhook,
        policy,
        bases,
        timeoutMs,
        now,
        onAttempt: (name, { error, closesEndpoint }) => {
          if (error === null) metrics.count('webhooksDelivered', { endpoint: name });
          else metrics.count('webhookAttemptsFailed', { endpoint: name, code: error.code });
          if (closesEndpoint)
            logger.error({ endpoint: name }, 'the receiver is gone: the endpoint is off until an operator turns it on');
        },
      }),
    })),
    store,
    keepMs,
    now,
    sleep: quietPause,
    onTrouble: (loop, cause) => {
      logger.warn({ loop, err: cause }, 'an operation failed and is tried again');
    },
  });
}

function followed(log: OwnLog): FollowedPartition {
  return { origin: () => log.origin(), position: () => log.position, read: (from) => log.read(from) };
}

async function quietPause(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}

function basesOf({ recoveriesUrl, budgetUrl }: NotifierConfig): {
  readonly recoveries: string;
  readonly budgets: string;
} {
  return { recoveries: recoveriesUrl.replace(/\/+$/, ''), budgets: budgetUrl.replace(/\/+$/, '') };
}

/** One reader per partition. Errors: Failure(TOPIC_MISSING, BROKER_UNAVAILABLE). */
async function openLogs(kafka: Kafka, codecs: Codecs, logId: string): Promise<readonly Opened[]> {
  const admin = await kafka.admin();
  try {
    const counts = await Promise.all(
      FOLLOWED_LOGS.map(async (topic) => ({ topic, partitionCount: await admin.partitionCount(topic) })),
    );
    return counts.flatMap(({ topic, partitionCount }) => {
      if (partitionCount === null) throw new Failure('TOPIC_MISSING', topic);
      return Array.from({ length: partitionCount }, (_, partition) => ({
        topic,
        partition,
        log: new OwnLog({ kafka, codecs, topic, partition, partitionCount, logId }),
      }));
    });
  } finally {
    await admin.close();
  }
}

async function edgeOf(
  config: NotifierConfig,
  notifier: Notifier,
  {
    authenticate,
    metrics,
    store,
    logger,
  }: Pick<Parts, 'metrics' | 'store' | 'logger'> & Pick<EdgeContext, 'authenticate'>,
): Promise<NestFastifyApplication> {
  const edge: EdgeContext = {
    definition: { name: NAME },
    metrics,
    authenticate,
    host: {
      health: () => {
        const { ready, trouble } = notifier.health();
        return { live: true, ready, started: true, detail: { trouble } };
      },
    },
    onError: (error) => {
      logger.error({ err: error }, 'a request failed');
    },
  };
  const context: NotifierContext = { endpoints: config.endpoints, store, now: Date.now, nonce: randomUUID };
  const app = await NestFactory.create<NestFastifyApplication>(
    ServiceModule.forEdge(edge, [DeliveriesController], [{ provide: NOTIFIER_CONTEXT, useValue: context }]),
    new FastifyAdapter({ bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true }),
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the class is a bag of options; a literal is how it is given
    { logger: false, abortOnError: false },
  );
  serveDocs(app, NAME);
  await app.listen(config.httpPort, config.httpHost);
  return app;
}

/** Gauges of every endpoint of the file; a database that does not answer leaves them out. */
async function measured({ endpoints }: NotifierConfig, store: PostgresNotifierStore, metrics: Metrics): Promise<void> {
  metrics.clear('webhookOldestSeconds');
  metrics.clear('webhookEndpointOff');
  const now = Date.now();
  const figures = await store.figures(now).catch(() => null);
  if (figures === null) return;
  for (const { name } of endpoints) {
    const { oldestDueAt = null, offSince = null } = figures.find((one) => one.name === name) ?? {};
    metrics.set(
      'webhookOldestSeconds',
      { endpoint: name },
      oldestDueAt === null ? 0 : Math.max(0, now - oldestDueAt) / 1_000,
    );
    metrics.set('webhookEndpointOff', { endpoint: name }, offSince === null ? 0 : 1);
  }
}

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 5_000;

/** Tries until it works. Errors: what no retry helps against, and bugs. */
async function persistently<T>(logger: Logger, what: string, work: () => Promise<T>): Promise<T> {
  for (let delayMs = RETRY_MIN_MS; ; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure) || error.retry === 'never') throw error;
      logger.warn({ code: error.code, detail: error.message, retry_ms: delayMs }, `${what} cannot be reached yet`);
      await pause(delayMs);
    }
  }
}
