// What every taker of triggers does.
import { describe, expect, it } from '@jest/globals';
import type { MemoryRollbackTriggers } from './rollback-triggers.memory.js';
import type { RollbackTriggers, TriggerRequest } from './rollback-triggers.port.js';

/** A taker, and what it gives triggers to. */
export interface TriggersUnderTest {
  readonly triggers: RollbackTriggers;
  readonly taken: MemoryRollbackTriggers;
}

export function rollbackTriggersContract(name: string, make: () => Promise<TriggersUnderTest>): void {
  const request: TriggerRequest = {
    tenant: 'acme',
    runId: 'run-1',
    commitId: 'cp_1',
    reason: 'wrong',
    idempotencyKey: 'trg_1',
  };

  describe(`the taker of triggers "${name}"`, () => {
    it('takes a trigger once, however often it is sent', async () => {
      const { triggers, taken } = await make();
      expect([await triggers.trigger(request), await triggers.trigger(request)]).toEqual([
        { kind: 'taken' },
        { kind: 'taken' },
      ]);
      expect(taken.taken).toEqual([request]);
    });

    it('says why it does not take one', async () => {
      const { triggers, taken } = await make();
      taken.unknownRuns.add('run-1');
      expect(await triggers.trigger(request)).toEqual({ kind: 'refused', code: 'RUN_UNKNOWN' });
    });

    it('is unavailable, and refuses nothing, while nobody answers', async () => {
      const { triggers, taken } = await make();
      taken.isAway = true;
      expect(await triggers.trigger(request)).toMatchObject({ kind: 'unavailable' });
    });
  });
}
