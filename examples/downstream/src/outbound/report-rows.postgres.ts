// Reports in PostgreSQL, in the database that holds the inbox too: one transaction for both.
import type { SqlClient } from '@recourse/sdk';
import { Pool } from 'pg';
import type { Report, ReportRows } from '../reports.js';

/**
 * A pool of connections to this service's own database.
 *
 * Shape: the inbox listens to it; a pool without one wants a listener for 'error' of its own, or a connection that the server ends
 *        ends the process.
 */
export function openDatabase(url: string): Pool {
  return new Pool({ connectionString: url, max: 4 });
}

/** Reports as rows of one table. */
export class PostgresReportRows implements ReportRows<SqlClient> {
  /** Makes the table where it is not there yet. */
  async prepare(client: SqlClient): Promise<void> {
    await client.query(
      'CREATE TABLE IF NOT EXISTS refund_report (id text PRIMARY KEY, customer text NOT NULL, amount_minor bigint NOT NULL, state text NOT NULL)',
    );
  }

  async put(tx: SqlClient, { id, customer, amountMinor, state }: Report): Promise<void> {
    await tx.query(
      'INSERT INTO refund_report VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE SET state = excluded.state',
      [id, customer, amountMinor, state],
    );
  }

  async find(tx: SqlClient, id: string): Promise<Report | null> {
    const { rows } = await tx.query(
      'SELECT customer, amount_minor::text AS amount_minor, state FROM refund_report WHERE id = $1',
      [id],
    );
    // The statement names the columns, and put wrote them.
    const row = rows[0] as
      { readonly customer: string; readonly amount_minor: string; readonly state: Report['state'] } | undefined;
    return row === undefined
      ? null
      : { id, customer: row.customer, amountMinor: Number(row.amount_minor), state: row.state };
  }

  async withdraw(tx: SqlClient, ids: readonly string[]): Promise<void> {
    await tx.query("UPDATE refund_report SET state = 'withdrawn' WHERE id = ANY($1)", [ids]);
  }
}
