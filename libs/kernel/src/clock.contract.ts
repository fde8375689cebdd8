// What every clock does.
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import type { Clock } from './clock.port.js';

export interface ClockUnderTest {
  readonly clock: Clock;
  /** Lets time pass while the clock is waited for. */
  readonly pass: (ms: number) => Promise<void>;
}

export function clockContract(name: string, make: () => ClockUnderTest): void {
  describe(`the clock "${name}"`, () => runCases(CASES, make));
}

const CASES: Cases<ClockUnderTest> = {
  'has moved by at least the time slept, on both of its hands': async ({ clock, pass }) => {
    const [wall, monotonic] = [clock.now(), clock.monotonic()];
    const slept = clock.sleep(20);
    await pass(40);
    await slept;
    expect(clock.now() - wall).toBeGreaterThanOrEqual(19);
    expect(clock.monotonic() - monotonic).toBeGreaterThanOrEqual(19);
  },

  'returns at once from a sleep of nothing': async ({ clock, pass }) => {
    const slept = clock.sleep(0);
    await pass(0);
    await expect(slept).resolves.toBeUndefined();
  },

  'wakes early when its signal is aborted': async ({ clock }) => {
    const waker = new AbortController();
    const slept = clock.sleep(60_000, waker.signal);
    waker.abort();
    await expect(slept).resolves.toBeUndefined();
  },

  'rings an alarm once its time has passed, and not before': async ({ clock, pass }) => {
    const [set, rung]: [number, number[]] = [clock.monotonic(), []];
    clock.alarm(20, () => rung.push(clock.monotonic() - set));
    expect(rung).toEqual([]);
    const slept = clock.sleep(40);
    await pass(60);
    await slept;
    expect(rung).toHaveLength(1);
    expect(rung[0]).toBeGreaterThanOrEqual(19);
  },

  'never rings an alarm that was called off': async ({ clock, pass }) => {
    let isRung = false;
    const off = clock.alarm(5, () => {
      isRung = true;
    });
    off();
    const slept = clock.sleep(20);
    await pass(40);
    await slept;
    expect(isRung).toBe(false);
  },

  'does not sleep when its signal was aborted before': async ({ clock }) => {
    await expect(clock.sleep(60_000, AbortSignal.abort())).resolves.toBeUndefined();
  },
};
