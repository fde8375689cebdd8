import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { LedgerQueries } from './ledger-queries.js';

describe('reads of the ledger', () => {
  it('sum what closes by connections that no list waits for', async () => {
    const asked: string[] = [];
    const pool = (name: string): Pool =>
      ({
        query: (text: string) => {
          asked.push(text.includes('AS now') ? 'the time' : name);
          return Promise.resolve({ rows: [] });
        },
      }) as unknown as Pool; // what reads ask of one
    const queries = new LedgerQueries(pool('lists'), pool('sums'));
    await queries.page({ filter: { tenant: 'acme' }, order: 'newest', limit: 5 });
    await queries.stakes({ tenant: 'acme' }, { after: 1, until: null });
    expect(asked.filter((one) => one !== 'the time')).toEqual(['lists', 'sums']);
  });
});
