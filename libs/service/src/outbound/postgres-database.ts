// A service's database: brings the tables to shape at start, and answers the reads of people.
import type { KindSpec, PartitionStore, StoreFactory } from '@recourse/event-log';
import type { Client, Pool } from 'pg';
import { DataSource } from 'typeorm';
import type { MigrationInterface } from 'typeorm';
import {
  coded,
  codedRead,
  CONNECT_TIMEOUT_MS,
  createPool,
  FINDS,
  goodbye,
  ListenedClient,
  PAGES,
} from './postgres-connection.js';
import type { PostgresOptions } from './postgres-connection.js';
import { JoinedReads } from './joined-reads.js';
import { mendedStores } from './mended-stores.js';
import { countStatement, pageStatement } from './page-statements.js';
import { migrationOf, otherVersion, tableOf, tablesOf } from './postgres-schema.js';
import type { ProjectedLog } from './postgres-schema.js';
import { rowOf } from './postgres-statements.js';
import type { StoredRow } from './postgres-statements.js';
import { createPostgresStores } from './postgres-store.js';
import { limitTo } from './sql.js';
import type { Page, PageQuery, PlacedRow, ProjectionReads } from '../projection-reads.js';

/** Instances of a service that start together migrate one after the other. */
const MIGRATION_LOCK = 7_265_636;
const MIGRATION_TIMEOUT_MS = 60_000;

/** Connections of the loop, of lists, and of what a request finds before it asks for something: none of these waits for another. */
interface DatabasePools {
  readonly pool: Pool;
  readonly lists: Pool;
  readonly finds: Pool;
}

/** A row as a statement here gives it. */
interface ProjectedRow extends StoredRow {
  readonly log_partition: number;
}

/** A service's own database, migrated. */
export class PostgresDatabase implements ProjectionReads, StoreFactory {
  private readonly pool: Pool;
  private readonly lists: Pool;
  private readonly finds: Pool;
  private readonly commands = new Map<string, JoinedReads<PlacedRow>>();

  private constructor(
    readonly stores: StoreFactory,
    private readonly logs: readonly ProjectedLog[],
    { pool, lists, finds }: DatabasePools,
  ) {
    this.pool = pool;
    this.lists = lists;
    this.finds = finds;
  }

  /** Connects and brings the tables to shape. Errors: Failure(DATABASE_UNAVAILABLE). */
  static async open(options: PostgresOptions, logs: readonly ProjectedLog[]): Promise<PostgresDatabase> {
    const { name, migration } = migrationOf(logs);
    const shape = {
      url: options.url,
      applicationName: 'recourse',
      migrations: [migration],
      tables: tablesOf(logs),
    };
    const makeTables = async (own?: readonly string[]): Promise<void> =>
      (await migrate({ ...shape, onlyOver: own })).destroy();
    await makeTables();
    const pool = createPool(options);
    return new PostgresDatabase(
      mendedStores(createPostgresStores(pool, logs), () => makeTables([name])),
      logs,
      {
        pool,
        lists: createPool({ ...options, ...PAGES }),
        finds: createPool({ ...options, ...FINDS }),
      },
    );
  }

  partition(log: string, partition: number): PartitionStore {
    return this.stores.partition(log, partition);
  }

  page(query: PageQuery): Promise<Page> {
    return codedRead('read', async () => {
      const { text, values } = pageStatement(this.known(query), query);
      const pool = query.isOne === true ? this.finds : this.lists;
      const found = await pool.query<ProjectedRow>(text, [...values]);
      const { items, more } = limitTo(found.rows, query.limit);
      const last = more ? items.at(-1) : undefined;
      return {
        rows: items.map((row) => placed(query.kind, row)),
        next: last ? { partition: last.log_partition, group: last.group_key, key: last.row_key } : null,
      };
    });
  }

  count(query: Pick<PageQuery, 'log' | 'kind' | 'where'>): Promise<number> {
    return codedRead('count', async () => {
      const { text, values } = countStatement(this.known(query), query);
      return (await this.lists.query<{ readonly count: number }>(text, [...values])).rows[0]?.count ?? 0;
    });
  }

