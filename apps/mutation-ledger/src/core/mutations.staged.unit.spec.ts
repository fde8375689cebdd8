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
import { contractText, executed, intent, ledger, NOW, planned, refund, request, TENANT } from './ledger.testing.js';

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
  const answered = (owning: CoreHarness, message: Outgoing, ref = REF): RecordInput => {
    const asking = wire('recourse.assumption-events', 'HandleNamed', message.body, { key: message.key });
    const [record] = owning.when(asking, NOW).recorded();
    if (record === undefined) throw new Error('no answer');
    return logged('recourse.assumptions', record.type, record.body, record.seq, { key: ref });
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

  it.each([
    ['the same part again', ['hold_1', 'hold_1']],
    ['another part, and then the first again', ['hold_1', 'hold_2', 'hold_1']],
  ])('is known to be its own where its call is tried again with %s', (_what, refs) => {
    const owning = harness(assumptionsCore(), { isRebuilt });
    const run = start();
    refs.forEach((staged_ref, attempt) => {
      const at = NOW + 10 * attempt;
      const call_id = `call-${String(attempt)}`;
      run.when(signed(staged({ event_id: `plan-${String(attempt)}`, call_id, staged_ref, planned_at: at })), at);
      run.when(answered(owning, question(run), handleRef('payments', staged_ref)), at + 1);
      expect(run.rows('mutation')[0]?.doc).toMatchObject({ claim: { standing: 'own' } });
      if (attempt < refs.length - 1)
        run.when(
          {
            ...executed(
              refund({
                ...{
                  event_id: `ended-${String(attempt)}`,
                  call_id,
                  committed_at: at + 2,
                  contract_digest: contractDigest(STAGED),
                },
                ...{ outcome: 'failed', result: null, external_transaction_ref: null, handled_as: 'retry_scheduled' },
              }),
            ),
            speaker: keyOf('agent-1'),
          },
          at + 2,
        );
    });
    run.whenDue(ENDS + 10 * refs.length);
    expect(request(run)).toMatchObject({ kind: 'release', steps: [{ external_transaction_ref: 'hold_1' }] });
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
