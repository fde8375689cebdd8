// Approvers are told without polling, on real parts: log, database and receivers; the notifier is killed in between.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyWebhook } from '@recourse/example-drifted-refund';
import { deriveId } from '@recourse/kernel';
import { Receiver } from './receiver.testing.js';
import type { Heard } from './receiver.testing.js';
import { ADMINISTRATOR, EDITOR, INITIATOR, itemsOf, OPERATOR, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** How long items wait here, and how long before their deadline somebody is reminded; milliseconds. */
const REVIEW_MS = 24_000;
const REMIND_MS = 14_000;

const [chat, desk, slow] = [new Receiver(), new Receiver(), new Receiver()];
let system: System;
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-notifier-'));
  const webhooksFile = join(folder, 'webhooks.json');
  const endpoints = [
    { name: 'chat', url: await chat.open(), shape: 'slack', tenants: [TENANT], kinds: ['approval', 'manual'] },
    {
      name: 'desk',
      url: await desk.open(),
      shape: 'generic',
      secrets: [SECRET],
      tenants: 'all',
      kinds: ['approval', 'manual'],
      remind_before_ms: REMIND_MS,
      tell_ends: true,
    },
    { name: 'slow', url: await slow.open(), shape: 'generic', secrets: [SECRET], tenants: 'all', kinds: ['approval'] },
    { name: 'others', url: 'https://others.example.org/hook', shape: 'slack', tenants: ['globex'] },
  ];
  writeFileSync(webhooksFile, JSON.stringify({ allow_loopback: true, endpoints }), { mode: 0o600 });
  system = await startSystem({
    notifier: {
      webhooksFile,
      env: {
        RECOURSE_WEBHOOK_TIMEOUT_MS: '1000',
        RECOURSE_WEBHOOK_RETRY_BASE_MS: '100',
        RECOURSE_WEBHOOK_RETRY_MAX_MS: '500',
      },
    },
    envOf: {
      'mutation-ledger': { RECOURSE_REVIEW_DEADLINE_MS: String(REVIEW_MS) },
      'recovery-orchestrator': { RECOURSE_REVIEW_DEADLINE_MS: String(REVIEW_MS) },
    },
  });
  for (const name of ['payments.get_refund', 'payments.reverse_refund', 'payments.issue_refund']) {
    const contract = JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts; // a contract is a JSON object
    const { status, body } = await system.post(
      'registry',
      '/v1/contracts',
      { ...contract, version: undefined },
      { person: EDITOR, key: name },
    );
    if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
  }
}, 300_000);

