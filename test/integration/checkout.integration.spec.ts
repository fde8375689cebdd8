// Reserve, charge, book, notify on real parts, and the ledger's own undo of a run in which a step failed (A2, A53).
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

const endOf = (found: CheckoutResult['outcomes'][number]['found'], step: string): unknown =>
  Object.entries(found).find(([name]) => name === step)?.[1]['execution_state'];

describe('a checkout of four steps', () => {
  it('ends whole or taken back, wherever it fails, and the services say the same', () => {
    expect(played.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(played.outcomes).toHaveLength(13);
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

  it.each(['reserve', 'charge', 'book', 'notify'])('goes on once it is found that %s took effect', (step) => {
    const { reconciled, found, takenBack, answers } = outcomeOf(step, 'silent');
    expect([reconciled, endOf(found, step), takenBack, answers.length]).toEqual([[step], 'succeeded', [], 4]);
  });

  it.each(['charge', 'book', 'notify'])('is taken back as soon as it is found that %s had no effect', (step) => {
    const { reconciled, found, takenBack } = outcomeOf(step, 'lost');
    expect([reconciled, endOf(found, step)]).toEqual([[step], 'failed']);
    expect(takenBack).toEqual(outcomeOf(step, 'refuse').takenBack);
  });

  it.each(['reserve', 'charge', 'book', 'notify'])('has no effect of %s when it was refused', (step) => {
    expect(endOf(outcomeOf(step, 'refuse').found, step)).toBe('failed');
  });

  it('tells the customers of the whole orders, and nobody else', async () => {
    const { notices } = await stateOf(system.place);
    const whole = played.outcomes
      .filter(({ case: { fails } }) => fails === null || fails.how === 'silent')
      .map(({ case: { order } }) => `${order}@example.test`);
    expect(notices.map(({ to }) => to).sort()).toEqual([...whole].sort());
  });
});
