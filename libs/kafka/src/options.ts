// How a cluster is reached: the same for both clients.
import type { ConnectionOptions } from 'node:tls';
import type { ReadsOf } from './kafka.port.js';
import type { Signing } from './signed/signing.js';

/** One line that a client wanted to say. */
export interface KafkaLogLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly namespace: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type KafkaLogger = (line: KafkaLogLine) => void;

/** The mechanisms that both clients speak. */
export type KafkaSasl =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
      readonly username: string;
      readonly password: string;
    }
  | { readonly mechanism: 'oauthbearer'; readonly token: () => Promise<string> };

/** What a reader sees of transactions: those that were committed, or every record as it lies. */
export const ISOLATIONS = ['committed', 'uncommitted'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

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
  readonly ssl?: boolean | ConnectionOptions;
  readonly sasl?: KafkaSasl;
  /** What is read of wires. Default `committed`: a record of a transaction counts once that is committed. */
  readonly wireIsolation?: Isolation;
  /** Time for which an open transaction may hold a partition of a wire before its owner hears of it, milliseconds. Default 30,000. */
  readonly transactionOpenMs?: number;
  /** Signs what is sent and judges what is read; absent where wires are open. */
  readonly signing?: Signing | null;
}

export const CONNECTION_TIMEOUT_MS = 3_000;
export const REQUEST_TIMEOUT_MS = 10_000;

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port`. */
export function addressOf(text: string): Address {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

/** What a reader sees of transactions: of a log everything, since its chain says what counts. */
export function isolationOf(
  { wireIsolation = 'committed' }: Pick<KafkaOptions, 'wireIsolation'>,
  of: ReadsOf,
): Isolation {
  return of === 'logs' ? 'uncommitted' : wireIsolation;
}
