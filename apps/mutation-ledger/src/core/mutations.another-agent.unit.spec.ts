// Who said what it was about to do says how that ended: an agent does not end, or take for its own, the effect of another.
import { describe, expect, it } from '@jest/globals';
import type { Speaker } from '@recourse/kernel';
import type { RecordInput } from '@recourse/event-log';
import type { ToolExecuted } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { executed, intent, ledger, MUTATION, NOW, planned, refund } from './ledger.testing.js';

const keyOf = (agent: string): Speaker => ({
  keyId: `${agent}-key`,
  roles: ['producer'],
  names: [agent],
  tenants: ['*'],
});
const signed = (event: ToolExecuted): RecordInput => ({ ...executed(event), speaker: keyOf(event.agent_id) });
/** Mallory says under a key of her own how the effect of another ended. */
const forged = (changes: Partial<ToolExecuted> = {}): ToolExecuted =>
  refund({
    agent_id: 'mallory',
    event_id: 'evt-forged',
    assumption_refs: [],
    external_transaction_ref: null,
    ...changes,
  });

describe.each(WAYS)('an effect that another agent reports, $way', ({ isRebuilt }) => {
  const begun = (): CoreHarness => ledger({ isRebuilt }).run.when(planned(intent()), NOW);

  it.each(['succeeded', 'failed', 'uncertain'] as const)(
    'is not ended by it, as %s: what it says is on record',
    (outcome) => {
      const run = begun();
      run.when(signed(forged({ outcome })), NOW + 1).then(fact('ExecutionConflicted', { mutation_id: MUTATION }));
      const { assumption_refs, external_transaction_ref } = refund();
      run
        .when(signed(refund()), NOW + 2)
        .then(fact('MutationRecorded', { execution: { agent_id: 'agent-1', external_transaction_ref } }));
      expect(run.rows('mutation')[0]?.doc).toMatchObject({ ref: { assumption_refs } });
    },
  );

  it('is not settled by it either where nobody knows how it ended', () => {
    const run = ledger({ isRebuilt }).run.when(signed(refund({ outcome: 'uncertain', result: null })), NOW);
    run.when(signed(forged({ outcome: 'failed' })), NOW + 1).then(fact('ExecutionConflicted'));
    expect(run.rows('mutation')[0]?.doc).toMatchObject({ execution_state: 'uncertain' });
  });

  it('is its own under another spelling of its name', () => {
    begun()
      .when(signed(refund({ agent_id: 'agent:Agent-1' })), NOW + 1)
      .then(fact('MutationRecorded'));
  });
});
