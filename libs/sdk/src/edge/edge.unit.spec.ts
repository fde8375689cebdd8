import { describe, expect, it } from '@jest/globals';
import { edgeClient } from './edge.js';
import type { EdgeClient, EdgeOptions } from './edge.js';
import { impatientClock } from './edge.testing.js';

interface Sent {
  readonly call: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}
interface Given {
  readonly status?: number;
  readonly text: string;
  readonly location?: string;
}

/** A service that gives these answers in turn, the last of them for ever. */
function service(
  answers: readonly Given[],
  more: Partial<EdgeOptions> = {},
): { readonly client: EdgeClient; readonly sent: readonly Sent[] } {
  const sent: Sent[] = [];
  const client = edgeClient({
    url: 'http://desk.test/api/',
    name: 'the desk',
    token: () => Promise.resolve('t'),
    clock: impatientClock(),
    fetch: (url, { method = '', headers, body }) => {
      sent.push({
        call: `${method} ${url}`,
        headers: Object.fromEntries(new Headers(headers)),
        body: typeof body === 'string' ? JSON.parse(body) : null,
      });
      const { status = 200, text, location } = answers[Math.min(sent.length, answers.length) - 1] ?? { text: '' };
      return Promise.resolve({
        status,
        headers: new Headers(location === undefined ? {} : { location }),
        text: () => Promise.resolve(text),
      });
    },
    ...more,
  });
  return { client, sent };
}
const TAKEN = { status: 202, text: '{}' };

describe('a question to an edge', () => {
  it('goes to a path below its address, with token and query', async () => {
    const { client, sent } = service([{ text: '{"a":1}' }]);
    expect(await client.get('/v1/things', { of: 'x y', id: ['1', '2'], none: undefined })).toEqual({ a: 1 });
    expect(sent).toEqual([
      {
        call: 'GET http://desk.test/api/v1/things?of=x+y&id=1&id=2',
        headers: { authorization: 'Bearer t' },
        body: null,
      },
    ]);
  });

  it('bears no token where there is none', async () => {
    const { client, sent } = service([{ text: '{}' }], { token: () => Promise.resolve(null) });
    await client.get('/v1/things');
    expect(sent[0]?.headers).toEqual({});
  });

  it('throws the code and the problems of a refusal, and who refused', async () => {
    const problems = [{ code: 'NAME_MISSING', message: 'it has no name', path: '/name' }];
    const { client } = service([
      { status: 422, text: JSON.stringify({ code: 'BODY_INVALID', detail: 'two', problems }) },
    ]);
    await expect(client.get('/v1/things')).rejects.toMatchObject({
      name: 'EdgeProblem',
      code: 'BODY_INVALID',
      detail: 'two',
      status: 422,
      from: 'the desk at http://desk.test/api',
      problems,
    });
  });

  it.each([
    [502, 'Bad gateway', 'HTTP_502', 'Bad gateway'],
    [500, '', 'HTTP_500', 'the answer was 500'],
    [404, '[]', 'HTTP_404', 'the answer was 404'],
  ])('that is answered with %i %j says so', async (status, text, code, detail) => {
    await expect(service([{ status, text }]).client.get('/v1/things')).rejects.toMatchObject({ code, detail, status });
  });

  it('that nobody answers says who was asked, and what to do', async () => {
    const cause = new TypeError('fetch failed');
    const { client } = service([], { fetch: () => Promise.reject(cause) });
    await expect(client.ask({ method: 'GET', path: '/v1/things' })).rejects.toMatchObject({
      code: 'SERVICE_UNREACHABLE',
      status: null,
      cause,
      message: expect.stringMatching(/the desk at http:\/\/desk\.test\/api: .*\/v1\/things.*Check/) as unknown,
    });
  });

  it('is given up in time', async () => {
    const { client } = service([], {
      timeoutMs: 5,
      fetch: (_url, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        }),
    });
    await expect(client.get('/v1/things')).rejects.toMatchObject({
      code: 'SERVICE_UNREACHABLE',
      detail: 'no answer to GET /v1/things within 5 ms',
    });
  });
});

describe('a list of an edge', () => {
  const page = (count: number, next: string | null): Given => ({
    text: JSON.stringify({ items: Array.from({ length: count }, (_, id) => ({ id })), next_cursor: next }),
  });

  it('is read page by page', async () => {
    const { client, sent } = service([page(500, 'c1'), page(3, null)]);
    const { items, more } = await client.list('/v1/things', { of: 'x' }, 1_000);
    expect([items.length, more]).toEqual([503, false]);
    expect(sent.map(({ call }) => new URL(call.replace('GET ', '')).search)).toEqual([
      '?of=x&limit=500',
      '?of=x&limit=500&cursor=c1',
    ]);
  });

  it('ends where enough was read, and says that there is more', async () => {
    const { client, sent } = service([page(2, 'c1')]);
    expect((await client.list('/v1/things', {}, 2)).more).toBe(true);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['has no items', '{}'],
    ['goes round', '{"items":[],"next_cursor":"c"}'],
  ])('that %s is none', async (_what, text) => {
    await expect(service([{ text }]).client.list('/v1/things', {}, 10)).rejects.toMatchObject({
      code: 'ANSWER_UNREADABLE',
    });
  });
});

