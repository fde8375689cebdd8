import { describe, expect, it } from '@jest/globals';
import { DELIVERY_EVENTS, DELIVERY_PHASES } from './consumer.messages.js';
import type { DeliveryPhase } from './consumer.messages.js';
import { DELIVERY_AFTER, DELIVERY_ENDS } from './delivery.transitions.js';

function reachedFrom(start: DeliveryPhase): ReadonlySet<DeliveryPhase> {
  const seen = new Set([start]);
  for (const phase of seen) for (const next of Object.values(DELIVERY_AFTER[phase])) if (next !== null) seen.add(next);
  return seen;
}

describe('the life of a delivery', () => {
  it('has a cell for every phase and event', () => {
    expect(Object.keys(DELIVERY_AFTER).sort()).toEqual([...DELIVERY_PHASES].sort());
    for (const row of Object.values(DELIVERY_AFTER))
      expect(Object.keys(row).sort()).toEqual([...DELIVERY_EVENTS].sort());
  });
  it('reaches every phase from waiting', () => {
    expect([...reachedFrom('waiting')].sort()).toEqual([...DELIVERY_PHASES].sort());
  });
  it('can end from everywhere, and nothing leaves an answer', () => {
    for (const phase of DELIVERY_PHASES) expect(reachedFrom(phase).has('acknowledged')).toBe(true);
    expect(
      DELIVERY_PHASES.filter((phase) => Object.values(DELIVERY_AFTER[phase]).every((next) => next === null)),
    ).toEqual([...DELIVERY_ENDS]);
  });
});
