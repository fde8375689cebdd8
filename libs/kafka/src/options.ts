// How a cluster is reached: the same for both clients.
import type { ConnectionOptions } from 'node:tls';
import type { Signing } from './signed/signed.kafka.js';

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
