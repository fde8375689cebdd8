import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newsOf, testOf } from '../rules/delivery/occasion.decisions.js';
import type { Attempted } from '../rules/delivery/attempt.decisions.js';
import { endpoint, WAITING } from '../items.testing.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import { EndpointSender } from './endpoint-sender.js';
import type { WebhookRequest } from './endpoint-sender.js';
import { MemoryNotifierStore } from '../store/notifier-store.memory.js';

const POLICY = { backoff: { baseMs: 1_000, maxMs: 60_000 }, giveUpMs: 100_000 };
const BASES = {
  ledger: 'https://ledger.example.org',
  recoveries: 'https://r.example.org',
  budgets: 'https://b.example.org',
};
const OK: Attempted = { kind: 'answered', httpStatus: 200, retryAfterMs: null };
const BROKEN: Attempted = { kind: 'answered', httpStatus: 500, retryAfterMs: null };

class Stage {
  readonly store = new MemoryNotifierStore();
  readonly sent: WebhookRequest[] = [];
  now = 1_000;
  answers: (Attempted | 'never')[] = [];

  sender(name = 'chat', more: Partial<Endpoint> = {}): EndpointSender {
    const one = endpoint({ name, keys: [Buffer.alloc(24, 1), Buffer.alloc(24, 2)], ...more });
    return new EndpointSender({
      endpoint: one,
      store: this.store,
      policy: POLICY,
      bases: BASES,
      timeoutMs: 500,
      now: () => this.now,
      send: (request) => {
        this.sent.push(request);
        const next = this.answers.shift() ?? OK;
        return next === 'never' ? new Promise(() => undefined) : Promise.resolve(next);
      },
    });
  }

  async queued(nonce = 'n', name = 'chat'): Promise<string> {
    const delivery = testOf({ name }, 'acme', nonce, this.now);
    await this.store.queue(delivery);
    return delivery.id;
  }
}

describe('the sender of an endpoint', () => {
  it('sends what is due once, signed with every key', async () => {
    const stage = new Stage();
    const id = await stage.queued();
    expect([await stage.sender().sendDue(), await stage.sender().sendDue()]).toEqual([1, 0]);
    const [request] = stage.sent;
    const signatures = [1, 2].map(
      (key) =>
        `v1,${createHmac('sha256', Buffer.alloc(24, key))
          .update(`${id}.1.${request?.body ?? ''}`)
          .digest('base64')}`,
    );
    expect([request?.headers, request?.url, (await stage.store.find(id))?.state]).toEqual([
      { 'webhook-id': id, 'webhook-timestamp': '1', 'webhook-signature': signatures.join(' ') },
      'https://hooks.example.org/x',
      'delivered',
    ]);
  });

  it('tries again under the same id with the same body until the receiver takes it', async () => {
    const stage = new Stage();
    stage.answers = [BROKEN, BROKEN, OK];
    const id = await stage.queued();
    for (let turn = 0; turn < 10; turn += 1) {
      await stage.sender().sendDue();
      stage.now += 1_000;
    }
    expect([
      stage.sent.map(({ headers }) => headers['webhook-id']),
      new Set(stage.sent.map(({ body }) => body)).size,
      await stage.store.find(id),
    ]).toMatchObject([[id, id, id], 1, { state: 'delivered', attempts: 3, lastError: null }]);
  });

  it('sends again what was begun when the process was killed', async () => {
    const stage = new Stage();
    stage.answers = ['never'];
    const id = await stage.queued();
    void stage.sender().sendDue();
    await Promise.resolve();
    stage.now += 2_499;
    expect(await stage.sender().sendDue()).toBe(0);
    stage.now += 1;
    expect(await stage.sender().sendDue()).toBe(1);
    expect([stage.sent.map(({ headers }) => headers['webhook-id']), (await stage.store.find(id))?.state]).toEqual([
      [id, id],
      'delivered',
    ]);
  });

  it('gives up after the configured time, and says so', async () => {
    const stage = new Stage();
    stage.answers = Array.from({ length: 100 }, () => BROKEN);
    const id = await stage.queued();
    for (let turn = 0; turn < 200; turn += 1) {
      await stage.sender().sendDue();
      stage.now += 1_000;
    }
    expect(await stage.store.find(id)).toMatchObject({
      state: 'given_up',
      lastError: { code: 'SERVER_ERROR', httpStatus: 500 },
    });
    expect(stage.sent.length).toBeLessThan(12);
  });

  it('leaves a receiver that is gone alone, until it is turned on', async () => {
    const stage = new Stage();
    stage.answers = [{ kind: 'answered', httpStatus: 410, retryAfterMs: null }];
    const id = await stage.queued();
    for (let turn = 0; turn < 5; turn += 1) {
      await stage.sender().sendDue();
      stage.now += 60_000;
    }
    expect([stage.sent.length, (await stage.store.find(id))?.state]).toEqual([1, 'queued']);
    await stage.store.turnOn('chat', stage.now);
    await stage.sender().sendDue();
    expect((await stage.store.find(id))?.state).toBe('delivered');
  });

  it('sends nothing of a tenant or kind that the endpoint hears of no more, whatever it heard of when that was queued', async () => {
    const stage = new Stage();
    const place = { topic: 'recourse.recoveries', partition: 0, seq: 7, at: 1_000 };
    const { queued } = newsOf(undefined, { ...WAITING, tenant: 'globex' }, [endpoint({ name: 'chat' })], place);
    for (const one of queued) await stage.store.queue(one);
    const test = await stage.queued();
    await stage.sender('chat', { tenants: ['acme'] }).sendDue();
    const states = (await stage.store.list({ countMax: 9 })).map(({ notice, state }) => [notice.occasion, state]);
    expect([stage.sent.map(({ headers }) => headers['webhook-id']), states.sort()]).toEqual([
      [test],
      [
        ['opened', 'superseded'],
        ['test', 'delivered'],
      ],
    ]);
  });

  it('tries what waited for days for a receiver that was gone as long as any other, from when it is turned on', async () => {
    const stage = new Stage();
    stage.answers = [
      { kind: 'answered', httpStatus: 410, retryAfterMs: null },
      { kind: 'answered', httpStatus: 429, retryAfterMs: null },
    ];
    const id = await stage.queued();
    await stage.sender().sendDue();
    stage.now += 5 * POLICY.giveUpMs;
    await stage.store.turnOn('chat', stage.now);
    await stage.sender().sendDue();
    expect((await stage.store.find(id))?.state).toBe('queued');
    stage.now += 60_000;
    await stage.sender().sendDue();
    expect((await stage.store.find(id))?.state).toBe('delivered');
  });

  it('does not hold up another endpoint, however long its receiver takes', async () => {
    const stage = new Stage();
    stage.answers = ['never', 'never', 'never', 'never'];
    for (const nonce of ['a', 'b', 'c', 'd', 'e']) await stage.queued(nonce);
    const id = await stage.queued('x', 'pager');
    void stage.sender().sendDue();
    await Promise.resolve();
    expect([await stage.sender('pager').sendDue(), (await stage.store.find(id))?.state]).toEqual([1, 'delivered']);
  });
});
