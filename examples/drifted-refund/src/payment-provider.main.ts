// Payment provider: refunds and reversals under idempotency keys, with faults on request.
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readEnvironment } from './common/environment.js';
import { Journal } from './common/journal.js';
import { answering, HttpAnswer, serve } from './common/serve.js';
import {
  EMPTY_PROVIDER,
  evolveProvider,
  FAULT_MODES,
  issue,
  reverse,
  takeFault,
} from './payment-provider/provider.state.js';
import type { ProviderEvent, ProviderState, Refund, RefundAnswer } from './payment-provider/provider.state.js';

const refundBody = z.strictObject({
  order: z.string().min(1).max(100),
  amount_minor: z.int().min(1),
  currency: z.string().length(3),
});
const faultBody = z.strictObject({ mode: z.enum(FAULT_MODES), times: z.int().min(0).default(1) });
/** A client that waits for an answer that never comes gives up before this. */
const SILENCE_MS = 60_000;

const { PORT, DATA_DIR } = readEnvironment('PORT', 'DATA_DIR');
const journal = await Journal.open<ProviderState, ProviderEvent>({
  path: join(DATA_DIR, 'payment-provider.jsonl'),
  initial: EMPTY_PROVIDER,
  evolve: evolveProvider,
});

await serve({ port: PORT, routes, stop: () => journal.close() });

function routes(app: FastifyInstance): void {
  app.post(
    '/refunds',
    answering(async (request) => {
      const body = refundBody.safeParse(request.body);
      const key = keyOf(request);
      if (!body.success || key === null)
        return new HttpAnswer(422, {
          code: 'INPUT_INVALID',
          message: 'order, amount_minor, currency and an Idempotency-Key are needed',
        });
      return httpOf(await journal.transact((state) => issue(state, key, body.data)), 201);
    }),
  );
  app.post<{ Params: { id: string } }>(
    '/refunds/:id/reverse',
    answering(async (request) => reverseRefund(keyOf(request), idOf(request))),
  );
  app.get(
    '/refunds/:id',
    answering((request) => Promise.resolve(shown(journal.state.refunds[idOf(request)]))),
  );
  app.get(
    '/effects',
    answering(() => Promise.resolve({ effects: journal.state.effects })),
  );
  app.get(
    '/faults',
    answering(() => Promise.resolve(journal.state.fault)),
  );
  app.post(
    '/faults',
    answering(async (request) => {
      const body = faultBody.safeParse(request.body);
      if (!body.success)
        return new HttpAnswer(422, { code: 'INPUT_INVALID', message: `mode is one of ${FAULT_MODES.join(', ')}` });
      await journal.record({ type: 'FaultSet', ...body.data });
      return journal.state.fault;
    }),
  );
}

async function reverseRefund(key: string | null, refundId: string): Promise<object> {
  if (key === null) return new HttpAnswer(422, { code: 'INPUT_INVALID', message: 'an Idempotency-Key is needed' });
  switch (await journal.transact(takeFault)) {
    case 'phantom_undo': {
      const refund = journal.state.refunds[refundId];
      return refund === undefined ? shown(refund) : { ...refund, status: 'reversed' };
    }
    case 'error_500':
      return new HttpAnswer(500, { code: 'INTERNAL', message: 'something went wrong' });
    case 'forbidden':
      return new HttpAnswer(403, { code: 'FORBIDDEN', message: 'reversals are for accounts with another plan' });
    case 'renamed_field': {
      // What an upgrade does to clients that were not told.
      const answer = await journal.transact((state) => reverse(state, key, refundId));
      return answer.kind === 'done'
        ? { id: answer.refund.refund_id, state: answer.refund.status }
        : httpOf(answer, 200);
    }
    case 'timeout_before':
      return silence();
    case 'timeout_after':
      await journal.transact((state) => reverse(state, key, refundId));
      return silence();
    case 'none':
      return httpOf(await journal.transact((state) => reverse(state, key, refundId)), 200);
  }
}

function httpOf(answer: RefundAnswer, status: number): object {
  switch (answer.kind) {
    case 'done':
      return new HttpAnswer(status, answer.refund);
    case 'conflict':
      return new HttpAnswer(409, { code: 'KEY_REUSED', message: 'the key was used for something else' });
    case 'unknown':
      return shown(undefined);
  }
}

function shown(refund: Refund | undefined): object {
  return refund ?? new HttpAnswer(404, { code: 'REFUND_UNKNOWN', message: 'there is no such refund' });
}

function silence(): Promise<object> {
  return new Promise((resolve) => {
    setTimeout(() => {
      resolve(new HttpAnswer(504, { code: 'TIMEOUT', message: 'no answer' }));
    }, SILENCE_MS).unref();
  });
}

function keyOf({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

function idOf({ params }: FastifyRequest): string {
  // Every route that calls this has :id.
  return (params as { readonly id: string }).id;
}
