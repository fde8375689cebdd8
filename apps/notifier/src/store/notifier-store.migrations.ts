// Tables of the notifier: how far it read, what waits, what is on its way. Migrations are added, never changed: nothing replays deliveries.
// Where a table went away all of them run again: what the logs say goes then, to be read anew, and deliveries that stand stay.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where one of these is missing, nothing counts as migrated. */
export const TABLES = ['read_positions', 'things', 'deliveries', 'endpoints_off'];

/** The first tables. TypeORM orders by the digits at the end of the name. */
class NotifierTables1795400000000 implements MigrationInterface {
  readonly name = 'NotifierTables1795400000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS read_positions, things');
    await runner.query(
      'CREATE TABLE read_positions (topic text NOT NULL, log_partition int NOT NULL, seq bigint NOT NULL, hash bytea NOT NULL, next_offset bigint NOT NULL, PRIMARY KEY (topic, log_partition))',
    );
    await runner.query('CREATE TABLE things (thing_key text PRIMARY KEY, doc jsonb NOT NULL)');
    await runner.query(`CREATE TABLE IF NOT EXISTS deliveries (
      id text PRIMARY KEY, endpoint text NOT NULL, tenant text NOT NULL, thing_key text, opening text, occasion text NOT NULL, notice jsonb NOT NULL, state text NOT NULL, attempts int NOT NULL,
      due_at bigint NOT NULL, next_at bigint NOT NULL, error_code text, http_status int, updated_at bigint NOT NULL,
      CHECK (state IN ('queued', 'delivered', 'given_up', 'superseded')), CHECK ((thing_key IS NULL) = (opening IS NULL)))`);
    await runner.query(
      "CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (endpoint, next_at) WHERE state = 'queued'",
    );
    await runner.query(
      "CREATE INDEX IF NOT EXISTS deliveries_about ON deliveries (thing_key, opening) WHERE state = 'queued'",
    );
    await runner.query('CREATE INDEX IF NOT EXISTS deliveries_listed ON deliveries (updated_at DESC, id DESC)');
    await runner.query(
      'CREATE TABLE IF NOT EXISTS endpoints_off (endpoint text PRIMARY KEY, off_since bigint NOT NULL)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES.toReversed()) await runner.query(`DROP TABLE ${table}`);
  }
}

/** Condition and order of the list of what waits. */
export const IS_WAITING = "jsonb_typeof(doc->'item') = 'object'";
export const DEADLINE = "((doc->'item'->>'deadlineAt')::bigint)";

/** What waits, by deadline. */
class WaitingItems1795500000000 implements MigrationInterface {
  readonly name = 'WaitingItems1795500000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX things_waiting ON things (${DEADLINE}, thing_key COLLATE "C") WHERE ${IS_WAITING}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX things_waiting');
  }
}

/** Each partition has a breaker of its own: those that wait are named by their run too, as keyOf names them. */
class BreakersByRun1795600000000 implements MigrationInterface {
  readonly name = 'BreakersByRun1795600000000';

  up(runner: QueryRunner): Promise<void> {
    return nameBreakers(runner, "'breaker:' || (t.doc->>'id') || ':' || (t.doc->>'runId')");
  }

  async down(runner: QueryRunner): Promise<void> {
    // Of the items of several partitions one is left.
    await runner.query(
      "DELETE FROM things a USING things b WHERE a.doc->>'thing' = 'breaker' AND b.doc->>'thing' = 'breaker' AND a.doc->>'id' = b.doc->>'id' AND a.thing_key > b.thing_key",
    );
    await nameBreakers(runner, "'breaker:' || (t.doc->>'id')");
  }
}

async function nameBreakers(runner: QueryRunner, key: string): Promise<void> {
  const isBreaker = "t.doc->>'thing' = 'breaker'";
  await runner.query(
    `UPDATE deliveries d SET thing_key = ${key} FROM things t WHERE t.thing_key = d.thing_key AND ${isBreaker}`,
  );
  await runner.query(`UPDATE things t SET thing_key = ${key} WHERE ${isBreaker}`);
}

/** Accepted losses that were read, by which later ones are told from them; null: the log says it. */
class KnownCuts1795700000000 implements MigrationInterface {
  readonly name = 'KnownCuts1795700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE read_positions ADD COLUMN cuts jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE read_positions DROP COLUMN cuts');
  }
}

export const NOTIFIER_MIGRATIONS = [
  NotifierTables1795400000000,
  WaitingItems1795500000000,
  BreakersByRun1795600000000,
  KnownCuts1795700000000,
];
