// What every position store does.
import { describe, expect, it } from '@jest/globals';
import type { PositionStore } from './position-store.port.js';

export interface PositionStoreUnderTest {
  readonly store: PositionStore;
  /** The same positions after the process died. */
  readonly reopen: () => PositionStore;
}

export function positionStoreContract(name: string, make: () => Promise<PositionStoreUnderTest>): void {
  const at = (offset: number) => ({ offset, seq: offset, hash: 'ab' });

  describe(`the position store "${name}"`, () => {
    it('knows nothing at first', async () => {
      const { store } = await make();
      expect(await store.load('t', 0)).toBeNull();
    });

    it('gives back the newest position of each partition, after a crash too', async () => {
      const { store, reopen } = await make();
      await store.save('t', 0, at(1));
      await store.save('t', 0, at(2));
      await store.save('t', 1, at(9));
      expect([await reopen().load('t', 0), await reopen().load('t', 1), await reopen().load('u', 0)]).toEqual([
        at(2),
        at(9),
        null,
      ]);
    });

    it('ends with the last of many saves under way at once', async () => {
      const { store, reopen } = await make();
      await Promise.all(Array.from({ length: 20 }, (_, offset) => store.save('t', 0, at(offset))));
      expect(await reopen().load('t', 0)).toEqual(at(19));
    });

    it('has each of them, or a later one, on disk when it answers', async () => {
      const { store, reopen } = await make();
      const found = await Promise.all(
        Array.from({ length: 20 }, async (_, offset) => {
          await store.save('t', 0, at(offset));
          return (await reopen().load('t', 0))?.offset ?? -1;
        }),
      );
      expect(found.filter((offset, place) => offset < place)).toEqual([]);
    });
  });
}
