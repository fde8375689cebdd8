// A product offers undo over the edges of the services: what is asked, and what is told when they refuse.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { EdgeProblem } from '../edge/edge.js';
import { impatientClock } from '../edge/edge.testing.js';
import { undos } from './undo.js';
import type { Undos } from './undo.js';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

describe('undo from a product', () => {
  let server: Server;
  let asked: Asked[];
  let answers: { readonly status: number; readonly body: object }[];
  let client: Undos;

  beforeEach(async () => {
    [asked, answers] = [[], []];
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => {
          const text = Buffer.concat(parts).toString();
          asked.push({
            method: request.method ?? '',
            url: request.url ?? '',
            key: request.headers['idempotency-key'] as string | undefined,
            body: text === '' ? null : JSON.parse(text),
          });
          const { status, body } = answers.shift() ?? { status: 500, body: {} };
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const edge = {
      url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
      token: () => Promise.resolve('t'),
      clock: impatientClock(),
    };
    client = undos({ ledger: edge });
  });
  afterEach(() => {
    server.close();
  });

  it('is of no mutation: an empty list is refused before it is asked, and is not the whole run', async () => {
    const request = { runId: 'run-1', mutationIds: [], reason: 'r', idempotencyKey: 'k' };
    await expect(client.request(request)).rejects.toMatchObject({ code: 'MUTATIONS_MISSING' });
    await expect(client.preview('run-1', [])).rejects.toMatchObject({ code: 'MUTATIONS_MISSING' });
    expect(asked).toEqual([]);
  });

  it('is previewed for a run, or for some of its mutations', async () => {
    answers.push({ status: 200, body: { run_id: 'run 1', items: [], approvals_needed: 0, unknown_ids: [] } });
    await expect(client.preview('run 1', ['mut_1', 'mut_2'])).resolves.toMatchObject({ approvals_needed: 0 });
    expect(asked[0]).toMatchObject({
      method: 'GET',
      url: '/v1/runs/run%201/undo-preview?mutation_id=mut_1&mutation_id=mut_2',
    });
  });

  it.each(['.', '..'])('is previewed for a run that is called %s, which no path can name', async (run) => {
    answers.push({ status: 200, body: { run_id: run, items: [] } });
    await expect(client.preview(run)).resolves.toMatchObject({ run_id: run });
    expect(asked.map(({ url }) => url)).toEqual([`/v1/runs/in-query/undo-preview?run_id=${run}`]);
  });

  it('is asked for under one key, again while it has no outcome', async () => {
    answers.push({ status: 202, body: {} }, { status: 201, body: { undo_id: 'undo_1' } });
    await expect(client.request({ runId: 'run-1', reason: 'wrong', idempotencyKey: 'k1' })).resolves.toBe('undo_1');
    expect(asked.map(({ key, body }) => [key, body])).toEqual([
      ['k1', { run_id: 'run-1', mutation_ids: [], reason: 'wrong' }],
      ['k1', { run_id: 'run-1', mutation_ids: [], reason: 'wrong' }],
    ]);
  });

  it('is reported as the service tells it', async () => {
    answers.push({ status: 200, body: { undo_id: 'undo_1', run_id: 'run-1', outcome: 'partly_undone', items: [] } });
    await expect(client.report('undo_1')).resolves.toMatchObject({ outcome: 'partly_undone' });
  });

  it('is waited for until it has ended, and then reported as it is', async () => {
    const report = (outcome: string) => ({ status: 200, body: { undo_id: 'undo_1', outcome, items: [] } });
    answers.push(report('still_open'), report('still_open'), report('partly_undone'));
    await expect(client.wait('undo_1')).resolves.toMatchObject({ outcome: 'partly_undone' });
    expect(asked).toHaveLength(3);
  });

  it('is reported as still open where it has not ended in time', async () => {
    answers.push(...Array.from({ length: 9 }, () => ({ status: 200, body: { outcome: 'still_open' } })));
    await expect(client.wait('undo_1', { withinMs: 2_000, everyMs: 1_000 })).resolves.toMatchObject({
      outcome: 'still_open',
    });
    expect(asked).toHaveLength(3);
  });

  it('throws what the service refuses, with its code', async () => {
    answers.push({ status: 403, body: { code: 'ROLE_REQUIRED', detail: 'UndoRun needs a role' } });
    const refused: unknown = await client
      .request({ runId: 'run-1', reason: 'wrong', idempotencyKey: 'k1' })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EdgeProblem);
    expect(refused).toMatchObject({ code: 'ROLE_REQUIRED', status: 403 });
  });

  it('says when nothing was decided in time', async () => {
    answers.push(...Array.from({ length: 100 }, () => ({ status: 202, body: {} })));
    await expect(client.request({ runId: 'run-1', reason: 'wrong', idempotencyKey: 'k1' })).rejects.toMatchObject({
      code: 'OUTCOME_PENDING',
    });
  });
});
