// Puts one service together from its definition and its configuration, and runs it until it is told to stop.
//
// Boundary: the only place where real parts meet: Kafka, registry, PostgreSQL, HTTP. Everything else takes ports.
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import type { Provider, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ConfigInvalid } from '@recourse/config';
import { createServiceRuntime, PARKED_KIND, showLoaded, Vault, withCommonKinds } from '@recourse/event-log';
import type { AcceptedRecord, ChangedRow, KeyStore, Sealing, ServiceCore } from '@recourse/event-log';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka, SchemaRegistry } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { createLogger, Metrics, NO_TRACES, traceFile } from '@recourse/telemetry';
import type { Logger, SpanSpec, Traces } from '@recourse/telemetry';
import { createAuthenticate } from './edge/authenticate.js';
import { CommandEdge } from './edge/command-edge.js';
import { EventLogTransport } from './event-log.transport.js';
import { serveDocs } from './inbound/http/docs.js';
import { PostgresKeyStore } from './outbound/postgres-key-store.js';
import { PostgresDatabase } from './outbound/postgres-database.js';
import type { ProjectedLog, ProjectedView } from './outbound/postgres-schema.js';
import { measuredKafka, measuredStores } from './measured.js';
import { projectedIn, ProjectionEnd } from './projection-end.js';
import { gauge, tell } from './runtime-events.js';
import type { RunningService } from './running-service.js';
import { databaseUrlOf, jwksOf, keyStoreUrlOf } from './service-config.js';
import type { ServiceConfig } from './service-config.js';
import type { ServiceContext, ServiceDefinition } from './service-context.js';
import { ServiceHost } from './service-host.js';
import type { ServiceDatabase } from './service-host.js';
import { ServiceModule } from './service.module.js';
import { StandingGauges } from './standing-gauges.js';

/** Partition count of a topic that exists. */
export type PartitionCountOf = (topic: string) => number;

export interface ServiceSpec extends Omit<ServiceDefinition, 'cores'> {
  /** Builds the cores; called once with counts of 1 to learn their kinds, and once with the real ones. */
  readonly cores: (partitionCountOf: PartitionCountOf) => readonly ServiceCore[];
  /** Counts what an accepted record of the service says, with the rows it changed. Nothing is told in a rebuild. */
  readonly measure?: (
    record: AcceptedRecord,
    metrics: Pick<Metrics, 'count' | 'observe'>,
    rows: () => readonly ChangedRow[],
  ) => void;
  /** Spans an accepted record of the service ends. */
  readonly trace?: (record: AcceptedRecord, rows: () => readonly ChangedRow[]) => readonly SpanSpec[];
  readonly controllers: readonly Type[];
  /** What its controllers need beside the shared parts. */
  readonly providers?: readonly Provider[];
  /** Views over the tables of its logs, by topic of the log. */
  readonly views?: Readonly<Record<string, readonly ProjectedView[]>>;
}

/** Largest request body: a command becomes a wire record of at most 256 KB. */
const BODY_BYTES_MAX = 200 * 1_024;

/** Runs a service's process: configuration problems and what no retry helps against end it with exit code 1. */
export async function runService<C extends ServiceConfig>(
  load: () => C,
  specOf: (config: C) => ServiceSpec,
): Promise<void> {
  try {
    const config = load();
    await startService(config, specOf(config));
  } catch (error) {
    process.stderr.write(
      `${error instanceof ConfigInvalid || error instanceof TypeError ? error.message : describe(error)}\n`,
    );
    process.exit(1);
  }
}