afterAll(async () => {
  await system.stop();
  for (const receiver of [chat, desk, slow]) receiver.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** A refund of a run of its own that should not stand: its step waits for an approval. */
async function waiting(run: string): Promise<Facts> {
  const contractDigest = Buffer.from(
    String((await system.get('registry', '/v1/contracts/payments.issue_refund')).body['digest']),
    'hex',
  );
  await system.producer.toolExecuted(
    {
      tenant: TENANT,
      runId: run,
      agentId: 'agent-7',
      initiator: INITIATOR.subject,
      objective: 'be kind to Asha Rao',
      stepId: 'refund',
      callId: 'call-1',
      capability: 'payments.issue_refund',
      contractDigest,
      effectKey: 'eff-1',
      idempotencyKey: 'key-1',
      subjectRef: 'customer/asha',
      args: { order_id: run, amount_minor: 5_000, currency: 'INR' },
      assumptionRefs: [],
    },
    {
      outcome: 'succeeded',
      result: { refund_id: `re-${run}`, status: 'settled' },
      priorValue: null,
      externalTransactionRef: `re-${run}`,
      committedAt: Date.now(),
      errorKind: null,
    },
  );
  const mutation_id = deriveId('mut', TENANT, run, 'eff-1');
  await until('the mutation', async () =>
    (await system.get('ledger', `/v1/mutations/${mutation_id}`)).status === 200 ? true : null,
  );
  await system.post(
    'ledger',
    '/v1/triggers',
    { run_id: run, mutation_id, reason: 'Asha Rao has the parcel' },
    { person: OPERATOR },
  );
  return until(
    'a step that waits',
    async () => itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${run}&phase=awaiting_approval`))[0] ?? null,
  );
}

const heardBy = (receiver: Receiver, run: string, count: number): Promise<readonly Heard[]> =>
  until(`${String(count)} notices about ${run}`, () =>
    Promise.resolve(receiver.about(run).length >= count ? receiver.about(run) : null),
  );
const deny = async (step: Facts): Promise<void> => {
  const { status } = await system.post(
    'orchestrator',
    `/v1/steps/${String(step['step_id'])}/deny`,
    { action_digest: step['action_digest'], reason: 'it stays' },
    { person: OPERATOR },
  );
  expect(status).toBe(200);
};

const accept = async (step: Facts): Promise<void> => {
  const { status } = await system.post(
    'orchestrator',
    `/v1/steps/${String(step['step_id'])}/resolve`,
    { resolution: 'accepted', evidence: { ticket: 'T-1' }, reason: 'it stays' },
    { person: OPERATOR },
  );
  expect(status).toBe(200);
};

describe('a step that waits for an approval', () => {
  it('is told to a chat and to a program, once each, signed, without personal data; its deadline is told before it comes', async () => {
    const step = await waiting('run-told');
    const [toChat] = await heardBy(chat, 'run-told', 1);
    const [toDesk] = await heardBy(desk, 'run-told', 1);
    expect(toDesk?.body).toMatchObject({
      type: 'recourse.item.opened',
      item_kind: 'approval',
      item_id: step['step_id'],
      step_id: step['step_id'],
      run_id: 'run-told',
      recovery_id: step['recovery_id'],
      tenant: TENANT,
      capability: 'payments.issue_refund',
      reason: step['reason'],
      required_approvals: 1,
      deadline_at: new Date(Number(step['deadline_at'])).toISOString(),
      links: { item: `${system.plan.urls.orchestrator}/v1/reviews/${String(step['step_id'])}` },
    });
    expect([toChat?.body['text'], toChat?.headers['webhook-id'] === toDesk?.headers['webhook-id']]).toEqual([
      'Waits for a person: approval',
      false,
    ]);
    expect([toChat?.text, toDesk?.text].join()).not.toMatch(/asha|kind to|parcel|agent-7|order_id|5000/i);
    expect(verifyWebhook([SECRET], toDesk?.headers ?? {}, toDesk?.text ?? '', Date.now())).toBe(true);
    const forged = { ...toDesk?.headers, 'webhook-signature': `v1,${Buffer.alloc(32, 1).toString('base64')}` };
    expect([
      verifyWebhook([SECRET], forged, toDesk?.text ?? '', Date.now()),
      verifyWebhook([SECRET], toDesk?.headers ?? {}, `${toDesk?.text ?? ''} `, Date.now()),
    ]).toEqual([false, false]);
    const [, reminder] = await heardBy(desk, 'run-told', 2);
    expect(reminder?.body['type']).toBe('recourse.item.reminder');
    expect(reminder?.at ?? Infinity).toBeLessThan(Number(step['deadline_at']));
    expect(reminder?.at ?? 0).toBeGreaterThanOrEqual(Number(step['deadline_at']) - REMIND_MS);
    // The deadline passes, and it is a person's: another item, told once more. The approval nobody gave was told of once.
    const all = await until('what became of it', () =>
      Promise.resolve(
        desk.about('run-told').some(({ body }) => body['item_kind'] === 'manual') ? desk.about('run-told') : null,
      ),
    );
    expect(all.map(({ body }) => `${String(body['type'])} ${String(body['item_kind'])}`).slice(0, 2)).toEqual([
      'recourse.item.opened approval',
      'recourse.item.reminder approval',
    ]);
    expect((await heardBy(chat, 'run-told', 2)).map(({ body }) => body['text'])).toEqual([
      'Waits for a person: approval',
      'Waits for a person: manual',
    ]);
  }, 90_000);

  it('is tried again under the same id until the receiver takes it', async () => {
    // Reminders of other runs come to the same desk: only those of this one count.
    desk.answer = () => (desk.about('run-again').length < 2 ? 500 : 200);
    const step = await waiting('run-again');
    const heard = await heardBy(desk, 'run-again', 3);
    expect([
      heard.map(({ status }) => status).slice(0, 3),
      new Set(heard.map(({ headers }) => headers['webhook-id'])).size,
      new Set(heard.map(({ text }) => text)).size,
    ]).toEqual([[500, 500, 200], 1, 1]);
    await deny(step);
    expect((await heardBy(desk, 'run-again', 4))[3]?.body['type']).toBe('recourse.item.ended');
  }, 60_000);

  it('reaches who is to be told when the notifier is killed between its queue and the receiver, under the same id', async () => {
    slow.answer = () => null;
    await waiting('run-killed');
    const [unanswered] = await heardBy(slow, 'run-killed', 1);
    await system.processes.kill('notifier', 'SIGKILL');
    slow.answer = () => 200;
    await system.processes.start('notifier');
    const answered = await until('an answer', () =>
      Promise.resolve(slow.about('run-killed').find(({ status }) => status === 200) ?? null),
    );
    expect([answered.headers['webhook-id'], answered.text]).toEqual([
      unanswered?.headers['webhook-id'],
      unanswered?.text,
    ]);
    // At least once: what was on its way to the chat when the process was killed may come again, as the same notice.
    await heardBy(chat, 'run-killed', 1);
    expect(
      new Set(
        chat
          .about('run-killed')
          .filter(({ body }) => body['text'] === 'Waits for a person: approval')
          .map(({ headers }) => headers['webhook-id']),
      ).size,
    ).toBe(1);
  }, 60_000);

  it('that ended is reminded of to nobody', async () => {
    const step = await waiting('run-ended');
    await heardBy(desk, 'run-ended', 1);
    await deny(step);
    // Nothing is undone, and the effect stands: a person says what becomes of it.
    await heardBy(desk, 'run-ended', 3);
    const open = itemsOf(await system.get('orchestrator', '/v1/reviews?run_id=run-ended', OPERATOR));
    expect(open).toMatchObject([{ step_id: step['step_id'], phase: 'denied' }]);
    await accept(step);
    await heardBy(desk, 'run-ended', 4);
    const left = itemsOf(await system.get('notifier', '/v1/deliveries?state=queued', ADMINISTRATOR)).filter(
      ({ run_id }) => run_id === 'run-ended',
    );
    expect([left, desk.about('run-ended').map(({ body }) => body['type'])]).toEqual([
      [],
      ['recourse.item.opened', 'recourse.item.ended', 'recourse.item.opened', 'recourse.item.ended'],
    ]);
  }, 60_000);
});

describe('the edge of the notifier', () => {
  it('lists to each tenant its own, and to nobody secrets or whole addresses', async () => {
    const all = itemsOf(await system.get('notifier', '/v1/endpoints', ADMINISTRATOR));
    expect(all.map(({ name, state }) => [name, state])).toEqual([
      ['chat', 'on'],
      ['desk', 'on'],
      ['slow', 'on'],
      ['others', 'on'],
    ]);
    expect(itemsOf(await system.get('notifier', '/v1/endpoints')).map(({ name }) => name)).toEqual([
      'chat',
      'desk',
      'slow',
    ]);
    expect(JSON.stringify(all)).not.toMatch(/whsec_|\/hook/);
    expect(
      itemsOf(
        await system.get('notifier', '/v1/deliveries', { subject: 'gil', roles: ['operator'], tenant: 'globex' }),
      ),
    ).toEqual([]);
    expect((await system.get('notifier', '/v1/deliveries', { subject: 'agnes', roles: ['agent'] })).body['code']).toBe(
      'ROLE_REQUIRED',
    );
  });

  it('tests an endpoint, and leaves one alone that is gone until it is turned on', async () => {
    chat.answer = () => 410;
    const { status, body } = await system.post('notifier', '/v1/endpoints/chat/test', {}, {});
    expect(status).toBe(200);
    const off = await until(
      'the endpoint to be off',
      async () =>
        itemsOf(await system.get('notifier', '/v1/endpoints')).find(
          ({ name, state }) => name === 'chat' && state === 'off',
        ) ?? null,
    );
    expect(String(off['way_out'])).toContain('410');
    // A reminder may have come before the test: what comes first is refused, and what is behind it waits.
    const waiting = itemsOf(await system.get('notifier', '/v1/deliveries?endpoint=chat&state=queued'));
    expect(waiting.map(({ id }) => id)).toContain(body['id']);
    expect(waiting.map(({ last_error: error }) => error)).toContainEqual(
      expect.objectContaining({ code: 'GONE', http_status: 410 }),
    );
    chat.answer = () => 200;
    const count = chat.heard.length;
    await system.post('notifier', '/v1/endpoints/chat/on', {}, {});
    await until('the test to arrive', async () =>
      (await system.get('notifier', `/v1/deliveries/${String(body['id'])}`)).body['state'] === 'delivered'
        ? true
        : null,
    );
    expect(chat.heard.length).toBeGreaterThan(count);
    const again = await system.post('notifier', `/v1/deliveries/${String(body['id'])}/retry`, {}, {});
    expect([again.status, again.body['code']]).toEqual([409, 'DELIVERY_ENDED']);
    expect((await system.post('notifier', '/v1/endpoints/others/test', {}, {})).status).toBe(404);
  }, 60_000);

  it('tells metrics by endpoint and code, health, and what there is to ask', async () => {
    const at = (path: string): Promise<Response> => fetch(`${system.plan.urls.notifier}${path}`);
    const metrics = await (await at('/metrics')).text();
    expect(metrics).toMatch(/recourse_webhooks_delivered_total\{endpoint="desk",service="notifier"\} [1-9]/);
    expect(metrics).toMatch(
      /recourse_webhook_attempts_failed_total\{endpoint="chat",code="GONE",service="notifier"\} 1/,
    );
    expect(metrics).toMatch(/recourse_webhook_oldest_seconds\{endpoint="desk",service="notifier"\} \d/);
    expect([
      (await at('/health/ready')).status,
      (await at('/health/live')).status,
      (await at('/v1/deliveries')).status,
    ]).toEqual([200, 200, 401]);
    const { paths } = (await (await at('/openapi.json')).json()) as { readonly paths: Facts }; // OpenAPI
    expect(Object.keys(paths).sort()).toEqual([
      '/v1/deliveries',
      '/v1/deliveries/{id}',
      '/v1/deliveries/{id}/retry',
      '/v1/endpoints',
      '/v1/endpoints/{name}/on',
      '/v1/endpoints/{name}/test',
      '/v1/items',
      '/v1/status',
    ]);
  });
});
