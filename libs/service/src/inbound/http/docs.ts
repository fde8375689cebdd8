// OpenAPI: the document at /openapi.json and a page of it at /docs.
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BODY_REFUSALS } from '../../edge/body-rules.js';
import { PROBLEM_TYPE } from '../../edge/problem.js';
import { openApiSchema } from '../../edge/validate.js';
import type { LetsIn } from './caller.js';
import { IDEMPOTENCY_KEY, idSchema } from './routes.js';

/** What routes answer with 2xx, as scripts/generate/answers.mjs reads it off their types. */
export interface Answers {
  /** JSON Schemas by method and path, e.g. `GET /v1/steps/{id}`. */
  readonly routes: Readonly<Record<string, Schema>>;
  /** What they refer to, by its name among the components of the document. */
  readonly schemas: Readonly<Record<string, Schema>>;
}

type Schema = Readonly<Record<string, unknown>>;

const UNTOLD: Answers = { routes: {}, schemas: {} };

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const BODY_REFUSED = Object.entries(BODY_REFUSALS)
  .map(([code, { summary }]) => `${code}: ${summary}`)
  .join(' ');
const SHOW = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui' });\n";
/** The page runs its own files and nothing that is written in it; its styles it sets itself. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Adds the routes, for everybody or whoever has a role. They say what there is, not what it holds. */
export function serveDocs(
  app: NestFastifyApplication,
  title: string,
  { letsIn, answers = UNTOLD }: { readonly letsIn: Exclude<LetsIn, 'row'>; readonly answers?: Answers | undefined },
): void {
  // Bodies are told by JSON Schema 2020-12, which OpenAPI knows from 3.1 on.
  const about = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(`Recourse: ${title}`)
    .setVersion('1')
    .addBearerAuth()
    .build();
  // Made when it is first asked for: a start does not wait for it.
  let document: string | null = null;
  const fastify = app.getHttpAdapter().getInstance();
  const folder = assetsFolder();
  const config = { letsIn };
  fastify.get('/openapi.json', { config }, (_request, reply) =>
    reply
      .type('application/json')
      .send((document ??= JSON.stringify(withWhatAllShare(SwaggerModule.createDocument(app, about), answers)))),
  );
  fastify.get('/docs', { config }, (_request, reply) =>
    reply.type('text/html').header('content-security-policy', PAGE_POLICY).send(page(title)),
  );
  fastify.get('/docs/show.js', { config }, (_request, reply) => reply.type('text/javascript').send(SHOW));
  for (const [name, type] of Object.entries(ASSETS)) {
    fastify.get(`/docs/${name}`, { config }, async (_request, reply) =>
      reply.type(type).send(await readFile(join(folder, name))),
    );
  }
}

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** Adds what no route says of itself: the ids of its path, what it answers, how it refuses, and what comes of a command. */
function withWhatAllShare(document: OpenAPIObject, { routes, schemas }: Answers): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (operation === undefined) continue;
      operation.parameters = [...idsIn(path, operation), ...(operation.parameters ?? [])];
      Object.assign(operation.responses, answersOf(path, operation, routes[`${method.toUpperCase()} ${path}`]));
    }
  document.components = { ...document.components, ...SHARED, schemas: { ...SHARED.schemas, ...schemas } };
  return document;
}

/** Those of a path that its handler checks itself, so that Nest knows nothing of them. */
function idsIn(path: string, { parameters = [] }: Operation): NonNullable<Operation['parameters']> {
  const known = parameters.flatMap((parameter) => ('in' in parameter && parameter.in === 'path' ? parameter.name : []));
  return [...path.matchAll(/\{(\w+)\}/gu)]
    .map(([, name = '']) => name)
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, in: 'path', required: true, schema: openApiSchema(idSchema(name)) }));
}

const problemOf = { schema: { $ref: '#/components/schemas/Problem' } };
const rejections = { type: 'array', items: { $ref: '#/components/schemas/Rejection' } };
/** What the edge answers where it refuses, and what the log recorded of a command. */
const SHARED = {
  schemas: {
    Pending: {
      type: 'object',
      required: ['command_id', 'status'],
      properties: { command_id: { type: 'string' }, status: { type: 'string', enum: ['pending'] } },
      description: 'Nothing is recorded yet: `location` says where to ask later.',
    },
    Problem: {
      type: 'object',
      required: ['type', 'title', 'status', 'code', 'detail'],
      properties: {
        ...{ type: { type: 'string' }, title: { type: 'string' }, status: { type: 'integer' } },
        ...{ code: { type: 'string' }, detail: { type: 'string' }, problems: rejections },
      },
    },
    Rejection: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        ...{ code: { type: 'string' }, message: { type: 'string' }, path: { type: 'string' } },
        ...{ facts: { type: 'object' }, problems: rejections },
      },
    },
  },
  responses: {
    Refused: { description: 'Refused: `code` says why.', content: { [PROBLEM_TYPE]: problemOf } },
    CommandRefused: {
      description: 'Refused by the edge, or by what the log recorded: `code` says why.',
      content: {
        [PROBLEM_TYPE]: problemOf,
        'application/json': { schema: { $ref: '#/components/schemas/Rejection' } },
      },
    },
  },
};

const TICKET = '/v1/commands/{ticket}';
const ANSWERED = 'What the log recorded of the command; 202, with where to ask later, while that is nothing yet.';
const pending = { $ref: '#/components/schemas/Pending' };

function answersOf(
  path: string,
  { parameters = [], requestBody, responses }: Operation,
  schema: Schema | undefined,
): Operation['responses'] {
  const isCommand = parameters.some((parameter) => 'name' in parameter && parameter.name === IDEMPOTENCY_KEY);
  const isRecorded = isCommand || path === TICKET;
  // Whatever some command of the service answered.
  const answer = path === TICKET ? { type: 'object' } : schema;
  const orPending = answer === undefined ? undefined : { anyOf: [answer, pending] };
  const ok = Object.entries(responses).map(([status, response]) => [
    status,
    { ...response, ...contentOf(isRecorded && status === '202' ? orPending : answer) },
  ]);
  return {
    ...(Object.fromEntries(ok) as Operation['responses']), // as they were, with what is in them
    ...(isRecorded ? { '2XX': { description: ANSWERED, ...contentOf(orPending) } } : {}),
    ...(requestBody === undefined ? {} : { '415': { description: BODY_REFUSED } }),
    default: { $ref: `#/components/responses/${isRecorded ? 'CommandRefused' : 'Refused'}` },
  };
}

function contentOf(schema: Schema | undefined): {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
} {
  return schema === undefined ? {} : { content: { 'application/json': { schema } } };
}

/** The page's files come with Nest's OpenAPI package, wherever npm put them. */
function assetsFolder(): string {
  const swagger = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));
  return dirname(swagger.resolve('swagger-ui-dist/package.json'));
}

function page(title: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Recourse: ${title}</title><link rel="stylesheet" href="/docs/swagger-ui.css"></head>
<body><div id="ui"></div><script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/show.js"></script></body></html>`;
}
