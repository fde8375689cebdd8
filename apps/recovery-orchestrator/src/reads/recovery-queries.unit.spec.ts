import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { RecoveryQueries } from './recovery-queries.js';

describe('reads of recoveries', () => {
  it('count what is asked of workers, and what rates hold, by connections that no list waits for', async () => {
    const asked: string[] = [];
    const pool = (name: string): Pool =>
      ({
        query: (text: string) => {
          asked.push(text.includes('AS now') ? 'the time' : name);
          return Promise.resolve({ rows: [] });
        },
      }) as unknown as Pool; // what reads ask of one
    const queries = new RecoveryQueries(pool('lists'), pool('sums'));
    await queries.timed({ kind: 'step', where: { tenant: 'acme' }, limit: 5 });
    await queries.asked({ tenant: 'acme' }, 1, 5);
    await queries.paces({ tenant: 'acme' }, 1, 5);
    expect(asked.filter((one) => one !== 'the time')).toEqual(['lists', 'sums', 'sums']);
  });
});
