// Whom a proxy asks for counts in its place, where the proxy is named; nobody else says of themselves where they are.
import 'reflect-metadata';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Metrics } from '@recourse/telemetry';
import { z } from 'zod';
import { LIMIT_RATES, Limits } from '../../edge/limits.js';
import { EdgeRefusal } from '../../edge/problem.js';
import { createEdge } from '../../process.js';
import type { EdgeContext } from '../../service-context.js';
import { ServiceModule } from '../../service.module.js';
import { ReadRoute } from './routes.js';

@Controller('v1')
class Things {
  @ReadRoute('things', 'Nothing.', z.strictObject({}))
  read(): Promise<object> {
    return Promise.resolve({});
  }
}

const PROXY = '10.1.2.3';
const [STRANGER, GUEST] = ['192.0.2.66', '192.0.2.7'];
let app: NestFastifyApplication;
afterEach(() => app.close());

/** An edge that takes two tokens that are none from one address, behind a proxy. */
async function edgeBehind(trustedProxies: readonly string[] | undefined): Promise<void> {
  const context: EdgeContext = {
    definition: { name: 'things' },
    host: { health: () => ({ live: true, ready: true, started: true, detail: {} }) },
    limits: new Limits({ ...LIMIT_RATES, badTokens: { burst: 2, perSecond: 0.001 } }),
    access: () => ({ roles: ['operator'], reach: 'tenant' }),
    authenticate: (authorization) =>
      authorization === 'Bearer good'
        ? Promise.resolve({ subject: 'asha', tenant: 'acme', roles: ['operator'] })
        : Promise.reject(
            authorization === 'Bearer odd'
              ? new EdgeRefusal('PRINCIPAL_INVALID', 'no such name')
              : new EdgeRefusal('TOKEN_REFUSED', 'it is none'),
          ),
    metrics: new Metrics({ service: 'things' }),
    onError: () => undefined,
  };
  app = await createEdge('things', ServiceModule.forEdge(context, [Things], []), {
    bodyBytesMax: 10_000,
    docs: 'public',
    trustedProxies,
  });
  await app.init();
}

async function ask(from: string, forwardedFor: string | undefined, token: 'good' | 'none' | 'odd'): Promise<number> {
  const { statusCode } = await app.inject({
    method: 'GET',
    url: '/v1/things',
    remoteAddress: from,
    headers: {
      authorization: `Bearer ${token}`,
      ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
    },
  });
  return statusCode;
}

/** One after the other: what is under way at the same time is not yet counted. */
async function askThrice(
  from: string,
  forwardedFor: (at: number) => string | undefined,
  token: 'none' | 'odd' = 'none',
): Promise<readonly number[]> {
  const answers: number[] = [];
  for (const at of [1, 2, 3]) answers.push(await ask(from, forwardedFor(at), token));
  return answers;
}

describe('an address behind a proxy that is trusted', () => {
  it("is counted in the proxy's place: a stranger's tokens that are none slow nobody else", async () => {
    await edgeBehind(['10.0.0.0/8', '::1']);
    expect(await askThrice(PROXY, () => STRANGER)).toEqual([401, 401, 429]);
    expect(await ask(PROXY, GUEST, 'good')).toBe(200);
  });

  it('is the one that the proxy adds, whatever was said before it', async () => {
    await edgeBehind(['10.0.0.0/8']);
    expect(await askThrice(PROXY, (at) => `192.0.2.${String(at)}, ${STRANGER}`)).toEqual([401, 401, 429]);
  });
});

describe('an address', () => {
  it.each([
    ['of a proxy that is not trusted is the only one', undefined, PROXY],
    ['of whoever is no proxy is their own, whatever they say', ['10.0.0.0/8'], STRANGER],
  ] as const)('%s', async (_case, trusted, from) => {
    await edgeBehind(trusted);
    expect(await askThrice(from, (at) => `192.0.2.${String(at)}`)).toEqual([401, 401, 429]);
    expect(await ask(from, GUEST, 'good')).toBe(429);
  });
});

it('an account whose token is good, in a name that nobody can have, slows nobody who comes by the same proxy', async () => {
  await edgeBehind(undefined);
  expect(await askThrice(PROXY, () => undefined, 'odd')).toEqual([401, 401, 401]);
  expect(await ask(PROXY, undefined, 'good')).toBe(200);
});
