// What every reader of records does.
import { describe, expect, it } from '@jest/globals';
import type { MemoryStanding } from './standing.memory.js';
import type { Standing } from './standing.port.js';

/** A reader, and the record it reads. */
export interface StandingUnderTest {
  readonly standing: Standing;
  readonly record: MemoryStanding['record'];
}

export function standingContract(name: string, make: () => Promise<StandingUnderTest>): void {
  describe(`the standing of an effect "${name}"`, () => {
    it('is unrecorded until somebody tells of it', async () => {
      expect(await (await make()).standing.of('mut_1', 'run/1')).toEqual({ kind: 'unrecorded' });
    });

    it('is what was last recorded, of this effect alone', async () => {
      const { standing, record } = await make();
      record('mut_1', 'planned', 'planned');
      record('mut_1', 'succeeded', 'reversal_available');
      record('mut_2', 'failed', 'planned');
      expect(await standing.of('mut_1', 'run/1')).toEqual({
        kind: 'recorded',
        execution: 'succeeded',
        recoverability: 'reversal_available',
        ends: 1,
        fell: false,
      });
    });

    it('counts the ends of its call', async () => {
      const { standing, record } = await make();
      record('mut_1', 'planned', 'planned');
      expect(await standing.of('mut_1', 'run/1')).toMatchObject({ execution: 'planned', ends: 0 });
      record('mut_1', 'failed', 'planned');
      record('mut_1', 'failed', 'planned');
      expect(await standing.of('mut_1', 'run/1')).toMatchObject({ execution: 'failed', ends: 2 });
    });

    it('says that it fell', async () => {
      const { standing, record } = await make();
      record('mut_1', 'succeeded', 'compensated', true);
      expect(await standing.of('mut_1', 'run/1')).toMatchObject({ recoverability: 'compensated', fell: true });
    });

    it('is found under an id with any characters', async () => {
      const { standing, record } = await make();
      record('mut/..?#%20', 'uncertain', 'planned');
      expect(await standing.of('mut/..?#%20', 'run/..?#%20')).toMatchObject({ execution: 'uncertain' });
    });
  });
}
