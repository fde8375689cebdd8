// What every log of queries does.
import { describe, expect, it } from '@jest/globals';
import type { MemoryQueryRecord } from './memory.messages.js';
import type { QueryLog } from './query-log.port.js';

export interface QueryLogUnderTest {
  readonly log: QueryLog;
  /** The same log in another process, also after this one died. */
  readonly reopen: () => QueryLog;
}

export function queryLogContract(name: string, make: () => Promise<QueryLogUnderTest>): void {
  const record: MemoryQueryRecord = {
    tenant: 'acme',
    agentId: 'agent',
    runId: 'run-1',
    key: 'customer/7',
    purpose: 'support',
    code: null,
    askedAt: 5_000,
  };

  describe(`the query log "${name}"`, () => {
    it('gives what was asked in its order, also through a crash', async () => {
      const { log, reopen } = await make();
      expect(await log.list()).toEqual([]);
      await log.append(record);
      await log.append({ ...record, code: 'CONSENT_MISSING', askedAt: 5_001 });
      expect(await reopen().list()).toEqual([record, { ...record, code: 'CONSENT_MISSING', askedAt: 5_001 }]);
    });

    it('loses nothing of many that are told at once', async () => {
      const { log, reopen } = await make();
      const other = reopen();
      await Promise.all(
        Array.from({ length: 20 }, (_, askedAt) => (askedAt % 2 === 0 ? log : other).append({ ...record, askedAt })),
      );
      const kept = (await log.list()).map(({ askedAt }) => askedAt).sort((a, b) => a - b);
      expect(kept).toEqual(Array.from({ length: 20 }, (_, at) => at));
    });
  });
}