describe('a command to an edge', () => {
  it('is answered with its outcome', async () => {
    const { client, sent } = service([{ status: 201, text: '{"id":"x"}' }]);
    expect(await client.command('/v1/things', { a: 1 }, 'k')).toEqual({ id: 'x' });
    expect(sent).toMatchObject([{ call: 'POST http://desk.test/api/v1/things', body: { a: 1 } }]);
    expect(sent[0]?.headers).toMatchObject({ 'idempotency-key': 'k', 'content-type': 'application/json' });
  });

  it('has a key of its own where none is named', async () => {
    const { client, sent } = service([{ text: '{}' }]);
    await client.command('/v1/things', {});
    await client.command('/v1/things', {});
    const keys = sent.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
    expect(keys).not.toContain(undefined);
  });

  it.each([[500], [503]])('that a service in trouble answers with %i may stand, and names its key', async (status) => {
    const { client } = service([{ status, text: '{"code":"BROKER_UNAVAILABLE","detail":"No broker answers."}' }]);
    await expect(client.command('/v1/things', {}, 'k')).rejects.toMatchObject({
      code: 'BROKER_UNAVAILABLE',
      detail: expect.stringMatching(/^No broker answers; it may have been taken .* idempotency key k it is done once$/),
      status,
    });
  });

  it('that is refused does not stand, and a read stands for nothing', async () => {
    const trouble = { status: 409, text: '{"code":"TOO_LATE","detail":"closed"}' };
    await expect(service([trouble]).client.command('/v1/things', {}, 'k')).rejects.toMatchObject({ detail: 'closed' });
    const { client } = service([{ ...trouble, status: 503 }]);
    await expect(client.get('/v1/things')).rejects.toMatchObject({ detail: 'closed' });
  });

  it('is followed to where its outcome will be', async () => {
    const { client, sent } = service([{ ...TAKEN, location: '/v1/commands/c' }, TAKEN, { text: '{"id":"x"}' }]);
    expect(await client.command('/v1/things', {}, 'k')).toEqual({ id: 'x' });
    expect(sent.map(({ call }) => call.replace('http://desk.test/api', ''))).toEqual([
      'POST /v1/things',
      'GET /v1/commands/c',
      'GET /v1/commands/c',
    ]);
  });

  it.each([[undefined], ['http://elsewhere.test/v1/commands/c'], ['//elsewhere.test/c']])(
    'is repeated under its key where its outcome is said to be at %s: a token goes to no other host',
    async (location) => {
      const taken = location === undefined ? TAKEN : { ...TAKEN, location };
      const { client, sent } = service([taken, { text: '{"id":"x"}' }]);
      expect(await client.command('/v1/things', { a: 1 }, 'k')).toEqual({ id: 'x' });
      expect(sent.map(({ call, body }) => [call, body])).toEqual([
        ['POST http://desk.test/api/v1/things', { a: 1 }],
        ['POST http://desk.test/api/v1/things', { a: 1 }],
      ]);
      expect(sent[1]?.headers['idempotency-key']).toBe('k');
    },
  );

  it.each([
    ['at once', []],
    ['later', [{ ...TAKEN, text: '{"command_id":"c","status":"pending"}', location: '/v1/commands/c' }]],
  ])('whose outcome is that somebody else is asked first is answered with that, %s', async (_when, before) => {
    const { client, sent } = service([...before, { status: 202, text: '{"escalation_id":"esc_1"}' }]);
    expect(await client.command('/v1/budgets/move', {}, 'k')).toEqual({ escalation_id: 'esc_1' });
    expect(sent).toHaveLength(before.length + 1);
  });

  it.each(['Accepted', '[]'])('that is taken with words alone, as by a gateway, has no outcome: %s', async (text) => {
    const { client } = service([{ status: 202, text }]);
    await expect(client.command('/v1/things', {}, 'k')).rejects.toMatchObject({ code: 'OUTCOME_PENDING' });
  });

  it('that has no outcome for long is pending, under a key that is told', async () => {
    const { client } = service([TAKEN]);
    await expect(client.command('/v1/things', {}, 'my-key')).rejects.toMatchObject({
      code: 'OUTCOME_PENDING',
      status: 202,
      message: expect.stringContaining('my-key') as unknown,
    });
  });
});

describe('an idempotency key that no header carries', () => {
  it.each(['ü🎉', '', ' a', 'a\nb', 'x'.repeat(201)])(
    'is refused with a code, and nothing is sent: %j',
    async (key) => {
      const { client, sent } = service([{ text: '{}' }]);
      await expect(client.command('/v1/undos', {}, key)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_INVALID' });
      expect(sent).toEqual([]);
    },
  );
});
