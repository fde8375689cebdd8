// A drill of a source.
import { describe, expect, it } from '@jest/globals';
import { reached, reliances, TENANT } from './lineage-view.testing.js';
import { scopesOfSaid, statementPreview } from './statement.decisions.js';
import type { DrillAsked } from './statement.decisions.js';

const NOW = 10_000;
const SAID = { tenant: TENANT, source: 'warehouse', ref: 'order/1#not_shipped' };
const LIMITS: DrillAsked['limits'] = {
  trustThresholdPermille: 600,
  storm: { limit: 1, windowMs: 60_000 },
  closureMax: null,
  trend: null,
};
const weighing = (weight: number): DrillAsked['known'] => ({
  source: { weight_permille: weight },
  declared: { entry: null, isForeign: false },
});

/** A and B rely on the ref, C was made from both, D from what nobody said anything about. */
const drilled = (changes: Partial<DrillAsked> = {}): ReturnType<typeof statementPreview> =>
  statementPreview({
    said: SAID,
    fall: {
      roots: ['A', 'B'],
      reached: [reached('A', { value_minor: 500, currency: 'EUR' }), reached('B'), reached('C'), reached('D')],
      reliances: reliances('C<A', 'C<B'),
      boundAt: null,
      hearersOf: ({ id }) => (id === 'C' ? ['mailer'] : []),
      truncated: false,
    },
    known: weighing(900),
    open: [],
    limits: LIMITS,
    now: NOW,
    ...changes,
  });

describe('a drill of a source', () => {
  it('says what would fall with all that rely on the ref, each once, and who would hear of it', () => {
    expect(drilled()).toMatchObject({
      source: 'warehouse',
      ref: 'order/1#not_shipped',
      relying: 2,
      falls: { commits: 3 },
      money: [{ currency: 'EUR', amount_minor: 500, mutations: 1 }],
      consumers: [{ consumer: 'mailer', commits: 1 }],
      held: null,
    });
  });

  it('says why a person would be asked: a source of little weight, and an open breaker', () => {
    expect(drilled({ known: weighing(200) })).toMatchObject({
      weight_permille: 200,
      threshold_permille: 600,
      held: { reason: 'SOURCE_UNTRUSTED' },
    });
    expect(drilled({ open: scopesOfSaid(SAID, NOW).slice(0, 1) }).held).toMatchObject({ reason: 'BREAKER_OPEN' });
  });

  it('falls nothing where nobody relies on the ref', () => {
    const none = { roots: [], reached: [], reliances: [], boundAt: null, hearersOf: null, truncated: false };
    expect(drilled({ fall: none })).toMatchObject({ relying: 0, falls: { commits: 0 }, consumers: null });
  });
});
