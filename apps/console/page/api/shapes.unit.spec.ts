// What the console keeps of a review: all that a person decides by.
import { describe, expect, it } from '@jest/globals';
import { REVIEW } from './shapes.js';

const SHOWN = { json: { a: 1 }, sha256: 'ab' };
const DOC = {
  step_id: 'step_1',
  recovery_id: 'rec_1',
  rollback_id: 'rb_1',
  mutation_id: 'mut_1',
  tenant: 'demo',
  run_id: 'run_1',
  phase: 'denied',
  ready: true,
  missing: [],
  reason: 'DENIED',
  why: 'somebody refused',
  owner: 'approver',
  deadline_at: null,
  untrusted: { objective: null },
  proposed_by: { agent_id: 'bot', initiator: null, run_step_id: 's', call_id: 'c' },
  action: { capability: 'a.b', effect: null, args: SHOWN, value: null, rehearsal: null, agreed_by: [] },
  resource: { subject_ref: null, external_ref: null },
  facts: {
    then: { refs: [], at: 1 },
    now: { ref: null, source: 'critic', stated_at: 2, statement: null },
    resource: { seen: null, before: null },
    changed: [],
    reaffirmed: null,
  },
  forward: { state: 'succeeded' },
  reconciliation: null,
  lacking: [],
  compensation: null,
  approvals: { given: [], required: 1, why_two: null },
  action_digest: 'ab',
  time_left_ms: null,
  lookalikes: [],
  may: [],
  links: {
    record: { log: 'l', partition: 0, seq: null, record_hash: null },
    trace: { trace_id: 't', url: null },
  },
};

describe('a review', () => {
  it('keeps who denied it, and why, as far as that is on record', () => {
    const denied = { by: 'omar', at: 5, reason: 'the customer keeps it' };
    expect(REVIEW.parse({ ...DOC, denied }).denied).toEqual(denied);
    expect(REVIEW.parse({ ...DOC, denied: { by: 'omar' } }).denied).toEqual({ by: 'omar' });
    expect(REVIEW.parse({ ...DOC, denied: null }).denied).toBeNull();
    expect(REVIEW.parse(DOC).denied).toBeUndefined();
  });

  it('keeps all that would be called, and how far the last attempt came', () => {
    const taken = [{ name: 'refund', call: 1, path: '/refund_id' }];
    const said = {
      compensation_mode: {
        mode: 'manual_runbook',
        reason: 'nothing undoes it',
        runbook: 'https://runbooks.example.com/r',
      },
      compensation: {
        ...{ capability: 'a.c', args: SHOWN, impact: 'low', risk: null, risk_level: 'low', residue: null },
        ...{ stale_condition: null, success_condition: null },
        in_force: { contract_version: 2, approval_mode: 'two', risk_level: 'high', rules: ['refunds@1/large'] },
        then: [{ capability: 'a.d', args: SHOWN, taken, success_condition: 'gone' }],
      },
      reconciliation: {
        ...{ outcome: 'failed', reason: 'STEP_FAILED', attempt: 1, observations: [] },
        calls: { done: ['a.c'], stopped_at: 'a.d' },
      },
      forward: {
        state: 'succeeded',
        found_out: {
          how: 'reconciled',
          by: 'pia',
          verdict: 'took_effect',
          reason: 'SEEN',
          attempt: 2,
          found_at: 4,
          observations: [],
        },
      },
      proposed_by: { ...DOC.proposed_by, decision: 'it was asked', release: { model: 'm-1' } },
    };
    expect(REVIEW.parse({ ...DOC, ...said })).toMatchObject(said);
  });
});
