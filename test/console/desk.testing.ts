// What each console spec stands on: a stack of its own with the whole system, and a browser, from before its first test to after its last.
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { leaveSeats, openBrowser } from './browser.testing.js';
import { System } from './system.testing.js';

export const STARTS_WITHIN_MS = 240_000;

export interface Desk {
  readonly system: System;
  readonly browser: Browser;
}

/** Call it once, at the head of a spec; the desk is there once a test runs. `prepare` runs before the first. */
export function deskOf(
  more: NonNullable<Parameters<typeof System.start>[0]> = {},
  prepare: (system: System) => Promise<void> = (system) => system.registerContracts(),
): Desk {
  let desk: Desk | undefined;
  const there = (): Desk => {
    if (desk === undefined) throw new Error('nothing has started yet');
    return desk;
  };
  beforeAll(async () => {
    const [system, browser] = await Promise.all([System.start(more), openBrowser()]);
    desk = { system, browser };
    await prepare(system);
  }, STARTS_WITHIN_MS);
  afterEach(() => leaveSeats(there().browser));
  afterAll(async () => {
    await desk?.browser.close();
    await desk?.system.stop();
  }, STARTS_WITHIN_MS);
  return {
    get system() {
      return there().system;
    },
    get browser() {
      return there().browser;
    },
  };
}
