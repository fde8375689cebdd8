import { describe, expect, it } from '@jest/globals';
import type { KindSpec } from '@recourse/event-log';
import { countStatement, pageStatement } from './page-statements.js';
import { codedRead } from './postgres-connection.js';

const SPEC: KindSpec = {
  kind: 'step',
  table: 'steps',
  columns: [{ name: 'tenant', type: 'text', of: () => null }],
};
const LOG = 'recourse.recoveries';
const LONG = 'x'.repeat(300);

describe('a page of rows', () => {
  it('of a run goes by the primary key of every partition, which begins with the partition', () => {
    const { text, values } = pageStatement(SPEC, {
      log: LOG,
      where: { tenant: 'acme', group_key: 'run-1' },
      limit: 10,
    });
    expect(text).toContain(
      'WHERE log_partition = ANY(ARRAY(SELECT log_partition FROM "recoveries"."heads")) AND tenant = $1 AND group_key = $2 ORDER BY log_partition, group_key, row_key LIMIT $3',
    );
    expect(values).toEqual(['acme', 'run-1', 11]);
  });

  it('compares what columns hold, which is shortened, and names of rows, which are not', () => {
    const { values } = pageStatement(SPEC, { log: LOG, where: { tenant: [LONG], row_key: LONG }, limit: 1 });
    expect(values).toEqual([[LONG.slice(0, 200)], LONG, 2]);
  });

  it('is cut by the last row seen, and counted whole', () => {
    const after = { partition: 3, group: 'g', key: 'k' };
    const { text, values } = pageStatement(SPEC, { log: LOG, where: { tenant: null }, after, limit: 1 });
    expect(text).toContain('WHERE tenant IS NULL AND (log_partition, group_key, row_key) > ($1, $2, $3) ORDER');
    expect(values).toEqual([3, 'g', 'k', 2]);
    expect(countStatement(SPEC, { log: LOG, where: { tenant: 'acme' } })).toEqual({
      text: 'SELECT count(*)::int AS count FROM "recoveries"."steps" WHERE tenant = $1',
      values: ['acme'],
    });
  });

  it('names no column that the rows do not have', () => {
    expect(() => pageStatement(SPEC, { log: LOG, where: { wish: 'x' }, limit: 1 })).toThrow('no column wish in step');
  });
});

describe('a read that had no connection in time', () => {
  it.each([
    ['READS_BUSY', 'others had them all', 'timeout exceeded when trying to connect'],
    ['DATABASE_UNAVAILABLE', 'none could be made', 'Connection terminated due to connection timeout'],
  ])('says %s where %s', async (code, _why, message) => {
    await expect(codedRead('list', () => Promise.reject(new Error(message)))).rejects.toMatchObject({ code });
  });
});
