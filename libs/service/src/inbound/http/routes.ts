// Routes, documented by the schemas that check them: nothing is said twice.
import { applyDecorators, createParamDecorator, Get, HttpCode, Post } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { idText, openApiSchema, parse } from '../../edge/validate.js';

/** What the query of a route may hold. */
export type QuerySchema = z.ZodObject<Readonly<Record<string, z.ZodType>>>;

/** A GET: its query is documented member by member. */
export function ReadRoute(path: string, summary: string, query: QuerySchema = z.strictObject({})): MethodDecorator {
  const members = Object.entries(query.shape).map(([name, member]) =>
    ApiQuery({
      name,
      required: !member.safeParse(undefined).success,
      schema: openApiSchema(member),
      ...(member.description === undefined ? {} : { description: member.description }),
    }),
  );
  return applyDecorators(Get(path), ApiOperation({ summary }), ...members);
}

export interface CommandRouteOptions {
  readonly summary: string;
  readonly body?: z.ZodType;
  /** Status of a command that is accepted. Default 200. */
  readonly httpStatus?: number;
  /** Nest's decorator of the verb. Default `Post`. */
  readonly verb?: (path: string) => MethodDecorator;
}

/** A command: it may carry an idempotency key, under which it is repeated and not done again. */
export function CommandRoute(
  path: string,
  { summary, body, httpStatus = 200, verb = Post }: CommandRouteOptions,
): MethodDecorator {
  return applyDecorators(
    verb(path),
    HttpCode(httpStatus),
    ApiOperation({ summary }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'Repeats a command instead of giving another.',
    }),
    ...(body === undefined ? [] : [ApiBody({ schema: openApiSchema(body) })]),
  );
}

/** The query of a request, checked. Errors: EdgeRefusal(INPUT_INVALID). */
export function Queried(schema: z.ZodType): ParameterDecorator {
  return checkedPart({ part: 'query', schema });
}

/** The body of a request, checked. Errors: EdgeRefusal(INPUT_INVALID). */
export function Given(schema: z.ZodType): ParameterDecorator {
  return checkedPart({ part: 'body', schema });
}

/** An object around the schema: a schema alone has a `transform`, and Nest would take it for a pipe. */
const checkedPart = createParamDecorator(
  ({ part, schema }: { part: 'query' | 'body'; schema: z.ZodType }, context: ExecutionContext): unknown =>
    parse(schema, requestOf(context)[part]),
);

/** An id in the path, checked. Errors: EdgeRefusal(INPUT_INVALID). */
export const Id = createParamDecorator((name: string, context: ExecutionContext): string =>
  parse(idText, (requestOf(context).params as Readonly<Record<string, unknown>>)[name]),
);

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
