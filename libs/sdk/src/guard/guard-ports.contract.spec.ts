import { afterAll, describe, expect, it } from '@jest/globals';
import { deriveId } from '@recourse/kernel';
import { approvalsContract } from './approval.contract.js';
import { HttpApprovals, nextStep } from './approval.http.js';
import { MemoryApprovals } from './approval.memory.js';
import type { ApprovalRequest } from './approval.port.js';
import { answered, testEdge } from '../edge/edge.testing.js';
import type { EdgeCall, TestEdge } from '../edge/edge.testing.js';
import { standingContract } from './standing.contract.js';
import { HttpStanding, standingOf } from './standing.http.js';
import { MemoryStanding } from './standing.memory.js';

const edges: TestEdge[] = [];
afterAll(() => {
  edges.forEach(({ close }) => {
    close();
  });
});
const token = (): Promise<string> => Promise.resolve('token');

async function edgeOf(
  answer: (call: EdgeCall) => Promise<readonly [number, object]>,
): Promise<{ readonly url: string; readonly token: typeof token }> {
  const edge = await testEdge((call) =>
    call.authorization === 'Bearer token' ? answer(call) : Promise.resolve([401, {}]),
  );
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
    const [place = '', run] = path.replace('/v1/mutations/', '').split('?run_id=');
    // The run is named: what was told of it is read first.
    if (!decodeURIComponent(run ?? '').startsWith('run/')) return [400, { code: 'INPUT_INVALID' }];
    const found = await ledger.of(decodeURIComponent(place));
    return found.kind === 'recorded'
      ? [
          200,
          {
            execution_state: found.execution,
            ends: found.ends,
            recoverability: found.recoverability,
            rollback_id: found.fell ? 'rb_1' : null,
          },
        ]
      : [404, { code: 'NOT_FOUND' }];
  });
  return { standing: new HttpStanding(options), record: ledger.record.bind(ledger) };
});

approvalsContract('memory', () => {
  const desk = new MemoryApprovals();
  return Promise.resolve({ approvals: desk, desk });
});

approvalsContract('http', async () => {
  const desk = new MemoryApprovals();
  const asked = new Map<string, ApprovalRequest>();
  const options = await edgeOf(async ({ path, body }) => {
    if (path === '/v1/forward-approvals') {
      const {
        run_id: runId,
        effect_key: effectKey,
        capability,
        contract_digest: contractDigest,
        subject_ref: subjectRef,
        initiator,
        objective,
        agent_id: agentId,
        mode,
        action_digest: actionDigest,
        args,
        rehearsal,
      } = body;
      // The adapter under test sends every field of a request.
      const request = {
        tenant: 'acme',
        runId,
        effectKey,
        capability,
        contractDigest,
        subjectRef,
        initiator,
        objective,
        agentId,
        mode,
        actionDigest,
        args,
        rehearsal,
        attempt: 1,
      } as ApprovalRequest;
      asked.set(deriveId('fwa', 'acme', request.runId, request.effectKey, request.actionDigest), request);
    }
    const [, id = ''] = /forward-approvals\/([^/]+)/.exec(path) ?? [];
    const request = path === '/v1/forward-approvals' ? [...asked.values()].at(-1) : asked.get(id);
    if (request === undefined) return [404, { code: 'NOT_FOUND' }];
    const answer = await desk.ask(request);
    const status = path.endsWith('/use') && answer.kind === 'approved' ? 'used' : answer.kind;
    return [
      200,
      {
        status,
        round: 1,
        required_approvals: request.mode === 'human' ? 1 : 2,
        attempt: 1,
        action_digest: request.actionDigest,
        ...(answer.kind === 'denied' ? { reason: answer.reason } : {}),
      },
    ];
  });
  return { approvals: new HttpApprovals(options), desk };
});

const QUESTIONS = '/v1/forward-approvals';
const REQUEST: ApprovalRequest = {
  tenant: 'a',
  runId: 'r',
  effectKey: 'e',
  capability: 'a.b_c',
  contractDigest: null,
  subjectRef: null,
  initiator: null,
  objective: 'settle ticket 99',
  agentId: 'g',
  mode: 'human',
  actionDigest: 'ab',
  args: {},
  rehearsal: null,
  attempt: 1,
};

