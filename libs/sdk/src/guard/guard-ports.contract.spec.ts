import { afterAll, describe, expect, it } from '@jest/globals';
import { approvalsContract } from './approval.contract.js';
import { approvalOf, HttpApprovals } from './approval.http.js';
import { MemoryApprovals } from './approval.memory.js';
import type { ApprovalRequest } from './approval.port.js';
import { testEdge } from './edge.testing.js';
import type { EdgeCall, TestEdge } from './edge.testing.js';
import { standingContract } from './standing.contract.js';
import { HttpStanding, standingOf } from './standing.http.js';
import { MemoryStanding } from './standing.memory.js';

const edges: TestEdge[] = [];
afterAll(() => { edges.forEach(({ close }) => { close(); }); });
const token = (): Promise<string> => Promise.resolve('token');

async function edgeOf(answer: (call: EdgeCall) => Promise<readonly [number, object]>): Promise<{ readonly url: string; readonly token: typeof token }> {
  const edge = await testEdge((call) => (call.authorization === 'Bearer token' ? answer(call) : Promise.resolve([401, {}])));
  edges.push(edge);
  return { url: edge.url, token };
}

standingContract('memory', () => {
  const standing = new MemoryStanding();
  return Promise.resolve({ standing, record: standing.record.bind(standing) });
});

standingContract('http', async () => {
  const ledger = new MemoryStanding();
  const options = await edgeOf(async ({ path }) => {
    const found = await ledger.of(decodeURIComponent(path.replace('/v1/mutations/', '')));
    return found.kind === 'recorded' ? [200, { execution_state: found.execution, recoverability: found.recoverability }] : [404, { code: 'NOT_FOUND' }];
  });
  return { standing: new HttpStanding(options), record: ledger.record.bind(ledger) };
});

approvalsContract('memory', () => {
  const desk = new MemoryApprovals();
  return Promise.resolve({ approvals: desk, desk });
});

approvalsContract('http', async () => {
  const desk = new MemoryApprovals();
  const options = await edgeOf(async ({ body }) => {
    const { run_id: runId, effect_key: effectKey, capability, initiator, agent_id: agentId, mode, action_digest: actionDigest, args, rehearsal } = body;
    // The adapter under test sends every field of a request.
    const answer = await desk.ask({ tenant: 'acme', runId, effectKey, capability, initiator, agentId, mode, actionDigest, args, rehearsal } as ApprovalRequest);
    return [answer.kind === 'pending' ? 202 : 200, { status: answer.kind, ...(answer.kind === 'approved' ? { action_digest: answer.actionDigest } : {}), ...(answer.kind === 'denied' ? { reason: answer.reason } : {}) }];
  });
  return { approvals: new HttpApprovals(options), desk };
});

describe('an answer that does not say what it should', () => {
  it.each([[200, {}], [200, { execution_state: 'exploded', recoverability: 'planned' }], [500, { execution_state: 'failed', recoverability: 'planned' }]])('%i %o is no record', (status, body) => {
    expect(standingOf(status, body).kind).toBe('unavailable');
  });

  it.each([[200, { status: 'approved' }], [201, { status: 'approved', action_digest: 'ab' }], [202, { status: 'approved', action_digest: 'ab' }], [200, { status: 'fine' }], [404, {}]])('%i %o is no approval', (status, body) => {
    expect(approvalOf(status, body).kind).toBe('unavailable');
  });

  it('is "unavailable" when nobody answers', async () => {
    const options = { url: 'http://127.0.0.1:1', token };
    expect((await new HttpStanding(options).of('mut_1')).kind).toBe('unavailable');
    const request: ApprovalRequest = { tenant: 'a', runId: 'r', effectKey: 'e', capability: 'a.b_c', initiator: null, agentId: 'g', mode: 'human', actionDigest: 'ab', args: {}, rehearsal: null };
    expect((await new HttpApprovals(options).ask(request)).kind).toBe('unavailable');
  });
});
