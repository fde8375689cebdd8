// Who is calling, for controllers: the guard finds out, the decorator hands it over.
import { createParamDecorator, Inject, Injectable, SetMetadata } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireAccess } from '../../edge/access.js';
import { openingOf } from '../../edge/readings.js';
import type { Opening } from '../../edge/readings.js';
import { requireSomeRole } from '../../edge/principal.js';
import type { Principal } from '../../edge/principal.js';
import { EdgeRefusal } from '../../edge/problem.js';
import type { EdgeCode } from '../../edge/problem.js';
import { parse, idText } from '../../edge/validate.js';
import { SERVICE_CONTEXT } from '../../service-context.js';
import type { EdgeContext } from '../../service-context.js';

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

const PUBLIC = 'recourse:public';
const openings = new WeakMap<FastifyRequest, Opening>();

/** The route needs no token. */
export const Public = (): ReturnType<typeof SetMetadata> => SetMetadata(PUBLIC, true);

/** Lets in who has a good token, a role of the route's row and its reach; everything that is not marked public is behind it. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    @Inject(SERVICE_CONTEXT) private readonly service: EdgeContext,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const isPublic = this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (isPublic === true) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const principal = await knownCaller(this.service, request);
    const access = this.service.access(routeOf(request));
    requireAccess(access, principal, tenantNamedBy(request));
    openings.set(request, openingOf(access, principal));
    return true;
  }
}

/** What tells who asks. */
export type KnowsCallers = Pick<EdgeContext, 'limits' | 'authenticate'>;

/** Who asks, unless they ask too often. Errors: those of Authenticate; EdgeRefusal(TOO_MANY_REQUESTS, ROLE_REQUIRED). */
export async function knownCaller(
  { limits, authenticate }: KnowsCallers,
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
  const opening = openings.get(request);
  if (!opening) throw new EdgeRefusal('TOKEN_MISSING', 'send a bearer token');
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
