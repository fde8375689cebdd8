// The console's server, put together: sign-in, the way to the services, the stream, the page.
import fastifyCookie from '@fastify/cookie';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fileURLToPath } from 'node:url';
import { codingProblem } from '@recourse/service/body-rules';
import type { ConsoleConfig } from './config.js';
import { addDrills } from './drills/drills.routes.js';
import { edgesOf } from './edges/edges.js';
import { addForwarding } from './edges/forward.routes.js';
import { addEvents } from './live/events.routes.js';
import { startOf } from './live/positions.js';
import { Watch } from './live/watch.js';
import { addPage, HEADERS } from './page/page.routes.js';
import { ConsoleRefusal, isForOperators, problemOf } from './problem.js';
import type { ProblemBody } from './problem.js';
import { createIssuer } from './sign-in/issuer.js';
import { failedSignInPage, isOnTheWay } from './sign-in/sign-in.page.js';
import { Sessions } from './sign-in/sessions.js';
import { SignInSeal } from './sign-in/sign-in-cookie.js';
import { addSignIn, cookieNames, readerOf, reads, sessionOf } from './sign-in/sign-in.routes.js';

export interface ConsoleOptions {
  /** Where the built page lies. Default: beside the compiled server. */
  readonly pageFolder?: string;
  readonly onError?: (error: unknown) => void;
  readonly now?: () => number;
  /** How long a request may take to arrive, milliseconds. */
  readonly arriveWithinMs?: number;
}

/** A page on a slow line takes less; who sends a byte now and then to hold a connection takes more. As at the services. */
const ARRIVE_WITHIN_MS = 10_000;
/** How often it is looked, within that time. */
const LOOKS_PER_ARRIVAL = 10;

/** For whatever is no page. */
const CLOSED: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

const PAGE_FOLDER = fileURLToPath(new URL('./page-files', import.meta.url));

/** Makes the server; it does not listen yet. */
export async function createConsole(config: ConsoleConfig, options: ConsoleOptions = {}): Promise<FastifyInstance> {
  const { pageFolder = PAGE_FOLDER, onError, now = Date.now, arriveWithinMs = ARRIVE_WITHIN_MS } = options;
  const app = listening(arriveWithinMs);
  await app.register(fastifyCookie);
  // Bodies pass through as they are: what they hold is between the page and the service.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  app.addHook('onRequest', (request, _reply, done) => {
    refuseCodings(request.headers['content-encoding']);
    done();
  });
  app.addHook('onSend', async (_request, reply) => {
    hardenReply(reply);
  });
  app.setErrorHandler((error, { routeOptions, headers }, reply) => {
    const problem = problemOf(error);
    if (isForOperators(error, problem)) onError?.(error);
    if (!isOnTheWay(routeOptions.url, headers.accept)) return answer(reply, problem);
    return reply.status(problem.status).type('text/html; charset=utf-8').send(failedSignInPage(problem));
  });
  const { publicUrl, sessionMs } = config;
  const sessions = new Sessions(now);
  const whose = sessionOf({ sessions, publicUrl });
  const edges = edgesOf(config);
  app.get('/health', () => ({ live: true }));
  addSignIn(app, { issuer: createIssuer(config), sessions, seal: new SignInSeal(now), publicUrl, sessionMs, now });
  addForwarding(app, { edges, sessionOf: whose, publicUrl });
  const watch = new Watch({ edges });
  addEvents(app, { watch, sessionOf: readerOf(whose), endOf: (session) => sessions.endOf(session) });
  addDrills(app, { file: config.drillsFile, sessionOf: readerOf(whose) });
  const { session: name } = cookieNames(publicUrl);
  const positionFor = ({ cookies }: FastifyRequest): string => {
    const session = sessions.find(cookies[name]);
    return session === null || !reads(session) ? '' : startOf(watch.positions);
  };
  await addPage(app, { folder: pageFolder, positionFor });
  return app;
}

/** As at the services, which would not decode it either. Errors: ConsoleRefusal(CODING_UNSUPPORTED). */
function refuseCodings(header: string | undefined): void {
  const problem = codingProblem(header);
  if (problem !== null) throw new ConsoleRefusal('CODING_UNSUPPORTED', problem);
}

function answer(reply: FastifyReply, problem: ProblemBody): FastifyReply {
  return reply.status(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}

/** Sets the headers that an answer does not set itself. */
function hardenReply(reply: FastifyReply): void {
  for (const [name, value] of Object.entries({ ...HEADERS, ...CLOSED }))
    if (!reply.hasHeader(name)) void reply.header(name, value);
}

/** A server that a request has to reach in time. */
function listening(arriveWithinMs: number): FastifyInstance {
  return fastify({
    logger: false,
    forceCloseConnections: true,
    // What the router does not take, no hook and no handler of errors hears of.
    frameworkErrors: (error, _request, reply) => {
      hardenReply(reply);
      void answer(reply, problemOf(error));
    },
    requestTimeout: arriveWithinMs,
    http: {
      headersTimeout: arriveWithinMs,
      connectionsCheckingInterval: Math.ceil(arriveWithinMs / LOOKS_PER_ARRIVAL),
    },
  });
}
