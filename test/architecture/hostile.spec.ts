// What hostile clients send to the edges as they run: floods, slow bodies, forged cursors, numbers out of range, deep JSON.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LIMIT_RATES } from '@recourse/service';
import { Metrics } from '@recourse/telemetry';
import { Edges } from './edges.testing.js';
import type { BodySchema, Edge } from './edges.testing.js';

const ARRIVE_MS = 300;
let edges: Edges;
let ledger: Edge;
let address: { readonly host: string; readonly port: number };

beforeAll(async () => {
  edges = await Edges.open({
    isDocsKept: true,
    arriveWithinMs: ARRIVE_MS,
    rates: { ...LIMIT_RATES, principal: { burst: 5, perSecond: 1 }, badTokens: { burst: 3, perSecond: 1 } },
  });
  const found = edges.all.find(({ name }) => name === 'mutation-ledger');
  if (found === undefined) throw new Error('no ledger');
  ledger = found;
  await ledger.app.listen(0, '127.0.0.1');
  const { port } = new URL(await ledger.app.getUrl());
  address = { host: '127.0.0.1', port: Number(port) };
}, 60_000);
afterAll(() => edges.close());

const get = (url: string, token: string, remoteAddress = '10.0.0.1') =>
  ledger.app.inject({ method: 'GET', url, remoteAddress, headers: { authorization: `Bearer ${token}` } });

describe('whoever asks too often', () => {
  it('is told when to ask again, by their name', async () => {
    const token = await edges.token('acme', ['viewer'], 'busy');
    const answers = [];
    for (let nth = 0; nth < 6; nth += 1) answers.push(await get('/v1/status', token, `10.1.0.${String(nth)}`));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers[5]?.headers['retry-after']).toBe('1');
    expect(answers[5]?.json()).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    expect((await get('/v1/status', await edges.token('acme', ['viewer'], 'calm'))).statusCode).toBe(200);
  });

  it('with tokens that are none is slowed by their address, while a token that was good goes on', async () => {
    const good = await edges.token('acme', ['viewer'], 'steady');
    const from = '10.2.0.1';
    expect((await get('/v1/status', good, from)).statusCode).toBe(200);
    const answers = [];
    for (let nth = 0; nth < 5; nth += 1) answers.push((await get('/v1/status', `a.b.${String(nth)}`, from)).statusCode);
    expect(answers).toEqual([401, 401, 401, 429, 429]);
    expect((await get('/v1/status', good, from)).statusCode).toBe(200);
  });

  it('for metrics, which want no token, has them made once for many', async () => {
    const made = jest.spyOn(Metrics.prototype, 'text');
    const asked = Array.from({ length: 50 }, () => ledger.app.inject({ method: 'GET', url: '/metrics' }));
    const answers = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
    expect(answers).toEqual(Array(50).fill(200));
    expect(made.mock.calls.length).toBeLessThan(25);
    made.mockRestore();
  });
});

const HEAD = 'POST /v1/undos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describe('a request that does not arrive', () => {
  /** What came back until the connection was closed, and after how long. */
  const sent = (head: string, trickle: string) =>
    new Promise<{ text: string; ms: number }>((resolve, reject) => {
      const began = performance.now();
      let text = '';
      const socket = connect(address, () => socket.write(head));
      const timer = setInterval(() => socket.writable && socket.write(trickle), ARRIVE_MS / 6);
      const ended = (): void => {
        clearInterval(timer);
        resolve({ text, ms: performance.now() - began });
      };
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('close', ended);
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
      });
    });

  it.each([
    ['a body of one byte now and then', `${HEAD}Content-Length: 5000\r\nAuthorization: Bearer TOKEN\r\n\r\n{`, ' '],
    ['headers of one byte now and then', 'GET /v1/status HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'a'],
  ])('is cut off: %s', async (_what, head, trickle) => {
    const token = await edges.token('acme', ['requester'], 'slow');
    const { text, ms } = await sent(head.replace('TOKEN', token), trickle);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('REQUEST_TOO_SLOW');
    expect(ms).toBeLessThan(ARRIVE_MS * 5);
  });

  it('is cut off as soon, where it was answered before: a body of somebody without a token', async () => {
    const { text, ms } = await sent(`${HEAD}Content-Length: 5000\r\n\r\n{`, ' ');
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(ms).toBeLessThan(ARRIVE_MS * 5);
  });

  it('is answered where it is no HTTP', async () => {
    const { text } = await sent('WHAT IS THIS\r\n\r\n', '');
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('REQUEST_REFUSED');
  });
});