/** Starts a service; HTTP answers before the loop runs, so that health can be asked. */
export async function startService(config: ServiceConfig, spec: ServiceSpec): Promise<NestFastifyApplication> {
  const logger = createLogger({ service: spec.name, instance: config.instance, level: config.logLevel });
  const parts = assemble(config, spec, logger);
  const app = await NestFactory.create<NestFastifyApplication>(
    ServiceModule.forService(parts.context, spec.controllers, spec.providers),
    new FastifyAdapter({ bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true }),
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the class is a bag of options; a literal is how it is given
    { logger: false, abortOnError: false },
  );
  app.enableShutdownHooks(['SIGTERM', 'SIGINT']);
  serveDocs(app, spec.name);
  app.connectMicroservice({
    strategy: new EventLogTransport({ start: () => parts.host.start(), stop: () => parts.stop() }),
  });
  await app.listen(config.httpPort, config.httpHost);
  logger.info({ url: await app.getUrl() }, 'listening');
  try {
    await app.startAllMicroservices();
  } catch (error) {
    logger.error({ err: error }, 'cannot start');
    await app.close();
    throw error;
  }
  return app;
}

interface Assembled {
  readonly context: ServiceContext;
  readonly host: ServiceHost;
  readonly stop: () => Promise<void>;
}

function assemble(config: ServiceConfig, spec: ServiceSpec, logger: Logger): Assembled {
  const metrics = new Metrics({ service: spec.name });
  metrics.collectProcess();
  const kafka = createKafka({
    brokers: config.brokers,
    clientId: `${spec.name}-${config.instance}`,
    ...(config.kafkaVia === undefined ? {} : { via: config.kafkaVia }),
    logger: ({ level, message, fields }) => {
      logger[level]({ kafka: fields }, message);
    },
  });
  const registry = createSchemaRegistry({ url: config.registryUrl });
  const traces = tracesOf(config, spec, logger);
  const shapes = spec.cores(() => 1);
  const keys = new PostgresKeyStore({ url: keyStoreUrlOf(config) });
  const sealing = new Vault({
    store: keys,
    windowMs: config.sealWindowMs,
    now: () => performance.now(),
    random: randomBytes,
  });
  const host = new ServiceHost({
    openDatabase: () => PostgresDatabase.open({ url: databaseUrlOf(config) }, logsOf(shapes, spec.views)),
    createRuntime: async (database) =>
      runtimeOf(
        { config, spec, kafka, registry, sealing, metrics, traces, logger, counts: await countsOf(kafka, shapes) },
        database,
      ),
    logger,
  });
  const edge = new CommandEdge({
    codecs: createCodecs(registry),
    producer: () => kafka.wireProducer(),
    commandRow: (log, id) => host.commandRow(log, id),
    edgeKey: config.edgeKey,
    patienceMs: config.patienceMs,
  });
  const counts = new Map<string, Promise<number>>();
  const partitionCount = (topic: string): Promise<number> =>
    remembered(counts, topic, async () => countOf(await counted(kafka, [topic]), topic));
  const projection = new ProjectionEnd({
    reader: () => kafka.rawReader(),
    partitionCount,
    head: (log, partition) => host.partition(log, partition).head(),
    projectedHere: (log, partition) => host.projected(log, partition),
    logId: config.logId,
  });
  const context: ServiceContext = {
    definition: { name: spec.name, cores: shapes, commandTopic: spec.commandTopic, commandLog: spec.commandLog },
    host,
    edge,
    projection,
    metrics,
    keys: destroying(keys, sealing),
    shown: (docs) => showLoaded(sealing, docs),
    authenticate: createAuthenticate({ issuer: config.jwtIssuer, audience: config.jwtAudience, jwks: jwksOf(config) }),
    partitionCount,
    view: (name) => host.view(name),
    onError: (error) => {
      logger.error({ err: error }, 'a request failed');
    },
  };
  return {
    context,
    host,
    stop: async () => {
      await edge.close();
      await projection.close();
      await host.stop();
      await keys.close();
      await traces.close();
    },
  };
}

interface RuntimeParts {
  readonly config: ServiceConfig;
  readonly spec: ServiceSpec;
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  readonly sealing: Sealing;
  readonly metrics: Metrics;
  readonly traces: Traces;
  readonly logger: Logger;
  readonly counts: ReadonlyMap<string, number>;
}

