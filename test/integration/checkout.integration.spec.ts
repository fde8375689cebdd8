// Reserve, charge, book, notify on real parts: once without a failure, and with both failures of each step (A2).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { playCheckout } from '@recourse/example-checkout';
import type { CheckoutResult } from '@recourse/example-checkout';
import { startLittleSystem, stateOf } from './little.testing.js';
import type { LittleSystem } from './little.testing.js';

let system: LittleSystem;
let played: CheckoutResult;
beforeAll(async () => {
  system = await startLittleSystem();
  played = await playCheckout(system.place);
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

/** The order that fails so. */
function outcomeOf(step: string, how: string): CheckoutResult['outcomes'][number] {
  const found = played.outcomes.find(({ case: { fails } }) => fails?.step === step && fails.how === how);
  if (found === undefined) throw new Error(`no order fails at ${step}`);
  return found;
}

describe('a checkout of four steps', () => {
  it('ends whole or taken back, wherever it fails, and the services say the same', () => {
    expect(played.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(played.outcomes).toHaveLength(9);
  });

  it('gives the money back and then the stock when no courier comes, and tells the customer nothing', async () => {
    const {
      takenBack,
      case: { order },
    } = outcomeOf('book', 'refuse');
    expect(takenBack).toEqual([
      { step: 'charge', recoverability: 'compensated' },
      { step: 'reserve', recoverability: 'compensated' },
    ]);
    expect((await stateOf(system.place)).notices.filter(({ to }) => to.startsWith(order))).toEqual([]);
  });

  it.each(['reserve', 'charge', 'book', 'notify'])('finds out how %s ended when nobody answered', (step) => {
    const { reconciled, found } = outcomeOf(step, 'silent');
    expect([reconciled, Object.entries(found).find(([name]) => name === step)?.[1]['execution_state']]).toEqual([
      [step],
      'succeeded',
    ]);
  });

  it.each(['reserve', 'charge', 'book', 'notify'])('has no effect of %s when it was refused', (step) => {
    expect(
      Object.entries(outcomeOf(step, 'refuse').found).find(([name]) => name === step)?.[1]['execution_state'],
    ).toBe('failed');
  });

  it('tells the customers of the whole orders, and nobody else', async () => {
    const { notices } = await stateOf(system.place);
    const whole = played.outcomes
      .filter(({ case: { fails } }) => fails === null || (fails.step === 'notify' && fails.how === 'silent'))
      .map(({ case: { order } }) => `${order}@example.test`);
    expect(notices.map(({ to }) => to).sort()).toEqual([...whole].sort());
  });
});
