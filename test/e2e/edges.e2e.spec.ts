// The four services as processes: their pages, health, idempotency keys, and attacks on an approval.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BUDGET_OWNER,
  confused,
  INITIATOR,
  OPERATOR,
  resigned,
  SERVICE_SIDES,
  System,
  unsigned,
} from './system.testing.js';

let started: System | undefined;
let system: System;
beforeAll(async () => {
  started = await System.start();
  system = started;
}, 400_000);
afterAll(() => started?.close(), 60_000);

describe.each(SERVICE_SIDES)('the service %s', (side) => {
  it('answers live, ready and start-up without a token', async () => {
    for (const aspect of ['live', 'ready', 'startup'])
      expect([aspect, (await system.get(side, `/health/${aspect}`)).status]).toEqual([aspect, 200]);
  });

  it('has an OpenAPI document and a page of it', async () => {
    const { body } = await system.get(side, '/openapi.json');
    expect(body['openapi']).toMatch(/^3\./);
    expect(Object.keys(body['paths'] as object).length).toBeGreaterThan(4);
    const page = await system.get(side, '/docs');
    expect([page.status, page.type.split(';')[0]]).toEqual([200, 'text/html']);
    expect((await system.get(side, '/docs/swagger-ui.css')).status).toBe(200);
  });

  it('counts what it does', async () => {
    const { status, text } = await system.get(side, '/metrics');
    expect([status, text.includes('# TYPE ')]).toEqual([200, true]);
    for (const gauge of ['recourse_cursor_lag_records', 'recourse_parked_open', 'recourse_projection_lag_records'])
      expect([gauge, text.includes(`\n${gauge}{`)]).toEqual([gauge, true]);
  });

  it('lets nobody in without a token', async () => {
    const { status, body } = await system.get(side, '/v1/status');
    expect([status, body['code']]).toEqual([401, 'TOKEN_MISSING']);
  });
});

describe('an idempotency key', () => {
  const budget = { scope: 'run', scope_id: 'run-of-a-key', currency: 'INR', ceiling_minor: 1_000 };

  it('gets the stored answer again, word for word', async () => {
    const first = await system.post('budget', '/v1/budgets', { body: budget, person: BUDGET_OWNER, key: 'one' });
    const again = await system.post('budget', '/v1/budgets', { body: budget, person: BUDGET_OWNER, key: 'one' });
    expect(first.status).toBe(201);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
  });

  it('is refused with 422 for another body', async () => {
    const { status, body } = await system.post('budget', '/v1/budgets', {
      body: { ...budget, ceiling_minor: 2_000 },
      person: BUDGET_OWNER,
      key: 'one',
    });
    expect([status, body['code']]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it("is a person's own: somebody else's same key is another command", async () => {
    const { status } = await system.post('budget', '/v1/budgets', {
      body: { ...budget, scope_id: 'run-of-another' },
      person: { subject: 'noor', roles: ['budget_owner'] },
      key: 'one',
    });
    expect(status).toBe(201);
  });

  it('gets one answer when asked twice at once', async () => {
    const asked = { body: { ...budget, scope_id: 'run-asked-twice' }, person: BUDGET_OWNER, key: 'two' };
    const [first, second] = await Promise.all([
      system.post('budget', '/v1/budgets', asked),
      system.post('budget', '/v1/budgets', asked),
    ]);
    expect([first.status, second.text]).toEqual([201, first.text]);
  });
});

describe('an approval', () => {
  it('is refused to the initiator, to another digest and without the role; then it counts once', async () => {
    const item = await system.openItem();
    const refused = [
      await system.approve(item, { person: INITIATOR }),
      await system.approve({ ...item, digest: '0'.repeat(64) }),
      await system.approve(item, { person: { subject: 'guest', roles: [] } }),
    ];
    expect(refused.map(({ status, body }) => [status, body['code']])).toEqual([
      [403, 'SELF_APPROVAL'],
      [409, 'DIGEST_MISMATCH'],
      [403, 'ROLE_REQUIRED'],
    ]);
    expect(await system.reversalsOf(item)).toBe(0);

    expect((await system.approve(item)).status).toBe(200);
    expect(await system.restOf(item)).toBe('compensated');
    const late = await system.approve(item);
    const other = await system.approve(item, { person: { subject: 'tomas', roles: ['approver'] } });
    expect([late, other].map(({ status }) => status)).toEqual([409, 409]);
    expect(await system.reversalsOf(item)).toBe(1);
  }, 120_000);

  it('needs a token of our issuer, for our audience, signed with its key', async () => {
    const item = await system.openItem();
    const token = await system.tokenOf(OPERATOR);
    const published = (await system.get('issuer', '/jwks.json')).text;
    const attacks = {
      'another audience': resigned(system.dataDir, token, { claims: { aud: 'somebody-else' } }),
      'another issuer': resigned(system.dataDir, token, { claims: { iss: 'https://elsewhere.test' } }),
      expired: resigned(system.dataDir, token, { claims: { exp: Math.floor(Date.now() / 1_000) - 60 } }),
      'algorithm none': unsigned(token),
      'algorithm HS256': confused(token, published),
      'changed without signing': token.replace(
        /\.[^.]+\./,
        (middle) =>
          `.${Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(middle.slice(1, -1), 'base64url').toString('utf8')), sub: 'root' })).toString('base64url')}.`,
      ),
    };
    const answers = await Promise.all(
      Object.entries(attacks).map(async ([name, attack]) => {
        const { status, body } = await system.approve(item, { token: attack });
        return [name, status, body['code']];
      }),
    );
    expect(answers).toEqual(Object.keys(attacks).map((name) => [name, 401, 'TOKEN_REFUSED']));
    expect((await system.approve(item, { token: resigned(system.dataDir, token, {}) })).status).toBe(200);
    expect(await system.restOf(item)).toBe('compensated');
  }, 120_000);

  it('is refused after the window, and nothing is undone', async () => {
    const item = await system.openItem('payments.issue_instant_refund');
    expect(await system.restOf(item)).toBe('manual_resolution_required');
    const { status, body } = await system.approve(item);
    expect([status, body['code']]).toEqual([409, 'WINDOW_CLOSED']);
    expect(await system.reversalsOf(item)).toBe(0);
  }, 120_000);

  it("is nobody's of another tenant", async () => {
    const item = await system.openItem();
    const token = resigned(system.dataDir, await system.tokenOf(OPERATOR), { claims: { tenant: 'other' } });
    const { status, body } = await system.approve(item, { token });
    expect([status, body['code']]).toEqual([404, 'NOT_FOUND']);
  }, 120_000);
});

// Last: it stops what the others need.
describe('a service that is told to stop', () => {
  it.each(['contract-registry', 'budget-accountant', 'mutation-ledger', 'recovery-orchestrator'])(
    '%s ends within 20 s',
    async (name) => {
      const pid = system.processes.pid(name);
      const startedAt = performance.now();
      await system.processes.kill(name, 'SIGTERM');
      await system.until(`the end of ${name}`, () => Promise.resolve(system.processes.pid(name) === pid ? null : true));
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    },
    90_000,
  );
});
