// Agent: refunds orders that were not shipped, under the contract the registry holds.
import { join } from 'node:path';
import { deriveId } from '@recourse/kernel';
import { createProducer, edgeClient, guard, HttpBudget, registeredContract, systemClock } from '@recourse/sdk';
import type { GuardedResult } from '@recourse/sdk';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { evolveAgent, shownRun } from './agent/agent.state.js';
import type { AgentEvent, AgentState, Run } from './agent/agent.state.js';
import { CURRENCY, ISSUE_INSTANT_REFUND, ISSUE_REFUND } from './common/contracts.js';
import { readEnvironment } from './common/environment.js';
import { ask } from './common/http.js';
import { Journal } from './common/journal.js';
import { reachRecourse, tokenFrom, untilReached } from './common/recourse.js';
import { answering, HttpAnswer, serve } from './common/serve.js';
import { notShipped } from './warehouse/warehouse.state.js';
import { refundTool } from './worker/payment-tools.js';

const runBody = z.strictObject({
  order: z.string().min(1).max(100),
  amount_minor: z.int().min(1),
  currency: z.string().length(3).default(CURRENCY),
  initiator: z.string().min(1).max(100).default('asha'),
  capability: z.enum([ISSUE_REFUND, ISSUE_INSTANT_REFUND]).default(ISSUE_REFUND),
});
const AGENT_ID = 'refund-agent';
const CALL_TIMEOUT_MS = 5_000;
/** Goodwill points for a refunded order. */
const POINTS = 50;

const env = readEnvironment(
  'PORT',
  'DATA_DIR',
  'RECOURSE_KAFKA_BROKERS',
  'RECOURSE_REGISTRY_URL',
  'RECOURSE_CONTRACTS_URL',
  'RECOURSE_ISSUER_URL',
  'RECOURSE_BUDGET_URL',
  'PROVIDER_URL',
  'LOYALTY_URL',
  'TENANT',
);
const token = (): Promise<string> =>
  tokenFrom(env.RECOURSE_ISSUER_URL, { subject: AGENT_ID, roles: ['agent'], tenant: env.TENANT });
const journal = await Journal.open<AgentState, AgentEvent>({
  path: join(env.DATA_DIR, 'agent.jsonl'),
  initial: {},
  evolve: evolveAgent,
});
const recourse = reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, AGENT_ID);
const producer = await untilReached('reach Kafka', () => createProducer({ ...recourse, source: AGENT_ID }));
const underWay = new Map<string, Promise<GuardedResult>>();

await serve({
  port: env.PORT,
  routes,
  stop: async () => {
    await producer.close();
    await journal.close();
  },
});
// A crash may have come anywhere in a run: the same keys make the repeat harmless.
for (const run of Object.values(journal.state))
  if (run.result === null) void untilReached(`go on with ${run.run_id}`, () => perform(run));

function routes(app: FastifyInstance): void {
  app.post(
    '/runs',
    answering(async (request) => {
      const body = runBody.safeParse(request.body);
      if (!body.success)
        return new HttpAnswer(422, {
          code: 'INPUT_INVALID',
          message: body.error.issues.map(({ message, path }) => `${path.join('/')}: ${message}`).join('; '),
        });
      const key = request.headers['idempotency-key'];
      const run_id = await journal.transact((state) => {
        const id =
          typeof key === 'string' ? deriveId('run', key) : deriveId('run', body.data.order, Object.keys(state).length);
        return {
          events: state[id] === undefined ? [{ type: 'RunStarted', request: { run_id: id, ...body.data } }] : [],
          answer: id,
        };
      });
      const run = journal.state[run_id];
      if (run !== undefined && run.result === null) await perform(run);
      return new HttpAnswer(201, shownOf(run_id));
    }),
  );
  app.get(
    '/runs/:id',
    answering((request) => Promise.resolve(shownOf(idOf(request)))),
  );
}

function shownOf(runId: string): object {
  const run = journal.state[runId];
  return run === undefined
    ? new HttpAnswer(404, { code: 'RUN_UNKNOWN', message: 'there is no such run' })
    : shownRun(run);
}

/** Performs a run, once at a time, and keeps what came of it. */
async function perform(run: Run): Promise<GuardedResult> {
  const going = underWay.get(run.run_id) ?? refund(run);
  underWay.set(run.run_id, going);
  try {
    return await going;
  } finally {
    underWay.delete(run.run_id);
  }
}

async function refund(run: Run): Promise<GuardedResult> {
  const { run_id: runId, order, amount_minor, currency, capability, initiator } = run;
  const registry = edgeClient({ url: env.RECOURSE_CONTRACTS_URL, token, name: 'the contract registry' });
  const budget =
    env.RECOURSE_BUDGET_URL === undefined ? {} : { budget: new HttpBudget({ url: env.RECOURSE_BUDGET_URL, token }) };
  const guarded = guard(refundTool(env.PROVIDER_URL, CALL_TIMEOUT_MS), {
    ...(await registeredContract(registry, env.TENANT, capability)),
    mode: 'enforce',
    producer,
    clock: systemClock,
    ...budget,
  });
  const result = await guarded({
    run: {
      tenant: env.TENANT,
      runId,
      agentId: AGENT_ID,
      initiator,
      objective: `give the customer of order ${order} their money back`,
    },
    stepId: 'refund',
    args: { order, amount_minor, currency },
    target: `order/${order}`,
    assumptionRefs: [notShipped(order)],
  });
  if (result.kind === 'succeeded') await grantPoints(runId, order, result.mutation_refs);
  await journal.record({ type: 'RunEnded', run_id: runId, result });
  return result;
}

/** The loyalty service relies on the refund; when it cannot be told, there are no points, which hurts nobody. */
async function grantPoints(runId: string, order: string, mutationIds: readonly string[]): Promise<void> {
  if (env.LOYALTY_URL === undefined) return;
  for (const mutation_id of mutationIds)
    await ask(`${env.LOYALTY_URL}/points`, {
      method: 'POST',
      body: { run_id: runId, mutation_id, order, points: POINTS },
    }).catch(() => undefined);
}

function idOf({ params }: FastifyRequest): string {
  // Every route that calls this has :id.
  return (params as { readonly id: string }).id;
}
