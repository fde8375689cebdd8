// Makes kafkajs clients: connection options, silence, and the way to a broker through a proxy.
import net from 'node:net';
import tls from 'node:tls';
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import type { ISocketFactory, KafkaConfig, LogEntry, SASLOptions } from 'kafkajs';

/** One line that kafkajs wanted to say. */
export interface KafkaLogLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly namespace: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type KafkaLogger = (line: KafkaLogLine) => void;

export interface KafkaOptions {
  /** `host:port` of some brokers. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Gets what kafkajs logs from `logLevel` up. Default: nothing is written. */
  readonly logger?: KafkaLogger;
  /** Default `error`. */
  readonly logLevel?: KafkaLogLine['level'];
  /** Longest wait for an answer of a log producer, in milliseconds. Default 5,000. */
  readonly logRequestTimeoutMs?: number;
  /** Longest wait for any other answer, in milliseconds. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Longest wait for a connection, in milliseconds. Default 3,000. */
  readonly connectionTimeoutMs?: number;
  /** Every connection goes to this `host:port`, whatever address a broker advertises (a proxy, a tunnel). */
  readonly via?: string;
  readonly ssl?: boolean | tls.ConnectionOptions;
  readonly sasl?: SASLOptions;
}

const LEVELS = { error: logLevel.ERROR, warn: logLevel.WARN, info: logLevel.INFO, debug: logLevel.DEBUG } as const;
const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 10_000;

/** A client of its own, with overrides for the role it plays; `onLog` hears every line of level error. */
export function clientFor(options: KafkaOptions, overrides: Partial<KafkaConfig> = {}, onLog?: KafkaLogger): KafkaJs {
  const lowest = LEVELS[options.logLevel ?? 'error'];
  return new KafkaJs({
    brokers: [...options.brokers],
    clientId: options.clientId,
    connectionTimeout: options.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS,
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    logLevel: lowest,
    logCreator: () => (entry) => {
      const line = asLine(entry);
      onLog?.(line);
      if (LEVELS[line.level] <= lowest) options.logger?.(line);
    },
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    ...(options.sasl === undefined ? {} : { sasl: options.sasl }),
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

function socketsTo(address: string): ISocketFactory {
  const colon = address.lastIndexOf(':');
  const target = { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
  return ({ ssl, onConnect }) => {
    const socket = ssl ? tls.connect({ ...ssl, ...target }, onConnect) : net.connect(target, onConnect);
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    return socket;
  };
}
