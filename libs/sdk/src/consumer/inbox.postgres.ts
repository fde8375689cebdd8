// An inbox in the consumer's own PostgreSQL: its rows and ours change in one transaction. Brings no driver: any pool that speaks like `pg` will do.
//
// Tables: recourse_inbox_mark, _commit, _own, _emission, _ack; each row has the name of its consumer, so that several share a database.
// Locks:  an apply holds the consumer's advisory lock alone, derives hold it together; it ends with the transaction. Within a process they take
//         turns before they take a connection: partitions that wait for each other leave the pool to the one that works.
// Breaks: a connection that ends is told and not used again; the transaction on it fails, and whoever asked for it tries anew. Without a
//         listener the 'error' event of a driver ends the process.
import type { CommitRef, Emission, RollbackAcknowledged } from '@recourse/messages';
import type { CommitState, Inbox, InboxSession, OwnCommit } from './inbox.port.js';
import { Turns } from './turns.js';

/** A connection within a transaction. `command`: what the database did, as `pg` says it. */
export interface SqlClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[]; readonly command?: string }>;
}

type OnError = (cause: Error) => void;

/** What says by an event that a connection broke, as the pool and the clients of `pg` do. */
interface Breakable {
  on?(event: 'error', listener: OnError): unknown;
  removeListener?(event: 'error', listener: OnError): unknown;
}

/** A pool of connections, as that of `pg` is one. */
export interface SqlPool<Client extends SqlClient = SqlClient> extends Breakable {
  connect(): Promise<Client & Breakable & { release(destroy?: boolean): void }>;
}

/** Statements that make the tables where they are not there yet. */
const TABLES: readonly string[] = [
  'CREATE TABLE IF NOT EXISTS recourse_inbox_mark (consumer text, name text, content text NOT NULL, PRIMARY KEY (consumer, name))',
  'CREATE TABLE IF NOT EXISTS recourse_inbox_commit (consumer text, run_id text, commit_id text, state text NOT NULL, PRIMARY KEY (consumer, run_id, commit_id))',
  'CREATE TABLE IF NOT EXISTS recourse_inbox_own (consumer text, parent_run_id text, parent_commit_id text, run_id text, commit_id text, PRIMARY KEY (consumer, parent_run_id, parent_commit_id, run_id, commit_id))',
  'CREATE TABLE IF NOT EXISTS recourse_inbox_emission (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, consumer text, run_id text, commit_id text, kind text NOT NULL, ref text, emitted_at bigint NOT NULL)',
  'CREATE INDEX IF NOT EXISTS recourse_inbox_emission_of ON recourse_inbox_emission (consumer, run_id, commit_id)',
  'CREATE TABLE IF NOT EXISTS recourse_inbox_ack (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, consumer text, event_id text, content text NOT NULL, UNIQUE (consumer, event_id))',
];

/** The inbox of one consumer in a database of its own. The handler's transaction is the connection that `pool` gave. */
export class PostgresInbox<Client extends SqlClient = SqlClient> implements Inbox<Client> {
  private readonly turns = new Turns();

  /** `onTrouble` hears of connections that broke. One that nobody used is replaced by the pool; one within a transaction takes that with it. */
  constructor(
    private readonly pool: SqlPool<Client>,
    private readonly consumer: string,
    private readonly onTrouble: (cause: unknown) => void = () => undefined,
  ) {
    pool.on?.('error', onTrouble);
  }

  /** Makes the tables; call it once before the consumer starts. Errors: those of the database. */
  async prepare(): Promise<void> {
    await this.transaction(async (client) => {
      // Two processes that start at once would make the same table twice.
      await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', ['recourse_inbox']);
      for (const statement of TABLES) await client.query(statement);
    });
  }

  transact<T>(kind: 'apply' | 'derive', work: (session: InboxSession<Client>) => Promise<T>): Promise<T> {
    return this.turns.take(kind, () =>
      this.transaction(async (client) => {
        await client.query(
          `SELECT pg_advisory_xact_lock${kind === 'apply' ? '' : '_shared'}(hashtext('recourse_inbox'), hashtext($1))`,
          [this.consumer],
        );
        return work(new PostgresSession(client, this.consumer));
      }),
    );
  }

  private async transaction<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    const watch = this.watch(client);
    let isBroken = true;
    try {
      // Who waited for the lock has to see what was committed meanwhile, whatever the database is set to.
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      const result = await work(client);
      const { command } = await client.query('COMMIT');
      // The database takes the end of a transaction in which a statement failed, and keeps nothing of it.
      if (command === 'ROLLBACK')
        throw new Error('a statement of the transaction failed and its error was caught: nothing of it was kept');
      isBroken = false;
      return result;
    } catch (cause) {
      isBroken = !(await client.query('ROLLBACK').then(
        () => true,
        () => false,
      ));
      throw cause;
    } finally {
      // A connection that neither committed nor rolled back is in nobody knows which state.
      client.release(watch.end(isBroken));
    }
  }

  /** Hears of a connection in use: the pool listens only to those that nobody uses. The end says whether it is to be destroyed; such a one may still break, and is listened to. */
  private watch(client: Breakable): { end(isBroken: boolean): boolean } {
    let hasEnded = false;
    const listener: OnError = (cause) => {
      hasEnded = true;
      this.onTrouble(cause);
    };
    client.on?.('error', listener);
    return {
      end: (isBroken) => {
        if (!isBroken && !hasEnded) client.removeListener?.('error', listener);
        return isBroken || hasEnded;
      },
    };
  }
}

