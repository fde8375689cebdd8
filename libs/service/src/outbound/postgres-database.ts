// A service's database: brings the tables to shape at start, and answers the reads of people.
import { columnText } from '@recourse/event-log';
import type { ColumnValue, KindSpec, PartitionStore, StoreFactory } from '@recourse/event-log';
import type { Client, Pool } from 'pg';
import { DataSource } from 'typeorm';
import type { EntitySchema, MigrationInterface, SelectQueryBuilder } from 'typeorm';
import {
  CLIENT_GRACE_MS,
  coded,
  codedRead,
  CONNECT_TIMEOUT_MS,
  createPool,
  ListenedClient,
} from './postgres-connection.js';
import type { PostgresOptions } from './postgres-connection.js';
import { JoinedReads } from './joined-reads.js';
import { mendedStores } from './mended-stores.js';
import { entityName, entityOf, migrationOf, tableOf, tablesOf } from './postgres-schema.js';
import type { ProjectedEntity, ProjectedLog } from './postgres-schema.js';
import { rowOf } from './postgres-statements.js';
import { createPostgresStores } from './postgres-store.js';
import { limitTo } from './sql.js';
import type { Page, PageQuery, PlacedRow, ProjectionReads } from '../projection-reads.js';

/** Instances of a service that start together migrate one after the other. */
const MIGRATION_LOCK = 7_265_636;
const MIGRATION_TIMEOUT_MS = 60_000;
const READ_TIMEOUT_MS = 10_000;

/** A service's own database, migrated. */
export class PostgresDatabase implements ProjectionReads, StoreFactory {
  private readonly commands = new Map<string, JoinedReads<PlacedRow>>();

  private constructor(
    readonly stores: StoreFactory,
    private readonly pool: Pool,
    private readonly source: DataSource,
    private readonly logs: readonly ProjectedLog[],
  ) {}

  /** Connects and brings the tables to shape. Errors: Failure(DATABASE_UNAVAILABLE). */
  static async open(options: PostgresOptions, logs: readonly ProjectedLog[]): Promise<PostgresDatabase> {
    const shape = {
      url: options.url,
      applicationName: 'recourse-reads',
      migrations: [migrationOf(logs)],
      tables: tablesOf(logs),
    };
    const source = await migrate({
      ...shape,
      poolSize: 4,
      statementTimeoutMs: READ_TIMEOUT_MS,
      entities: logs.flatMap(({ log, kinds }) => kinds.map((spec) => entityOf(log, spec))),
    });
    const pool = createPool(options);
    const makeTables = async (): Promise<void> => (await migrate(shape)).destroy();
    return new PostgresDatabase(mendedStores(createPostgresStores(pool, logs), makeTables), pool, source, logs);
  }

  partition(log: string, partition: number): PartitionStore {
    return this.stores.partition(log, partition);
  }

  page(query: PageQuery): Promise<Page> {
    return codedRead('read', async () => {
      const select = this.selected(query);
      if (query.after)
        select.andWhere('(r.log_partition, r.group_key, r.row_key) > (:ap, :ag, :ak)', {
          ap: query.after.partition,
          ag: query.after.group,
          ak: query.after.key,
        });
      const found = await select
        .orderBy('r.log_partition')
        .addOrderBy('r.group_key')
        .addOrderBy('r.row_key')
        .limit(query.limit + 1)
        .getMany();
      const { items, more } = limitTo(found, query.limit);
      const rows = items.map((entity) => placed(query.kind, entity));
      const last = more ? items.at(-1) : undefined;
      return { rows, next: last ? { partition: last.log_partition, group: last.group_key, key: last.row_key } : null };
    });
  }

  count(query: Pick<PageQuery, 'log' | 'kind' | 'where'>): Promise<number> {
    return codedRead('count', () => this.selected(query).getCount());
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
      const { rows } = await this.pool.query<ProjectedEntity & { readonly command_id: string }>({
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
    await Promise.all([this.source.destroy(), this.pool.end()]);
  }

  private selected(query: Pick<PageQuery, 'log' | 'kind' | 'where'>): SelectQueryBuilder<ProjectedEntity> {
    const spec = this.known(query);
    const select = this.source
      .getRepository<ProjectedEntity>(entityName(query.log, query.kind))
      .createQueryBuilder('r');
    for (const [n, [name, value]] of Object.entries(query.where).entries()) {
      if (!spec.columns.some((column) => column.name === name) && name !== 'group_key' && name !== 'row_key')
        throw new TypeError(`no column ${name} in ${query.kind}`);
      if (value === null) select.andWhere(`r.${name} IS NULL`);
      else if (isList(value))
        select.andWhere(`r.${name} = ANY(:p${String(n)})`, {
          [`p${String(n)}`]: value.map((one) => comparable(name, one)),
        });
      else select.andWhere(`r.${name} = :p${String(n)}`, { [`p${String(n)}`]: comparable(name, value) });
    }
    return select;
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
  readonly entities?: readonly EntitySchema<ProjectedEntity>[];
  /** Qualified names of tables that the migrations make: where one is missing, what was migrated before counts as not done. */
  readonly tables?: readonly string[];
  /** Connections of the source. Default 1. */
  readonly poolSize?: number;
  /** Longest statement, milliseconds; none when absent. */
  readonly statementTimeoutMs?: number;
}

/** Runs migrations, one process at a time, and returns the source that ran them. Errors: Failure(DATABASE_UNAVAILABLE). */
export function migrate({
  url,
  migrations,
  entities = [],
  tables = [],
  poolSize = 1,
  statementTimeoutMs,
  applicationName,
}: MigrateOptions): Promise<DataSource> {
  const source = new DataSource({
    type: 'postgres',
    url,
    applicationName,
    poolSize,
    migrationsTableName: 'migrations',
    migrations: [...migrations],
    entities: [...entities],
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    logging: false,
    poolErrorHandler: () => undefined,
    extra: {
      Client: ListenedClient,
      ...(statementTimeoutMs === undefined
        ? {}
        : { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + CLIENT_GRACE_MS }),
    },
  });
  return coded('migrate', () =>
    locked(url, async (client) => {
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
    await lock.end();
  }
}

async function isAnyMissing(client: Client, tables: readonly string[]): Promise<boolean> {
  const { rows } = await client.query<{ readonly missing: boolean }>(
    'SELECT bool_or(to_regclass(name) IS NULL) AS missing FROM unnest($1::text[]) AS name',
    [tables],
  );
  return rows[0]?.missing === true;
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

function isList(value: ColumnValue | readonly string[]): value is readonly string[] {
  return Array.isArray(value);
}

function placed(kind: string, entity: ProjectedEntity): PlacedRow {
  return { partition: entity.log_partition, ...rowOf(kind, entity) };
}

/** Columns hold shortened text; keys do not. */
function comparable(name: string, value: Exclude<ColumnValue, null>): Exclude<ColumnValue, null> {
  return typeof value === 'string' && name !== 'group_key' && name !== 'row_key' ? columnText(value) : value;
}
