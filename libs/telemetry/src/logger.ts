// Logs: one JSON line per event on standard output, with a code where there is one, and never a secret.
import pino from 'pino';
import type { Logger } from 'pino';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** Service name, e.g. `mutation-ledger`. */
  readonly service: string;
  /** Name of this process among those of its service. */
  readonly instance: string;
  /** Default `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

/** Makes a process's logger. Authorization headers, tokens and keys are struck out wherever they stand at these paths. */
export function createLogger({ service, instance, level = 'info' }: LoggerOptions): Logger {
  return pino({
    level,
    base: { service, instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: [
        'authorization',
        '*.authorization',
        'req.headers.authorization',
        'token',
        '*.token',
        'key',
        '*.password',
        'password',
      ],
      censor: '[struck out]',
    },
    serializers: { err: pino.stdSerializers.errWithCause },
  });
}
