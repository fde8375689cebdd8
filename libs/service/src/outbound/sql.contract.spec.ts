// Reads of people: what takes too long says so, and no list waits behind a sum.
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { createPool } from './postgres-connection.js';
import { urlOf, HAS_STACK } from './postgres.testing.js';
import { Queries } from './sql.js';

class Reads extends Queries {
  list(seconds: number): Promise<readonly object[]> {
    return this.rows('list', sleeping(seconds));
  }
  sum(seconds: number): Promise<readonly object[]> {
    return this.summed('sum', sleeping(seconds));
  }
  twice(between: () => Promise<unknown>): Promise<readonly (readonly object[])[]> {
    return this.atOnce(async (ask) => {
      const first = await ask('read', MARKS);
      await between();
      return [first, await ask('read', MARKS)];
    });
  }
}

const MARKS = { text: 'SELECT mark FROM sql_marks', values: [] };
const sleeping = (seconds: number) => ({ text: 'SELECT pg_sleep($1)', values: [seconds] });

(HAS_STACK ? describe : describe.skip)('what people read of a database', () => {
  const pools: Pool[] = [];
  const pool = (connectionsMax: number, statementTimeoutMs?: number): Pool => {
    const made = createPool({
      url: urlOf('postgres'),
      connectionsMax,
      ...(statementTimeoutMs === undefined ? {} : { statementTimeoutMs }),
    });
    pools.push(made);
    return made;
  };
  const ended = (): Promise<unknown> => Promise.all(pools.splice(0).map((one) => one.end()));
  afterEach(ended);
  afterAll(ended);

  it('is given up with a code of its own when its time is up, and the next read is answered', async () => {
    const reads = new Reads(pool(1, 200));
    await expect(reads.list(20)).rejects.toMatchObject({ code: 'READ_TOO_LONG' });
    await expect(reads.sum(20)).rejects.toMatchObject({ code: 'READ_TOO_LONG' });
    expect(await reads.list(0)).toHaveLength(1);
  });

  it('is a list that waits behind no sum', async () => {
    const reads = new Reads(pool(1), pool(1, 3_000));
    const sum = reads.sum(20).catch(() => 'sum');
    expect(await Promise.race([sum, reads.list(0).then(() => 'list')])).toBe('list');
    await sum;
  });

  it('is of one moment where several statements stand beside each other', async () => {
    const other = pool(1);
    await other.query('CREATE TABLE sql_marks (mark int)');
    try {
      const [first, second] = await new Reads(pool(1)).twice(() => other.query('INSERT INTO sql_marks VALUES (1)'));
      expect([first, second]).toEqual([[], []]);
      expect((await other.query(MARKS.text)).rows).toEqual([{ mark: 1 }]);
    } finally {
      await other.query('DROP TABLE sql_marks');
    }
  });

  it('names the database where that is what does not answer', async () => {
    const unreachable = createPool({ url: 'postgres://nobody:none@127.0.0.1:1/none', connectionsMax: 1 });
    pools.push(unreachable);
    await expect(new Reads(unreachable).list(0)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });
});
