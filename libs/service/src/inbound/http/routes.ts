// Routes, documented by the schemas that check them: nothing is said twice.
import { applyDecorators, createParamDecorator, Get, HttpCode, Post } from '@nestjs/common';
import type { ExecutionContext, Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ApiBody, ApiHeader, ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { idText, openApiSchema, parse, runText } from '../../edge/validate.js';

/** What the query of a route may hold. */
export type QuerySchema = z.ZodObject<Readonly<Record<string, z.ZodType>>>;

const NO_QUERY: QuerySchema = z.strictObject({});

/** A GET: its query is documented and checked member by member, also where nothing of it is read. Its checks come after those of who asks. */
export function ReadRoute(path: string, summary: string, query: QuerySchema = NO_QUERY): MethodDecorator {
  const documented = applyDecorators(Get(path), ApiOperation({ summary }), ...membersOf(query));
  return (target, name, descriptor) => {
    const parameters = parametersOf(target, name);
    if (!parameters.some(isQueried)) Queried(query)(target, name, 1 + Math.max(-1, ...parameters.map(indexOf)));
    documented(target, name, descriptor);
  };
}

function membersOf(query: QuerySchema): readonly MethodDecorator[] {
  return Object.entries(query.shape).map(([name, member]) =>
    ApiQuery({
      name,
      required: !member.safeParse(undefined).success,
      schema: openApiSchema(member),
      ...(member.description === undefined ? {} : { description: member.description }),
    }),
  );
}

/** A parameter of a route as Nest keeps it. */
interface KeptParameter {
  readonly index: number;
  readonly data?: unknown;
}

/** Parameters are decorated before their method is. */
function parametersOf(target: object, name: string | symbol): readonly KeptParameter[] {
  return Object.values(
    (Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, name) ?? {}) as Readonly<
      Record<string, KeptParameter> // as Nest's decorators write it
    >,
  );
}

const indexOf = ({ index }: KeptParameter): number => index;

function isQueried({ data }: KeptParameter): boolean {
  return typeof data === 'object' && data !== null && 'part' in data && data.part === 'query';
}

export interface CommandRouteOptions {
  readonly summary: string;
  readonly body?: z.ZodType;
  /** Where it has no body: what its query may hold. */
  readonly query?: QuerySchema;
  /** Status of a command that is accepted. Default 200. */
  readonly httpStatus?: number;
  /** Nest's decorator of the verb. Default `Post`. */
  readonly verb?: (path: string) => MethodDecorator;
}

/** Header that only commands take. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** A command: it may carry an idempotency key, under which it is repeated and not done again. */
export function CommandRoute(
  path: string,
  { summary, body, query = NO_QUERY, httpStatus = 200, verb = Post }: CommandRouteOptions,
): MethodDecorator {
  return applyDecorators(
    verb(path),
    HttpCode(httpStatus),
    ApiOperation({ summary }),
    ApiHeader({
      name: IDEMPOTENCY_KEY,
      required: false,
      description: 'Repeats a command instead of giving another.',
      schema: openApiSchema(idText),
    }),
    ...membersOf(query),
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

/** Ids of paths that may be the name of a run, which is what its agent calls it. */
const OF_RUNS: readonly string[] = ['run_id', 'any_id'];

/** What an id in a path may be, by its name. */
export function idSchema(name: string): z.ZodType<string> {
  return OF_RUNS.includes(name) ? runText : idText;
}

/** An id in the path, checked. Errors: EdgeRefusal(INPUT_INVALID). */
export const Id = createParamDecorator((name: string, context: ExecutionContext): string =>
  parse(idSchema(name), (requestOf(context).params as Readonly<Record<string, unknown>>)[name], name),
);

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}

interface Route<Self, Parameters extends readonly unknown[]> {
  readonly decorators: readonly MethodDecorator[];
  /** One per parameter of `handle` after the first. */
  readonly parameters: readonly ParameterDecorator[];
  readonly handle: (self: Self, ...parameters: Parameters) => Promise<unknown>;
}

/** Adds a method to a controller as its decorators would. */
export function addRoute<Self extends object, Parameters extends readonly unknown[]>(
  controller: Type<Self>,
  name: string,
  { decorators, parameters, handle }: Route<Self, Parameters>,
): void {
  const { prototype } = controller as { readonly prototype: Self };
  const descriptor: PropertyDescriptor = {
    value(this: Self, ...given: Parameters): Promise<unknown> {
      return handle(this, ...given);
    },
    configurable: true,
    writable: true,
  };
  Object.defineProperty(descriptor.value, 'name', { value: name }); // OpenAPI names the operation by it
  Object.defineProperty(prototype, name, descriptor);
  parameters.forEach((decorate, index) => {
    decorate(prototype, name, index);
  });
  for (const decorate of decorators) decorate(prototype, name, descriptor);
}
