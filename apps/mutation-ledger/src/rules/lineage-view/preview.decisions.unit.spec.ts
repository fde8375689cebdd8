import { describe, expect, it } from '@jest/globals';
import { reached, reliances } from './lineage-view.testing.js';
import { lineagePreview } from './preview.decisions.js';
import type { PreviewAsked } from './preview.decisions.js';

const EDGES = reliances('B<A', 'C<A', 'D<B', 'E<D', 'A<E');
const asked = (changes: Partial<PreviewAsked> = {}): PreviewAsked => ({
  commit: 'A',
  reliances: EDGES,
  boundAt: null,
  hearersOf: null,
  truncated: false,
  reached: [
    reached('A', { value_minor: 500, currency: 'EUR', subject_ref: 'order/1' }),
    reached('B', { kind: 'commit' }),
    reached('C', { value_minor: 700, currency: 'EUR', subject_ref: 'order/2' }),
    reached('D', { value_minor: 9, currency: 'INR', subject_ref: 'order/1', recorded_at: 100 }),
    reached('E', { rollback_id: 'rb-E', value_minor: 1, currency: 'EUR' }),
  ],
  ...changes,
});

describe('the preview of a rollback', () => {
  it('adds up commits, runs, money by currency and subjects; what fell already is counted apart', () => {
    expect(lineagePreview(asked())).toEqual({
      commit: 'A',
      bound_at: null,
      falls: { commits: 4, with_effect: 3, without_effect: 1, runs: 4 },
      fallen_already: 1,
      money: [
        { currency: 'EUR', amount_minor: 1_200, mutations: 2 },
        { currency: 'INR', amount_minor: 9, mutations: 1 },
      ],
      subjects: { count: 2, first: ['order/1', 'order/2'] },
      consumers: null,
      beyond_bound: { commits: 0, first: [] },
      truncated: false,
    });
  });

  it('leaves out what is beyond the bound and looks behind it', () => {
    const { falls, money, beyond_bound } = lineagePreview(
      asked({
        boundAt: 500,
        reached: asked().reached.map((one) => (one.id === 'E' ? { ...one, rollback_id: null } : one)),
      }),
    );
    expect([falls.commits, beyond_bound]).toEqual([4, { commits: 1, first: ['D'] }]);
    expect(money).toEqual([{ currency: 'EUR', amount_minor: 1_201, mutations: 3 }]);
  });

  it('names the consumers reached, each with how much', () => {
    expect(
      lineagePreview(
        asked({ hearersOf: ({ id }) => (id === 'A' ? ['ledger', 'mailer'] : id === 'C' ? ['mailer'] : []) }),
      ).consumers,
    ).toEqual([
      { consumer: 'ledger', commits: 1 },
      { consumer: 'mailer', commits: 2 },
    ]);
  });

  it('keeps sums exact where a number would not', () => {
    const reachedBy = [
      reached('A', { value_minor: Number.MAX_SAFE_INTEGER, currency: 'EUR' }),
      reached('B', { value_minor: Number.MAX_SAFE_INTEGER, currency: 'EUR' }),
    ];
    expect(lineagePreview(asked({ reached: reachedBy })).money).toEqual([
      { currency: 'EUR', amount_minor: '18014398509481982', mutations: 2 },
    ]);
  });
});
