// The raw side of ingest: the same rows, from memory, into the same tables, by COPY into a stage and a merge; no log, no rules.
import { PostgresDatabase } from '@recourse/service';
import { withCommonKinds } from '@recourse/event-log';
import { assumptionsCore, mutationsCore } from '@recourse/mutation-ledger';
import { Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { answer, sharedClockMs, task } from './worker-process.js';

export interface MergeTask {
  /** Database that holds the rows. */
  readonly sourceUrl: string;
  /** Empty database that gets them. */
  readonly targetUrl: string;
  readonly partitions: number;
  /** Rows of one transaction. */
  readonly rowsPerBatch: number;
}

export interface MergeAnswer { readonly ms: number; readonly rows: number; readonly batches: number }

const TABLE = '"mutations"."mutation"';
const HEADER_SIZE = 19;
const TRAILER = Buffer.from([0xff, 0xff]);

const { sourceUrl, targetUrl, partitions, rowsPerBatch } = task<MergeTask>();
const cores = [assumptionsCore(), mutationsCore()];
const database = await PostgresDatabase.open({ url: targetUrl }, cores.map(({ log, kinds }) => ({ log, kinds: withCommonKinds(kinds) })));
await database.close();

const batches = await Promise.all(Array.from({ length: partitions }, (_, partition) => rowsOf(partition)));
const writers = await Promise.all(batches.map(() => connected(targetUrl)));
const startedAt = sharedClockMs();
await Promise.all(batches.map((mine, partition) => mergeAll(writers[partition]!, mine)));
const ms = sharedClockMs() - startedAt;
const counted = await writers[0]!.query<{ readonly n: string }>(`SELECT count(*) AS n FROM ${TABLE}`);
await Promise.all(writers.map((writer) => writer.end()));
answer({ ms, rows: Number(counted.rows[0]?.n), batches: batches.flat().length } satisfies MergeAnswer);

/** Rows of a partition as binary COPY files of so many rows each. */
async function rowsOf(partition: number): Promise<readonly Buffer[]> {
  const client = await connected(sourceUrl);
  const parts: Buffer[] = [];
  let header = Buffer.alloc(0);
  let current: Buffer[] = [];
  // The server sends the header in the first message and one row per message; the stream hands them on as they come.
  const tuples: Buffer[] = [];
  for await (const chunk of client.query(copyTo(`COPY (SELECT * FROM ${TABLE} WHERE log_partition = ${String(partition)}) TO STDOUT (FORMAT binary)`))) tuples.push(chunk as Buffer);
  const whole = Buffer.concat(tuples);
  header = whole.subarray(0, HEADER_SIZE);
  for (let at = HEADER_SIZE; whole.readInt16BE(at) !== -1;) {
    const end = endOfTuple(whole, at);
    current.push(whole.subarray(at, end));
    at = end;
    if (current.length === rowsPerBatch) { parts.push(Buffer.concat([header, ...current, TRAILER])); current = []; }
  }
  if (current.length > 0) parts.push(Buffer.concat([header, ...current, TRAILER]));
  await client.end();
  return parts;
}

function endOfTuple(bytes: Buffer, start: number): number {
  let at = start + 2;
  for (let left = bytes.readInt16BE(start); left > 0; left -= 1) at += 4 + Math.max(0, bytes.readInt32BE(at));
  return at;
}

async function mergeAll(client: Client, parts: readonly Buffer[]): Promise<void> {
  const { rows } = await client.query<{ readonly name: string }>(`SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'mutations' AND table_name = 'mutation' ORDER BY ordinal_position`);
  const names = rows.map(({ name }) => `"${name}"`);
  const keys = new Set(['"log_partition"', '"group_key"', '"row_key"']);
  const set = names.filter((name) => !keys.has(name)).map((name) => `${name} = EXCLUDED.${name}`).join(', ');
  await client.query(`CREATE TEMP TABLE stage (LIKE ${TABLE}) ON COMMIT DELETE ROWS`);
  for (const part of parts) {
    await client.query('BEGIN');
    await pipeline(Readable.from([part]), client.query(copyFrom('COPY stage FROM STDIN (FORMAT binary)')));
    await client.query(`INSERT INTO ${TABLE} (${names.join(', ')}) SELECT ${names.join(', ')} FROM stage ON CONFLICT (log_partition, group_key, row_key) DO UPDATE SET ${set}`);
    await client.query('COMMIT');
  }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('SET synchronous_commit = off');
  return client;
}
