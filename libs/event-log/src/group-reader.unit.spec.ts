import { afterEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@recourse/kernel';
import { GroupReader } from './group-reader.js';
import { KnownGroups } from './group-rows.js';
import type { GroupPage } from './store.port.js';

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

let reader: GroupReader | null = null;
afterEach(() => reader?.stop());

function reading(page: GroupPage, projectedSeq: number): { readonly known: KnownGroups; readonly older: () => number } {
  const known = new KnownGroups();
  let older = 0;
  reader = new GroupReader({
    store: { groups: () => Promise.resolve(page) },
    kinds: ['thing', 'other'],
    known,
    clock: systemClock,
    projectedSeq: () => projectedSeq,
    onOlder: () => {
      older += 1;
    },
    onError: (cause) => {
      throw cause;
    },
  });
  reader.start();
  reader.read();
  return { known, older: () => older };
}

describe('the groups of a store', () => {
  it('are known once all of them were read', async () => {
    const { known, older } = reading({ headSeq: 7, groups: ['a'] }, 7);
    expect(known.mayHold('thing', 'b')).toBe(true);
    await pause(10);
    expect(['a', 'b'].map((group) => known.mayHold('thing', group))).toEqual([true, false]);
    expect(older()).toBe(0);
  });

  it('deny nothing where the database has lost what was projected', async () => {
    for (const headSeq of [6, null]) {
      const { known, older } = reading({ headSeq, groups: ['a'] }, 7);
      await pause(10);
      expect(known.mayHold('thing', 'b')).toBe(true);
      expect(older()).toBe(1);
      await reader?.stop();
    }
  });
});
