// Only the ledger's own word lets a run begin anew.
import { afterAll, describe, expect, it } from '@jest/globals';
import { testEdge } from '../edge/edge.testing.js';
import type { TestEdge } from '../edge/edge.testing.js';
import { HttpResume } from './resume.http.js';
import { FRESH_START, resume } from './resume.js';
import { RESUME_REMEDIES } from './resume.port.js';

const RUN = { tenant: 'acme', runId: 'run-1' };
const token = (): Promise<string> => Promise.resolve('token');
const edges: TestEdge[] = [];
afterAll(() => {
  edges.forEach(({ close }) => {
    close();
  });
});

async function answering(status: number, body: object): Promise<HttpResume> {
  const edge = await testEdge(() => Promise.resolve([status, body]));
  edges.push(edge);
  return new HttpResume({ url: edge.url, token });
}

it.each([
  ['..', '/v1/runs/in-query/resume?tenant=acme&run_id=..'],
  ['a/../b', '/v1/runs/a%2F..%2Fb/resume?tenant=acme'],
])('a run that is called %s goes on from its own steps', async (runId, path) => {
  const asked: string[] = [];
  const edge = await testEdge((call) => {
    asked.push(call.path);
    return Promise.resolve([404, { code: 'RUN_UNKNOWN' }]);
  });
  edges.push(edge);
  expect(await new HttpResume({ url: edge.url, token }).of('acme', runId)).toEqual({ kind: 'unrecorded' });
  expect(asked).toEqual([path]);
});

describe('a run of which an edge has nothing', () => {
  it('begins anew where the ledger says so', async () => {
    expect(await resume(await answering(404, { code: 'RUN_UNKNOWN' }), RUN)).toEqual(FRESH_START);
  });

  it.each([
    ['a proxy', {}],
    ['a service without this route', { code: 'NOT_FOUND', detail: 'Cannot GET /api/v1/runs/run-1/resume' }],
    ['something else', { code: 404 }],
  ])('does not where %s says so: what to check is told', async (_who, body) => {
    await expect(resume(await answering(404, body), RUN)).rejects.toMatchObject({
      name: 'ResumeUnavailable',
      code: 'LEDGER_NOT_THERE',
      message: expect.stringContaining(RESUME_REMEDIES.LEDGER_NOT_THERE) as unknown,
    });
  });

  it('does not where the ledger cannot say, or nobody answers', async () => {
    for (const source of [
      await answering(503, { code: 'PROJECTION_BEHIND' }),
      new HttpResume({ url: 'http://127.0.0.1:1', token }),
    ])
      await expect(resume(source, RUN)).rejects.toMatchObject({ code: 'RESUME_UNAVAILABLE' });
  });
});
