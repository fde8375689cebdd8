// The one place that answers errors.
import { Catch, Inject, ServiceUnavailableException } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EdgeRefusal, PROBLEM_TYPE, problemOf } from '../../edge/problem.js';
import { SERVICE_CONTEXT } from '../../service-context.js';
import type { EdgeContext } from '../../service-context.js';

@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(SERVICE_CONTEXT) private readonly service: EdgeContext) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (error instanceof ServiceUnavailableException) {
      // A health check that is not well; terminus has written the body.
      void reply.status(503).type('application/json').send(JSON.stringify(error.getResponse()));
      return;
    }
    const problem = problemOf(error);
    this.service.metrics.count('requestsRefused', { code: problem.code });
    if (problem.status >= 500) this.service.onError(error);
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    const retryAfterS = error instanceof EdgeRefusal ? error.retryAfterS : null;
    if (retryAfterS !== null) void reply.header('retry-after', String(retryAfterS));
    else if (problem.status === 503) void reply.header('retry-after', '1');
    void reply.status(problem.status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
  }
}
