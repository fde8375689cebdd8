// What every program of ours does at its start: exit codes, Kafka with our logger, an HTTP application.
import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ConfigInvalid } from '@recourse/config';
import { accessOf, createKafka, signingFrom } from '@recourse/kafka';
import type { Kafka, KafkaOptions, Signing, SigningPlaces } from '@recourse/kafka';
import { Failure, RUN_BYTES_MAX, systemClock } from '@recourse/kernel';
import { ownerOfLog, TOPICS } from '@recourse/messages';
import type { Logger, Metrics } from '@recourse/telemetry';
import { takeBodies } from './inbound/http/bodies.js';
import { answerBroken, answerUnrouted } from './inbound/http/broken.js';
import { judgeCallers } from './inbound/http/caller.js';
import { serveDocs } from './inbound/http/docs.js';
import type { Answers } from './inbound/http/docs.js';
import { endAnswered } from './inbound/http/ending.js';
import { harden } from './inbound/http/hardening.js';
import { refuseBrokenQueries } from './inbound/http/utf8.js';
import { FirstMet } from './first-met.js';
import type { EdgeConfig } from './service-config.js';

/** Runs a process: a wrong configuration, and whatever no retry helps against, ends it with exit code 1. */
export async function runProcess(start: () => Promise<unknown>): Promise<void> {
  try {
    await start();
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(1);
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ConfigInvalid || error instanceof TypeError) return error.message;
  if (error instanceof Failure && error.code === 'CONFIG_INVALID') return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A Kafka client of one process, which logs where the process does. Errors: Failure(CONFIG_INVALID) where its access to Kafka is half told. */
export function connectKafka(
  name: string,
  config: Pick<EdgeConfig, 'brokers' | 'instance' | 'kafkaVia' | 'kafkaUser' | 'kafkaPassword' | 'kafkaCa'> &
    Pick<KafkaOptions, 'wireIsolation' | 'transactionOpenMs'>,
  signing: Signing | null,
  logger: Logger,
): Kafka {
  const { brokers, instance, kafkaVia, kafkaUser, kafkaPassword, kafkaCa, wireIsolation, transactionOpenMs } = config;
  return createKafka({
    brokers,
    clientId: `${name}-${instance}`,
    ...accessOf({ user: kafkaUser, password: kafkaPassword, ca: kafkaCa }),
    ...(kafkaVia === undefined ? {} : { via: kafkaVia }),
    ...(wireIsolation === undefined ? {} : { wireIsolation }),
    ...(transactionOpenMs === undefined ? {} : { transactionOpenMs }),
    signing,
    logger: ({ level, message, fields }) => {
      logger[level]({ kafka: fields }, message);
    },
  });
}

export interface EdgeOptions {
  readonly bodyBytesMax: number;
  /** Who reads the OpenAPI pages: whoever has a token with a role, within limits, or everybody. */
  readonly docs: EdgeConfig['docs'];
  /** What the document says that routes answer. */
  readonly answers?: Answers;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed; without, of none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Longest a request may take to arrive, headers and body, milliseconds. Default 10,000. */
  readonly arriveWithinMs?: number;
  /** Longest that requests under way are waited for when the program ends, milliseconds. Default 10,000. */
  readonly endWithinMs?: number;
}

/** A body of 200 KB arrives in this over 200 kbit/s; whoever sends one byte now and then holds a connection no longer. */
const ARRIVE_WITHIN_MS = 10_000;
/** With what follows it, an end fits the 30 seconds that orchestrators give. */
const END_WITHIN_MS = 10_000;
/** How often connections are looked at for that. */
const LOOKS_PER_ARRIVAL = 10;

/**
 * How a program of ours signs and whom it believes; null where wires are open, which it says.
 *
 * Errors: those of `signingFrom`.
 */
export function serviceSigning(
  service: string,
  places: SigningPlaces,
  logger: Logger,
  metrics: Pick<Metrics, 'count'>,
): Signing | null {
  const unvouched = new FirstMet(systemClock.now());
  const signing = signingFrom(places, {
    ...(TOPICS.some(({ name }) => ownerOfLog(name) === service) ? { service } : {}),
    ownerOf: ownerOfLog,
    clock: systemClock,
    onTrouble: (cause) => {
      logger.error({ err: cause }, 'the keyring cannot be read; the one before it stands');
    },
    onUnvouched: (log, partition, records) => {
      metrics.count('recordsUnvouched', { log, partition }, unvouched.countOf(log, partition, records));
      logger.error(
        { log, partition, records: records.length },
        'somebody else wrote to this log: what its owner did not sign is void',
      );
    },
  });
  if (signing === null) logger.warn({}, 'wires are open: whoever reaches the broker is believed (RECOURSE_WIRES)');
  return signing;
}

/** An HTTP application with its OpenAPI pages; it does not listen yet. */
export async function createEdge(
  name: string,
  module: DynamicModule,
  {
    bodyBytesMax,
    docs,
    answers,
    trustedProxies,
    arriveWithinMs = ARRIVE_WITHIN_MS,
    endWithinMs = END_WITHIN_MS,
  }: EdgeOptions,
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    module,
    new FastifyAdapter({
      bodyLimit: bodyBytesMax,
      trustProxy: trustedProxies === undefined ? false : [...trustedProxies],
      forceCloseConnections: 'idle',
      requestTimeout: arriveWithinMs,
      clientErrorHandler: answerBroken,
      frameworkErrors: answerUnrouted,
      routerOptions: { maxParamLength: RUN_BYTES_MAX },
      http: {
        headersTimeout: arriveWithinMs,
        connectionsCheckingInterval: Math.ceil(arriveWithinMs / LOOKS_PER_ARRIVAL),
      },
    }),
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the class is a bag of options; a literal is how it is given
    { logger: false, abortOnError: false, bodyParser: false },
  );
  harden(app);
  endAnswered(app, endWithinMs);
  judgeCallers(app); // before all that reads of a request
  takeBodies(app);
  refuseBrokenQueries(app);
  serveDocs(app, name, { letsIn: docs === 'public' ? 'everybody' : 'holders', answers });
  return app;
}
