import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from '@jest/globals';
import { budgetContract } from './budget.contract.js';
import type { Budget } from './budget.port.js';
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

/** An accountant's edge in front of a budget; as every edge of ours it answers a key it knows from its row. */
async function edge(standing: () => Budget): Promise<string> {
  const keys = new Map<string, readonly [number, string]>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const budget = standing();
        const key = String(request.headers['idempotency-key']);
        const known = keys.get(key);
        if (known !== undefined) {
          response.writeHead(known[0]).end(known[1]);
          return;
        }
        const body = JSON.parse(Buffer.concat(chunks).toString()) as {
          run_id: string;
          effect_key: string;
          capability: string;
          agent_id: string | null;
          initiator: string | null;
          objective: string | null;
          values: readonly { amount_minor: number; currency: string }[];
          subject_ref: string | null;
          attempt: number | null;
        };
        const asked = {
          tenant: 'acme',
          runId: body.run_id,
          effectKey: body.effect_key,
          capability: body.capability,
          agentId: body.agent_id,
          initiator: body.initiator,
          objective: body.objective,
          values: body.values,
          subjectRef: body.subject_ref,
          reach: null,
          attempt: body.attempt ?? 1,
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
          keys.set(key, [status, JSON.stringify(answer)]);
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
budgetContract('http', async () => {
  const budget = new MemoryBudget(1_000);
  return new HttpBudget({ url: await edge(() => budget), token: () => Promise.resolve('token') });
});

describe('a budget over HTTP', () => {
  it('hears what a person decided since it asked', async () => {
    let standing = new MemoryBudget(0);
    const budget = new HttpBudget({ url: await edge(() => standing), token: () => Promise.resolve('token') });
    const asked = {
      tenant: 'acme',
      runId: 'run-1',
      effectKey: 'a',
      capability: 'payments.issue_refund',
      agentId: 'agent',
      initiator: null,
      objective: 'settle ticket 99',
      values: [{ amount_minor: 5, currency: 'INR' }],
      subjectRef: null,
      reach: null,
    };
    expect(await budget.reserve(asked)).toEqual({ kind: 'escalated', code: 'CEILING_EXCEEDED' });
    standing = new MemoryBudget(5);
    expect((await budget.reserve(asked)).kind).toBe('reserved');
  });
});

describe('an answer of the accountant', () => {
  it.each([
    [201, {}, 'reserved'],
    [200, { status: 'escalated' }, 'escalated'],
    [409, {}, 'escalated'],
    [409, { code: 'RESERVATION_DENIED' }, 'refused'],
    [422, {}, 'refused'],
    [202, {}, 'unavailable'],
    [503, {}, 'unavailable'],
  ])('%i %o means %s', (status, body, kind) => {
    expect(answerOf(answered(status, body), 'res').kind).toBe(kind);
  });

  it('that a person is asked has a code of its own, also where it comes with 202', () => {
    expect(answerOf(answered(202, { escalation_id: 'esc_1' }), 'res')).toEqual({
      kind: 'escalated',
      code: 'CEILING_EXCEEDED',
      escalationId: 'esc_1',
    });
  });

  it('that a person is asked says which bounds it would exceed', () => {
    const calls = { scope: 'capability', scope_id: 'mail.send', measure: 'calls', currency: '', window: 'life' };
    const exceeded = [{ ...calls, used_minor: 2, asked_minor: 1, ceiling_minor: 2 }];
    expect(answerOf(answered(202, { escalation_id: 'esc_1', exceeded }), 'res')).toMatchObject({ exceeded });
    expect(answerOf(answered(202, { escalation_id: 'esc_1', exceeded: 'more' }), 'res')).not.toHaveProperty('exceeded');
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
          initiator: null,
          objective: 'settle ticket 99',
          values: [{ amount_minor: 1, currency: 'INR' }],
          subjectRef: null,
          reach: null,
        })
      ).kind,
    ).toBe('unavailable');
  });
});
