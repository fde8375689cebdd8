// What a producer may claim and what it may not: the contract says what an effect is, the ledger binds how it is undone.
import { describe, expect, it } from '@jest/globals';
import { contractDigest, plainPayload, readPayload } from '@recourse/contract';
import type { MutationRecorded, ToolExecuted } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import { contractText, executed, ledger, MUTATION, NOW, refund } from './ledger.testing.js';

describe.each(WAYS)('what an execution claims, $way', ({ isRebuilt }) => {
  const claiming = (changes: Partial<ToolExecuted>, claims: object): ToolExecuted => ({
    ...refund(changes),
    ...claims,
  });

  it('of its class is ignored: the class is that of its contract (B11)', () => {
    const run = ledger({ isRebuilt }).run.when(
      executed(
        claiming(
          {},
          { reversal_class: 'reversible', reversal_capability: 'payments.forget', reversal_args: plainPayload({}) },
        ),
      ),
      NOW,
    );
    run.then(
      fact('MutationRecorded', {
        ref: { reversal_class: 'compensable', reversal_capability: 'payments.reverse_refund' },
      }),
    );
    const { ref } = run.records()[0]?.body as unknown as MutationRecorded;
    expect(ref.reversal_args === null ? null : readPayload(ref.reversal_args)).toMatchObject({ refund_id: 're_1' });
  });

  it('of its class makes nothing of what has no contract: it is irreversible, and a person is told (B12)', () => {
    for (const claims of [{}, { reversal_class: 'reversible' }]) {
      const run = ledger({ isRebuilt }).run.when(executed(claiming({ contract_digest: null }, claims)), NOW);
      run.then(
        fact('MutationRecorded', {
          recoverability: 'manual_resolution_required',
          reason: 'UNCONTRACTED',
          terms: null,
          ref: { reversal_class: 'irreversible', reversal_capability: null, reversal_args: null },
        }),
      );
    }
  });

  it('needs nobody who told of it before: alone it is bound, in the window of its contract (A3)', () => {
    const run = ledger({ isRebuilt }).run.when(
      executed(refund({ assumption_refs: [], initiator: null, objective: null })),
      NOW,
    );
    run.then(
      fact('MutationRecorded', {
        mutation_id: MUTATION,
        execution_state: 'succeeded',
        recoverability: 'reversal_available',
        ref: { reversal_capability: 'payments.reverse_refund', external_transaction_ref: 're_1' },
      }),
    );
  });

  it('is on record as it went forward, beside the inverse that was computed from the state it found (B15)', () => {
    const text = contractText({
      requires_prior_value_capture: true,
      reversal_args: { refund_id: { from: 'external_ref' }, amount_minor: { from: 'prior_value', path: '/limit' } },
    });
    const prior = plainPayload({ limit: 7 });
    const event = refund({ contract_digest: contractDigest(text), prior_value: prior });
    const run = ledger({ isRebuilt, contracts: [text] }).run.when(executed(event), NOW);
    run.then(
      fact('MutationRecorded', {
        execution: { capability: 'payments.issue_refund', args: event.args, result: event.result, prior_value: prior },
        ref: {
          reversal_capability: 'payments.reverse_refund',
          reversal_args: plainPayload({ refund_id: 're_1', amount_minor: 7 }),
          prior_value_hash: prior.sha256,
        },
      }),
    );
  });
});
