import { afterAll, describe, expect, it } from '@jest/globals';
import { answered, testEdge } from '../edge/edge.testing.js';
import type { TestEdge } from '../edge/edge.testing.js';
import { MemoryProducer } from '../producer/producer.memory.js';
import { resumeContract } from './resume.contract.js';
import { HttpResume, resumedOf } from './resume.http.js';
import { MemoryResume } from './resume.memory.js';
import { FRESH_START, resume, ResumeUnavailable } from './resume.js';

const edges: TestEdge[] = [];
afterAll(() => {
  edges.forEach(({ close }) => {
    close();
  });
});
const token = (): Promise<string> => Promise.resolve('token');

/** A ledger's edge over a record in memory. */
async function ledgerEdge(record: MemoryResume): Promise<string> {
  const edge = await testEdge(async ({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://x');
    const runId = decodeURIComponent(pathname.replace('/v1/runs/', '').replace('/resume', ''));
    const tenant = searchParams.get('tenant') ?? '';
    const answer = await record.of(tenant, runId);
    if (answer.kind !== 'known')
      return answer.kind === 'unrecorded' ? [404, { code: 'RUN_UNKNOWN' }] : [503, { code: 'DATABASE_UNAVAILABLE' }];
    const { checkpoint, state, stateUnavailable, evidence, rolledBack } = answer.resumed;
    return [
      200,
      { run_id: runId, tenant, checkpoint, state, state_code: stateUnavailable, evidence, rolled_back: rolledBack },
    ];
  });
  edges.push(edge);
  return edge.url;
}

resumeContract('memory', (_producer, record) => Promise.resolve(record));
resumeContract('http', async (_producer, record) => new HttpResume({ url: await ledgerEdge(record), token }));

describe('an answer of the ledger', () => {
  const whole = { checkpoint: null, state: null, state_code: null, evidence: [], rolled_back: [] };
  it.each([
    [200, whole, 'known'],
    [404, { code: 'RUN_UNKNOWN' }, 'unrecorded'],
    [404, {}, 'unavailable'],
    [404, { code: 'NOT_FOUND' }, 'unavailable'],
    [503, { code: 'RUN_UNKNOWN' }, 'unavailable'],
    [503, whole, 'unavailable'],
    [200, { ...whole, rolled_back: undefined }, 'unavailable'],
    [200, { ...whole, state_code: 'eaten' }, 'unavailable'],
    [200, { ...whole, checkpoint: { run_id: 'r' } }, 'unavailable'],
    [401, {}, 'unavailable'],
  ])('%i %j means %s', (status, body, kind) => {
    expect(resumedOf(answered(status, body)).kind).toBe(kind);
  });

  it.each([
    [
      { content_type: 'application/json', encoding: 'sealed', key_id: 'k', sha256: 'a1', body: { pens: 0 } },
      { pens: 0 },
    ],
    [{ content_type: 'application/json', encoding: 'plain', key_id: null, sha256: 'a1', body: 'none' }, 'none'],
    [{ content_type: 'application/json', encoding: 'sealed', key_id: 'k', sha256: 'a1', body: 'c0ffee' }, null],
    [{ pens: 0 }, { pens: 0 }],
    [null, null],
  ])('that shows %j as stated says %j', (statement, stated) => {
    const evidence = [
      {
        commit_id: 'cp_1',
        rollback_id: 'rb_1',
        evidence: { kind: 'observation', source: 'w', ref: 'a#b', statement, stated_at: 1 },
      },
    ];
    expect(resumedOf(answered(200, { ...whole, evidence }))).toMatchObject({
      resumed: { evidence: [{ evidence: { statement: stated } }] },
    });
  });

  it('is none where nobody answers', async () => {
    expect((await new HttpResume({ url: 'http://127.0.0.1:1', token }).of('acme', 'run-1')).kind).toBe('unavailable');
  });
});

describe('resuming', () => {
  it('begins anew where nothing is on record, and does not where the record cannot be read', async () => {
    const record = new MemoryResume(new MemoryProducer());
    expect(await resume(record, { tenant: 'acme', runId: 'run-1' })).toEqual(FRESH_START);
    record.isAway = true;
    await expect(resume(record, { tenant: 'acme', runId: 'run-1' })).rejects.toThrow(ResumeUnavailable);
  });
});
