// Who is calling, for controllers: a hook finds out before anything of the body is read, the decorator hands it over.
//
// Invariants
//   K1. Whoever asks too often, has no good token or no role of the row is refused by their headers alone.
//   K2. A route lets in whom its configuration says; one that says nothing, whom its row in edge/access.ts says.
import { createParamDecorator, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireAccess } from '../../edge/access.js';
import { openingOf } from '../../edge/readings.js';
import type { Opening } from '../../edge/readings.js';
import { requireSomeRole, tenantOfRead } from '../../edge/principal.js';
import type { Principal } from '../../edge/principal.js';
import { EDGE_REFUSALS, EdgeRefusal } from '../../edge/problem.js';
import type { EdgeCode } from '../../edge/problem.js';
import { parse, idText } from '../../edge/validate.js';
import { SERVICE_CONTEXT } from '../../service-context.js';
import type { EdgeContext } from '../../service-context.js';

/** Whom a route lets in: everybody, whoever has a role, or whom its row says. */
export type LetsIn = 'everybody' | 'holders' | 'row';

declare module 'fastify' {
  interface FastifyContextConfig {
    letsIn?: LetsIn;
  }
}

export interface Caller {
  readonly principal: Principal;
  /** Method and path with its values, spelled in one way however it was sent. */
  readonly route: string;
  /** Method and pattern of the path: a closed set, for metrics. */
  readonly routePattern: string;
  readonly idempotencyKey: string | undefined;
  /** Whom the route opens payloads for. */
  readonly opening: Opening;
  readonly reply: FastifyReply;
}

const openings = new WeakMap<FastifyRequest, Opening>();

/** The route needs no token. */
export const Public = (): MethodDecorator => RouteConfig({ letsIn: 'everybody' satisfies LetsIn });

/** Has every request judged by its headers, before the body is read. */
export function judgeCallers(app: NestFastifyApplication): void {
  const service = app.get<EdgeContext>(SERVICE_CONTEXT, { strict: false });
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request) => judge(service, request));
}

/** Errors: EdgeRefusal(ROUTE_UNKNOWN); those of knownCaller and requireAccess. */
async function judge(service: EdgeContext, request: FastifyRequest): Promise<void> {
  if (request.is404) {
    service.limits.beforeToken(request.ip, request.headers.authorization);
    throw new EdgeRefusal('ROUTE_UNKNOWN', EDGE_REFUSALS.ROUTE_UNKNOWN.summary);
  }
  const { letsIn = 'row' } = request.routeOptions.config;
  if (letsIn === 'everybody') return;
  const principal = await knownCaller(service, request);
  if (letsIn === 'holders') return;
  const access = service.access(routeOf(request));
  requireAccess(access, principal);
  openings.set(request, openingOf(access, principal));
}

/** Lets nobody in who was not judged, or whose token is not for the tenant that the request names. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.routeOptions.config.letsIn === 'everybody') return true;
    const { principal } = openingFor(request);
    const named = tenantNamedBy(request);
    if (named !== undefined) tenantOfRead(principal, named);
    return true;
  }
}

/** Errors: EdgeRefusal(TOKEN_MISSING) for a request that was not judged. */
function openingFor(request: FastifyRequest): Opening {
  const opening = openings.get(request);
  if (opening) return opening;
  throw new EdgeRefusal('TOKEN_MISSING', 'send a bearer token');
}

/** Who asks, unless they ask too often. Errors: those of Authenticate; EdgeRefusal(TOO_MANY_REQUESTS, ROLE_REQUIRED). */
async function knownCaller(
  { limits, authenticate }: Pick<EdgeContext, 'limits' | 'authenticate'>,
  { ip, headers: { authorization } }: FastifyRequest,
): Promise<Principal> {
  limits.beforeToken(ip, authorization);
  try {
    const principal = await authenticate(authorization);
    limits.tokenTaken(`${principal.tenant} ${principal.subject}`, authorization);
    requireSomeRole(principal);
    return principal;
  } catch (error) {
    if (error instanceof EdgeRefusal && NO_TOKEN.includes(error.code)) limits.tokenRefused(ip, authorization);
    throw error;
  }
}

/** Tokens that are none. One that the issuer gave, in a name that no subject has, says nothing of others who come by the same proxy. */
const NO_TOKEN: readonly EdgeCode[] = ['TOKEN_MISSING', 'TOKEN_REFUSED'];

/** Method and pattern of the path; what is asked for its headers alone is read like the rest. */
function routeOf({ method, routeOptions: { url = '' } }: FastifyRequest): string {
  return `${method === 'HEAD' ? 'GET' : method} ${url}`;
}

/** Two spellings of a path are one place: an idempotency key counts for both. */
function placeOf({ method, params, routeOptions: { url = '' } }: FastifyRequest): string {
  const values = params as Readonly<Record<string, string>>; // what stands in a path is text
  return `${method} ${url.replaceAll(/:(\w+)/gu, (_pattern, name: string) => encodeURIComponent(values[name] ?? ''))}`;
}

/** The tenant a request names, in its query or body; whatever else stands there the route refuses. */
function tenantNamedBy({ query, body }: FastifyRequest): string | undefined {
  for (const part of [query, body])
    if (typeof part === 'object' && part !== null && 'tenant' in part && typeof part.tenant === 'string')
      return part.tenant;
  return undefined;
}

/** The caller of a route that is not public. Errors: EdgeRefusal(INPUT_INVALID) for an idempotency key that is none. */
export const FromCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const http = context.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  const opening = openingFor(request);
  const key = request.headers['idempotency-key'];
  return {
    principal: opening.principal,
    opening,
    route: placeOf(request),
    routePattern: `${request.method} ${request.routeOptions.url ?? ''}`,
    idempotencyKey: key === undefined ? undefined : parse(idText, key, 'idempotency-key'),
    reply: http.getResponse<FastifyReply>(),
  };
});
