// The service put together: its database, its inbox there, its consumer of rollbacks, its reports.
import type { Kafka } from '@recourse/kafka';
import type { Codecs } from '@recourse/messages';
import { createRollbackConsumer, PostgresInbox, systemClock } from '@recourse/sdk';
import type { RollbackConsumer, SqlClient } from '@recourse/sdk';
import { openDatabase, PostgresReportRows } from './outbound/report-rows.postgres.js';
import { RefundReports } from './reports.js';

/** Where everything is, and who this service is. */
export interface DownstreamOptions {
  readonly databaseUrl: string;
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly logId: string;
  readonly partitionCount: number;
  /** As it is registered: name, scope over tenant/agent/run/subject. Its mode is sync: a customer reads the reports at once. */
  readonly subscription: { readonly consumer: string; readonly scope: string };
  readonly onTrouble: (cause: unknown) => void;
}

/** A service under way. */
export interface Downstream {
  readonly reports: RefundReports<SqlClient>;
  readonly consumer: RollbackConsumer<SqlClient>;
  stop(): Promise<void>;
}

/** Starts the service. Errors: those of the database and of the consumer. */
export async function startDownstream({
  databaseUrl,
  subscription,
  ...reached
}: DownstreamOptions): Promise<Downstream> {
  const pool = openDatabase(databaseUrl);
  const rows = new PostgresReportRows();
  const inbox = new PostgresInbox<SqlClient>(pool, subscription.consumer, reached.onTrouble);
  await rows.prepare(pool);
  await inbox.prepare();
  const reports = new RefundReports(rows);
  const consumer = createRollbackConsumer<SqlClient>({
    ...reached,
    inbox,
    clock: systemClock,
    subscription: { ...subscription, mode: 'sync' },
    onRollback: (rollback, tx) => reports.withdraw(rollback, tx),
  });
  await consumer.start();
  return {
    reports,
    consumer,
    stop: async () => {
      await consumer.stop();
      await pool.end();
    },
  };
}
