// Puts the notifier together from its configuration, and runs it until it is told to stop.
//
// Boundary: the only place where its real parts meet: Kafka, registry, PostgreSQL, HTTP in and out.
import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { holdsPosition, OwnLog } from '@recourse/event-log';
import { NewsBell, within } from '@recourse/kafka';
import type { Kafka, ReadPosition } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import {
  connectKafka,
  accessOf,
  Limits,
  limitsOf,
  createAuthenticate,
  createEdge,
  knownSchemas,
  databaseUrlOf,
  directoryIn,
  jwksOf,
  PartitionCounts,
  persistently,
  quietPause,
  ServiceModule,
  serviceSigning,
  stopOnSignal,
} from '@recourse/service';
import type { Authenticate, EdgeContext, KnownSchemas } from '@recourse/service';
import { createLogger, Metrics } from '@recourse/telemetry';
import type { Logger } from '@recourse/telemetry';
import type { NotifierConfig } from './config.js';
import { FOLLOWED_LOGS } from './core.js';
import type { FollowedLog } from './core.js';
import { LogFollower } from './follower/log-follower.js';
import type { FollowedPartition } from './follower/followed-partition.js';
import { DeliveriesController } from './http/deliveries.controller.js';
import { ItemsController } from './http/items.controller.js';
import { NOTIFIER_CONTEXT } from './http/notifier-context.js';
import type { Followed, NotifierContext } from './http/notifier-context.js';
import { Notifier } from './notifier.js';
import type { NotifierOptions } from './notifier.js';
import { measure } from './reads/gauges.js';
import { NewestHeads } from './reads/newest-heads.js';
import type { SignedPlace } from './reads/newest-heads.js';
import { EndpointSender } from './sender/endpoint-sender.js';
import type { SenderOptions } from './sender/endpoint-sender.js';
import { sendWebhook } from './sender/webhook.http.js';
import { PostgresNotifierStore } from './store/notifier-store.postgres.js';

const NAME = 'notifier';
const BODY_BYTES_MAX = 64 * 1_024;
/** How long one question for news waits at the broker. */
const NEWS_WAIT_MS = 1_000;
/** How long who reads metrics or status waits for the log of heads. */
const HEADS_WITHIN_MS = 1_000;

/** One partition of a log that is followed. */
interface Opened {
  readonly topic: FollowedLog;
  readonly partition: number;
  readonly log: OwnLog;
}

