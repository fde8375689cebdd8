// What every claim store does.
import { describe, expect, it } from '@jest/globals';
import type { ClaimStore } from './claim-store.port.js';

export interface ClaimStoreUnderTest {
  readonly store: ClaimStore;
  /** The same claims after the process died. */
  readonly reopen: () => ClaimStore;
}

export function claimStoreContract(name: string, make: () => Promise<ClaimStoreUnderTest>): void {
  const first = { id: 'step_1', attempt: 1, workerId: 'a' };

  describe(`the claim store "${name}"`, () => {
    it('grants a claim once, also to the worker that has it', async () => {
      const { store } = await make();
      expect(await store.claim(first)).toBe('granted');
      expect(await store.claim(first)).toBe('taken');
      expect(await store.claim({ ...first, workerId: 'b' })).toBe('taken');
    });

    it('keeps attempts and ids apart', async () => {
      const { store } = await make();
      await store.claim(first);
      expect(await store.claim({ ...first, attempt: 2 })).toBe('granted');
      expect(await store.claim({ ...first, id: 'step_1/2' })).toBe('granted');
    });

    it('lets exactly one of many rivals win', async () => {
      const { store, reopen } = await make();
      const rivals = Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? store : reopen()).claim({ ...first, workerId: `w${String(index)}` }),
      );
      expect((await Promise.all(rivals)).filter((answer) => answer === 'granted')).toHaveLength(1);
    });

    it('remembers claims through a crash', async () => {
      const { store, reopen } = await make();
      await store.claim(first);
      expect(await reopen().claim(first)).toBe('taken');
    });
  });
}
