// One reservation over HTTP, and one raw hop, in turns, with everything else idle.
import type { SystemPlan } from '@recourse/dev-stack';
import { say } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { openRefund } from './budget-commands.js';
import { ASKED } from './budget-load.js';
import { openEcho } from './echo.js';
import { register } from './preload.js';
import { withServices } from './running-services.js';
import { idle } from './waits.js';

const TENANT = 'acme';
const ECHO_TOPIC = 'bench.budget-hop';
/** What every input consumer of ours waits at the broker, milliseconds. */
const MAX_WAIT_MS = 100;
const WARM_UPS = 5;
/** What is needed for a reservation over HTTP, and who says who asks. */
const NEEDED = /^(?:issuer|budget-accountant)/;

export interface Reserves {
  readonly ours: readonly number[];
  readonly raw: readonly number[];
  /** How many were answered with 201. */
  readonly reserved: number;
}

export async function reserveAlone(bench: BenchStack, samples: number): Promise<Reserves> {
  const reroute = (all: SystemPlan['processes']) => all.filter(({ name }) => NEEDED.test(name));
  return withServices(bench, { reroute }, async ({ plan }) => {
    await register(bench, plan.logId, openRefund());
    const echo = await openEcho(bench, ECHO_TOPIC, MAX_WAIT_MS);
    try {
      await open(plan, await tokenOf(plan, 'omar', 'budget_owner'));
      const token = await tokenOf(plan, 'agent-7', 'agent');
      say(`reserving ${String(samples)} times over HTTP`);
      const ours: number[] = [];
      const raw: number[] = [];
      let reserved = 0;
      for (let index = -WARM_UPS; index < samples; index += 1) {
        await idle(index);
        const { ms, status } = await reserve(plan, token, index);
        await idle(index);
        const hopMs = await echo.hop();
        if (index < 0) continue;
        ours.push(ms);
        raw.push(hopMs);
        if (status === 201) reserved += 1;
      }
      return { ours, raw, reserved };
    } finally {
      await echo.close();
    }
  });
}

async function open(plan: SystemPlan, token: string): Promise<void> {
  for (const { currency, amount_minor } of ASKED) {
    const ceiling_minor = amount_minor * 1_000_000;
    const body = { scope: 'tenant', scope_id: TENANT, currency, measure: 'value', ceiling_minor };
    const { status } = await post(`${plan.urls.budget}/v1/budgets`, token, `open-${currency}`, body);
    if (status !== 201) throw new Error(`a ceiling was answered with ${String(status)}`);
  }
}

async function reserve(
  plan: SystemPlan,
  token: string,
  index: number,
): Promise<{ readonly ms: number; readonly status: number }> {
  const startedAt = performance.now();
  const { status } = await post(`${plan.urls.budget}/v1/reservations`, token, `reserve-${String(index)}`, {
    run_id: `run_${String(index)}`,
    effect_key: 'refund',
    capability: openRefund().name,
    values: ASKED,
    subject_ref: `order/${String(index)}`,
    objective: 'serve the customer',
  });
  return { ms: performance.now() - startedAt, status };
}

async function post(url: string, token: string, key: string, body: object): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
  });
  await response.arrayBuffer();
  return response;
}

async function tokenOf({ urls }: SystemPlan, subject: string, role: string): Promise<string> {
  const response = await fetch(`${urls.issuer}/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ subject, tenant: TENANT, roles: [role] }),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token: string }; // the issuer's answer
  return token;
}
