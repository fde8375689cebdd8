// OpenAPI: the document at /openapi.json and a page of it at /docs.
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BODY_REFUSALS } from '../../edge/body-rules.js';
import type { LetsIn } from './caller.js';

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
};

const METHODS = ['post', 'put', 'patch', 'delete'] as const;
const BODY_REFUSED = Object.entries(BODY_REFUSALS)
  .map(([code, { summary }]) => `${code}: ${summary}`)
  .join(' ');
const SHOW = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui' });\n";
/** The page runs its own files and nothing that is written in it; its styles it sets itself. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Adds the routes, for everybody or whoever has a role. They say what there is, not what it holds. */
export function serveDocs(app: NestFastifyApplication, title: string, letsIn: Exclude<LetsIn, 'row'>): void {
  const about = new DocumentBuilder().setTitle(`Recourse: ${title}`).setVersion('1').addBearerAuth().build();
  // Made when it is first asked for: a start does not wait for it.
  let document: string | null = null;
  const fastify = app.getHttpAdapter().getInstance();
  const folder = assetsFolder();
  const config = { letsIn };
  fastify.get('/openapi.json', { config }, (_request, reply) =>
    reply
      .type('application/json')
      .send((document ??= JSON.stringify(withBodyRefusals(SwaggerModule.createDocument(app, about))))),
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

/** Adds what every route with a body answers for what the headers of the body say. */
function withBodyRefusals(document: OpenAPIObject): OpenAPIObject {
  const operations = Object.values(document.paths).flatMap((path) => METHODS.flatMap((method) => path[method] ?? []));
  for (const operation of operations)
    if (operation.requestBody !== undefined) operation.responses['415'] = { description: BODY_REFUSED };
  return document;
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
