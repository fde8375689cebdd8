// Answers of the schema registry in a service's own database, beside its rows: not derived from any log.
import type { KnownSchema, SchemaMemory } from '@recourse/kafka';
import type { Pool } from 'pg';
import { coded, createPool } from './postgres-connection.js';

/** Instances that start together make the table one after the other: one implicit transaction. */
const TABLE = `
SELECT pg_advisory_xact_lock(7265638);
CREATE TABLE IF NOT EXISTS recourse_known_schema (
  id int PRIMARY KEY, schema text NOT NULL, kept_at timestamptz NOT NULL DEFAULT clock_timestamp())`;

const ALL = 'SELECT id, schema FROM recourse_known_schema ORDER BY kept_at, id';

const KEEP = `
INSERT INTO recourse_known_schema (id, schema) VALUES ($1, $2)
ON CONFLICT (id) DO UPDATE SET schema = excluded.schema, kept_at = clock_timestamp()`;

/** Nothing is connected before the first call. A table that was dropped is made again. */
export class PostgresSchemaMemory implements SchemaMemory {
  private readonly pool: Pool;
  private ready: Promise<unknown> | null = null;

  constructor(url: string) {
    this.pool = createPool({ url, connectionsMax: 1, isDurable: true });
  }

  all(): Promise<readonly KnownSchema[]> {
    return this.asked('known schemas', async () => (await this.pool.query<KnownSchema>(ALL)).rows);
  }

  async keep({ id, schema }: KnownSchema): Promise<void> {
    await this.asked('keep a schema', () => this.pool.query(KEEP, [id, schema]));
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private asked<T>(what: string, work: () => Promise<T>): Promise<T> {
    return coded(what, async () => {
      try {
        await (this.ready ??= this.pool.query(TABLE));
        return await work();
      } catch (error) {
        this.ready = null;
        throw error;
      }
    });
  }
}
