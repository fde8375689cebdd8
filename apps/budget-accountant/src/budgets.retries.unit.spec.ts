// A retry holds what it may spend: that an earlier call failed is heard later than the next is reserved, and frees nothing of it.
import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { open, recorded, releaseOf, reserve } from './budgets.testing.js';
import { budgetsCore } from './core.js';

const failed = (began: number, at: number, more: object = {}) =>
  recorded('a', 100, { state: 'failed', recoverability: 'planned', began, at, ...more });
const again = (command_id: string) => reserve('a', 100, { who: { command_id } });

describe.each(WAYS)('an effect that is tried again, $way', ({ isRebuilt }) => {
  const begun = (): CoreHarness =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
    });
  /** Reserved at 1 s, called at 1.1 s, failed and given back; reserved again at `at`. */
  const retried = (at: number): CoreHarness =>
    begun()
      .when(open('run', 100, { command_id: 'c0' }), 1)
      .when(reserve('a', 100), 1_000)
      .then(fact('BudgetReserved', {}))
      .when(releaseOf('a', { command_id: 'c2' }), 1_200)
      .then(fact('BudgetReleased', { cause: 'command' }))
      .when(again('c3'), at)
      .then(fact('BudgetReserved', {}));

  it.each([
    ['at once, and the failure is heard at once', 1_210, failed(1_100, 1_205)],
    ['at once, and the ledger took the failure after that', 1_210, failed(1_100, 1_300)],
    ['a minute after a failure that the ledger took an hour later', 61_000, failed(1_100, 3_600_000)],
    ['and the clock of its producer is ahead by a second', 1_210, failed(2_100, 2_150)],
  ])('%s keeps what it holds', (_case, at, heard) => {
    retried(at)
      .when(heard, 3_700_000)
      .thenNothing()
      .when(reserve('b', 1, { who: { command_id: 'c4' } }), 3_700_001)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'run', used_minor: 100, asked_minor: 1 }] }))
      .when(recorded('a', 100), 3_700_002)
      .then(fact('BudgetSettled', {}));
  });

  it('gives back what it holds where it began later than it was reserved, and failed as well', () => {
    retried(1_210)
      .when(failed(9_000, 9_100), 9_101)
      .then(fact('BudgetReleased', { cause: 'failed' }));
  });

  it('gives back what it holds where somebody else found out later that it failed', () => {
    retried(1_210)
      .when(failed(1_220, 60_000, { foundOut: { how: 'worker' } }), 60_001)
      .then(fact('BudgetReleased', { cause: 'failed' }));
  });

  it('gives back what it holds at once where the ledger let it go no more', () => {
    retried(1_210)
      .when(failed(1_220, 1_230, { recoverability: 'cancelled' }), 1_231)
      .then(fact('BudgetReleased', { cause: 'cancelled' }));
  });

  it('that was tried once gives back what it holds, however soon it failed', () => {
    begun()
      .when(reserve('a', 100), 1_000)
      .when(failed(1_000, 1_001), 1_002)
      .then(fact('BudgetReleased', { cause: 'failed' }));
  });

  it('keeps the question of a retry where the failure of the call before it is heard late', () => {
    begun()
      .when(open('run', 100, { command_id: 'c0' }), 1)
      .when(reserve('a', 100), 1_000)
      .when(releaseOf('a', { command_id: 'c2' }), 1_200)
      .when(reserve('b', 50, { who: { command_id: 'c9' } }), 1_205)
      .when(again('c3'), 1_210)
      .then(fact('BudgetEscalated', {}))
      .when(failed(1_100, 1_205), 1_300)
      .thenNothing();
  });

  it('says of no row more than before where it was not', () => {
    const desk = begun().when(reserve('a', 100), 1_000);
    expect(desk.rows('reservation')[0]?.doc).not.toHaveProperty('again');
  });
});