interface Parts {
  readonly config: NotifierConfig;
  readonly authenticate: Authenticate;
  readonly store: PostgresNotifierStore;
  readonly opened: readonly Opened[];
  readonly heads: NewestHeads;
  readonly bell: NewsBell;
  readonly schemas: KnownSchemas;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Starts the notifier; HTTP answers once the database and the logs are there. Errors: what no retry helps against. */
export async function startNotifier(config: NotifierConfig): Promise<void> {
  const logger = createLogger({ service: NAME, instance: config.instance, level: config.logLevel });
  const stopsBy = stopOnSignal();
  const parts = await partsOf(config, logger);
  const followers = followersOf(parts);
  const notifier = notifierOf(parts, followers);
  const app = await edgeOf(parts, notifier, followers);
  notifier.start();
  void parts.schemas.learn();
  stopsBy(() => stop(parts, notifier, app));
  logger.info({ url: await app.getUrl(), endpoints: config.endpoints.map(({ name }) => name) }, 'listening');
}

async function stop(
  { opened, heads, bell, schemas, store }: Parts,
  notifier: Notifier,
  app: NestFastifyApplication,
): Promise<void> {
  await notifier.stop();
  await app.close();
  await Promise.all([bell.close(), heads.close(), ...opened.map(({ log }) => log.close())]);
  await schemas.close();
  await store.close();
}

async function partsOf(config: NotifierConfig, logger: Logger): Promise<Parts> {
  // First: a wrong place of the issuer's keys is told before anything is waited for.
  const authenticate = createAuthenticate({
    issuer: config.jwtIssuer,
    audience: config.jwtAudience,
    jwks: jwksOf(config),
    directory: directoryIn(config.directoryFile),
  });
  const metrics = new Metrics({ service: NAME });
  metrics.collectProcess();
  const store = await reached(logger, 'database', () => PostgresNotifierStore.open(databaseUrlOf(config)));
  const kafka = connectKafka(NAME, config, serviceSigning(NAME, config, logger, metrics), logger);
  const schemas = knownSchemas({ registryUrl: config.registryUrl, databaseUrl: databaseUrlOf(config) }, logger);
  const codecs = createCodecs(schemas.registry);
  const opened = await reached(logger, 'logs', () => openLogs(kafka, codecs, config.logId));
  const heads = newestHeads(kafka, codecs, config.logId);
  const measured = { endpoints: config.endpoints, store, signed: () => signedIn(heads) };
  metrics.beforeRead(() => measure(measured, metrics));
  const bell = bellOf(kafka, opened);
  return { config, authenticate, store, schemas, opened, heads, bell, metrics, logger };
}

/** While it starts, a signal ends the process; so nothing here has to stop trying. */
function reached<T>(logger: Logger, what: string, work: () => Promise<T>): Promise<T> {
  return persistently(work, {
    signal: new AbortController().signal,
    onFailure: ({ code, message }, retryMs) => {
      logger.warn({ code, detail: message, retry_ms: retryMs }, `cannot reach the ${what} yet`);
    },
  });
}

function notifierOf(parts: Parts, followers: readonly Follower[]): Notifier {
  const { config, store, bell, logger } = parts;
  return new Notifier({
    followers,
    senders: sendersOf(parts),
    store,
    keepMs: config.keepMs,
    now: Date.now,
    sleep: quietPause,
    news: () => bell.heard(),
    onTrouble: (loop, cause) => {
      logger.warn({ loop, err: cause }, 'an operation failed and is tried again');
    },
  });
}

interface Follower {
  readonly name: string;
  readonly topic: FollowedLog;
  readonly partition: number;
  readonly follower: LogFollower;
}

function followersOf({ config: { endpoints }, store, opened }: Parts): readonly Follower[] {
  return opened.map(({ topic, partition, log }) => ({
    topic,
    partition,
    name: `${topic}/${String(partition)}`,
    follower: new LogFollower({ topic, partition, log: followed(log), store, endpoints, now: Date.now }),
  }));
}

function followed(log: OwnLog): FollowedPartition {
  return {
    origin: () => log.origin(),
    position: () => log.position,
    holds: (position) => holdsPosition(log, position),
    read: (from) => log.read(from),
  };
}

function sendersOf(parts: Parts): NotifierOptions['senders'] {
  const { config, store } = parts;
  const shared = {
    store,
    send: sendWebhook,
    policy: { backoff: { baseMs: config.retryBaseMs, maxMs: config.retryMaxMs }, giveUpMs: config.giveUpMs },
    bases: {
      ledger: withoutSlash(config.ledgerUrl),
      recoveries: withoutSlash(config.recoveriesUrl),
      budgets: withoutSlash(config.budgetUrl),
    },
    timeoutMs: config.timeoutMs,
    now: Date.now,
    onAttempt: tellAttempt(parts),
  };
  return config.endpoints.map((endpoint) => ({
    name: endpoint.name,
    sender: new EndpointSender({ endpoint, ...shared }),
  }));
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Counts attempts, and says when a receiver is gone. */
function tellAttempt({ metrics, logger }: Parts): NonNullable<SenderOptions['onAttempt']> {
  return (endpoint, { error, closesEndpoint }) => {
    if (error === null) metrics.count('webhooksDelivered', { endpoint });
    else metrics.count('webhookAttemptsFailed', { endpoint, code: error.code });
    if (closesEndpoint)
      logger.error({ endpoint }, 'the receiver is gone: the endpoint is off until an operator turns it on');
  };
}

/** One reader per partition. Errors: Failure(TOPIC_MISSING, BROKER_UNAVAILABLE). */
async function openLogs(kafka: Kafka, codecs: Codecs, logId: string): Promise<readonly Opened[]> {
  const countOf = await new PartitionCounts(kafka).all(FOLLOWED_LOGS);
  return FOLLOWED_LOGS.flatMap((topic) => {
    const partitionCount = countOf(topic);
    return Array.from({ length: partitionCount }, (_, partition) => ({
      topic,
      partition,
      log: new OwnLog({ kafka, codecs, topic, partition, partitionCount, logId }),
    }));
  });
}

function bellOf(kafka: Kafka, opened: readonly Opened[]): NewsBell {
  const positions = (): readonly ReadPosition[] =>
    opened.map(({ topic, partition, log }) => ({ topic, partition, offset: log.position.offset }));
  return new NewsBell({ kafka, positions, waitMs: NEWS_WAIT_MS });
}

async function edgeOf(
  { config, authenticate, store, heads, metrics, logger }: Parts,
  notifier: Notifier,
  followers: readonly Follower[],
): Promise<NestFastifyApplication> {
  const edge: EdgeContext = {
    definition: { name: NAME },
    access: accessOf(NAME),
    limits: new Limits(limitsOf(config)),
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
  const context: NotifierContext = {
    endpoints: config.endpoints,
    store,
    now: Date.now,
    nonce: randomUUID,
    followed: () => followers.map((one) => followedBy(one, notifier)),
    headsSignedAt: () => signedAt(heads),
  };
  const providers = [{ provide: NOTIFIER_CONTEXT, useValue: context }];
  const app = await createEdge(NAME, ServiceModule.forEdge(edge, [DeliveriesController, ItemsController], providers), {
    bodyBytesMax: BODY_BYTES_MAX,
    trustedProxies: config.trustedProxies,
    readers: config.docs === 'public' ? null : authenticate,
  });
  await app.listen(config.httpPort, config.httpHost);
  return app;
}

function followedBy({ name, topic, partition, follower }: Follower, notifier: Notifier): Followed {
  return { log: topic, partition, keptSeq: follower.keptSeq, movedSeq: follower.movedSeq, ...notifier.loop(name) };
}

/** The log of heads beside its follower, which stands where its meaning is kept. */
function newestHeads(kafka: Kafka, codecs: Codecs, logId: string): NewestHeads {
  return new NewestHeads(
    new OwnLog({ kafka, codecs, logId, topic: 'recourse.signed-heads', partition: 0, partitionCount: 1 }),
    Date.now,
  );
}

/** Null also while its broker says nothing. */
function signedAt(heads: NewestHeads): Promise<number | null> {
  return within(heads.signedAt(), HEADS_WITHIN_MS, 'the log of heads').catch(() => null);
}

/** None also while its broker says nothing. */
function signedIn(heads: NewestHeads): Promise<readonly SignedPlace[]> {
  return within(heads.places(), HEADS_WITHIN_MS, 'the log of heads').catch(() => []);
}
