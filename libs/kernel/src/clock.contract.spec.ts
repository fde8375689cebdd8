import { describe, expect, it } from '@jest/globals';
import { clockContract } from './clock.contract.js';
import { ManualClock } from './clock.memory.js';
import { systemClock } from './clock.system.js';

clockContract('system', () => ({ clock: systemClock, pass: () => Promise.resolve() }));
clockContract('manual', () => {
  const clock = new ManualClock(1_000);
  return { clock, pass: (ms) => clock.advance(ms) };
});

describe('a manual clock', () => {
  it('that is set back still ends a sleep when its time has passed', async () => {
    const clock = new ManualClock(10_000);
    let isAwake = false;
    const slept = clock.sleep(50).then(() => {
      isAwake = true;
    });
    clock.set(2_000);
    await clock.advance(49);
    expect([clock.now(), clock.monotonic(), isAwake]).toEqual([2_049, 49, false]);
    await clock.advance(1);
    await slept;
    expect(isAwake).toBe(true);
  });

  it('wakes sleepers in the order they are due', async () => {
    const clock = new ManualClock();
    const woken: string[] = [];
    for (const [name, ms] of [
      ['late', 30],
      ['early', 10],
    ] as const)
      void clock.sleep(ms).then(() => woken.push(`${name} at ${String(clock.now())}`));
    await clock.advance(100);
    expect(woken).toEqual(['early at 10', 'late at 30']);
  });
});
