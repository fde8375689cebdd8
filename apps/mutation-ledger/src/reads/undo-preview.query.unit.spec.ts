// A preview says of each effect what an undo would do, in the order in which it would be done (B3).
import { describe, expect, it } from '@jest/globals';
import { contractDigest, contractView } from '@recourse/contract';
import { memoryView } from '@recourse/testing';
import {
  contractText,
  executed,
  intent,
  ledger,
  NOW,
  planned,
  refund,
  registered,
  TRIGGERED,
  RUN,
} from '../core/ledger.testing.js';
import { mutationIdOf } from '../core/executions.js';
import { boundNowIn } from './bound-now.view.js';
import type { BoundNowOf } from './bound-now.view.js';
import { undoPreview } from './undo-preview.query.js';
import type { PreviewAsked } from './undo-preview.query.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';

type Change = Parameters<typeof refund>[0];
const effect = (key: string, more: Change = {}) =>
  refund({
    event_id: `evt-${key}`,
    effect_key: key,
    call_id: `call-${key}`,
    idempotency_key: `key-${key}`,
    assumption_refs: [],
    ...more,
  });
const idOf = (key: string): string => mutationIdOf(effect(key));
const ran = (...effects: readonly ReturnType<typeof effect>[]) =>
  effects.reduce((run, one, index) => run.when(executed(one), NOW + index), ledger({}).run);
const mutationsOf = (run: ReturnType<typeof ran>): readonly Mutation[] =>
  run.rows('mutation').map(({ doc }) => doc as Mutation); // rows of this kind are mutations

/** Under the contract as it stands with these changes, and others beside it; without any, as it was. */
const standing = (
  changes: Readonly<Record<string, unknown>> | null,
  ...others: readonly string[]
): Promise<BoundNowOf> => {
  const view = memoryView(contractView);
  for (const body of [contractText({ version: 2, ...changes }), ...others]) view.append('c', registered(body));
  return boundNowIn(changes === null ? {} : { view: () => Promise.resolve(view) });
};
const asThen = await standing(null);
const asking = (now: number): PreviewAsked => ({ asked: [], erased: new Set(), boundNow: asThen, now });

