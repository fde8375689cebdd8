// The edges of the services, as a connection asks them.
import type { EdgeOptions } from '../edge/edge.js';
import type { ConnectOptions } from './connect.messages.js';
import type { TokenSource } from './token.js';

/** How each service is asked. */
export type Edges = (url: string) => EdgeOptions;

/** Asks each in the name of the connection. */
export function edgesWith(token: TokenSource, { fetch, clock }: ConnectOptions): Edges {
  return (url) => ({
    url,
    token,
    ...(fetch === undefined ? {} : { fetch }),
    ...(clock === undefined ? {} : { clock }),
  });
}
