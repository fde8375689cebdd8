// A consumer of the SDK with its inbox in PostgreSQL: what it hears is kept in the transaction that moves its place.
import { createRollbackConsumer, PostgresInbox, systemClock } from '@recourse/sdk';
import type { SqlClient } from '@recourse/sdk';
import { keepWords, openHeard } from './heard-table.js';
import { complain, wordOf } from './listener.js';
import type { Listener } from './listener.js';

/** Listens until the process ends. Errors: those of the consumer and of the database. */
export async function listenWithInbox({ name, scope, databaseUrl, directory: _, ...reached }: Listener): Promise<void> {
  const pool = openHeard(databaseUrl);
  const inbox = new PostgresInbox<SqlClient>(pool, name);
  await inbox.prepare();
  await createRollbackConsumer<SqlClient>({
    ...reached,
    inbox,
    clock: systemClock,
    subscription: { consumer: name, scope, mode: 'async' },
    onTrouble: complain,
    onCommit: (commit, tx) => keepWords(tx, name, [wordOf('commit', commit)]),
    onRollback: (rollback, tx) => keepWords(tx, name, [wordOf('rollback', rollback)]),
  }).start();
}
