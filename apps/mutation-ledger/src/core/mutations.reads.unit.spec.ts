// A read has nothing to reverse (A8): nobody is asked about it, no undo waits for it, and its fall is over at once.
import { describe, expect, it } from '@jest/globals';
import { contractDigest, plainPayload } from '@recourse/contract';
import { eachMember, fact, WAYS } from '@recourse/testing';
import type { UndoDoc } from '../rules/undo/undo.messages.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import {
  command,
  contractText,
  envelope,
  executed,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  RUN,
  TRIGGERED,
} from './ledger.testing.js';
import { undoPreview } from '../reads/undo-preview.query.js';
import { undoReport } from '../reads/undo-report.query.js';

const READ = contractText({ impact: 'read', approval_mode: 'read_only', reversal_class: undefined });
const read = (more: Parameters<typeof refund>[0] = {}) => refund({ contract_digest: contractDigest(READ), ...more });

describe.each(WAYS)('a read, $way', ({ isRebuilt }) => {
  const start = () => ledger({ isRebuilt, contracts: [READ], asks: true }).run;
  const mutations = (run: ReturnType<typeof start>): readonly Mutation[] =>
    run.rows('mutation').map(({ doc }) => doc as Mutation); // rows of this kind are mutations

  it.each([
    ['succeeded', {}],
    ['is not known to have', { outcome: 'uncertain', result: null, external_transaction_ref: null }],
  ] as const)('that %s is recorded, and nobody is asked about it', (_how, more) => {
    const run = start()
      .when(executed(read(more)), NOW)
      .then(
        fact('MutationRecorded', {
          recoverability: 'committed',
          reason: 'READ_ONLY',
          ref: { reversal_class: 'reversible', reversal_expires_at: null },
          conclude_by: null,
          reconcile_at: null,
          review_by: null,
        }),
      );
    expect(run.rows('mutation')).toMatchObject([{ dueAt: null, doc: { awaited: null } }]);
  });

  it('whose agent never told its end waits for nobody', () => {
    const run = start()
      .when(planned(intent({ contract_digest: contractDigest(READ) })), NOW)
      .then(fact('MutationPlanned', { conclude_by: null }));
    expect(run.rows('mutation')).toMatchObject([{ dueAt: null }]);
  });

  it('that is made again and sees something else is no conflict', () => {
    start()
      .when(executed(read()), NOW)
      .when(executed(read({ event_id: 'ev-2', result: plainPayload({ refund_id: 're_other' }) })), NOW + 1)
      .thenNothing();
  });

  it('that falls is settled with its announcement', () => {
    const run = start()
      .when(executed(read()), NOW)
      .when(TRIGGERED, NOW + 1);
    expect(eachMember(run.derived())).toMatchObject([
      { type: 'RollbackAnnounced', body: { mutation_id: MUTATION } },
      { type: 'RollbackSettled', body: { mutation_id: MUTATION, recoverability: 'committed', reason: 'READ_ONLY' } },
    ]);
  });

  it('is announced with whom it was done for, and the contract it ran under', () => {
    const run = start()
      .when(executed(read()), NOW)
      .when(TRIGGERED, NOW + 1);
    expect(eachMember(run.derived())[0]).toMatchObject({
      body: { initiator: 'ada', contract_digest: read().contract_digest },
    });
  });

  it('in an undone run has nothing to undo, and holds up nothing', () => {
    const run = start().when(executed(read()), NOW);
    expect(
      undoPreview(RUN, mutations(run), { asked: [], erased: new Set(), boundNow: () => null, now: NOW + 1 }).items,
    ).toMatchObject([{ outcome: 'nothing_to_undo', reason: 'READ_ONLY', people_needed: null }]);
    const body = { run_id: RUN, mutation_ids: [], reason: 'not what I meant' };
    run.when(command('UndoRun', envelope('ursula', ['requester']), body), NOW + 2);
    const undo = run.rows('undo')[0]?.doc as unknown as UndoDoc; // rows of this kind are undos
    expect(undoReport(undo, mutations(run))).toMatchObject({
      outcome: 'undone',
      items: [{ outcome: 'undone_clean', reason: 'READ_ONLY', residue: null }],
    });
  });
});
