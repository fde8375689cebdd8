// Whose a handle is: who names somebody else's gets nothing undone by a machine (docs/adr/0034-the-first-to-name-a-handle-owns-it.md).
import { describe, expect, it } from '@jest/globals';
import type { Speaker } from '@recourse/kernel';
import type { Outgoing, RecordInput } from '@recourse/event-log';
import type { HandleNamed, ToolExecuted } from '@recourse/messages';
import { contractDigest, happened, plainPayload } from '@recourse/contract';
import { fact, harness, logged, WAYS, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { assumptionsCore } from '../assumptions.core.js';
import { handleRef } from '../rules/handle/handle-ref.js';
import { mutationIdOf } from './executions.js';
import {
  ASKING,
  contractText,
  executed,
  fell,
  intent,
  ledger,
  moved,
  MUTATION,
  NOW,
  planned,
  REFUND,
  refund,
  reported,
  request,
  seen,
  TRIGGERED,
  triggerOf,
} from './ledger.testing.js';

const REF = handleRef('payments', 're_1');
const keyOf = (agent: string, tenant: string): Speaker => ({
  keyId: `${agent}-key`,
  roles: ['producer'],
  names: [agent],
  tenants: [tenant],
});
const WORKER: Speaker = { keyId: 'payments-1', roles: ['worker'], names: ['payments'], tenants: ['*'] };

/** An execution that its agent signed. */
const signed = (event: ToolExecuted): RecordInput => ({
  ...executed(event),
  speaker: keyOf(event.agent_id, event.tenant),
});
/** Somebody else's execution, which names the same handle: its own call never had any effect. */
const stolen = (changes: Partial<ToolExecuted> = {}): ToolExecuted =>
  refund({ run_id: 'run-of-mallory', agent_id: 'mallory', effect_key: 'any', assumption_refs: [], ...changes });

describe.each(WAYS)('the handle that an execution names, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => ledger({ isRebuilt, asks: true }).run;
  /** The partition of the handle. */
  const owners = (): CoreHarness => harness(assumptionsCore(), { isRebuilt });
  const asking = (message: Outgoing): RecordInput =>
    wire('recourse.assumption-events', 'HandleNamed', message.body, { key: message.key });
  const question = (run: CoreHarness): Outgoing => {
    const [message] = run.outgoing();
    if (message?.type !== 'recourse.assumptions.HandleNamed') throw new Error('nothing was asked about the handle');
    return message;
  };
  /** The answer of the partition of the handle, as every partition of the ledger hears it. */
  const answered = (owning: CoreHarness, message: Outgoing, at: number): RecordInput => {
    const [record] = owning.when(asking(message), at).recorded();
    if (record === undefined) throw new Error('no answer');
    return logged('recourse.assumptions', record.type, record.body, record.seq, { key: REF });
  };
  const fallOf = (event: ToolExecuted): RecordInput => triggerOf(event.run_id, mutationIdOf(event), event.tenant);
  const stateOf = (run: CoreHarness): unknown => run.rows('mutation')[0]?.doc['recoverability'];

  it('is kept with the key that signed it, and asked about at once, under a name that tells neither handle nor tenant', () => {
    const run = start().when(signed(refund()), NOW);
    run.then(fact('MutationRecorded', { signing_key: 'agent-1-key', handle_ref: REF }));
    const message = question(run);
    expect(message).toMatchObject({ topic: 'recourse.assumption-events', key: REF, body: { ref: REF } });
    expect(message.body as unknown as HandleNamed).toMatchObject({ agent_id: 'agent-1', mutation_id: MUTATION });
    expect([REF.includes('re_1'), run.owed(message)]).toEqual([false, true]);
  });

  it('is its own where nobody named it before: it falls as ever, without another hop', () => {
    const run = start().when(signed(refund()), NOW);
    const message = question(run);
    run.when(answered(owners(), message, NOW + 5), NOW + 10);
    run.then(fact('HandleJudged', { mutation_id: MUTATION, is_owner: true, review_by: null }));
    expect(run.owed(message)).toBe(false);
    run.when(TRIGGERED, NOW + 20).then(fell({ mutation_id: MUTATION, recoverability: 'reversal_available' }));
  });

  it.each([
    ['another run of the tenant', stolen({ agent_id: 'agent-1' })],
    ['another agent in the same run', stolen({ run_id: refund().run_id })],
    ['another tenant', stolen({ tenant: 'globex', run_id: refund().run_id, agent_id: 'agent-1' })],
    ['another case', stolen({ external_transaction_ref: 'RE_1' })],
    ['an escape', stolen({ external_transaction_ref: 're%5F1' })],
    ['another width', stolen({ external_transaction_ref: '\uff52\uff45_1' })],
    ['a blank around it', stolen({ external_transaction_ref: ' re_1\n' })],
    ['what nobody sees in it', stolen({ external_transaction_ref: 're\u200b_1\ufe0f' })],
  ] as const)('of somebody else, named by %s, is a person’s, and falls to no machine', (_who, event) => {
    const owning = owners();
    const victim = start().when(signed(refund()), NOW);
    victim.when(answered(owning, question(victim), NOW + 1), NOW + 2);
    const thief = start().when(signed(event), NOW + 10);
    const id = mutationIdOf(event);
    thief.when(answered(owning, question(thief), NOW + 11), NOW + 12);
    thief.then(
      moved({ mutation_id: id, event: 'manual_required', reason: 'HANDLE_CLAIMED' }),
      fact('HandleJudged', { mutation_id: id, is_owner: false, review_by: NOW + 12 + 86_400_000 }),
    );
    expect(thief.rows('mutation')[0]?.doc).toMatchObject({
      asked_because: 'HANDLE_CLAIMED',
      awaited: { owner: 'role:operator', is_overdue: true },
    });
    thief.when(fallOf(event), NOW + 20);
    thief.then(fell({ mutation_id: id, recoverability: 'manual_resolution_required', reason: 'HANDLE_CLAIMED' }));
    expect(stateOf(victim)).toBe('reversal_available');
  });

  it('falls not before it is known whose it is, also where what speaks against it came first', () => {
    const owning = owners();
    const victim = start().when(signed(refund()), NOW);
    owning.when(asking(question(victim)), NOW + 1);
    const event = stolen();
    const thief = start().when(signed(event), NOW + 2);
    const message = question(thief);
    thief.when(fallOf(event), NOW + 3).then(fact('TriggerUnmatched', { mutation_id: mutationIdOf(event) }));
    expect(thief.rows('rollback')[0]?.dueAt).not.toBe(NOW + 3);
    thief.when(answered(owning, message, NOW + 4), NOW + 5).whenDue(NOW + 5);
    thief.then(fell({ mutation_id: mutationIdOf(event), recoverability: 'manual_resolution_required' }));
  });

  it('falls once it is known to be its own, where the trigger came in between', () => {
    const run = start().when(signed(refund()), NOW);
    const message = question(run);
    run.when(TRIGGERED, NOW + 1).then(fact('TriggerUnmatched'));
    run.when(answered(owners(), message, NOW + 2), NOW + 3).whenDue(NOW + 3);
    run.then(fell({ mutation_id: MUTATION, recoverability: 'reversal_available' }));
  });

  it('is a person’s at the deadline of what was said before it was recorded, where no answer comes', () => {
    const run = start().when(TRIGGERED, NOW).then(fact('TriggerUnmatched'));
    const deadline = run.rows('rollback')[0]?.dueAt ?? 0;
    const message = question(run.when(signed(refund()), NOW + 1_000));
    expect(run.rows('rollback')[0]?.dueAt).toBe(deadline);
    run.whenDue(deadline).then(fact('RollbackEscalated', { reason: 'COMMIT_NOT_MARKED' }));
    run.when(answered(owners(), message, deadline + 1), deadline + 2).whenDue(deadline + 2);
    run.then(fell({ mutation_id: MUTATION, recoverability: 'reversal_available' }));
  });

  it('is asked about also where a worker found it out: whoever plans a call may name the key of another’s', () => {
    const owning = owners();
    const victim = start().when(signed(refund()), NOW);
    owning.when(asking(question(victim)), NOW + 1);
    const event = stolen({ outcome: 'uncertain', result: null, external_transaction_ref: null });
    const { event_id, outcome, result, external_transaction_ref, error_kind, committed_at, handled_as, ...about } =
      event;
    const thief = start().when({ ...planned(intent(about)), speaker: keyOf('mallory', 'acme') }, NOW);
    thief.when(signed(event), NOW + 1).whenDue(NOW + 2_001 + ASKING.marginMs);
    const asked = request(thief);
    const found = [seen('reconcile', happened({ refund_id: 're_1', status: 'issued' }, 're_1'))];
    thief.when({ ...reported(asked, { outcome: 'verified', observations: found }), speaker: WORKER }, NOW + 5_000);
    thief.then(fact('WorkerAnswered'), fact('MutationRecorded', { signing_key: 'payments-1', handle_ref: REF }));
    thief.when(answered(owning, question(thief), NOW + 5_001), NOW + 5_002);
    expect(stateOf(thief)).toBe('manual_resolution_required');
  });

  it('is asked about once, and told the same however often the question comes', () => {
    const run = start().when(signed(refund()), NOW);
    const message = question(run);
    const owning = owners();
    const answer = answered(owning, message, NOW + 1);
    expect(answered(owning, message, NOW + 2)).toMatchObject({ body: answer.body });
    run
      .when(answer, NOW + 3)
      .when(answer, NOW + 4)
      .thenNothing();
    run.when(signed(refund()), NOW + 5).thenNothing();
  });

  it('is its own in every effect of one agent and run', () => {
    const owning = owners();
    const run = start().when(signed(refund()), NOW);
    run.when(answered(owning, question(run), NOW + 1), NOW + 2);
    run.when(signed(refund({ event_id: 'ev-2', effect_key: 'second', call_id: 'call-2' })), NOW + 3);
    run.when(answered(owning, question(run), NOW + 4), NOW + 5).then(fact('HandleJudged', { is_owner: true }));
  });

  it('is asked about nowhere where wires are open, where the contract needs none, or where nothing could be undone', () => {
    for (const input of [
      executed(refund()),
      signed(refund({ contract_digest: null })),
      signed(refund({ external_transaction_ref: null })),
      signed(refund({ outcome: 'failed' })),
    ])
      expect(start().when(input, NOW).outgoing()).toEqual([]);
  });

  describe('where a contract puts something else in its place', () => {
    const reversing = (more: Readonly<Record<string, unknown>>): string =>
      contractText({ name: 'notes.file_refund', requires_external_handle: undefined, value: undefined, ...more });
    const SOURCES = {
      refund_id: { from: 'args', path: '/refund_id' },
      amount_minor: { from: 'constant', value: 1 },
      currency: { from: 'constant', value: 'INR' },
      reason: { from: 'constant', value: 'agent_effect_compensation' },
    };
    const BY_ARGS = reversing({ reversal_args: SOURCES });
    const filed = (text: string, changes: Partial<ToolExecuted> = {}): ToolExecuted =>
      stolen({
        capability: 'notes.file_refund',
        contract_digest: contractDigest(text),
        args: plainPayload({ refund_id: ' RE_1' }),
        external_transaction_ref: null,
        ...changes,
      });
    const under = (text: string): CoreHarness => ledger({ isRebuilt, asks: true, contracts: [REFUND, text] }).run;

    it('is asked about as well: an effect that would undo another tenant’s is a person’s', () => {
      const owning = owners();
      const victim = start().when(signed(refund()), NOW);
      owning.when(asking(question(victim)), NOW + 1);
      const event = filed(BY_ARGS, { tenant: 'globex' });
      const thief = under(BY_ARGS).when(signed(event), NOW + 2);
      expect(question(thief).body).toMatchObject({ ref: REF, is_question: true });
      thief.when(answered(owning, question(thief), NOW + 3), NOW + 4);
      expect(thief.rows('mutation')[0]?.doc).toMatchObject({
        recoverability: 'manual_resolution_required',
        asked_because: 'HANDLE_CLAIMED',
      });
    });

    it('names nothing: who comes later with that handle owns it, and the effect goes on as its own', () => {
      const owning = owners();
      const other = under(BY_ARGS).when(signed(filed(BY_ARGS)), NOW);
      other.when(answered(owning, question(other), NOW + 1), NOW + 2);
      expect(other.rows('mutation')[0]?.doc).toMatchObject({ recoverability: 'reversal_available' });
      expect(owning.rows('handle')).toEqual([]);
      const owner = start().when(signed(refund()), NOW + 3);
      owner.when(answered(owning, question(owner), NOW + 4), NOW + 5).then(fact('HandleJudged', { is_owner: true }));
    });

    it.each([
      ['beside a handle of its own', { requires_external_handle: true }, { external_transaction_ref: 're_2' }],
      [
        'known only once another call has answered',
        {
          reversal_args: { ...SOURCES, refund_id: { from: 'step', capability: 'notes.ask_clerk', path: '/id' } },
        },
        {},
      ],
    ])('is no machine’s where nobody can be asked about all of it: %s', (_what, more, changes) => {
      const text = reversing({ reversal_args: SOURCES, ...more });
      const run = under(text).when(signed(filed(text, changes)), NOW);
      expect(run.outgoing()).toEqual([]);
      expect(run.rows('mutation')[0]?.doc).toMatchObject({
        recoverability: 'manual_resolution_required',
        reason: 'REVERSAL_ARGS_UNFIT:reversal_args/refund_id',
      });
    });
  });

  it('is stated by nobody but the ledger: an assumption under its name is refused', () => {
    const about = { event_id: 'e1', tenant: 'acme', ref: REF, run_id: null, source: 'mallory', stated_at: 1 };
    const input = wire('recourse.assumption-events', 'AssumptionDeclared', { ...about, statement: null }, { key: REF });
    owners().when(input, NOW).thenParked('REF_RESERVED');
  });
});
