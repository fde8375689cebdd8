import { describe, expect, it } from '@jest/globals';
import { entryView } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import { outcome } from './budgets.autonomy.testing.js';
import { refundView, TENANT } from './budgets.testing.js';
import { budgetsCore } from './core.js';

describe.each(WAYS)('outcomes at the accountant, $way', ({ isRebuilt }) => {
  const start = () =>
    harness(budgetsCore(), { isRebuilt, views: { contracts: refundView().view, entries: memoryView(entryView) } });

  it('are counted with what they cost and what came of them (D40)', () => {
    const desk = start()
      .when(outcome('a'), 1_000)
      .then(fact('OutcomeCounted', { tenant: TENANT, workflow_id: 'refunds', trusted: true }));
    expect(desk.rows('outcome').map(({ doc }) => doc)).toEqual([
      expect.objectContaining({ trusted: true, cost_minor: 12, cost_currency: 'USD', revenue_minor: null }),
    ]);
  });

  it('are not trusted where anything lacks', () => {
    start()
      .when(outcome('a', { grounded: false }), 1_000)
      .then(fact('OutcomeCounted', { trusted: false }));
  });

  it('are counted once, however often they are told, and told otherwise they are a conflict', () => {
    const desk = start()
      .when(outcome('a'), 1_000)
      .when(outcome('a'), 2_000)
      .thenNothing()
      .when(outcome('a', { accepted: false }), 3_000)
      .then(fact('SignalRefused', { signal: 'outcome', task_kind: null, code: 'SIGNAL_CONFLICT' }))
      .when(outcome('a', { source: 'other' }), 4_000)
      .then(fact('OutcomeCounted', { source: 'other' }));
    expect(desk.rows('outcome')).toHaveLength(2);
  });

  it.each([
    ['less than nothing', { cost: { amount_minor: -1, currency: 'USD' } }, 'OUTCOME_AMOUNT_INVALID'],
    ['more than can be counted', { cost: { amount_minor: 2 ** 60, currency: 'USD' } }, 'OUTCOME_AMOUNT_INVALID'],
    ['more retries than calls', { retry_tokens: 1_000 }, 'OUTCOME_COUNT_INVALID'],
  ])('that cost %s are refused, and the log says why', (_how, more, code) => {
    const desk = start()
      .when(outcome('a', more), 1_000)
      .then(fact('SignalRefused', { tenant: TENANT, code }));
    expect(desk.rows('outcome')).toEqual([]);
  });

  it('under the key of another tenant count for neither', () => {
    const desk = start()
      .when(outcome('a', { tenant: 'globex' }), 1_000)
      .then(fact('SignalRefused', { tenant: TENANT, code: 'TENANT_FORGED' }));
    expect(desk.rows('outcome')).toEqual([]);
  });
});
