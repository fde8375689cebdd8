// Warehouse: opens and ships orders, and tells Recourse whether "not shipped" still holds.
//
// What happened is durable before it is told, and told again after a crash: the event id is the same each time.
import { join } from 'node:path';
import { createProducer } from '@recourse/sdk';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readEnvironment } from './common/environment.js';
import { Journal } from './common/journal.js';
import { reachRecourse, untilReached } from './common/recourse.js';
import { answering, HttpAnswer, serve } from './common/serve.js';
import { evolveWarehouse, notShipped, owedStatements } from './warehouse/warehouse.state.js';
import type { Order, WarehouseEvent, WarehouseState } from './warehouse/warehouse.state.js';

const orderBody = z.strictObject({ order: z.string().min(1).max(100) });
const shipBody = z.strictObject({ carrier: z.string().min(1).max(100).default('BlueDart') });

const env = readEnvironment('PORT', 'DATA_DIR', 'RECOURSE_KAFKA_BROKERS', 'RECOURSE_REGISTRY_URL', 'TENANT');
const journal = await Journal.open<WarehouseState, WarehouseEvent>({
  path: join(env.DATA_DIR, 'warehouse.jsonl'),
  initial: {},
  evolve: evolveWarehouse,
});
const recourse = reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, 'warehouse');
const producer = await untilReached('reach Kafka', () => createProducer({ ...recourse, source: 'warehouse' }));
for (const { order, what } of owedStatements(journal.state))
  await untilReached('tell what is owed', () => tell(order, what));

await serve({
  port: env.PORT,
  routes,
  stop: async () => {
    await producer.close();
    await journal.close();
  },
});

function routes(app: FastifyInstance): void {
  app.post(
    '/orders',
    answering(async (request) => {
      const body = orderBody.safeParse(request.body);
      if (!body.success) return new HttpAnswer(422, { code: 'INPUT_INVALID', message: 'order is needed' });
      const { order } = body.data;
      await journal.transact((state) => ({
        events: state[order] === undefined ? [{ type: 'OrderOpened', order, at: Date.now() }] : [],
        answer: undefined,
      }));
      return new HttpAnswer(201, await toldOf(order, 'opened'));
    }),
  );
  app.post<{ Params: { id: string } }>(
    '/orders/:id/ship',
    answering(async (request) => {
      const body = shipBody.safeParse(request.body ?? {});
      if (!body.success) return new HttpAnswer(422, { code: 'INPUT_INVALID', message: 'carrier is a text' });
      const { carrier } = body.data;
      const order = idOf(request);
      const isKnown = await journal.transact((state) => {
        const events: readonly WarehouseEvent[] =
          state[order]?.status === 'open' ? [{ type: 'OrderShipped', order, at: Date.now(), carrier }] : [];
        return { events, answer: state[order] !== undefined };
      });
      return isKnown ? toldOf(order, 'shipped') : unknown();
    }),
  );
  app.get(
    '/orders/:id',
    answering((request) => Promise.resolve(journal.state[idOf(request)] ?? unknown())),
  );
}

/** The order, once Recourse has acknowledged the statement about it. */
async function toldOf(name: string, what: 'opened' | 'shipped'): Promise<object> {
  const order = journal.state[name];
  if (order !== undefined && !order.told[what]) await tell(order, what);
  return journal.state[name] ?? unknown();
}

async function tell(order: Order, what: 'opened' | 'shipped'): Promise<void> {
  const about = { tenant: env.TENANT, ref: notShipped(order.order) };
  if (what === 'opened') {
    await producer.assumptionDeclared({
      ...about,
      statement: { order: order.order, status: 'open', text: `order ${order.order} is in the warehouse` },
      statedAt: order.opened_at,
    });
  } else {
    const statement = {
      order: order.order,
      status: 'shipped',
      carrier: order.carrier,
      text: `order ${order.order} left with ${String(order.carrier)}`,
    };
    await producer.assumptionInvalidated({
      ...about,
      statement,
      statedAt: order.shipped_at ?? order.opened_at,
      sourceKind: 'observation',
    });
  }
  await journal.record({ type: 'StatementTold', order: order.order, what });
}

function unknown(): HttpAnswer {
  return new HttpAnswer(404, { code: 'ORDER_UNKNOWN', message: 'there is no such order' });
}

function idOf({ params }: FastifyRequest): string {
  // Every route that calls this has :id.
  return (params as { readonly id: string }).id;
}