function runtimeOf(
  { config, spec, kafka, registry, sealing, metrics, traces, logger, counts }: RuntimeParts,
  database: ServiceDatabase,
): RunningService {
  const cores = spec.cores((topic) => countOf(counts, topic));
  const runtime = createServiceRuntime({
    cores,
    kafka: measuredKafka(kafka, metrics),
    registry,
    stores: measuredStores(database, metrics),
    logId: config.logId,
    groupId: `recourse.${spec.name}`,
    edgeKey: config.edgeKey,
    sealing,
    sessionTimeoutMs: config.sessionTimeoutMs,
    onEvent: (event) => {
      tell(event, metrics, logger);
      if (event.kind !== 'accepted') return;
      spec.measure?.(event.record, metrics, event.rows);
      if (traces !== NO_TRACES) for (const span of spec.trace?.(event.record, event.rows) ?? []) traces.tell(span);
    },
  });
  const standing = new StandingGauges({
    metrics,
    logs: cores.map(({ log }) => log),
    loops: () => runtime.loops(),
    reader: () => kafka.rawReader(),
    parkedOpen: (log) => database.count({ log, kind: PARKED_KIND, where: { open: true } }),
  });
  metrics.beforeRead(async () => {
    gauge(
      runtime.loops().map((loop) => loop.health()),
      metrics,
      Date.now(),
    );
    await standing.refresh();
  });
  return {
    start: () => runtime.start(),
    health: () => runtime.health(),
    projected: (log, partition) => projectedIn(runtime.loops(), log, partition),
    view: (name) => runtime.view(name),
    stop: async () => {
      await standing.close();
      await runtime.stop();
    },
  };
}

/** What a key that is gone had opened is handed out no more. */
function destroying(keys: KeyStore, sealing: Vault): ServiceContext['keys'] {
  return {
    destroy: async (erasure) => {
      const count = await keys.destroy(erasure);
      sealing.forget();
      return count;
    },
    // Asked for again and again, mostly of what is gone already: only news is worth asking for every key anew.
    destroyUnits: async (units, by, reason) => {
      const count = await keys.destroyUnits(units, by, reason);
      if (count > 0) sealing.forget();
      return count;
    },
  };
}

/** Spans go to the file the configuration names; one that cannot be written is logged once. */
function tracesOf(
  { traceFile: file, instance }: ServiceConfig,
  { name: service }: ServiceSpec,
  logger: Logger,
): Traces {
  return file === undefined
    ? NO_TRACES
    : traceFile({
        file,
        service,
        instance,
        onError: (error) => {
          logger.warn({ err: error, file }, 'spans cannot be written; they are lost');
        },
      });
}

/** The logs whose rows and heads live in the service's database: its own, and those derived from them. */
function logsOf(cores: readonly ServiceCore[], views: ServiceSpec['views'] = {}): readonly ProjectedLog[] {
  return cores.flatMap(({ log, kinds, derived }) => [
    { log, kinds: withCommonKinds(kinds), views: views[log] ?? [] },
    ...(derived ? [{ log: derived.topic, kinds: [] }] : []),
  ]);
}

/** Partition counts never change (DESIGN 3.2); what could not be asked is asked again. */
function remembered(known: Map<string, Promise<number>>, topic: string, ask: () => Promise<number>): Promise<number> {
  const asking = known.get(topic) ?? ask();
  known.set(topic, asking);
  asking.catch(() => {
    known.delete(topic);
  });
  return asking;
}

function countsOf(kafka: Kafka, cores: readonly ServiceCore[]): Promise<ReadonlyMap<string, number>> {
  return counted(kafka, [...new Set(cores.flatMap(({ log, inputs }) => [log, ...inputs.map(({ topic }) => topic)]))]);
}

async function counted(kafka: Kafka, topics: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const admin = await kafka.admin();
  try {
    const counts = new Map<string, number>();
    for (const topic of topics) {
      const count = await admin.partitionCount(topic);
      if (count !== null) counts.set(topic, count);
    }
    return counts;
  } finally {
    await admin.close();
  }
}

function countOf(counts: ReadonlyMap<string, number>, topic: string): number {
  const count = counts.get(topic);
  if (count === undefined) throw new Failure('TOPIC_MISSING', topic);
  return count;
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
