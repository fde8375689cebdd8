import type { createServiceRuntime } from '@recourse/event-log';
import type { Logger, Metrics } from '@recourse/telemetry';
import { PostgresPresence } from './outbound/postgres-presence.js';
import { tellOfPeers } from './runtime-events.js';
import { databaseUrlOf } from './service-config.js';
import type { ServiceConfig } from './service-config.js';

interface OfService {
  readonly config: ServiceConfig;
  readonly spec: { readonly name: string };
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** How instances of a service see each other, and who is told of it. */
export function peersOf({
  config,
  spec,
  metrics,
  logger,
}: OfService): NonNullable<Parameters<typeof createServiceRuntime>[0]['peers']> {
  return {
    presence: new PostgresPresence(databaseUrlOf(config)),
    kin: `${spec.name}-`,
    onEvent: (event) => {
      tellOfPeers(event, metrics, logger);
    },
  };
}