  /** The row of a command, by the pool of the loop: it is asked for many times a second, by each who waits, and all of them with one statement. */
  commandRow(log: string, commandId: string): Promise<PlacedRow | null> {
    const { table } = this.known({ log, kind: 'command' });
    const reads = this.commands.get(log) ?? new JoinedReads((ids) => this.commandRows(log, tableOf(log, table), ids));
    this.commands.set(log, reads);
    return reads.read(commandId);
  }

  private commandRows(log: string, table: string, ids: readonly string[]): Promise<ReadonlyMap<string, PlacedRow>> {
    return coded('read commands', async () => {
      const { rows } = await this.pool.query<ProjectedRow & { readonly command_id: string }>({
        name: `recourse_commands_${log}`,
        text: `SELECT log_partition, group_key, row_key, due_at, doc, command_id FROM ${table} WHERE command_id = ANY($1)`,
        values: [ids],
      });
      return new Map(rows.map((row) => [row.command_id, placed('command', row)]));
    });
  }

  /** Errors: Failure(DATABASE_UNAVAILABLE). */
  ping(): Promise<void> {
    return coded('ping', async () => {
      await this.pool.query('SELECT 1');
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.pool, this.lists, this.finds].map((pool) => pool.end()));
  }

  private known({ log, kind }: Pick<PageQuery, 'log' | 'kind'>): KindSpec {
    const spec = this.logs.find((one) => one.log === log)?.kinds.find((one) => one.kind === kind);
    if (!spec) throw new TypeError(`no kind ${kind} in ${log}`);
    return spec;
  }
}

export interface MigrateOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** Qualified names of tables that the migrations make: where one is missing, what was migrated before counts as not done. */
  readonly tables?: readonly string[];
  /** Migrations beside which none of another name may stand: who runs already replaces no tables that a later start made. */
  readonly onlyOver?: readonly string[] | undefined;
}

/**
 * Runs migrations, one process at a time, and returns the source that ran them.
 *
 * Errors: Failure(DATABASE_UNAVAILABLE); Failure(TABLES_REPLACED) where `onlyOver` is not what stands.
 */
export function migrate({
  url,
  migrations,
  tables = [],
  applicationName,
  onlyOver,
}: MigrateOptions): Promise<DataSource> {
  const source = new DataSource({
    type: 'postgres',
    url,
    applicationName,
    poolSize: 1,
    migrationsTableName: 'migrations',
    migrations: [...migrations],
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    logging: false,
    poolErrorHandler: () => undefined,
    extra: { Client: ListenedClient },
  });
  return coded('migrate', () =>
    locked(url, async (client) => {
      if (onlyOver !== undefined && (await isAnyOther(client, onlyOver))) throw otherVersion('this service');
      if (await isAnyMissing(client, tables)) await client.query('DROP TABLE IF EXISTS migrations');
      return initialised(source);
    }),
  );
}

/** Runs work while no other instance migrates this database. */
async function locked<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const lock = new ListenedClient({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: MIGRATION_TIMEOUT_MS,
  });
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await work(lock);
  } finally {
    await goodbye(lock);
  }
}

async function isAnyMissing(client: Client, tables: readonly string[]): Promise<boolean> {
  const { rows } = await client.query<{ readonly missing: boolean }>(
    'SELECT bool_or(to_regclass(name) IS NULL) AS missing FROM unnest($1::text[]) AS name',
    [tables],
  );
  return rows[0]?.missing === true;
}

async function isAnyOther(client: Client, names: readonly string[]): Promise<boolean> {
  if (await isAnyMissing(client, ['migrations'])) return false;
  const { rows } = await client.query<{ readonly other: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM migrations WHERE name <> ALL($1::text[])) AS other',
    [names],
  );
  return rows[0]?.other === true;
}

async function initialised(source: DataSource): Promise<DataSource> {
  try {
    await source.initialize();
    await source.runMigrations({ transaction: 'all' });
    return source;
  } catch (error) {
    if (source.isInitialized) await source.destroy();
    throw error;
  }
}

function placed(kind: string, row: ProjectedRow): PlacedRow {
  return { partition: row.log_partition, ...rowOf(kind, row) };
}
