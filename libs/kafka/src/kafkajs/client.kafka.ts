// Makes kafkajs clients: connection options, silence, and the way to a broker through a proxy.
import net from 'node:net';
import tls from 'node:tls';
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import type { ISocketFactory, KafkaConfig, LogEntry, SASLOptions } from 'kafkajs';
import { addressOf, CONNECTION_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from '../options.js';
import type { KafkaLogLine, KafkaOptions, KafkaSasl } from '../options.js';
import { mendConnections } from './connection.kafka.js';
import { mendRequestQueues } from './request-queue.kafka.js';

const LEVELS = { error: logLevel.ERROR, warn: logLevel.WARN, info: logLevel.INFO, debug: logLevel.DEBUG } as const;

/** A client of its own, with overrides for the role it plays. */
export function clientFor(options: KafkaOptions, overrides: Partial<KafkaConfig> = {}): KafkaJs {
  mendConnections();
  mendRequestQueues();
  const lowest = LEVELS[options.logLevel ?? 'error'];
  return new KafkaJs({
    brokers: [...options.brokers],
    clientId: options.clientId,
    connectionTimeout: options.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS,
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    logLevel: lowest,
    logCreator: () => (entry) => {
      const line = asLine(entry);
      if (LEVELS[line.level] <= lowest) options.logger?.(line);
    },
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    ...(options.sasl === undefined ? {} : { sasl: saslOf(options.sasl) }),
    ...(options.via === undefined ? {} : { socketFactory: socketsTo(options.via) }),
    ...overrides,
  });
}

function asLine({ namespace, level, log }: LogEntry): KafkaLogLine {
  const { message, timestamp: _timestamp, ...fields } = log;
  // An answer with an error code is its caller's business (a rebalance answers every heartbeat with one).
  const isAnswer = namespace === 'Connection' && message.startsWith('Response ');
  const name =
    isAnswer || level === logLevel.DEBUG
      ? 'debug'
      : level === logLevel.ERROR
        ? 'error'
        : level === logLevel.WARN
          ? 'warn'
          : 'info';
  return { level: name, namespace, message, fields };
}

function saslOf(sasl: KafkaSasl): SASLOptions {
  if (sasl.mechanism !== 'oauthbearer') return sasl;
  const { mechanism, token } = sasl;
  return { mechanism, oauthBearerProvider: async () => ({ value: await token() }) };
}

function socketsTo(address: string): ISocketFactory {
  const target = addressOf(address);
  return ({ ssl, onConnect }) => {
    const socket = ssl ? tls.connect({ ...ssl, ...target }, onConnect) : net.connect(target, onConnect);
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    return socket;
  };
}
