// Where the spans of a service go.
import { NO_TRACES, traceFile } from '@recourse/telemetry';
import type { Logger, Traces } from '@recourse/telemetry';
import type { ServiceConfig } from './service-config.js';

/** Spans go to the file the configuration names; one that cannot be written is logged once. */
export function tracesOf(
  { traceFile: file, instance }: Pick<ServiceConfig, 'traceFile' | 'instance'>,
  service: string,
  logger: Pick<Logger, 'warn'>,
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
