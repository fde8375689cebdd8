// /api/<service>/…: what a page asks, passed on to the service's edge with the token of its session, and the answer as it is.
//
// Boundary: decides nothing and keeps nothing. What a command needs besides its session is the word that only our own pages know.
//
// Invariants
//   F1. No header of a browser reaches a service but those in PASSED, and no header of a service a browser but those in ANSWERED.
//   F2. A command is sent once: what became of it when the service did not answer, the page is told that nobody knows.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { ConsoleRefusal } from '../problem.js';
import type { Session } from '../sign-in/sessions.js';
import type { SessionOf } from '../sign-in/sign-in.routes.js';
import { requireOwnPage, requireOwnSite } from '../sign-in/sign-in.routes.js';
import { addressAt, isEdgeName } from './edges.js';
import type { Edges } from './edges.js';

export interface ForwardParts {
  readonly edges: Edges;
  readonly sessionOf: SessionOf;
  readonly publicUrl: string;
}

const PASSED = ['idempotency-key', 'content-type', 'accept'] as const;
const ANSWERED = ['content-type', 'retry-after', 'location'] as const;
/** A command answers within its service's patience, 10 s; a report may take as long. */
const ANSWER_WITHIN_MS = 30_000;

export function addForwarding(app: FastifyInstance, parts: ForwardParts): void {
  app.route<{ Params: { edge: string; '*': string } }>({
    method: ['GET', 'POST', 'DELETE'],
    url: '/api/:edge/*',
    // The service reads the body and says what is wrong with it.
    bodyLimit: BODY_BYTES_MAX,
    handler: async (request, reply) => {
      const session = parts.sessionOf(request);
      if (request.method === 'GET') requireOwnSite(request);
      else requireOwnPage(request, session, parts.publicUrl);
      const answer = await ask(addressOf(request.params.edge, request, parts.edges), request, session);
      for (const name of ANSWERED) {
        const value = answer.headers.get(name);
        if (value !== null) void reply.header(name, value);
      }
      return reply.status(answer.status).send(answer.body === null ? null : Readable.fromWeb(answer.body));
    },
  });
}

const BODY_BYTES_MAX = 512 * 1_024;

/** Errors: ConsoleRefusal(SERVICE_UNKNOWN). */
function addressOf(edge: string, { url }: FastifyRequest, edges: Edges): URL {
  const found = isEdgeName(edge) ? addressAt(edges[edge], url.slice(`/api/${edge}/`.length)) : null;
  if (found === null) throw new ConsoleRefusal('SERVICE_UNKNOWN');
  return found;
}

/** Errors: ConsoleRefusal(SERVICE_AWAY). */
async function ask(address: URL, { method, headers, body }: FastifyRequest, { token }: Session): Promise<Response> {
  const passed = PASSED.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  try {
    return await fetch(address, {
      method,
      headers: { ...Object.fromEntries(passed), authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      ...(body instanceof Buffer && method !== 'GET' ? { body: new Uint8Array(body) } : {}),
    });
  } catch (cause) {
    throw new ConsoleRefusal('SERVICE_AWAY', undefined, { cause });
  }
}
