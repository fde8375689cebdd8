// Puts one service together from its definition and its configuration, and runs it until it is told to stop.
//
// Boundary: the only place where real parts meet: Kafka, registry, PostgreSQL, HTTP. Everything else takes ports.
import { randomBytes } from 'node:crypto';
import type { Provider, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { systemClock } from '@recourse/kernel';
import { createServiceRuntime, PARKED_KIND, showLoaded, Vault } from '@recourse/event-log';
import type { AcceptedRecord, ChangedRow, ServiceCore } from '@recourse/event-log';
import type { Kafka, Signing } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { createLogger, NO_TRACES } from '@recourse/telemetry';
import type { Logger, Metrics, SpanSpec, Traces } from '@recourse/telemetry';
import { accessOf } from './edge/access.js';
import type { ServiceName } from './edge/access.js';
import { tokenCheck } from './edge/token-check.js';
import type { TokenCheck } from './edge/token-check.js';
import { CommandEdge } from './edge/command-edge.js';
import { Limits } from './edge/limits.js';
import { EventLogTransport } from './event-log.transport.js';
import { PostgresKeyStore } from './outbound/postgres-key-store.js';
import { PostgresDatabase } from './outbound/postgres-database.js';
import type { ProjectedView } from './outbound/postgres-schema.js';
import { FirstMet } from './first-met.js';
import { knownSchemas } from './known-schemas.js';
import type { KnownSchemas } from './known-schemas.js';
import { Elsewhere } from './elsewhere.js';
import { measuredKafka, measuredStores } from './measured.js';
import { projectedIn, ProjectionEnd } from './projection-end.js';
import { PartitionCounts, watchCounts } from './partition-counts.js';
import type { Answers } from './inbound/http/docs.js';
import { connectKafka, createEdge, runProcess, serviceSigning } from './process.js';
import { serviceGroup } from './provision/access.js';
import { tell } from './runtime-events.js';
import { destroying } from './destroying-keys.js';
import type { PlacedEvent } from './runtime-events.js';
import type { RunningService } from './running-service.js';
import { databaseUrlOf, keyStoreUrlOf, limitsOf } from './service-config.js';
import type { ServiceConfig } from './service-config.js';
import type { ServiceContext, ServiceDefinition } from './service-context.js';
import { peersOf } from './peers-of-service.js';
import { logsOf } from './projected-logs.js';
import { Pulse } from './pulse.js';
import { ServiceHost } from './service-host.js';
import type { ServiceDatabase } from './service-host.js';
import { ServiceModule } from './service.module.js';
import { tracesOf } from './service-traces.js';
import { metricsOf, standingOf } from './service-metrics.js';
import type { MeasuredService, StandingOptions } from './service-metrics.js';

export interface ServiceSpec extends Omit<ServiceDefinition, 'cores' | 'name'>, Pick<MeasuredService, 'begin'> {
  /** The row of its routes stands in edge/access.ts. */
  readonly name: ServiceName;
  readonly cores: readonly ServiceCore[];
  /** Counts what an accepted record of the service says, with the rows it changed. Nothing is told in a rebuild. */
  readonly measure?: (
    record: AcceptedRecord,
    metrics: Pick<Metrics, 'count' | 'observe'>,
    rows: () => readonly ChangedRow[],
  ) => void;
  /** Sets gauges that are read off the service's tables, when somebody asks for metrics; what cannot be asked is told by its absence. */
  readonly gauges?: (metrics: Pick<Metrics, 'set' | 'clear'>) => Promise<void>;
  /** Spans an accepted record of the service ends. */
  readonly trace?: (record: AcceptedRecord, rows: () => readonly ChangedRow[]) => readonly SpanSpec[];
  readonly controllers: readonly Type[];
  /** What the OpenAPI document says that its routes answer. */
  readonly answers: Answers;
  /** What its controllers need beside the shared parts. */
  readonly providers?: readonly Provider[];
  /** Views over the tables of its logs, by topic of the log. */
  readonly views?: Readonly<Record<string, readonly ProjectedView[]>>;
}

/** Longest wait for requests under way at the end: with what follows it, an end fits the 30 seconds that orchestrators give. */
const END_WITHIN_MAX_MS = 20_000;
/** Largest request body: a command becomes a wire record of at most 256 KB. */
const BODY_BYTES_MAX = 200 * 1_024;

/** Runs a service's process: configuration problems and what no retry helps against end it with exit code 1. */
export function runService<C extends ServiceConfig>(load: () => C, specOf: (config: C) => ServiceSpec): Promise<void> {
  return runProcess(() => {
    const config = load();
    return startService(config, specOf(config));
  });
}

/** Starts a service: its loop and its HTTP side by side, so that neither waits for what the other waits for. */
export async function startService(config: ServiceConfig, spec: ServiceSpec): Promise<NestFastifyApplication> {
  const logger = createLogger({ service: spec.name, instance: config.instance, level: config.logLevel });
  const { context, host, stop } = assemble(partsOf(config, spec, logger));
  const started = host.start();
  started.catch(() => undefined); // told below
  const module = ServiceModule.forService(context, spec.controllers, spec.providers);
  const { docs, trustedProxies, patienceMs } = config;
  const app = await createEdge(spec.name, module, {
    bodyBytesMax: BODY_BYTES_MAX,
    docs,
    answers: spec.answers,
    trustedProxies,
    endWithinMs: Math.min(patienceMs + 1_000, END_WITHIN_MAX_MS), // what a request takes beside its patience
  });
  // It exits by itself: a process with the id 1, as in a container, does not die of the signal that it would be sent again.
  app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });
  app.connectMicroservice({ strategy: new EventLogTransport({ start: () => started, stop }) });
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

