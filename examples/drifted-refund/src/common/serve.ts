// One HTTP process: listens on 127.0.0.1, says on which port, ends on SIGTERM and SIGINT.
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** An answer of a route that is not 200. */
export class HttpAnswer {
  constructor(
    readonly status: number,
    readonly body: object,
  ) {}
}

export interface ProcessParts {
  readonly port: number;
  readonly routes: (app: FastifyInstance) => void;
  /** Default: always ready. */
  readonly isReady?: () => boolean;
  readonly stop?: () => Promise<void>;
}

/** Longest a process takes to end in order; then it ends all the same. */
const STOP_MS = 3_000;

/** Starts listening and prints `{"listening": port}` on a line of its own. */
export async function serve({ port, routes, isReady = () => true, stop }: ProcessParts): Promise<FastifyInstance> {
  const app = fastify({ forceCloseConnections: true });
  app.get('/health', async (_, reply) =>
    reply.code(isReady() ? 200 : 503).send({ status: isReady() ? 'ready' : 'starting' }),
  );
  app.setErrorHandler((error, _, reply) => {
    // Fastify's own refusals carry their status.
    const status =
      typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number'
        ? error.statusCode
        : 500;
    return reply.code(status).send({
      code: status < 500 ? 'INPUT_INVALID' : 'INTERNAL',
      message: error instanceof Error ? error.message : String(error),
    });
  });
  routes(app);
  await app.listen({ host: '127.0.0.1', port });
  const address = app.server.address();
  process.stdout.write(`${JSON.stringify({ listening: typeof address === 'object' ? address?.port : null })}\n`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      void end(app, stop);
    });
  return app;
}

/** A handler that answers what its function returns; HttpAnswer carries another status. */
export function answering(
  handle: (request: FastifyRequest) => Promise<object>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    const answer = await handle(request);
    await (answer instanceof HttpAnswer ? reply.code(answer.status).send(answer.body) : reply.send(answer));
  };
}

async function end(app: FastifyInstance, stop: ProcessParts['stop']): Promise<void> {
  setTimeout(() => process.exit(1), STOP_MS).unref();
  await app.close();
  await stop?.();
  process.exit(0);
}
