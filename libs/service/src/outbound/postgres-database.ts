// A service's database: brings the tables to shape at start, and answers the reads of people.
import { columnText, decodeDoc } from '@recourse/event-log';
import type { ColumnValue, PartitionStore, StoreFactory } from '@recourse/event-log';
import { Client } from 'pg';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import type { SelectQueryBuilder } from 'typeorm';
import { coded, createPool } from './postgres-connection.js';
import type { PostgresOptions } from './postgres-connection.js';
import { entityName, entityOf, migrationOf } from './postgres-schema.js';
import type { ProjectedEntity, ProjectedLog } from './postgres-schema.js';
import { createPostgresStores } from './postgres-store.js';
import type { Page, PageQuery, PlacedRow, ProjectionReads } from '../projection-reads.js';

/** Instances of a service that start together migrate one after the other. */
const MIGRATION_LOCK = 7_265_636;
const MIGRATION_TIMEOUT_MS = 60_000;

/** A service's own database, migrated. */
export class PostgresDatabase implements ProjectionReads, StoreFactory {
  private constructor(
    readonly stores: StoreFactory,
    private readonly pool: Pool,
    private readonly source: DataSource,
    private readonly logs: readonly ProjectedLog[],
  ) {}

  /** Connects and brings the tables to shape. Errors: Failure(DATABASE_UNAVAILABLE). */
  static async open(options: PostgresOptions, logs: readonly ProjectedLog[]): Promise<PostgresDatabase> {
    const source = new DataSource({
      type: 'postgres',
      url: options.url,
      applicationName: 'recourse-reads',
      poolSize: 4,
      migrationsTableName: 'migrations',
      migrations: [migrationOf(logs)],
      entities: logs.flatMap(({ log, kinds }) => kinds.map((spec) => entityOf(log, spec))),
      connectTimeoutMS: 3_000,
      logging: false,
      poolErrorHandler: () => undefined,
      extra: { statement_timeout: 10_000, query_timeout: 12_000 },
    });
    await coded('migrate', () => migrate(options.url, source));
    const pool = createPool(options);
    return new PostgresDatabase(createPostgresStores(pool, logs), pool, source, logs);
  }

  partition(log: string, partition: number): PartitionStore {
    return this.stores.partition(log, partition);
  }

  page(query: PageQuery): Promise<Page> {
    return coded('read', async () => {
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
      const rows = found.slice(0, query.limit).map((entity) => rowOf(query.kind, entity));
      const last = found.length > query.limit ? found[query.limit - 1] : undefined;
      return { rows, next: last ? { partition: last.log_partition, group: last.group_key, key: last.row_key } : null };
    });
  }

  count(query: Pick<PageQuery, 'log' | 'kind' | 'where'>): Promise<number> {
    return coded('count', () => this.selected(query).getCount());
  }

  /** The row of a command, by the pool of the loop: it is asked for many times a second. */
  commandRow(log: string, commandId: string): Promise<PlacedRow | null> {
    return coded('read command', async () => {
      const { rows } = await this.pool.query<ProjectedEntity>({
        name: `recourse_command_${log}`,
        text: `SELECT log_partition, group_key, row_key, due_at, doc FROM "${entityName(log, 'command').replace('.', '"."')}" WHERE command_id = $1 LIMIT 1`,
        values: [commandId],
      });
      return rows[0] ? rowOf('command', rows[0]) : null;
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
    const { spec } = this.known(query);
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

  private known({ log, kind }: Pick<PageQuery, 'log' | 'kind'>): { readonly spec: ProjectedLog['kinds'][number] } {
    const spec = this.logs.find((one) => one.log === log)?.kinds.find((one) => one.kind === kind);
    if (!spec) throw new TypeError(`no kind ${kind} in ${log}`);
    return { spec };
  }
}

/** Initialises a source and runs its migrations, one process at a time. Errors: the database's; the source is closed then. */
export async function migrate(url: string, source: DataSource): Promise<void> {
  const lock = new Client({
    connectionString: url,
    connectionTimeoutMillis: 3_000,
    query_timeout: MIGRATION_TIMEOUT_MS,
  });
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await source.initialize();
    await source.runMigrations({ transaction: 'all' });
  } catch (error) {
    if (source.isInitialized) await source.destroy();
    throw error;
  } finally {
    await lock.end();
  }
}

function isList(value: ColumnValue | readonly string[]): value is readonly string[] {
  return Array.isArray(value);
}

function rowOf(kind: string, { log_partition, group_key, row_key, due_at, doc }: ProjectedEntity): PlacedRow {
  return {
    partition: log_partition,
    kind,
    group: group_key,
    key: row_key,
    dueAt: due_at === null ? null : Number(due_at),
    doc: decodeDoc(doc),
  };
}

/** Columns hold shortened text; keys do not. */
function comparable(name: string, value: Exclude<ColumnValue, null>): Exclude<ColumnValue, null> {
  return typeof value === 'string' && name !== 'group_key' && name !== 'row_key' ? columnText(value) : value;
}