/** What the pieces of a service share. */
interface Parts {
  readonly config: ServiceConfig;
  readonly spec: ServiceSpec;
  readonly kafka: Kafka;
  readonly signing: Signing | null;
  readonly schemas: KnownSchemas;
  readonly counts: PartitionCounts;
  readonly keys: PostgresKeyStore;
  readonly tokens: TokenCheck;
  readonly sealing: Vault;
  readonly metrics: Metrics;
  readonly voids: FirstMet;
  readonly traces: Traces;
  readonly logger: Logger;
}

function partsOf(config: ServiceConfig, spec: ServiceSpec, logger: Logger): Parts {
  const metrics = metricsOf(spec);
  const signing = serviceSigning(spec.name, config, logger, metrics);
  const kafka = connectKafka(spec.name, config, signing, logger);
  const keys = new PostgresKeyStore({ url: keyStoreUrlOf(config) });
  return {
    config,
    spec,
    kafka,
    signing,
    schemas: knownSchemas({ registryUrl: config.registryUrl, databaseUrl: databaseUrlOf(config) }, logger),
    counts: new PartitionCounts(kafka),
    keys,
    tokens: tokenCheck(config, logger),
    sealing: new Vault({
      store: keys,
      windowMs: config.sealWindowMs,
      believedMs: config.keyBelievedMs,
      now: () => performance.now(),
      random: randomBytes,
    }),
    metrics,
    voids: new FirstMet(systemClock.now()),
    traces: tracesOf(config, spec.name, logger),
    logger,
  };
}

interface Assembled {
  readonly context: ServiceContext;
  readonly host: ServiceHost;
  readonly stop: () => Promise<void>;
}

function assemble(parts: Parts): Assembled {
  const { config, spec, kafka, signing, schemas, counts, keys, tokens, traces, logger } = parts;
  const host = new ServiceHost({
    openDatabase: () => PostgresDatabase.open({ url: databaseUrlOf(config) }, logsOf(spec.cores, spec.views)),
    keys,
    createRuntime: (database) => Promise.resolve(runtimeOf(parts, database)),
    trouble: () => tokens.trouble() ?? signing?.trouble?.() ?? null,
    logger,
  });
  const edge = new CommandEdge({
    codecs: createCodecs(schemas.registry),
    producer: () => kafka.wireProducer(),
    commandRow: (log, id) => host.commandRow(log, id),
    edgeKey: config.edgeKey,
    patienceMs: config.patienceMs,
  });
  const projection = new ProjectionEnd({
    reader: () => kafka.rawReader(),
    partitionCount: (topic) => counts.of(topic),
    head: (log, partition) => host.partition(log, partition).head(),
    projectedHere: (log, partition) => host.projected(log, partition),
    logId: config.logId,
  });
  const elsewhere = elsewhereOf(parts, host);
  return {
    context: { ...contextOf(parts, { host, edge, projection }), elsewhere },
    host,
    stop: async () => {
      tokens.close();
      await edge.close();
      await projection.close();
      await elsewhere.close();
      await host.stop();
      await keys.close();
      await schemas.close();
      await traces.close();
    },
  };
}

