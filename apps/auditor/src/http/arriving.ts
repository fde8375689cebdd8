// How long a request to the auditor or to a witness may take to arrive: as at the edges, which share no server with them.
import type { ServerOptions } from 'node:http';

/** Who sends a byte now and then to hold a connection takes more, milliseconds. */
const ARRIVE_WITHIN_MS = 10_000;
/** How often it is looked, within that time. */
const LOOKS_PER_ARRIVAL = 10;

/** A server that cuts off what does not arrive in time. */
export function arriving(withinMs = ARRIVE_WITHIN_MS): ServerOptions {
  return {
    requestTimeout: withinMs,
    headersTimeout: withinMs,
    connectionsCheckingInterval: Math.ceil(withinMs / LOOKS_PER_ARRIVAL),
  };
}
