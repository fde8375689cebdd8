// What consumers of the crash runs heard, kept in their own database in the order in which they applied it.
import type { SqlClient } from '@recourse/sdk';
import { Pool } from 'pg';
import type { Word } from './heard.decisions.js';

/** Place of the group in one partition: its members share it. */
export interface GroupPlace {
  readonly offset: number;
  readonly seq: number;
  readonly hash: string;
}

const TABLES = [
  'CREATE TABLE IF NOT EXISTS heard (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, consumer text NOT NULL, id text NOT NULL, kind text NOT NULL, run_id text NOT NULL, commit_id text NOT NULL)',
  'CREATE TABLE IF NOT EXISTS group_place (topic_partition int PRIMARY KEY, next_offset bigint NOT NULL, seq bigint NOT NULL, hash text NOT NULL)',
  'CREATE TABLE IF NOT EXISTS group_joined (place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, member text NOT NULL, partitions text NOT NULL)',
];

/** A pool whose idle connections may break without ending the process. */
export function openHeard(url: string): Pool {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  return pool;
}

/** Makes the tables; called once, before any consumer starts. */
export async function prepareHeard(pool: Pool): Promise<void> {
  for (const table of TABLES) await pool.query(table);
}

/** Keeps words, in the transaction that applies them. */
export async function keepWords(tx: SqlClient, consumer: string, words: readonly Word[]): Promise<void> {
  if (words.length === 0) return;
  const columns = [
    words.map(({ id }) => id),
    words.map(({ kind }) => kind),
    words.map(({ runId }) => runId),
    words.map(({ commitId }) => commitId),
  ];
  await tx.query(
    'INSERT INTO heard (consumer, id, kind, run_id, commit_id) SELECT $1, w.id, w.kind, w.run_id, w.commit_id FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS w (id, kind, run_id, commit_id, n) ORDER BY w.n',
    [consumer, ...columns],
  );
}

/** All that a consumer heard, in its order. */
export async function wordsHeard(pool: Pool, consumer: string): Promise<readonly Word[]> {
  const { rows } = await pool.query<{
    readonly id: string;
    readonly kind: Word['kind'];
    readonly run_id: string;
    readonly commit_id: string;
  }>('SELECT id, kind, run_id, commit_id FROM heard WHERE consumer = $1 ORDER BY place', [consumer]);
  return rows.map(({ id, kind, run_id, commit_id }) => ({ id, kind, runId: run_id, commitId: commit_id }));
}

/** How often members of the group were given partitions. */
export async function countJoined(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ readonly n: string }>('SELECT count(*)::text AS n FROM group_joined');
  return Number(rows[0]?.n);
}