function elsewhereOf({ spec, kafka, counts }: Parts, host: ServiceHost): Elsewhere {
  return new Elsewhere({
    cores: spec.cores,
    reader: () => kafka.rawReader(),
    partitionCount: (topic) => counts.of(topic),
    head: (log, partition) => host.partition(log, partition).head(),
  });
}

function contextOf(
  { config, spec, counts, keys, tokens, sealing, metrics, logger }: Parts,
  { host, edge, projection }: { host: ServiceHost; edge: CommandEdge; projection: ProjectionEnd },
): ServiceContext {
  return {
    definition: { name: spec.name, cores: spec.cores, commandTopic: spec.commandTopic, commandLog: spec.commandLog },
    host,
    edge,
    projection,
    metrics,
    keys: destroying(keys, sealing),
    access: accessOf(spec.name),
    limits: new Limits(limitsOf(config)),
    shown: (docs, isAnew) => showLoaded(sealing, docs, isAnew),
    authenticate: tokens.authenticate,
    partitionCount: (topic) => counts.of(topic),
    view: (name) => host.view(name),
    onError: (error) => {
      logger.error({ err: error }, 'a request failed');
    },
  };
}

function runtimeOf(parts: Parts, database: ServiceDatabase): RunningService {
  const { config, spec, kafka, schemas, sealing, metrics } = parts;
  const runtime = createServiceRuntime({
    cores: spec.cores,
    kafka: measuredKafka(kafka, metrics),
    registry: schemas.registry,
    stores: measuredStores(database, metrics),
    logId: config.logId,
    groupId: serviceGroup(spec.name),
    edgeKey: config.edgeKey,
    sealing,
    sessionTimeoutMs: config.sessionTimeoutMs,
    peers: peersOf(parts),
    settings: { clockAheadMaxMs: config.clockAheadMaxMs },
    onEvent: (event) => {
      observe(event, parts);
    },
  });
  const standing = standingOf(runtime, standingOptions(parts, database));
  const pulse = new Pulse({ ping: () => database.ping(), isIdle: () => runtime.loops().length === 0 });
  const counts = watchCounts(kafka, spec.cores);
  return {
    start: async () => {
      await runtime.start();
      for (const watch of [pulse, counts]) watch.start();
      void counts.beat();
      void schemas.learn();
    },
    health: () => counts.over(pulse.over(runtime.health())),
    projected: (log, partition) => projectedIn(runtime.loops(), log, partition),
    view: (name) => runtime.view(name),
    stop: async () => {
      await standing.close();
      await Promise.all([pulse.stop(), counts.stop()]);
      await runtime.stop();
    },
  };
}

function standingOptions({ kafka, metrics, spec }: Parts, database: ServiceDatabase): StandingOptions {
  return {
    metrics,
    logs: spec.cores.map(({ log }) => log),
    reader: () => kafka.rawReader(),
    parkedOpen: (log) => database.count({ log, kind: PARKED_KIND, where: { open: true } }),
    gauges: spec.gauges,
  };
}

/** Logs and counts what the loop says of itself, and what an accepted record says. */
function observe(event: PlacedEvent, parts: Parts): void {
  const { spec, metrics, traces } = parts;
  tell(event, parts);
  if (event.kind !== 'accepted') return;
  spec.measure?.(event.record, metrics, event.rows);
  if (traces !== NO_TRACES) for (const span of spec.trace?.(event.record, event.rows) ?? []) traces.tell(span);
}
