import { describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';

type Answer = { readonly status?: number; readonly body: object };
const DELIVERY = {
  id: 'msg_1',
  endpoint: 'chat',
  tenant: 'acme',
  occasion: 'opened',
  item_kind: 'approval',
  item_id: 'step_1',
  state: 'given_up',
  attempts: 7,
  next_at: null,
  last_error: { code: 'SERVER_ERROR', http_status: 503 },
  way_out: 'Mend the receiver, then retry it.',
};

/** A notifier that answers each question with its next answer, the last one for ever. */
function notifier(answers: Readonly<Record<string, readonly Answer[]>>) {
  const counts = new Map<string, number>();
  const { call, asked, ...rest } = desk(({ method, pathname }) => {
    const question = `${method} ${pathname}`;
    const count = counts.get(question) ?? 0;
    counts.set(question, count + 1);
    const given = answers[question];
    const { status = 200, body } = given?.[Math.min(count, given.length - 1)] ?? {
      status: 404,
      body: { code: 'NOT_FOUND', title: 'none', detail: 'nothing there' },
    };
    return Response.json(body, { status });
  });
  return {
    ...rest,
    call: (...args: readonly string[]) => call('notifications', ...args),
    requests: () => asked.map(({ method, path }) => `${method} ${path}`),
  };
}

describe('notifications list', () => {
  it('shows what failed, why, and the way out', async () => {
    const { call, requests, out } = notifier({
      'GET /v1/deliveries': [{ body: { items: [DELIVERY], next_cursor: null } }],
    });
    expect(await call('list', '--state', 'given_up', '--endpoint', 'chat', '--limit', '5')).toBe(0);
    expect(requests()).toEqual(['GET /v1/deliveries?state=given_up&endpoint=chat&limit=5']);
    expect(out()).toMatch(/msg_1 +chat +acme +opened +approval +step_1 +given_up +7 +SERVER_ERROR \(503\)/);
    expect(out()).toContain('What to do: Mend the receiver, then retry it.');
  });

  it('is JSON for scripts', async () => {
    const { call, out } = notifier({ 'GET /v1/deliveries': [{ body: { items: [DELIVERY], next_cursor: null } }] });
    expect(await call('list', '--json')).toBe(0);
    expect(JSON.parse(out())).toEqual({ items: [DELIVERY], more: false });
  });

  it('says that it needs to know where the notifier is', async () => {
    const { call, note } = desk(() => undefined, { environment: {} });
    expect(await call('notifications', 'list')).toBe(64);
    expect(note()).toMatch(/nothing says where the notifier is[\s\S]+--notifier-url/);
  });
});

describe('notifications test', () => {
  const queued = { ...DELIVERY, state: 'queued', attempts: 0, last_error: null, way_out: null };

  it('waits until the receiver took it', async () => {
    const { call, requests, out } = notifier({
      'POST /v1/endpoints/chat/test': [{ body: queued }],
      'GET /v1/deliveries/msg_1': [
        { body: { ...queued, attempts: 1 } },
        { body: { ...queued, attempts: 1, state: 'delivered' } },
      ],
    });
    expect(await call('test', 'chat')).toBe(0);
    expect(requests()).toEqual([
      'POST /v1/endpoints/chat/test',
      'GET /v1/deliveries/msg_1',
      'GET /v1/deliveries/msg_1',
    ]);
    expect(out()).toMatch(/state +delivered/);
  });

  it('ends with another exit code when the receiver did not', async () => {
    const { call, out } = notifier({
      'POST /v1/endpoints/chat/test': [{ body: queued }],
      'GET /v1/deliveries/msg_1': [
        { body: { ...queued, attempts: 1, last_error: { code: 'TIMEOUT', http_status: null } } },
      ],
    });
    expect(await call('test', 'chat')).toBe(4);
    expect(out()).toMatch(/last error +TIMEOUT$/m);
  });

  it('says which endpoint there is not', async () => {
    const { call, note } = notifier({});
    expect(await call('test', 'nobody')).toBe(3);
    expect(note()).toContain('NOT_FOUND');
  });
});

describe('notifications retry, on and endpoints', () => {
  it('waits for the attempt it asked for, not for an older one', async () => {
    const again = { ...DELIVERY, state: 'queued', last_error: null };
    const { call, out } = notifier({
      'POST /v1/deliveries/msg_1/retry': [{ body: again }],
      'GET /v1/deliveries/msg_1': [{ body: again }, { body: { ...again, attempts: 8, state: 'delivered' } }],
    });
    expect(await call('retry', 'msg_1')).toBe(0);
    expect(out()).toMatch(/attempts +8/);
  });

  it('turns an endpoint on, and lists them', async () => {
    const endpoint = {
      name: 'chat',
      state: 'on',
      shape: 'slack',
      to: 'https://hooks.example.org',
      tenants: 'all',
      kinds: ['approval', 'incident'],
      queued: 2,
      given_up: 0,
      oldest_due_at: 1_000,
      way_out: null,
    };
    const { call, out } = notifier({
      'POST /v1/endpoints/chat/on': [{ body: endpoint }],
      'GET /v1/endpoints': [{ body: { items: [endpoint], next_cursor: null } }],
    });
    expect([await call('on', 'chat'), await call('endpoints')]).toEqual([0, 0]);
    expect(out()).toMatch(
      /chat +on +slack +https:\/\/hooks\.example\.org +all +approval, incident +2 +0 +1970-01-01 00:00:01Z/,
    );
  });
});