/** What a transaction does with the rows of its consumer. */
class PostgresSession<Client extends SqlClient> implements InboxSession<Client> {
  constructor(
    readonly tx: Client,
    private readonly consumer: string,
  ) {}

  async mark(name: string): Promise<string | null> {
    const [row] = await this.run('SELECT content FROM recourse_inbox_mark WHERE consumer = $1 AND name = $2', name);
    return textOr(row?.['content']);
  }

  async keepMark(name: string, text: string): Promise<void> {
    await this.run(
      'INSERT INTO recourse_inbox_mark VALUES ($1, $2, $3) ON CONFLICT (consumer, name) DO UPDATE SET content = excluded.content',
      name,
      text,
    );
  }

  async stateOf({ run_id, commit_id }: CommitRef): Promise<CommitState | null> {
    const [row] = await this.run(
      'SELECT state FROM recourse_inbox_commit WHERE consumer = $1 AND run_id = $2 AND commit_id = $3',
      run_id,
      commit_id,
    );
    return textOr(row?.['state']) as CommitState | null; // keepState wrote it
  }

  async keepState({ run_id, commit_id }: CommitRef, state: CommitState): Promise<void> {
    await this.run(
      'INSERT INTO recourse_inbox_commit VALUES ($1, $2, $3, $4) ON CONFLICT (consumer, run_id, commit_id) DO UPDATE SET state = excluded.state',
      run_id,
      commit_id,
      state,
    );
  }

  async keepOwn({ commit, parents }: OwnCommit): Promise<void> {
    await this.run(
      'INSERT INTO recourse_inbox_own SELECT $1, p.run_id, p.commit_id, $4, $5 FROM unnest($2::text[], $3::text[]) AS p (run_id, commit_id) ON CONFLICT DO NOTHING',
      ...columnsOf(parents),
      commit.run_id,
      commit.commit_id,
    );
  }

  async madeFrom(commits: readonly CommitRef[]): Promise<readonly CommitRef[]> {
    const rows = await this.run(
      'SELECT DISTINCT o.run_id, o.commit_id FROM recourse_inbox_own o JOIN unnest($2::text[], $3::text[]) AS p (run_id, commit_id) ON o.parent_run_id = p.run_id AND o.parent_commit_id = p.commit_id WHERE o.consumer = $1 ORDER BY 1, 2',
      ...columnsOf(commits),
    );
    return rows.map((row) => ({ run_id: String(row['run_id']), commit_id: String(row['commit_id']) }));
  }

  async keepEmission({ run_id, commit_id }: CommitRef, { kind, ref, emitted_at }: Emission): Promise<void> {
    await this.run(
      'INSERT INTO recourse_inbox_emission (consumer, run_id, commit_id, kind, ref, emitted_at) VALUES ($1, $2, $3, $4, $5, $6)',
      run_id,
      commit_id,
      kind,
      ref,
      emitted_at,
    );
  }

  async emissionsOf(commits: readonly CommitRef[]): Promise<readonly Emission[]> {
    const rows = await this.run(
      'SELECT e.kind, e.ref, e.emitted_at::text AS emitted_at FROM recourse_inbox_emission e JOIN unnest($2::text[], $3::text[]) AS c (run_id, commit_id) USING (run_id, commit_id) WHERE e.consumer = $1 ORDER BY e.place',
      ...columnsOf(commits),
    );
    return rows.map(emissionOf);
  }

  async owe(ack: RollbackAcknowledged): Promise<void> {
    await this.run(
      'INSERT INTO recourse_inbox_ack (consumer, event_id, content) VALUES ($1, $2, $3) ON CONFLICT (consumer, event_id) DO NOTHING',
      ack.event_id,
      JSON.stringify(ack),
    );
  }

  async owed(limit: number): Promise<readonly RollbackAcknowledged[]> {
    const rows = await this.run(
      'SELECT content FROM recourse_inbox_ack WHERE consumer = $1 ORDER BY place LIMIT $2',
      limit,
    );
    return rows.map((row) => JSON.parse(String(row['content'])) as RollbackAcknowledged); // owe wrote it
  }

  async settle(ids: readonly string[]): Promise<void> {
    await this.run('DELETE FROM recourse_inbox_ack WHERE consumer = $1 AND event_id = ANY($2)', ids);
  }

  private async run(text: string, ...values: unknown[]): Promise<readonly Row[]> {
    return (await this.tx.query(text, [this.consumer, ...values])).rows as readonly Row[]; // the statements name their columns
  }
}

/** Commits as two columns of a statement. */
function columnsOf(commits: readonly CommitRef[]): [string[], string[]] {
  return [commits.map(({ run_id }) => run_id), commits.map(({ commit_id }) => commit_id)];
}

type Row = Readonly<Record<string, unknown>>;

function emissionOf(row: Row): Emission {
  return { kind: String(row['kind']), ref: textOr(row['ref']), emitted_at: Number(row['emitted_at']) };
}

function textOr(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
