import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from '@jest/globals';
import { budgetContract } from './budget.contract.js';
import { answered } from '../edge/edge.testing.js';
import { answerOf, HttpBudget } from './budget.http.js';
import { MemoryBudget } from './budget.memory.js';

const servers: Server[] = [];
afterAll(() => {
  servers.forEach((server) => {
    server.closeAllConnections();
    server.close();
  });
});

/** An accountant's edge in front of a memory budget. */
async function edge(): Promise<string> {
  const budget = new MemoryBudget(1_000);
  const keys = new Map<string, string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as {
          run_id: string;
          effect_key: string;
          capability: string;
          agent_id: string | null;
          value: { amount_minor: number; currency: string };
        };
        const asked = {
          tenant: 'acme',
          runId: body.run_id,
          effectKey: body.effect_key,
          capability: body.capability,
          agentId: body.agent_id,
          value: body.value,
        };
        void (
          request.url?.endsWith('/release') === true
            ? budget.release(asked).then(() => [200, {}] as const)
            : budget
                .reserve(asked)
                .then((answer) =>
                  answer.kind === 'reserved'
                    ? ([201, { reservation_id: answer.reservationId }] as const)
                    : ([409, { code: 'CEILING_EXCEEDED' }] as const),
                )
        ).then(([status, answer]) => {
          keys.set(String(request.headers['idempotency-key']), '');
          response.writeHead(status).end(JSON.stringify(answer));
        });
      });
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

budgetContract('memory', () => Promise.resolve(new MemoryBudget(1_000)));
budgetContract('http', async () => new HttpBudget({ url: await edge(), token: () => Promise.resolve('token') }));

describe('an answer of the accountant', () => {
  it.each([
    [201, {}, 'reserved'],
    [200, { status: 'escalated' }, 'escalated'],
    [409, {}, 'escalated'],
    [422, {}, 'refused'],
    [202, {}, 'unavailable'],
    [503, {}, 'unavailable'],
  ])('%i %o means %s', (status, body, kind) => {
    expect(answerOf(answered(status, body), 'res').kind).toBe(kind);
  });

  it('is "unavailable" when nobody answers', async () => {
    const budget = new HttpBudget({ url: 'http://127.0.0.1:1', token: () => Promise.resolve('token') });
    expect(
      (
        await budget.reserve({
          tenant: 'a',
          runId: 'r',
          effectKey: 'e',
          capability: 'payments.issue_refund',
          agentId: 'agent',
          value: { amount_minor: 1, currency: 'INR' },
        })
      ).kind,
    ).toBe('unavailable');
  });
});
