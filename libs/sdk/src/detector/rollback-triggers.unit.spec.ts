import { afterAll, describe, expect, it } from '@jest/globals';
import { testEdge } from '../edge/edge.testing.js';
import type { TestEdge } from '../edge/edge.testing.js';
import { HttpRollbackTriggers } from './rollback-triggers.http.js';

const edges: TestEdge[] = [];
afterAll(() => {
  edges.forEach(({ close }) => {
    close();
  });
});

describe('a taker of triggers over HTTP', () => {
  it.each([
    [404, {}],
    [301, {}],
    [413, { error: 'too large' }],
    [404, { code: 404, message: 'no route' }],
  ])('takes %s %j of whoever stands before the ledger for no answer of it', async (status, body) => {
    const edge = await testEdge(() => Promise.resolve([status, body]));
    edges.push(edge);
    const triggers = new HttpRollbackTriggers({ url: edge.url, token: () => Promise.resolve('t') });
    const request = { tenant: 'acme', runId: 'r', commitId: 'c', reason: 'wrong', idempotencyKey: 'k' };
    expect(await triggers.trigger(request)).toMatchObject({ kind: 'unavailable' });
  });
});
