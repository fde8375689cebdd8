// What took hold in spite of its cancel did not end with it: it is a person's, and nobody is told that there is nothing to undo (P12).
import { describe, expect, it } from '@jest/globals';
import { contractDigest, notHappened } from '@recourse/contract';
import type { Doc } from '@recourse/event-log';
import type { ToolExecuted } from '@recourse/messages';
import type { Speaker } from '@recourse/kernel';
import { fact, WAYS } from '@recourse/testing';
import { undoPreview } from '../reads/undo-preview.query.js';
import { undoReport } from '../reads/undo-report.query.js';
import { forwardAfter } from '../rules/mutation/forward.fold.js';
import type { ForwardRecord } from '../rules/mutation/forward.fold.js';
import type { Ask, Mutation } from '../rules/mutation/mutation.messages.js';
import type { UndoDoc } from '../rules/undo/undo.messages.js';
import {
  command,
  contractText,
  envelope,
  escalated,
  executed,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  reported,
  request,
  RUN,
  seen,
  TENANT,
} from './ledger.testing.js';

const CONTRACT = contractText({ commit_hold_ms: 60_000, cancel_capability: 'payments.cancel_refund' });
const DIGEST = contractDigest(CONTRACT);
/** A worker is asked to give back what was reserved. */
const RESERVED = contractText({
  ...{ commit_hold_ms: 60_000, cancel_capability: 'payments.cancel_refund' },
  techniques: { reservation: true },
});

