import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { harness } from '@recourse/testing';
import type { StepDoc } from '../domain/step/step.messages.js';
import { answered, approval, core, digest, EVIDENCE, execution, LAST_DISPATCH, MARGIN, markedInput, observed, PAID_OUT, ref, requestIn, terms, views } from '../recoveries.testing.js';
import { reviewItem } from './review-item.query.js';

function stepOf(run: ReturnType<typeof harness>): StepDoc {
  // The harness holds what foldRecovery wrote.
  return run.rows('step')[0]?.doc as StepDoc;
}

describe('a review item', () => {
  it('shows the objective, the action, the resource, the facts then and now, the compensation and its risk (C1, C55 to C61)', () => {
    expect(reviewItem(stepOf(harness(core(), { views: views() }).when(markedInput(), 10_000)), 10_000, MARGIN)).toMatchObject({
      objective: 'settle ticket 99', run_id: 'run-1', reason: 'HIGH_IMPACT', proposed_by: { agent_id: 'refund-agent', initiator: 'ines', call_id: 'call-1' },
      action: { capability: 'payments.issue_refund', effect: 'money goes back to a customer', args: { json: { order: '4711', amount_minor: 4_900 } }, value: { amount_minor: 4_900, currency: 'EUR' } },
      resource: { subject_ref: 'order/4711', external_ref: 're_1' }, facts: { then: ['order/4711#not_shipped'], now: { ref: 'order/4711#not_shipped', source: 'warehouse' } },
      compensation: { capability: 'payments.cancel_refund', args: { json: { refund_id: 're_1' } }, impact: 'financial', residue: 'two lines on the statement' },
      approvals: { given: [], required: 1 }, action_digest: digest().toString('hex'), time_left_ms: LAST_DISPATCH - 10_000, may: ['approve', 'deny'], reconciliation: null,
    });
  });

  it('shows what was observed once an attempt was made (C59), and offers nothing more', () => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000).when(approval(), 20_000);
    run.when(answered(requestIn(run.outgoing()), 'stale', [PAID_OUT]), 25_000);
    expect(reviewItem(stepOf(run), 25_000, MARGIN)).toMatchObject({
      phase: 'manual', reason: 'RESOURCE_CHANGED', may: [], approvals: { given: [{ by: 'olga' }] },
      reconciliation: { outcome: 'stale', attempt: 1, observations: [{ observed: { json: { status: 'paid_out' } } }] },
    });
  });

  it('shows the hash of what is sealed, never its bytes (C57)', () => {
    const args = { ...execution().args, encoding: 'sealed' as const, key_id: 'k' };
    const step = stepOf(harness(core(), { views: views() }).when(markedInput({ execution: execution({ args }), evidence: EVIDENCE }), 10_000));
    expect(reviewItem(step, 10_000, MARGIN).action.args).toEqual({ sealed_sha256: args.sha256.toString('hex') });
  });

  it('of a field that somebody set meanwhile shows what would be restored, what was expected and what is there now (B19)', () => {
    const contract = terms({ impact: 'write', recovery_approval_mode: 'auto', stale_condition: 'observed.version == bound.args.expected_version' });
    const pointer = ref({ reversal_args: plainPayload({ value: 'Y', expected_version: 7 }) });
    const run = harness(core(), { views: views() }).when(markedInput({ terms: contract, ref: pointer }), 10_000);
    run.when(answered(requestIn(run.outgoing()), 'stale', [observed('stale_check', 'payments.read_refund', { value: 'Z', version: 8 })]), 25_000);
    expect(run.outgoing()).toEqual([]);
    expect(reviewItem(stepOf(run), 25_000, MARGIN)).toMatchObject({
      phase: 'manual', reason: 'RESOURCE_CHANGED', owner: 'role:administrator', deadline_at: expect.any(Number),
      compensation: { args: { json: { value: 'Y', expected_version: 7 } }, stale_condition: 'observed.version == bound.args.expected_version' },
      reconciliation: { outcome: 'stale', observations: [{ phase: 'stale_check', observed: { json: { value: 'Z', version: 8 } } }] },
    });
  });

  it('shows what a dry run had said, where there was one (A52)', () => {
    const shownOf = (rehearsal: ReturnType<typeof plainPayload> | null) => reviewItem(stepOf(harness(core(), { views: views() }).when(markedInput({ execution: execution({ rehearsal }) }), 10_000)), 10_000, MARGIN).action.rehearsal;
    expect([shownOf(plainPayload({ mails: 3 })), shownOf(null)]).toEqual([{ json: { mails: 3 } }, null]);
  });

  it('has no time left once the window is over', () => {
    expect(reviewItem(stepOf(harness(core(), { views: views() }).when(markedInput(), 10_000)), LAST_DISPATCH + 1, MARGIN).time_left_ms).toBe(0);
  });
});