describe('a preview of an undo', () => {
  it('names the effects last first, who has to agree and for how long', () => {
    const preview = undoPreview(RUN, mutationsOf(ran(effect('a'), effect('b'))), asking(NOW + 10));
    expect(preview.items.map(({ mutation_id }) => mutation_id)).toEqual([idOf('b'), idOf('a')]);
    expect(preview.items[0]).toMatchObject({
      outcome: 'leaves_residue',
      people_needed: 1,
      value: { amount_minor: 4_200, currency: 'INR' },
      reason: null,
      by_capability: 'payments.reverse_refund',
    });
    expect(preview).toMatchObject({
      approvals_needed: 2,
      counts: { leaves_residue: 2, cannot_be_undone: 0 },
      unknown_ids: [],
    });
  });

  it.each<[string, Change, string, string | null]>([
    ['without contract', { contract_digest: null }, 'cannot_be_undone', 'UNCONTRACTED'],
    [
      'that failed',
      { outcome: 'failed', result: null, external_transaction_ref: null },
      'nothing_to_undo',
      'EXECUTION_FAILED',
    ],
    [
      'of unknown end',
      { outcome: 'uncertain', result: null, external_transaction_ref: null },
      'not_known_yet',
      'EXECUTION_UNCERTAIN',
    ],
    ['without its handle', { external_transaction_ref: null }, 'cannot_be_undone', 'HANDLE_MISSING'],
  ])('of an effect %s says %s', (_name, change, outcome, reason) => {
    expect(undoPreview(RUN, mutationsOf(ran(effect('a', change))), asking(NOW + 10)).items[0]).toMatchObject({
      outcome,
      reason,
      people_needed: null,
    });
  });

  it('of a closed window promises nothing', () => {
    const [mutation] = mutationsOf(ran(effect('a')));
    expect(
      undoPreview(RUN, mutation === undefined ? [] : [mutation], asking((mutation?.expires_at ?? 0) + 1)).items[0],
    ).toMatchObject({ outcome: 'cannot_be_undone', reason: 'WINDOW_CLOSED', closes_in_ms: null });
  });

  it.each([
    ['more people', { recovery_approval_mode: 'dual_control' }, { outcome: 'leaves_residue', people_needed: 2 }],
    ['less time', { reversal_window_ms: 60_000 }, { outcome: 'leaves_residue', closes_in_ms: 60_000 - 1_010 }],
    ['no time any more', { reversal_window_ms: 1_000 }, { outcome: 'cannot_be_undone', reason: 'WINDOW_CLOSED' }],
    [
      'people, and no machine',
      { compensation_mode: { mode: 'manual_runbook', reason: 'by letter', runbook: 'letters.md' } },
      { outcome: 'cannot_be_undone', reason: 'NO_REVERSAL' },
    ],
    ['more time and fewer people', { reversal_window_ms: 90 * 86_400_000, recovery_approval_mode: 'auto' }, {}],
  ])('counts what the version that stands asks, where it is stricter: %s', async (_what, changes, more) => {
    const found = mutationsOf(ran(effect('a')));
    const [then] = undoPreview(RUN, found, asking(NOW + 10)).items;
    const by = { ...asking(NOW + 10), boundNow: await standing(changes) };
    expect(undoPreview(RUN, found, by).items).toMatchObject([{ ...(Object.keys(more).length === 0 ? then : more) }]);
  });

  it('counts what the newest version asks also once that is retired', async () => {
    const view = memoryView(contractView);
    const newest = registered(contractText({ version: 2, recovery_approval_mode: 'dual_control' }));
    view.append('c', newest);
    view.append('c', { ...newest, type: 'ContractRetired' });
    const boundNow = await boundNowIn({ view: () => Promise.resolve(view) });
    expect(undoPreview(RUN, mutationsOf(ran(effect('a'))), { ...asking(NOW + 10), boundNow }).items).toMatchObject([
      { people_needed: 2 },
    ]);
  });

  it('counts a person where its undo calls what people agree to (A30)', async () => {
    const auto = { impact: 'write', recovery_approval_mode: 'auto', compensation_mode: undefined };
    const body = contractText(auto);
    const run = ledger({ contracts: [body] }).run.when(
      executed(effect('a', { contract_digest: contractDigest(body) })),
      NOW,
    );
    const peopleWith = async (...others: readonly string[]) =>
      undoPreview(RUN, mutationsOf(run), { ...asking(NOW + 10), boundNow: await standing(auto, ...others) }).items[0]
        ?.people_needed;
    const reverse = (more: object): string => contractText({ ...auto, name: 'payments.reverse_refund', ...more });
    expect(await peopleWith()).toBe(0);
    expect(await peopleWith(reverse({}))).toBe(0);
    expect(await peopleWith(reverse({ impact: 'destructive' }))).toBe(1);
  });

  it('promises nothing of an effect whose data was erased, and says no other of one that could not be undone anyway', () => {
    const found = mutationsOf(ran(effect('a'), effect('b', { contract_digest: null })));
    const erased = new Set([idOf('a'), idOf('b')]);
    expect(undoPreview(RUN, found, { ...asking(NOW + 10), erased }).items).toMatchObject([
      { outcome: 'cannot_be_undone', reason: 'UNCONTRACTED' },
      { outcome: 'cannot_be_undone', reason: 'PAYLOADS_ERASED', people_needed: null, by_capability: null },
    ]);
  });

  it('says what is under way and what is only planned', () => {
    const run = ledger({})
      .run.when(executed(refund()), NOW)
      .when(TRIGGERED, NOW + 1)
      .when(planned(intent({ effect_key: 'p', event_id: 'evt-p' })), NOW + 2);
    expect(undoPreview(RUN, mutationsOf(run), asking(NOW + 10)).items.map(({ outcome }) => outcome)).toEqual([
      'not_known_yet',
      'under_way',
    ]);
  });

  it('of some effects names those the run does not have', () => {
    expect(
      undoPreview(RUN, mutationsOf(ran(effect('a'), effect('b'))), {
        ...asking(NOW + 10),
        asked: [idOf('a'), 'mut_never'],
      }),
    ).toMatchObject({ items: [{ mutation_id: idOf('a') }], unknown_ids: ['mut_never'] });
  });
});