describe.each(WAYS)('an effect that took hold in spite of its cancel, $way', ({ isRebuilt }) => {
  /** Held, and cancelled by a person. */
  const cancelled = (body = CONTRACT) => {
    const { run } = ledger({ isRebuilt, asks: true, contracts: [body] });
    run.when(planned(intent({ is_held: true, contract_digest: contractDigest(body) })), NOW);
    const about = { run_id: RUN, mutation_id: MUTATION, reason: 'wrong order' };
    return run.when(command('CancelMutation', envelope('mira', ['operator'], { tenant: TENANT }), about), NOW + 1);
  };
  /** Then its agent tells how it ended. */
  const told = (outcome: Partial<ToolExecuted>) =>
    cancelled().when(executed(refund({ contract_digest: DIGEST, ...outcome })), NOW + 2);
  type Run = ReturnType<typeof told>;
  const mutations = (run: Run): readonly Mutation[] => run.rows('mutation').map(({ doc }) => doc as Mutation); // rows of this kind are mutations
  const previewed = (run: Run) =>
    undoPreview(RUN, mutations(run), { asked: [], erased: new Set(), boundNow: () => null, now: NOW + 3 }).items[0];
  const undone = (run: Run) => {
    const about = { run_id: RUN, mutation_ids: [], reason: 'take it back' };
    run.when(command('UndoRun', envelope('ursula', ['requester'], { tenant: TENANT }), about), NOW + 4);
    const [row] = run.rows('undo');
    return undoReport(row?.doc as unknown as UndoDoc, mutations(run)).items[0]; // rows of this kind are undos
  };

  const settledAs = (run: Run): readonly unknown[] =>
    run
      .derived()
      .flatMap(({ type, body }) => (type === 'RollbackSettled' ? (body['members'] as readonly Doc[]) : []))
      .map(({ recoverability }) => recoverability);

  it("is a person's: no preview says that there is nothing to undo, and no undo that it is undone", () => {
    const run = told({}).then(
      fact('MutationRecorded', {
        execution_state: 'succeeded',
        recoverability: 'manual_resolution_required',
        reason: 'EXECUTED_AFTER_CANCEL',
      }),
    );
    expect(mutations(run)).toMatchObject([{ awaited: { is_overdue: true } }]);
    expect(previewed(run)).toMatchObject({ outcome: 'cannot_be_undone', reason: 'EXECUTED_AFTER_CANCEL' });
    expect(undone(run)).toMatchObject({ outcome: 'not_undone', reason: 'EXECUTED_AFTER_CANCEL' });
  });

  it('is open while nobody knows whether it did, and settled to no consumer', () => {
    const run = told({ outcome: 'uncertain', error_kind: 'timeout', result: null, external_transaction_ref: null });
    run.then(fact('MutationRecorded', { execution_state: 'uncertain', recoverability: 'cancelled' }));
    expect(previewed(run)).toMatchObject({ outcome: 'not_known_yet' });
    expect(undone(run)).toMatchObject({ outcome: 'still_open' });
    expect(settledAs(run)).toEqual([]);
    run.when(escalated('FORWARD_UNRESOLVED'), NOW + 5);
    expect(settledAs(run)).toEqual(['manual_resolution_required']);
    expect(mutations(run)).toMatchObject([{ recoverability: 'manual_resolution_required' }]);
  });

  describe('whose worker answers the cancel late', () => {
    const ABOUT = { run_id: RUN, mutation_id: MUTATION };
    const settle = (settledAs: string) =>
      command('SettleMutation', envelope('grace', ['approver'], { tenant: TENANT, command_id: 'settles' }), {
        ...ABOUT,
        settled_as: settledAs,
        reason: 'looked at the provider',
      });
    const late = () => {
      const run = cancelled(RESERVED);
      return { run, ask: request(run) };
    };
    const awaited = (run: Run): readonly unknown[] => mutations(run).map((one) => one.awaited);
    const UNCERTAIN = {
      outcome: 'uncertain',
      error_kind: 'timeout',
      result: null,
      external_transaction_ref: null,
    } as const;

    it.each([
      ['took hold', {}, 'repaired'],
      ['is uncertain, and given to a person', { ...UNCERTAIN, handled_as: 'escalated' }, 'took_effect'],
    ] as const)('stays the person’s where its agent told that it %s', (_how, outcome, settledAs) => {
      const { run, ask } = late();
      run.when(executed(refund({ contract_digest: contractDigest(RESERVED), ...outcome })), NOW + 2);
      const before = awaited(run);
      expect(before).toMatchObject([{ is_overdue: true }]);
      run.when(reported(ask, { outcome: 'verified' }), NOW + 3).then(fact('WorkerAnswered', { verdict: 'met' }));
      expect(awaited(run)).toEqual(before);
      run.when(settle(settledAs), NOW + 4);
      expect(run.recorded()[0]).toMatchObject({ type: 'MutationSettled', body: { settled_as: settledAs } });
    });

    const EYE: Speaker = { keyId: 'payments-eye', roles: ['observer'], names: ['payments'], tenants: ['*'] };
    const WORKER: Speaker = {
      ...{ keyId: 'payments-1', roles: ['worker'], names: ['payments'], tenants: ['*'] },
      observers: [{ names: ['payments'], tenants: [TENANT] }],
    };
    const NOTHING_THERE = { outcome: 'unverified', observations: [seen('reconcile', notHappened())] } as const;

    it('stays the person’s where another worker observes: nobody looks at what is known to have taken hold', () => {
      const { run, ask } = late();
      run.when(executed(refund({ contract_digest: contractDigest(RESERVED) })), NOW + 2);
      const before = awaited(run);
      run.when({ ...reported(ask, { outcome: 'verified' }), speaker: WORKER }, NOW + 3);
      run.then(fact('WorkerAnswered', { verdict: 'met' }));
      expect(awaited(run)).toEqual(before);
    });

    it('stays the person’s where the other was asked before its agent told', () => {
      const { run, ask } = late();
      run.when({ ...reported(ask, { outcome: 'verified' }), speaker: WORKER }, NOW + 2);
      const look = request(run);
      run.when(executed(refund({ contract_digest: contractDigest(RESERVED) })), NOW + 3);
      const before = awaited(run);
      expect(before).toMatchObject([{ is_overdue: true }]);
      run.when({ ...reported(look, NOTHING_THERE), speaker: EYE }, NOW + 4);
      expect(awaited(run)).toEqual(before);
    });

    it('stays somebody’s where a log has the other asked after its agent told, as versions before did', () => {
      const run = told({ contract_digest: contractDigest(CONTRACT) });
      const [mutation] = mutations(run) as readonly [Mutation];
      const look = { ...{ leg_id: 'look', kind: 'reconcile', attempt: 1 }, signing_key: 'payments-eye' } as const;
      const confirms = { leg_id: 'l', kind: 'cancel', verdict: 'met', handle_sha256: null, said_by: 'w' } as const;
      const asked = { ...look, answered: null, confirms } as unknown as Ask; // what the fold reads of one
      const forward = { refs: [], since: NOW, hold: null, asks: [asked], reconcile_at: null };
      const body = { ...look, ...ABOUT, tenant: TENANT, verdict: 'not_met', reason: null, observations: [] } as const;
      const after = (one: Mutation) =>
        forwardAfter(
          { ...one, forward },
          { type: 'WorkerAnswered', body: { ...body, retry_at: null } } as unknown as ForwardRecord,
          NOW,
        );
      expect(after(mutation)).not.toHaveProperty('awaited');
      expect(after({ ...mutation, execution_state: 'failed' })).toMatchObject({ awaited: null });
    });

    it('is waited for no more where nobody told of an effect', () => {
      const { run, ask } = late();
      run.when(reported(ask, { outcome: 'verified' }), NOW + 3).then(fact('WorkerAnswered', { verdict: 'met' }));
      expect(awaited(run)).toEqual([null]);
    });
  });

  it('is settled as soon as it is found out that it did not', () => {
    const run = told({ outcome: 'uncertain', error_kind: 'timeout', result: null, external_transaction_ref: null });
    undone(run);
    const failed = { outcome: 'failed', error_kind: 'rejected', result: null, external_transaction_ref: null } as const;
    run.when(executed(refund({ contract_digest: DIGEST, event_id: 'evt-later', ...failed })), NOW + 5);
    expect(settledAs(run)).toEqual(['cancelled']);
  });

  it('has nothing to undo where its agent tells that it did not', () => {
    const run = told({ outcome: 'failed', error_kind: 'rejected', result: null, external_transaction_ref: null });
    expect(previewed(run)).toMatchObject({ outcome: 'nothing_to_undo' });
    expect(undone(run)).toMatchObject({ outcome: 'undone_clean' });
  });
});
