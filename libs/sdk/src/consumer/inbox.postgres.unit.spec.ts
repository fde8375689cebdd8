// Connections of an inbox that break: told, never thrown at the process, and not used again.
import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { PostgresInbox } from './inbox.postgres.js';

const ENDED = new Error('Connection terminated unexpectedly');

/** A connection as `pg` has them: an error event that nobody hears is thrown. */
class Connection extends EventEmitter {
  readonly said: string[] = [];
  released: boolean | undefined | null = null;
  isOver = false;
  /** A statement failed: nothing is kept from then on, and the end is taken all the same. */
  hasFailed = false;

  query(text: string): Promise<{ readonly rows: readonly unknown[]; readonly command: string }> {
    if (this.isOver) return Promise.reject(ENDED);
    this.said.push(text);
    if (text === 'BAD') this.hasFailed = true;
    if (text === 'BAD') return Promise.reject(new Error('duplicate key'));
    return Promise.resolve({ rows: [], command: text === 'COMMIT' && this.hasFailed ? 'ROLLBACK' : text });
  }

  release(destroy?: boolean): void {
    this.released = destroy;
  }
  break(): void {
    this.isOver = true;
    this.emit('error', ENDED);
  }
}

class Connections extends EventEmitter {
  readonly made: Connection[] = [];
  connect(): Promise<Connection> {
    const connection = new Connection();
    this.made.push(connection);
    return Promise.resolve(connection);
  }
}

function stage(): {
  readonly pool: Connections;
  readonly inbox: PostgresInbox<Connection>;
  readonly trouble: unknown[];
} {
  const [pool, trouble]: [Connections, unknown[]] = [new Connections(), []];
  return {
    pool,
    trouble,
    inbox: new PostgresInbox<Connection>(pool, 'mailer', (cause) => {
      trouble.push(cause);
    }),
  };
}

describe('a connection of an inbox that breaks', () => {
  it('while nobody uses it is told', () => {
    const { pool, trouble } = stage();
    pool.emit('error', ENDED);
    expect(trouble).toEqual([ENDED]);
  });

  it('within a transaction takes that with it, is told and destroyed; the next one has another', async () => {
    const { pool, inbox, trouble } = stage();
    await expect(
      inbox.transact('apply', ({ tx }) => {
        tx.break();
        return Promise.resolve(1);
      }),
    ).rejects.toThrow(ENDED);
    expect([trouble, pool.made[0]?.released]).toEqual([[ENDED], true]);
    // What is destroyed may say so once more.
    pool.made[0]?.emit('error', ENDED);
    expect(await inbox.transact('apply', () => Promise.resolve(2))).toBe(2);
    expect([pool.made.length, pool.made[1]?.released, pool.made[1]?.listenerCount('error')]).toEqual([2, false, 0]);
  });

  it('while its tables are made is told and destroyed', async () => {
    const { pool, inbox, trouble } = stage();
    const failed = expect(inbox.prepare()).rejects.toThrow(ENDED);
    await Promise.resolve();
    pool.made[0]?.break();
    await failed;
    expect([trouble, pool.made[0]?.released]).toEqual([[ENDED], true]);
  });

  it('is no matter of a pool that has no events', async () => {
    const connection = { query: () => Promise.resolve({ rows: [] }), release: () => undefined };
    expect(
      await new PostgresInbox({ connect: () => Promise.resolve(connection) }, 'mailer').transact('derive', () =>
        Promise.resolve(3),
      ),
    ).toBe(3);
  });
});

it('a transaction whose work caught the error of a statement has failed: nothing of it was kept', async () => {
  const { pool, inbox } = stage();
  const caught = inbox.transact('derive', async ({ tx }) => tx.query('BAD').catch(() => 'never mind'));
  await expect(caught).rejects.toThrow('nothing of it was kept');
  expect(pool.made[0]?.released).toBe(false);
});

describe('transactions of an inbox', () => {
  it('see what was committed while they waited, whatever the database is set to', async () => {
    const { pool, inbox } = stage();
    await inbox.transact('derive', () => Promise.resolve());
    expect(pool.made[0]?.said[0]).toBe('BEGIN ISOLATION LEVEL READ COMMITTED');
  });

  it('take their turn before a connection: an apply alone, derives together, each as it came', async () => {
    const { pool, inbox } = stage();
    const [order, gates]: [string[], (() => void)[]] = [[], []];
    const asked = (['apply', 'apply', 'derive', 'derive', 'apply'] as const).map((kind, at) =>
      inbox.transact(kind, async () => {
        order.push(`${kind} ${String(at)}`);
        const { promise, resolve } = Promise.withResolvers<null>();
        gates.push(() => {
          resolve(null);
        });
        await promise;
      }),
    );
    const counts: number[] = [];
    for (const open of [1, 1, 2, 1]) {
      for (let turn = 0; turn < 1_000 && gates.length < open; turn += 1) await Promise.resolve();
      counts.push(pool.made.length);
      for (const goOn of gates.splice(0)) goOn();
    }
    expect([counts, order]).toEqual([
      [1, 2, 4, 5],
      ['apply 0', 'apply 1', 'derive 2', 'derive 3', 'apply 4'],
    ]);
    await Promise.all(asked);
  });

  it('go on after one that failed', async () => {
    const { inbox } = stage();
    const failed = inbox.transact('apply', () => Promise.reject(new Error('no')));
    const next = inbox.transact('derive', () => Promise.resolve(1));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe(1);
  });

  it('make their tables in one transaction, whose lock ends with it on whatever connection it was', async () => {
    const { pool, inbox } = stage();
    await inbox.prepare();
    const said = pool.made[0]?.said ?? [];
    expect([said[0], said[1], said.at(-1)]).toEqual([
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      'SELECT pg_advisory_xact_lock(hashtext($1))',
      'COMMIT',
    ]);
  });
});
