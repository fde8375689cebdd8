import { describe, expect, it } from '@jest/globals';
import { floorSteps, turnFrom } from './recovery-floor.js';

describe('the raw floor of a recovery', () => {
  it('has two hops before the first leg, and two hops and an append for each', () => {
    const steps = floorSteps(11);
    expect(steps.filter((step) => step.do === 'hop')).toHaveLength(2 + 2 * 11);
    expect(steps.filter((step) => step.do === 'append')).toHaveLength(1 + 11);
  });

  it('hands over at every hop, and takes every step once', () => {
    const steps = floorSteps(3);
    const turns: ReturnType<typeof turnFrom>[] = [];
    for (let at = 0; at < steps.length;) {
      const turn = turnFrom(steps, at);
      turns.push(turn);
      at = turn.next;
    }
    expect(turns.filter(({ hop }) => hop)).toHaveLength(2 + 2 * 3);
    expect(turns.reduce((sum, { appends, hop }) => sum + appends + (hop ? 1 : 0), 0)).toBe(steps.length);
  });

  it('ends with what nobody consumes', () => {
    const steps = floorSteps(1);
    expect(turnFrom(steps, steps.length - 1)).toEqual({ appends: 1, hop: false, next: steps.length });
  });
});
