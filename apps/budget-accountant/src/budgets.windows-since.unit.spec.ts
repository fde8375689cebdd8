// A ceiling over an hour or a day counts from when it is set: what was counted before frees nothing of it (P8).
import { describe, expect, it } from '@jest/globals';
import { entryView } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { changed, command, decide, INR, recorded, refundView, releaseOf, reserve, TENANT } from './budgets.testing.js';
import { budgetsCore } from './core.js';

const DAY = 86_400_000;
const REFUND = { digest: refundView().digest, capability: 'payments.issue_refund' };

describe.each(WAYS)('a ceiling over a window that is set while something is held, $way (P8)', ({ isRebuilt }) => {
  const start = (): CoreHarness =>
    harness(budgetsCore(), { isRebuilt, views: { contracts: refundView().view, entries: memoryView(entryView) } });
  const ceiling = (more: object) =>
    command('OpenBudget', { scope: 'tenant', scope_id: TENANT, currency: INR, ceiling_minor: 100, ...more });
  const day = ceiling({ window: 'day' });
  const counts = (desk: CoreHarness) => {
    const found = desk.rows('budget').find(({ doc }) => doc['window'] !== 'life')?.doc ?? {};
    return [found['used_minor'], found['moved_minor'], found['refunded_minor'], found['moved_back_minor']];
  };

  it.each<[string, (desk: CoreHarness) => CoreHarness]>([
    [
      'is given back',
      (desk) =>
        desk
          .when(reserve('a', 5_000), DAY + 1)
          .when(day, DAY + 2)
          .when(releaseOf('a'), DAY + 3),
    ],
    [
      'fails',
      (desk) =>
        desk
          .when(reserve('a', 5_000), DAY + 1)
          .when(day, DAY + 2)
          .when(recorded('a', 5_000, { state: 'failed', at: DAY + 3 }), DAY + 3),
    ],
    [
      'is settled for less',
      (desk) =>
        desk
          .when(reserve('a', 5_000), DAY + 1)
          .when(day, DAY + 2)
          .when(recorded('a', 1_000), DAY + 3),
    ],
    [
      'is taken back',
      (desk) =>
        desk
          .when(recorded('a', 5_000, REFUND), DAY + 1)
          .when(decide('a', true), DAY + 1)
          .when(day, DAY + 2)
          .when(changed('a', 'compensation_verified'), DAY + 3),
    ],
    [
      'is given back to the platform',
      (desk) =>
        desk
          .when(reserve('a', 5_000), DAY + 1)
          .when(ceiling({ scope: 'platform', window: 'hour' }), DAY + 2)
          .when(releaseOf('a'), DAY + 3),
    ],
    [
      'is given back in the millisecond in which it is set',
      (desk) =>
        desk
          .when(reserve('a', 5_000), DAY + 1)
          .when(day, DAY + 1)
          .when(releaseOf('a'), DAY + 1),
    ],
  ])('lets through no more than itself where that %s', (_how, given) => {
    const desk = given(start());
    expect(counts(desk)).toEqual([0, 0, 0, 0]);
    desk
      .when(reserve('b', 101), DAY + 4)
      .then(fact('BudgetEscalated', { exceeded: [{ used_minor: 0, asked_minor: 101, ceiling_minor: 100 }] }))
      .when(reserve('c', 100), DAY + 4)
      .then(fact('BudgetReserved'));
  });

  it('frees what was counted since, and another ceiling of the same window begins it no second time', () => {
    const desk = start()
      .when(day, DAY + 1)
      .when(reserve('a', 100), DAY + 2)
      .when(ceiling({ window: 'day', measure: 'value' }), DAY + 3)
      .when(releaseOf('a'), DAY + 4);
    expect(counts(desk)).toEqual([0, 0, 0, 0]);
    desk.when(reserve('b', 100), DAY + 5).then(fact('BudgetReserved'));
  });

  it('says in its row since when it counts; one for ever says nothing', () => {
    const desk = start()
      .when(day, DAY + 1)
      .when(ceiling({}), DAY + 2)
      .when(reserve('a', 5), DAY + 3);
    const sinceOf = (is: (window: unknown) => boolean) =>
      desk.rows('budget').flatMap(({ doc }) => (is(doc['window']) ? [doc['since']] : []));
    expect(sinceOf((window) => window === 'day')).toEqual([DAY + 1]);
    expect(new Set(sinceOf((window) => window === 'life'))).toEqual(new Set([undefined]));
  });
});
