import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { costed, isTrusted, outcomeProblem, ratiosOf } from './outcome.decisions.js';

const NOTHING = {
  outcomes: 0,
  trusted: 0,
  total_tokens: 0,
  retry_tokens: 0,
  eval_tokens: 0,
  cache_lookups: 0,
  cache_hits: 0,
  success_asked: 0,
  succeeded: 0,
  conversion_asked: 0,
  converted: 0,
  deflection_asked: 0,
  deflected: 0,
  csat_asked: 0,
  csat_permille: 0,
};
const MONEY = { currency: 'USD', cost_minor: 90, revenue_minor: null, recovery_cost_minor: 7 };
const SAID = {
  event_id: 'e1',
  tenant: 'acme',
  source: 'platform',
  agent_id: 'agent-7',
  workflow_id: 'refunds',
  run_id: null,
  intent: null,
  version: null,
  accepted: true,
  grounded: true,
  policy_compliant: true,
  cost: { amount_minor: 12, currency: 'USD' },
  total_tokens: 100,
  retry_tokens: 10,
  eval_tokens: 20,
  cache_lookups: 4,
  cache_hits: 1,
  succeeded: null,
  converted: null,
  deflected: null,
  csat_permille: null,
  revenue: null,
  ended_at: 1_000,
};

describe('an outcome is trusted', () => {
  it.each([
    [true, true, true, true],
    [true, true, false, false],
    [true, false, true, false],
    [true, false, false, false],
    [false, true, true, false],
    [false, true, false, false],
    [false, false, true, false],
    [false, false, false, false],
  ])(
    'where it is accepted (%s), grounded (%s) and within policy (%s): %s (D39)',
    (accepted, grounded, policy_compliant, is) => {
      expect(isTrusted({ accepted, grounded, policy_compliant })).toBe(is);
    },
  );
});

describe('sums', () => {
  it('without a trusted outcome have no cost of one: null, not 0 (D41)', () => {
    expect(costed(MONEY, 0)).toEqual({ ...MONEY, cost_per_trusted_outcome_minor: null });
    expect(costed(MONEY, 2).cost_per_trusted_outcome_minor).toBe(45);
    expect(costed({ ...MONEY, cost_minor: 0 }, 2).cost_per_trusted_outcome_minor).toBe(0);
  });

  it('of which nobody said a cost have none either', () => {
    expect(costed({ ...MONEY, cost_minor: null }, 2).cost_per_trusted_outcome_minor).toBeNull();
  });

  it('have ratios, each null where there is nothing to divide by (D42, D66)', () => {
    expect(Object.values(ratiosOf(NOTHING))).toEqual(Array.from({ length: 8 }, () => null));
    expect(
      ratiosOf({
        ...NOTHING,
        ...{ total_tokens: 200, retry_tokens: 50, eval_tokens: 20, cache_lookups: 4, cache_hits: 3 },
        ...{ outcomes: 4, trusted: 1, success_asked: 2, succeeded: 1, csat_asked: 2, csat_permille: 1_500 },
      }),
    ).toEqual({
      trusted_ratio: 0.25,
      retry_token_ratio: 0.25,
      eval_overhead_ratio: 0.1,
      cache_hit_rate: 0.75,
      success_rate: 0.5,
      conversion_rate: null,
      deflection_rate: null,
      csat: 0.75,
    });
  });

  it('never say 0 for nothing', () => {
    const count = fc.nat(3);
    const sums = fc.record(
      Object.fromEntries(Object.keys(NOTHING).map((name) => [name, count])) as Record<
        keyof typeof NOTHING,
        typeof count
      >,
    );
    fc.assert(
      fc.property(sums, (drawn) => {
        const told = ratiosOf(drawn);
        expect(told.trusted_ratio === null).toBe(drawn.outcomes === 0);
        expect(told.retry_token_ratio === null).toBe(drawn.total_tokens === 0);
        expect(told.eval_overhead_ratio === null).toBe(drawn.total_tokens === 0);
        expect(told.cache_hit_rate === null).toBe(drawn.cache_lookups === 0);
        expect(told.success_rate === null).toBe(drawn.success_asked === 0);
        expect(told.csat === null).toBe(drawn.csat_asked === 0);
        expect(costed(MONEY, drawn.trusted).cost_per_trusted_outcome_minor === null).toBe(drawn.trusted === 0);
      }),
    );
  });
});

describe('an outcome counts', () => {
  it('as it was said', () => {
    expect(outcomeProblem(SAID, 1_000)).toBeNull();
  });

  it.each([
    ['costs less than nothing', { cost: { amount_minor: -1, currency: 'USD' } }, 'OUTCOME_AMOUNT_INVALID'],
    ['costs more than can be counted', { cost: { amount_minor: 2 ** 60, currency: 'USD' } }, 'OUTCOME_AMOUNT_INVALID'],
    ['costs a part of a cent', { cost: { amount_minor: 0.5, currency: 'USD' } }, 'OUTCOME_AMOUNT_INVALID'],
    ['costs in no currency', { cost: { amount_minor: 1, currency: 'exposure' } }, 'OUTCOME_AMOUNT_INVALID'],
    ['earns less than nothing', { revenue: { amount_minor: -1, currency: 'USD' } }, 'OUTCOME_AMOUNT_INVALID'],
    ['has fewer tokens than none', { total_tokens: -1 }, 'OUTCOME_COUNT_INVALID'],
    ['has more tokens than can be counted', { total_tokens: 2 ** 60 }, 'OUTCOME_COUNT_INVALID'],
    ['retries more than it did', { retry_tokens: 101 }, 'OUTCOME_COUNT_INVALID'],
    ['evaluates more than it did', { eval_tokens: 101 }, 'OUTCOME_COUNT_INVALID'],
    ['hits more than it asked', { cache_hits: 5 }, 'OUTCOME_COUNT_INVALID'],
    ['pleases beyond measure', { csat_permille: 1_001 }, 'OUTCOME_COUNT_INVALID'],
    ['is of no workflow', { workflow_id: '' }, 'SIGNAL_NAME_INVALID'],
    ['is said by nobody', { source: '' }, 'SIGNAL_NAME_INVALID'],
    ['ends in the future', { ended_at: 1_000 + 300_001 }, 'SIGNAL_AHEAD'],
  ])('not where it %s', (_how, more, code) => {
    expect(outcomeProblem({ ...SAID, ...more }, 1_000)).toBe(code);
  });
});
