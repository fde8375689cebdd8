import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { ConsumerQueries, reportQuery, rolledBackQuery } from './consumer-queries.js';

const ASKED = { scope: ['*'], tenant: 'acme', after: [], limit: 5 } as const;

describe('the statement of a poll', () => {
  it('is narrowed to the tenant of the token, whatever the scope says', () => {
    for (const scope of [['*'], ['globex'], ['*', 'agent-1']]) {
      const { text, values } = rolledBackQuery({ ...ASKED, scope });
      expect(text).toMatch(/WHERE seq IS NOT NULL AND tenant = \$1\b/);
      expect([values[0], values.includes('globex')]).toEqual(['acme', false]);
    }
  });

  it('is narrowed part by part, and not where a part stands for any', () => {
    expect(rolledBackQuery({ ...ASKED, scope: ['acme', '*', 'run-1', 'order', '4711'] })).toMatchObject({
      text: expect.stringMatching(
        /WHERE seq IS NOT NULL AND tenant = \$1 AND run_id = \$2 AND starts_with\(subject_ref, \$3\) ORDER BY log_partition, seq, member LIMIT \$4$/,
      ) as unknown,
      values: ['acme', 'run-1', 'order', 6],
    });
    expect(rolledBackQuery({ ...ASKED, tenant: undefined }).text).toContain('WHERE seq IS NOT NULL ORDER BY');
  });

  it('begins behind the cursor in every partition, and at the beginning of one that the cursor does not know', () => {
    const { text, values } = rolledBackQuery({
      ...ASKED,
      after: [
        [0, 7, 0],
        [2, 9, 3],
      ],
    });
    expect(text).toContain(
      '((log_partition = $2 AND (seq, member) > ($3, $4)) OR (log_partition = $5 AND (seq, member) > ($6, $7)) OR log_partition NOT IN ($8, $9)) ORDER BY log_partition, seq, member LIMIT $10',
    );
    expect(values).toEqual(['acme', 0, 7, 0, 2, 9, 3, 0, 2, 6]);
  });

  it('orders by the mark as a number: a column of the answer that had its name would be ordered by instead', () => {
    expect(rolledBackQuery(ASKED).text).toMatch(/^SELECT log_partition, seq, member, doc FROM /);
  });
});

describe('the statement of the report', () => {
  it('is narrowed to the tenant and the consumer, which are parameters', () => {
    const { text, values } = reportQuery('acme', 'mailer', 5);
    expect(text).toContain('WHERE tenant = $1 AND consumer = $2 GROUP BY tenant, consumer, mode');
    expect(values).toEqual(['acme', 'mailer', 6]);
    expect(reportQuery(undefined, undefined, 5).text).not.toContain('tenant =');
  });
});

describe('reads about consumers', () => {
  it('sum what was answered by connections that no poll waits for', async () => {
    const asked: string[] = [];
    const pool = (name: string): Pool =>
      ({
        query: (text: string) => {
          asked.push(text.includes('AS now') ? 'the time' : name);
          return Promise.resolve({ rows: [] });
        },
      }) as unknown as Pool; // what reads ask of one
    const queries = new ConsumerQueries(pool('lists'), pool('sums'));
    await queries.rolledBack(ASKED);
    await queries.report('acme', undefined, 5);
    expect(asked.filter((one) => one !== 'the time')).toEqual(['lists', 'sums']);
  });
});
