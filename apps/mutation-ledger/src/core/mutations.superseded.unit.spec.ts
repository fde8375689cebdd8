// A version that bound no more when an action named it: nothing is undone by a machine under it (A22).
import { describe, it } from '@jest/globals';
import { contractDigest, SUPERSEDED_GRACE_MS } from '@recourse/contract';
import { fact, WAYS } from '@recourse/testing';
import {
  contractText,
  executed,
  intent,
  ledger,
  NOW,
  planned,
  refund,
  REFUND,
  REFUND_DIGEST,
  registered,
} from './ledger.testing.js';

/** People get half the time to take a refund back. */
const STRICTER = contractText({ version: 2, reversal_window_ms: 1_800_000 });
/** They get twice as much. */
const LOOSER = contractText({ version: 2, reversal_window_ms: 7_200_000 });
const RETIRED = fact('ContractRetired', {
  name: 'payments.issue_refund',
  version: 1,
  tenant: '*',
  digest: REFUND_DIGEST,
  retired_by: 'owner',
  command_id: 'r',
});
const SUPERSEDED = fact('MutationRecorded', {
  recoverability: 'manual_resolution_required',
  reason: 'CONTRACT_SUPERSEDED',
});
const BOUND = fact('MutationRecorded', { recoverability: 'reversal_available', reason: null });

/** A ledger before whose view something about the contract was decided at NOW. */
function after(decided: Parameters<ReturnType<typeof ledger>['contracts']['append']>[1], isRebuilt: boolean) {
  const { run, contracts } = ledger({ isRebuilt });
  contracts.append('payments.issue_refund', decided, NOW);
  return run;
}

describe.each(WAYS)('an action that names a version of before, $way', ({ isRebuilt }) => {
  const soon = NOW + SUPERSEDED_GRACE_MS;
  const late = soon + 1;

  it('is a person’s once a stricter one has bound for an hour', () => {
    after(registered(STRICTER), isRebuilt)
      .when(executed(refund({ committed_at: soon })), soon)
      .then(BOUND);
    after(registered(STRICTER), isRebuilt)
      .when(executed(refund({ committed_at: late })), late)
      .then(SUPERSEDED);
  });

  it('is a person’s once that version has been retired for an hour', () => {
    after(RETIRED, isRebuilt)
      .when(executed(refund({ committed_at: soon })), soon)
      .then(BOUND);
    after(RETIRED, isRebuilt)
      .when(executed(refund({ committed_at: late })), late)
      .then(SUPERSEDED);
  });

  it('is bound as before where that version is no looser than the one that binds', () => {
    after(registered(LOOSER), isRebuilt)
      .when(executed(refund({ committed_at: late })), late)
      .then(BOUND);
  });

  it('is bound where it names the newest, of which older text was registered anew', () => {
    const { run, contracts } = ledger({ isRebuilt });
    contracts.append('payments.issue_refund', registered(STRICTER), NOW);
    contracts.append('payments.issue_refund', registered(REFUND), NOW + 1);
    run.when(executed(refund({ committed_at: late })), late + 1).then(BOUND);
  });

  it('counts from the first version that came after it, however many follow', () => {
    const { run, contracts } = ledger({ isRebuilt });
    contracts.append('payments.issue_refund', registered(STRICTER), NOW);
    contracts.append(
      'payments.issue_refund',
      registered(contractText({ version: 3, reversal_window_ms: 900_000 })),
      late,
    );
    run.when(executed(refund({ committed_at: late })), late).then(SUPERSEDED);
  });

  it('has its hour from when it could be named no more, however long it had not been the newest', () => {
    const { run, contracts } = ledger({ isRebuilt });
    contracts.append('payments.issue_refund', registered(LOOSER), NOW);
    contracts.append('payments.issue_refund', { ...RETIRED }, late);
    run.when(executed(refund({ committed_at: late + SUPERSEDED_GRACE_MS })), late + SUPERSEDED_GRACE_MS).then(BOUND);
    const other = ledger({ isRebuilt });
    other.contracts.append('payments.issue_refund', registered(LOOSER), NOW);
    other.contracts.append(
      'payments.issue_refund',
      registered(contractText({ version: 3, reversal_window_ms: 900_000 })),
      late,
    );
    other.run
      .when(executed(refund({ committed_at: late + SUPERSEDED_GRACE_MS })), late + SUPERSEDED_GRACE_MS)
      .then(BOUND);
    other.run
      .when(
        executed(refund({ effect_key: 'another', committed_at: late + SUPERSEDED_GRACE_MS })),
        late + SUPERSEDED_GRACE_MS + 1,
      )
      .then(SUPERSEDED);
  });

  it('is judged by when it was planned, and not by how late its outcome is told', () => {
    after(registered(STRICTER), isRebuilt)
      .when(planned(intent()), NOW)
      .when(executed(refund({ committed_at: late })), late)
      .then(BOUND);
    after(registered(STRICTER), isRebuilt)
      .when(planned(intent()), late)
      .when(executed(refund({ committed_at: late })), late)
      .then(SUPERSEDED);
  });

  it('tells so with its terms, and what it names stays on record', () => {
    after(registered(STRICTER), isRebuilt)
      .when(executed(refund({ committed_at: late })), late)
      .then(fact('MutationRecorded', { terms: { contract_digest: contractDigest(REFUND), superseded: true } }));
  });
});