/** A request inside a request: whoever reads its length otherwise than the one before takes the rest for a second one. */
const INSIDE = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';

describe('a request with two ends', () => {
  /** Status lines of all that came back, before the edge closed the connection. */
  const answersTo = (text: string) =>
    new Promise<readonly string[]>((resolve, reject) => {
      let heard = '';
      const socket = connect(address, () => socket.write(text));
      socket.on('data', (chunk) => (heard += chunk.toString()));
      socket.on('close', () => {
        resolve(heard.match(/HTTP\/1\.1 \d{3}/gu) ?? []);
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
      });
    });

  it.each([
    ['a length and chunks', `${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${INSIDE}`],
    ['chunks and a length', `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${INSIDE}`],
    ['two lengths', `${HEAD}Content-Length: 0\r\nContent-Length: 40\r\n\r\n${INSIDE}`],
    ['a list of lengths', `${HEAD}Content-Length: 0, 40\r\n\r\n${INSIDE}`],
    ['a length with a sign', `${HEAD}Content-Length: +0\r\n\r\n${INSIDE}`],
    ['chunks that are not the last coding', `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${INSIDE}`],
    ['a coding nobody knows', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${INSIDE}`],
    ['a blank before the colon', `${HEAD}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${INSIDE}`],
    ['a folded header', `${HEAD}X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n${INSIDE}`],
    ['lines that end in LF alone', `${HEAD.replaceAll('\r\n', '\n')}Content-Length: 0\n\n${INSIDE}`],
    ['a chunk size that is none', `${HEAD}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${INSIDE}`],
    ['a NUL in a header', `${HEAD}X-A: b\u0000c\r\nContent-Length: 0\r\n\r\n${INSIDE}`],
  ])('is refused, and nothing behind it is read: %s', async (_what, text) => {
    expect(await answersTo(text)).toEqual(['HTTP/1.1 400']);
  });
});

describe('the OpenAPI pages', () => {
  it.each(['/openapi.json', '/docs', '/docs/show.js', '/docs/swagger-ui.css'])('want a token: %s', async (url) => {
    const without = await ledger.app.inject({ method: 'GET', url, remoteAddress: `10.3.0.${String(url.length)}` });
    expect([without.statusCode, without.json<{ code: string }>().code]).toEqual([401, 'TOKEN_MISSING']);
    expect((await get(url, await edges.token('acme', ['viewer'], `reader${url.length}`))).statusCode).toBe(200);
  });

  it('are asked for with tokens that are none no oftener than other routes', async () => {
    const answers = [];
    for (let nth = 0; nth < 5; nth += 1)
      answers.push((await get('/openapi.json', `d.e.${String(nth)}`, '10.4.0.1')).statusCode);
    expect(answers).toEqual([401, 401, 401, 429, 429]);
  });

  it('want a role, as every route does', async () => {
    const answer = await get('/openapi.json', await edges.token('acme', [], 'nobody'));
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([403, 'ROLE_REQUIRED']);
  });
});

/** Values that no query member may hold, and what a cursor may be forged as. */
const forged = (place: unknown): string => Buffer.from(JSON.stringify(place)).toString('base64url');
const HOSTILE: readonly (readonly [string, string])[] = [
  ['cursor', 'not base64 at all!'],
  ['cursor', forged(null)],
  ['cursor', forged({ partition: 2 ** 31, group: 'g', key: 'k' })],
  ['cursor', forged({ partition: -1, group: 'g', key: 'k' })],
  ['cursor', forged({ partition: 0, group: 'g\u0000', key: 'k' })],
  ['cursor', forged({ partition: 0, group: 'g', key: 'k'.repeat(5_000) })],
  ['cursor', forged({ partition: 0, group: '\ud800', key: 'k' })],
  ['cursor', forged({ updatedAt: Number.MAX_SAFE_INTEGER * 4, id: 'x' })],
  ['cursor', forged({ updatedAt: 1, id: 'x\u0000' })],
  ['cursor', forged({ deadlineAt: 1, key: 'x\u0000' })],
  ['cursor', forged({ deadlineAt: 2 ** 60, key: 'x' })],
  ['after', forged([[2 ** 31, 0, 0]])],
  ['limit', '0'],
  ['limit', '-1'],
  ['limit', '1e309'],
  ['limit', '9'.repeat(40)],
  ['partition', '99999999999'],
  ['partition', '-1'],
  ['version', '1e300'],
  ['version', String(2 ** 53)],
  ['within_ms', '1e300'],
  ['tenant', 'a\u0000b'],
];

describe('bad input', () => {
  it('is answered with a code below 500 at every list, and no text blames the database', async () => {
    const calm = await Edges.open();
    const wrong: string[] = [];
    let asked = 0;
    try {
      for (const { name, app, routes } of calm.all)
        for (const { path, row, query } of routes.filter(({ method }) => method === 'GET'))
          for (const [member, value] of HOSTILE.filter(([each]) => query.includes(each))) {
            const token = await calm.token('*', ['auditor', 'administrator']);
            const url = `${path.replaceAll(/\{\w+\}/g, 'x')}?${member}=${encodeURIComponent(value)}`;
            const answer = await app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } });
            asked += 1;
            const isCoded = answer.statusCode >= 400 && answer.statusCode < 500 && /"code":"[A-Z_]+"/.test(answer.body);
            const what = `${name} ${row} ${member}=${value.slice(0, 60)}: ${String(answer.statusCode)}`;
            if (!isCoded || /database/i.test(answer.body)) wrong.push(`${what} ${answer.body.slice(0, 200)}`);
          }
    } finally {
      await calm.close();
    }
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(300);
  }, 120_000);

  it.each([
    ['longer than any id', 'i'.repeat(513), 414, 'PATH_TOO_LONG'],
    ['longer than any id, and encoded', '%C3%BC'.repeat(600), 414, 'PATH_TOO_LONG'],
    ['encoded as nothing can be', '%zz', 400, 'REQUEST_REFUSED'],
  ])('is answered as every other where an id in the path is %s, on every service', async (_what, id, status, code) => {
    const calm = await Edges.open();
    try {
      const token = await calm.token('acme', ['viewer']);
      const answers = await Promise.all(
        calm.all.flatMap(({ app, routes }) =>
          routes
            .filter(({ path }) => path.includes('{'))
            .map(({ method, path }) =>
              app.inject({
                method: method as 'GET' | 'POST', // the OpenAPI document names no other
                url: path.replaceAll(/\{\w+\}/g, id),
                headers: { authorization: `Bearer ${token}` },
              }),
            ),
        ),
      );
      expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([status]));
      for (const { headers, json } of answers) {
        expect(headers).toMatchObject({
          'content-type': expect.stringContaining('application/problem+json'),
          'x-content-type-options': 'nosniff',
        });
        expect(json()).toMatchObject({ type: 'about:blank', status, code });
      }
      expect(answers.length).toBeGreaterThan(50);
    } finally {
      await calm.close();
    }
  });

  it('is no id of 170 characters: a run of it is looked for', async () => {
    const calm = await Edges.open();
    try {
      const found = calm.all.find(({ name }) => name === 'mutation-ledger');
      const headers = { authorization: `Bearer ${await calm.token('acme', ['viewer'])}` };
      const answer = await found?.app.inject({ method: 'GET', url: `/v1/runs/${'i'.repeat(170)}/resume`, headers });
      expect([answer?.statusCode, answer?.json<{ code: string }>().code]).toEqual([404, 'RUN_UNKNOWN']);
    } finally {
      await calm.close();
    }
  });

  it('is no id of 170 characters where any id is asked about: a run of it is looked for as well', async () => {
    const calm = await Edges.open();
    try {
      const found = calm.all.find(({ name }) => name === 'mutation-ledger');
      const headers = { authorization: `Bearer ${await calm.token('acme', ['viewer'])}` };
      const answer = await found?.app.inject({ method: 'GET', url: `/v1/resolve/${'i'.repeat(512)}`, headers });
      expect(answer?.json<{ code: string }>().code).not.toBe('INPUT_INVALID');
    } finally {
      await calm.close();
    }
  });

  it('is refused as a member of a query that nobody reads, at every route that reads', async () => {
    const calm = await Edges.open();
    const wrong: string[] = [];
    let asked = 0;
    try {
      const tokens = [
        await calm.token('acme', ['administrator', 'approver']),
        await calm.token('acme', ['agent']),
        await calm.token('*', ['administrator']),
      ];
      for (const { name, app, routes } of calm.all)
        for (const { path, row } of routes.filter(({ method }) => method === 'GET')) {
          const url = `${path.replaceAll(/\{\w+\}/g, 'x')}?nobody_reads=1`;
          const codes: string[] = [];
          for (const token of tokens) {
            const answer = await app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } });
            codes.push(answer.json<{ code?: string }>().code ?? 'taken');
          }
          asked += 1;
          if (
            !codes.includes('INPUT_INVALID') ||
            codes.some((code) => !['INPUT_INVALID', 'ROLE_REQUIRED'].includes(code))
          )
            wrong.push(`${name} ${row}: ${codes.join(', ')}`);
        }
    } finally {
      await calm.close();
    }
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(80);
  }, 120_000);

  it('is refused at every command: JSON of hundreds of levels, of none, and of the wrong kind', async () => {
    const calm = await Edges.open();
    const deep = '{"reason":'.repeat(500) + '1' + '}'.repeat(500);
    const tokens = [
      await calm.token('acme', ['administrator', 'approver', 'operator', 'budget_owner']),
      await calm.token('acme', ['agent']),
    ];
    const wrong: string[] = [];
    try {
      for (const { name, app, routes } of calm.all)
        for (const { path, row } of routes.filter((route) => route.method === 'POST'))
          for (const payload of [
            deep,
            '{',
            '[]',
            '"x"',
            'null',
            '1',
            '{"__proto__":{"a":1}}',
            '{"reason":"\\u0000"}',
          ]) {
            const url = path.replaceAll(/\{\w+\}/g, 'x');
            for (const token of tokens) {
              const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
              const answer = await app.inject({ method: 'POST', url, headers, payload });
              if (answer.statusCode >= 500 || (answer.statusCode >= 400 && !/"code":"[A-Z_]+"/.test(answer.body)))
                wrong.push(`${name} ${row} ${payload.slice(0, 20)}: ${String(answer.statusCode)} ${answer.body}`);
            }
          }
    } finally {
      await calm.close();
    }
    expect(wrong).toEqual([]);
  }, 120_000);

  it('has a longest list at every command, and is answered in few words however much of it is wrong', async () => {
    const calm = await Edges.open();
    const tokens = [
      await calm.token('acme', ['administrator', 'approver', 'operator', 'budget_owner']),
      await calm.token('acme', ['agent']),
    ];
    const wrong: string[] = [];
    let asked = 0;
    try {
      for (const { name, app, routes } of calm.all)
        for (const { path, row, body } of routes.filter((route) => route.method === 'POST')) {
          for (const place of endlessIn(body)) wrong.push(`${name} ${row}: ${place} has no longest length`);
          for (const payload of wrongBodies(body))
            for (const token of tokens) {
              const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
              const url = path.replaceAll(/\{\w+\}/g, 'x');
              const answer = await app.inject({ method: 'POST', url, headers, payload });
              asked += 1;
              if (answer.statusCode >= 500 || answer.body.length > ANSWER_MAX)
                wrong.push(
                  `${name} ${row} ${payload.slice(0, 40)}: ${answer.statusCode}, ${answer.body.length} characters`,
                );
            }
        }
    } finally {
      await calm.close();
    }
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(300);
  }, 120_000);
});

const ANSWER_MAX = 100_000;

/** Where lists may be of any length. */
function endlessIn(schema: BodySchema | undefined, place = ''): readonly string[] {
  if (schema === undefined) return [];
  const inside = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    endlessIn(member, `${place}/${name}`),
  );
  if (schema.type !== 'array') return inside;
  return [...(schema.maxItems === undefined ? [place] : []), ...endlessIn(schema.items, `${place}/-`)];
}

/** Bodies as large as any, with as much that is wrong about them as there is room for. */
function wrongBodies(schema: BodySchema | undefined): readonly string[] {
  const members = `{${Array.from({ length: 14_000 }, (_, at) => `"m${String(at)}":1`).join()}}`;
  const nothings = `[${'{},'.repeat(60_000)}{}]`;
  return [
    members,
    ...Object.entries(schema?.properties ?? {}).flatMap(([name, { items }]) => [
      `{"${name}":${nothings}}`,
      `{"${name}":${members}}`,
      ...Object.keys(items?.properties ?? {}).map(
        (inner) => `{"${name}":[${`{"${inner}":[${'{},'.repeat(99)}{}]},`.repeat(550)}{}]}`,
      ),
    ]),
  ];
}
