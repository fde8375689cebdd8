// Puts the notifier together from its configuration, and runs it until it is told to stop.
//
// Boundary: the only place where its real parts meet: Kafka, registry, PostgreSQL, HTTP in and out.
import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { holdsPosition, OwnLog } from '@recourse/event-log';
import { NewsBell, within } from '@recourse/kafka';
import type { Kafka, ReadPosition } from '@recourse/kafka';
import { stopOnSignal, systemClock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import {
  connectKafka,
  accessOf,
  Limits,
  limitsOf,
  createEdge,
  knownSchemas,
  databaseUrlOf,
  PartitionCounts,
  patiently,
  ProgramHost,
  ServiceModule,
  tokenCheck,
  serviceSigning,
} from '@recourse/service';
import type { EdgeContext, KnownSchemas, RunningProgram, TokenCheck } from '@recourse/service';
import { createLogger, Metrics } from '@recourse/telemetry';
import type { Logger } from '@recourse/telemetry';
import type { NotifierConfig } from './config.js';
import { FOLLOWED_LOGS } from './core.js';
import type { FollowedLog } from './core.js';
import { CatchUp } from './follower/catch-up.js';
import { lookAt } from './follower/kept-positions.js';
import { LogFollower } from './follower/log-follower.js';
import type { FollowedPartition } from './follower/followed-partition.js';
import { DeliveriesController } from './http/deliveries.controller.js';
import { ItemsController } from './http/items.controller.js';
import { NOTIFIER_CONTEXT } from './http/notifier-context.js';
import type { Followed, NotifierContext } from './http/notifier-context.js';
import { Notifier } from './notifier.js';
import { measure } from './reads/gauges.js';
import { NewestHeads } from './reads/newest-heads.js';
import type { SignedPlace } from './reads/newest-heads.js';
import { sendersOf } from './sender/senders.js';
import type { NotifierStore } from './store/notifier-store.port.js';
import { PostgresNotifierStore } from './store/notifier-store.postgres.js';
import { ANSWERS } from './generated/answers.js';

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
  readonly tokens: TokenCheck;
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly heads: NewestHeads;
  readonly schemas: KnownSchemas;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** What reads, sends and tidies up, once the database and the logs are there. */
interface NotifierRuntime extends RunningProgram {
  readonly followed: () => readonly Followed[];
}

type Host = ProgramHost<PostgresNotifierStore, NotifierRuntime>;

/** A notifier that answers over HTTP. */
export interface ListeningNotifier {
  readonly app: NestFastifyApplication;
  /** Returns once it reads and sends, or is told to stop. Errors: what no retry helps against. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Runs the notifier until it is told to stop. Errors: what no retry helps against. */
export async function startNotifier(config: NotifierConfig): Promise<void> {
  const stopsBy = stopOnSignal();
  const { start, stop } = await listen(config);
  stopsBy(stop);
  await start();
}

/** Answers over HTTP, and says that it is not ready: database and logs are waited for in `start`. */
export async function listen(config: NotifierConfig): Promise<ListeningNotifier> {
  const logger = createLogger({ service: NAME, instance: config.instance, level: config.logLevel });
  const parts = partsOf(config, logger);
  const host: Host = new ProgramHost({
    openDatabase: () => PostgresNotifierStore.open(databaseUrlOf(config)),
    createRuntime: (store) => runtimeOf(parts, store),
    trouble: () => parts.tokens.trouble(),
    logger,
  });
  const app = await edgeOf(parts, host);
  logger.info({ url: await app.getUrl(), endpoints: config.endpoints.map(({ name }) => name) }, 'listening');
  const stop = async (): Promise<void> => {
    parts.tokens.close();
    await app.close();
    await host.stop();
    await parts.heads.close();
    await parts.schemas.close();
  };
  return { app, start: () => host.start(), stop };
}

function partsOf(config: NotifierConfig, logger: Logger): Parts {
  const metrics = new Metrics({ service: NAME });
  metrics.collectProcess();
  const kafka = connectKafka(NAME, config, serviceSigning(NAME, config, logger, metrics), logger);
  const schemas = knownSchemas({ registryUrl: config.registryUrl, databaseUrl: databaseUrlOf(config) }, logger);
  const codecs = createCodecs(schemas.registry);
  const heads = newestHeads(kafka, codecs, config.logId);
  return { config, tokens: tokenCheck(config, logger), kafka, codecs, schemas, heads, metrics, logger };
}

/** Errors: Failure(TOPIC_MISSING, BROKER_UNAVAILABLE). */
async function runtimeOf(parts: Parts, store: NotifierStore): Promise<NotifierRuntime> {
  const { config, kafka, codecs, schemas } = parts;
  const opened = await openLogs(kafka, codecs, config.logId);
  const bell = bellOf(kafka, opened);
  const followers = followersOf(config, store, opened);
  const notifier = notifierOf(parts, { store, followers, bell });
  return {
    start: () => {
      notifier.start();
      void schemas.learn();
      return Promise.resolve();
    },
    stop: async () => {
      await notifier.stop();
      await Promise.all([bell.close(), ...opened.map(({ log }) => log.close())]);
    },
    health: () => {
      const { ready, ...detail } = notifier.health();
      return { live: true, ready, started: true, detail };
    },
    followed: () => followers.map((one) => followedBy(one, notifier)),
  };
}

interface Running {
  readonly store: NotifierStore;
  readonly followers: readonly Follower[];
  readonly bell: NewsBell;
}

function notifierOf(parts: Parts, { store, followers, bell }: Running): Notifier {
  const { config, logger } = parts;
  return new Notifier({
    followers,
    senders: sendersOf(parts, store),
    store,
    look: () => lookAt(store, followers),
    keepMs: config.keepMs,
    now: Date.now,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
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

function followersOf(
  { endpoints }: NotifierConfig,
  store: NotifierStore,
  opened: readonly Opened[],
): readonly Follower[] {
  const common = { store, endpoints, now: Date.now };
  const catchUp = new CatchUp(common);
  return opened.map(({ topic, partition, log }) => ({
    topic,
    partition,
    name: `${topic}/${String(partition)}`,
    follower: new LogFollower({ topic, partition, log: followed(log), catchUp, ...common }),
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

async function edgeOf({ config, tokens, heads, metrics, logger }: Parts, host: Host): Promise<NestFastifyApplication> {
  const gauges = patiently(async () => {
    await measure({ endpoints: config.endpoints, store: host.opened(), signed: () => signedIn(heads) }, metrics);
  });
  metrics.beforeRead(() => (host.running === null ? undefined : gauges()));
  const edge: EdgeContext = {
    definition: { name: NAME },
    access: accessOf(NAME),
    limits: new Limits(limitsOf(config)),
    metrics,
    authenticate: tokens.authenticate,
    host,
    onError: (error) => {
      logger.error({ err: error }, 'a request failed');
    },
  };
  const context: NotifierContext = {
    endpoints: config.endpoints,
    get store() {
      return host.opened();
    },
    health: () => host.health(),
    now: Date.now,
    nonce: randomUUID,
    followed: () => host.running?.followed() ?? [],
    headsSignedAt: () => signedAt(heads),
  };
  const providers = [{ provide: NOTIFIER_CONTEXT, useValue: context }];
  const app = await createEdge(NAME, ServiceModule.forEdge(edge, [DeliveriesController, ItemsController], providers), {
    bodyBytesMax: BODY_BYTES_MAX,
    trustedProxies: config.trustedProxies,
    docs: config.docs,
    answers: ANSWERS,
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
