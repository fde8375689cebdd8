import { describe, expect, it } from '@jest/globals';
import { EMPTY_PROVIDER, evolveProvider, issue, reverse, takeFault } from './provider.state.js';
import type { Decided, ProviderState } from './provider.state.js';

const asked = { order: '4711', amount_minor: 500_000, currency: 'INR' };
const after = <Answer>(state: ProviderState, { events }: Decided<Answer>): ProviderState =>
  events.reduce(evolveProvider, state);

describe('the payment provider', () => {
  const issued = after(EMPTY_PROVIDER, issue(EMPTY_PROVIDER, 'k1', asked));

  it('refunds once per key and refuses the key for another refund', () => {
    const again = issue(issued, 'k1', asked);
    expect(again.answer).toMatchObject({ kind: 'done', refund: { refund_id: 'rf_000001' } });
    expect(after(issued, again).effects).toMatchObject([{ kind: 'refund', key: 'k1', requests: 2 }]);
    expect(issue(issued, 'k1', { ...asked, amount_minor: 1 }).answer).toEqual({ kind: 'conflict' });
  });

  it('reverses once per key', () => {
    const reversed = after(issued, reverse(issued, 'rev_k1', 'rf_000001'));
    const twice = after(reversed, reverse(reversed, 'rev_k1', 'rf_000001'));
    expect(twice.refunds['rf_000001']?.status).toBe('reversed');
    expect(twice.effects.filter(({ kind }) => kind === 'reversal')).toMatchObject([{ key: 'rev_k1', requests: 2 }]);
  });

  it('does not hide a second reversal under another key', () => {
    const reversed = after(issued, reverse(issued, 'a', 'rf_000001'));
    expect(
      after(reversed, reverse(reversed, 'b', 'rf_000001')).effects.filter(({ kind }) => kind === 'reversal'),
    ).toHaveLength(2);
  });

  it('knows no refund it did not make', () => {
    expect(reverse(issued, 'k', 'rf_9').answer).toEqual({ kind: 'unknown' });
  });

  it('fails as often as it was told to', () => {
    let state = evolveProvider(issued, { type: 'FaultSet', mode: 'error_500', times: 2 });
    const met = [0, 1, 2].map(() => {
      const fault = takeFault(state);
      state = after(state, fault);
      return fault.answer;
    });
    expect(met).toEqual(['error_500', 'error_500', 'none']);
  });
});
