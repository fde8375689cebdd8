// What every presence promises; run once per adapter.
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import type { Presence } from './presence.port.js';

/** Two instances of a service, of which one can die. */
export interface PresencesUnderTest {
  readonly one: Presence;
  readonly other: Presence;
  /** The other's process is gone, and said nothing. */
  readonly die: () => Promise<void>;
  /** The one is cut off from what tells it, for a moment. */
  readonly cutOff: () => Promise<void>;
  readonly reconnect: () => Promise<void>;
}

const LONG = 'recovery-orchestrator-recovery-orchestrator-0-'.repeat(4);
const SOON_MS = 2_000;

export function presenceContract(name: string, fresh: () => Promise<PresencesUnderTest>): void {
  describe(`the presence of ${name}`, () => runCases(CASES, fresh));
}

const CASES: Cases<PresencesUnderTest> = {
  'tells who of those it is asked about is here, however long their names': async ({ one, other }) => {
    await one.show(`${LONG}a`);
    await other.show(`${LONG}b`);
    expect([...(await one.here([`${LONG}a`, `${LONG}b`, `${LONG}c`]))].sort()).toEqual([`${LONG}a`, `${LONG}b`]);
  },

  'forgets a name when its process shows another': async ({ one, other }) => {
    await one.show('first');
    await other.show('old');
    await other.show('new');
    await soon(async () => !(await one.here(['old'])).has('old'));
    expect(await one.here(['old', 'new'])).toEqual(new Set(['new']));
  },

  'forgets who died, within moments': async ({ one, other, die }) => {
    await one.show('living');
    await other.show('dying');
    expect((await one.here(['dying'])).has('dying')).toBe(true);
    await die();
    await soon(async () => !(await one.here(['dying'])).has('dying'));
    expect(await one.here(['living'])).toEqual(new Set(['living']));
  },

  'fails when it was cut off, rather than to tell of others as gone, and shows itself again': async ({
    one,
    other,
    cutOff,
    reconnect,
  }) => {
    await one.show('one');
    await other.show('other');
    await cutOff();
    await expect(one.here(['one', 'other'])).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await reconnect();
    await soon(async () => (await one.here(['one']).catch(() => new Set())).has('one'));
    expect(await one.here(['one', 'other'])).toEqual(new Set(['one', 'other']));
  },
};

async function soon(holds: () => Promise<boolean>): Promise<void> {
  const deadlineAt = Date.now() + SOON_MS;
  while (!(await holds())) {
    if (Date.now() > deadlineAt) throw new Error(`not so within ${String(SOON_MS)} ms`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}
