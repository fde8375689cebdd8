// The OpenAPI document of an edge: what its routes answer stands in it.
import 'reflect-metadata';
import { Controller } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Metrics } from '@recourse/telemetry';
import { z } from 'zod';
import { Limits } from '../../edge/limits.js';
import { createEdge } from '../../process.js';
import { ServiceModule } from '../../service.module.js';
import type { EdgeContext } from '../../service-context.js';
import type { Answers } from './docs.js';
import { CommandRoute, ReadRoute } from './routes.js';

const body = z.strictObject({ reason: z.string() });

@Controller('v1')
class ThingsController {
  @ReadRoute('things/:id', 'One thing.')
  one(): object {
    return { thing_id: 'thing_1' };
  }

  @CommandRoute('things/:id/mend', { summary: 'Mends it.', body })
  mend(): object {
    return { mended: true };
  }

  @CommandRoute('things/:id/look', { summary: 'Has somebody look.', body, httpStatus: 202 })
  look(): object {
    return { asked: true };
  }
}

const thing = { $ref: '#/components/schemas/Thing' };
const mended = { type: 'object', required: ['mended'], properties: { mended: { type: 'boolean' } } };
const ANSWERS: Answers = {
  routes: {
    'GET /v1/things/{id}': thing,
    'POST /v1/things/{id}/mend': mended,
    'POST /v1/things/{id}/look': mended,
  },
  schemas: { Thing: { type: 'object', required: ['thing_id'], properties: { thing_id: { type: 'string' } } } },
};
const pending = { $ref: '#/components/schemas/Pending' };

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

let app: NestFastifyApplication;
let document: Document;

beforeAll(async () => {
  const context: EdgeContext = {
    definition: { name: 'things' },
    host: { health: () => ({ live: true, ready: true, started: true, detail: {} }) },
    limits: new Limits(),
    access: () => undefined,
    authenticate: () => Promise.reject(new Error('nobody asks')),
    metrics: new Metrics({ service: 'things' }),
    onError: () => undefined,
  };
  app = await createEdge('things', ServiceModule.forEdge(context, [ThingsController], []), {
    bodyBytesMax: 10_000,
    docs: 'public',
    answers: ANSWERS,
  });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  document = (await app.inject({ method: 'GET', url: '/openapi.json' })).json<Document>();
});
afterAll(() => app.close());

const responsesOf = (method: string, path: string) => document.paths[path]?.[method]?.responses ?? {};
const withSchema = (schema: object) => ({ content: { 'application/json': { schema } } });

describe('the document of an edge', () => {
  it('says what a route answers, and what that refers to', () => {
    expect(responsesOf('get', '/v1/things/{id}')).toMatchObject({ 200: withSchema(thing) });
    expect(document.components.schemas).toMatchObject(ANSWERS.schemas);
  });

  it('says that a command may be answered later, and what it is answered with then', () => {
    const responses = responsesOf('post', '/v1/things/{id}/mend');
    expect(responses).toMatchObject({ 200: withSchema(mended), '2XX': withSchema({ anyOf: [mended, pending] }) });
    expect(responsesOf('post', '/v1/things/{id}/look')).toMatchObject({
      202: withSchema({ anyOf: [mended, pending] }),
    });
    expect(document.components.schemas).toHaveProperty('Pending');
  });
});