describe('an answer that does not say what it should', () => {
  it.each([
    [404, {}],
    [404, { code: 'ROUTE_UNKNOWN' }],
    [200, {}],
    [200, { execution_state: 'exploded', recoverability: 'planned' }],
    [500, { execution_state: 'failed', recoverability: 'planned', rollback_id: null }],
    [200, { execution_state: 'succeeded', recoverability: 'reversal_available' }],
  ])('%i %o is no record', (status, body) => {
    expect(standingOf(answered(status, body)).kind).toBe('unavailable');
  });

  it.each([
    [404, {}],
    [404, { code: 'ROUTE_UNKNOWN' }],
    [200, { status: 'approved' }],
    [200, { status: 'fine', round: 1 }],
    [403, { status: 'approved', round: 1 }],
    [500, {}],
  ])('%i %o is no approval', (status, body) => {
    expect(nextStep(answered(status, body), REQUEST)).toMatchObject({ do: 'answer', answer: { kind: 'unavailable' } });
  });

  it.each([
    [
      { status: 'used', attempt: 1, round: 3 },
      { do: 'open', round: 4 },
    ],
    [
      { status: 'used', attempt: 2, round: 3 },
      { do: 'use_again', round: 3 },
    ],
    [
      { status: 'expired', round: 1 },
      { do: 'open', round: 2 },
    ],
  ])('%j is asked for anew by attempt 2, unless it used it', (body, next) => {
    expect(nextStep(answered(200, body), { ...REQUEST, attempt: 2 })).toEqual(next);
  });

  it.each([
    ['pending', {}, { do: 'open', round: 4 }],
    ['approved', { required_approvals: 1 }, { do: 'open', round: 4 }],
    ['used', { required_approvals: 1, attempt: 1 }, { do: 'open', round: 4 }],
    ['approved', { required_approvals: 2 }, { do: 'use', round: 3 }],
    ['denied', { required_approvals: 1, reason: 'no' }, { do: 'answer', answer: { kind: 'denied', reason: 'no' } }],
  ])('%s with %j is what two people agreed to only where two were asked', (status, more, next) => {
    const body = { status, round: 3, ...more };
    expect(nextStep(answered(200, body), { ...REQUEST, mode: 'dual_control' })).toEqual(next);
  });

  it.each([
    [200, { status: 'used', attempt: 2, action_digest: 'ab' }, 'unavailable'],
    [200, { status: 'used', attempt: 1 }, 'unavailable'],
    [409, { code: 'APPROVAL_USED' }, 'pending'],
    [503, {}, 'unavailable'],
    [202, {}, 'unavailable'],
  ])('a use answered with %i %j is no approval', async (status, body, kind) => {
    const options = await edgeOf(({ path }) =>
      Promise.resolve(path.endsWith('/use') ? [status, body] : [200, { status: 'approved', round: 1 }]),
    );
    expect((await new HttpApprovals(options).ask(REQUEST)).kind).toBe(kind);
  });

  it('was used is asked about once more by the same attempt, under another key, and anew once it has run out', async () => {
    const used = { status: 'used', attempt: 1, round: 3, action_digest: 'ab' };
    for (const [answer, kind, asked] of [
      [[200, used], 'approved', 0],
      [[409, { code: 'APPROVAL_EXPIRED' }], 'pending', 2],
    ] as const) {
      const calls: EdgeCall[] = [];
      const options = await edgeOf((call) => {
        calls.push(call);
        if (call.path.endsWith('/use')) return Promise.resolve(answer);
        return Promise.resolve(call.path.endsWith(QUESTIONS) ? [201, { status: 'pending', round: 4 }] : [200, used]);
      });
      const approvals = new HttpApprovals(options);
      expect([(await approvals.ask(REQUEST)).kind, (await approvals.ask(REQUEST)).kind]).toEqual([kind, kind]);
      const keys = calls.filter(({ path }) => path.endsWith('/use')).map(({ idempotencyKey }) => idempotencyKey);
      expect(new Set(keys).size).toBe(2);
      expect(calls.filter(({ path }) => path.endsWith(QUESTIONS))).toHaveLength(asked);
    }
  });

  it('is "unavailable" when nobody answers', async () => {
    const options = { url: 'http://127.0.0.1:1', token };
    expect((await new HttpStanding(options).of('mut_1', 'run/1')).kind).toBe('unavailable');
    expect((await new HttpApprovals(options).ask(REQUEST)).kind).toBe('unavailable');
  });
});
