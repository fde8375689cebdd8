// Whose the staged part of a held effect is: who names somebody else's has it neither taken back nor let go by a machine.
import { describe, expect, it } from '@jest/globals';
import { contractDigest } from '@recourse/contract';
import type { Outgoing, RecordInput } from '@recourse/event-log';
import type { Speaker } from '@recourse/kernel';
import type { ToolPlanned } from '@recourse/messages';
import { fact, harness, logged, WAYS, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { assumptionsCore } from '../assumptions.core.js';
import { handleRef } from '../rules/handle/handle-ref.js';
import { mutationIdOf } from './executions.js';
import { contractText, intent, ledger, NOW, planned, request, TENANT } from './ledger.testing.js';

const HOLD_MS = 60_000;
const ENDS = NOW + HOLD_MS;
const STAGED = contractText({
  commit_hold_ms: HOLD_MS,
  cancel_capability: 'payments.cancel_refund',
  techniques: { reservation: true },
});
const REF = handleRef('payments', 'hold_1');

const keyOf = (agent: string): Speaker => ({
  keyId: `${agent}-key`,
  roles: ['producer'],
  names: [agent],
  tenants: ['*'],
});
const signed = (event: ToolPlanned): RecordInput => ({ ...planned(event), speaker: keyOf(event.agent_id) });
const staged = (changes: Partial<ToolPlanned> = {}): ToolPlanned =>
  intent({ is_held: true, staged_ref: 'hold_1', contract_digest: contractDigest(STAGED), ...changes });
const THEIRS = staged({ run_id: 'run-of-mallory', agent_id: 'mallory', staged_ref: 'HOLD_1 ', assumption_refs: [] });

describe.each(WAYS)('the staged part that a held effect names, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => ledger({ isRebuilt, asks: true, contracts: [STAGED] }).run;
  const question = (run: CoreHarness): Outgoing => {
    const [message] = run.outgoing();
    if (message?.type !== 'recourse.assumptions.HandleNamed') throw new Error('nothing was asked about it');
    return message;
  };
  const answered = (owning: CoreHarness, message: Outgoing): RecordInput => {
    const asking = wire('recourse.assumption-events', 'HandleNamed', message.body, { key: message.key });
    const [record] = owning.when(asking, NOW).recorded();
    if (record === undefined) throw new Error('no answer');
    return logged('recourse.assumptions', record.type, record.body, record.seq, { key: REF });
  };
  const cancel = (event: ToolPlanned): RecordInput => {
    const who = { command_id: 'cmd-1', tenant: TENANT, principal: 'mira', roles: ['operator'], issued_at: NOW };
    const envelope = { ...who, body_sha256: Buffer.alloc(32), signature: null };
    const body = { envelope, run_id: event.run_id, mutation_id: mutationIdOf(event), reason: 'wrong order' };
    return wire('recourse.ledger-commands', 'CancelMutation', body, { key: event.run_id });
  };
  /** The one that staged it, and who names it afterwards, each told whose it is. */
  function named(): { readonly owner: CoreHarness; readonly thief: CoreHarness } {
    const owning = harness(assumptionsCore(), { isRebuilt });
    const owner = start().when(signed(staged()), NOW);
    owner.then(fact('MutationPlanned', { signing_key: 'agent-1-key', handle_ref: REF }));
    owner.when(answered(owning, question(owner)), NOW + 1).then(fact('HandleJudged', { is_owner: true }));
    const thief = start().when(signed(THEIRS), NOW + 2);
    thief.when(answered(owning, question(thief)), NOW + 3).then(fact('HandleJudged', { is_owner: false }));
    return { owner, thief };
  }

  it('is its own where nobody named it before: it is taken back, or let go, by a worker', () => {
    const { owner } = named();
    owner.when(cancel(staged()), NOW + 4);
    expect(request(owner)).toMatchObject({ kind: 'cancel', steps: [{ external_transaction_ref: 'hold_1' }] });
    const other = named().owner.whenDue(ENDS);
    expect(request(other)).toMatchObject({ kind: 'release', steps: [{ external_transaction_ref: 'hold_1' }] });
  });

  it('of somebody else is taken back by no machine: a person has it, told why', () => {
    const { thief } = named();
    expect(thief.rows('mutation')[0]?.doc).toMatchObject({
      asked_because: 'HANDLE_CLAIMED',
      claim: { standing: 'foreign' },
    });
    thief
      .when(cancel(THEIRS), NOW + 4)
      .then(fact('MutationRecorded', { recoverability: 'cancelled' }), fact('ExecutionOverdue'));
    expect(thief.outgoing()).toEqual([]);
  });

  it('of somebody else is let go by no machine', () => {
    const { thief } = named();
    thief.whenDue(ENDS + 2).then(fact('HoldElapsed'), fact('ExecutionOverdue', { owner: 'role:administrator' }));
    expect(thief.outgoing()).toEqual([]);
  });

  it('is touched by no machine before it is known whose it is', () => {
    const run = start().when(signed(THEIRS), NOW);
    run.when(cancel(THEIRS), NOW + 1).then(fact('MutationRecorded'), fact('ExecutionOverdue'));
  });

  it('is asked about nowhere where wires are open', () => {
    const run = start().when(planned(staged()), NOW);
    expect(run.outgoing()).toEqual([]);
    run.when(cancel(staged()), NOW + 1);
    expect(request(run)).toMatchObject({ kind: 'cancel' });
  });
});
