// goes to apps/mutation-ledger/src/core/
import { describe, expect, it } from '@jest/globals';
import { closingRef, contractDigest } from '@recourse/contract';
import { WAYS } from '@recourse/testing';
import { contractText, DISPATCHED, escalated, executed, ledger, MUTATION, NOW, outcome, refund, registered, state, statement, TRIGGERED } from './ledger.testing.js';
const SETTLE = 'payments.settle_refund';
const SETTLED = closingRef('4711', 'provider settlement');
describe.each(WAYS)('closers, $way', ({ isRebuilt }) => {
  const text = contractText({ window_closed_by: [SETTLE] });
  const settle = contractText({ name: SETTLE });
  const settles = (at: number) => executed(refund({ event_id: 's', effect_key: 's', capability: SETTLE, contract_digest: contractDigest(settle), subject_ref: '4711', assumption_refs: [], committed_at: at }));
  const start = () => { const made = ledger({ isRebuilt, contracts: [text] }); made.contracts.append(SETTLE, registered(settle)); return made; };
  const doc = (run: ReturnType<typeof ledger>['run']) => run.rows('mutation').map((r) => r.doc as any).find((d) => d.mutation_id === MUTATION);
  const made = (more: any = {}) => executed(refund({ event_id: 'ev-2', contract_digest: contractDigest(text), committed_at: NOW - 1000, ...more }));
  it('a: uncertain, closer, then found to have succeeded', () => {
    const { run } = start();
    run.when(made({ event_id: 'ev-1', outcome: 'uncertain', result: null, external_transaction_ref: null }), NOW).when(settles(NOW - 500), NOW + 2).when(made(), NOW + 5);
    expect(doc(run).recoverability).toBe('reversal_expired');
  });
  it('b: report of the effect comes after that of the closer', () => {
    const { run } = start();
    run.when(settles(NOW - 500), NOW + 2).when(made(), NOW + 5);
    expect(doc(run).recoverability).toBe('reversal_expired');
  });
  it('c: a closer older than the effect, told late, closes nothing', () => {
    const { run } = start();
    run.when(made(), NOW + 5).when(settles(NOW - 5000), NOW + 6);
    expect(doc(run).recoverability).toBe('reversal_available');
  });
  it.each([['person', [escalated('APPROVAL_TIMEOUT')]], ['dispatched', [DISPATCHED]], ['failed', [DISPATCHED, outcome('failed', 'TOOL_FAILED')]]] as const)('d: the event counts while it is %s', (_name, before) => {
    const { run, assumptions } = ledger({ isRebuilt });
    run.when(executed(refund()), NOW).when(TRIGGERED, NOW + 10);
    let at = NOW + 20;
    for (const one of before) run.when(one, at++);
    run.when(state(assumptions, statement('holds', 'settled-1', { ref: SETTLED, stated_at: NOW + 50 })), NOW + 60);
    expect(run.recorded().length).toBeGreaterThan(0);
  });
});
