// What every program of ours does at its start: exit codes, Kafka with our logger, an HTTP application.
import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ConfigInvalid } from '@recourse/config';
import { accessOf, createKafka } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import type { Logger } from '@recourse/telemetry';
import { serveDocs } from './inbound/http/docs.js';
import { harden } from './inbound/http/hardening.js';
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
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A Kafka client of one process, which logs where the process does. Errors: TypeError when only half of its user is told. */
export function connectKafka(
  name: string,
  config: Pick<EdgeConfig, 'brokers' | 'instance' | 'kafkaVia' | 'kafkaUser' | 'kafkaPassword' | 'kafkaCa'>,
  logger: Logger,
): Kafka {
  const { brokers, instance, kafkaVia, kafkaUser, kafkaPassword, kafkaCa } = config;
  return createKafka({
    brokers,
    clientId: `${name}-${instance}`,
    ...accessOf({ user: kafkaUser, password: kafkaPassword, ca: kafkaCa }),
    ...(kafkaVia === undefined ? {} : { via: kafkaVia }),
    logger: ({ level, message, fields }) => {
      logger[level]({ kafka: fields }, message);
    },
  });
}

/** An HTTP application with its OpenAPI pages; it does not listen yet. */
export async function createEdge(
  name: string,
  module: DynamicModule,
  bodyBytesMax: number,
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    module,
    new FastifyAdapter({ bodyLimit: bodyBytesMax, forceCloseConnections: true }),
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the class is a bag of options; a literal is how it is given
    { logger: false, abortOnError: false },
  );
  harden(app);
  serveDocs(app, name);
  return app;
}
