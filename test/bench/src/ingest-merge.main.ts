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
  /** Rows of one execution by table of the mutations log. */
  readonly tables: Readonly<Record<string, number>>;
  /** Rows of one transaction, all tables together. */
  readonly rowsPerBatch: number;
}

export interface MergeAnswer {
  readonly ms: number;
  readonly batches: number;
}

const HEADER_SIZE = 19;
const TRAILER = Buffer.from([0xff, 0xff]);

/** One binary COPY file per table. */
type Batch = readonly { readonly table: string; readonly file: Buffer }[];

const { sourceUrl, targetUrl, partitions, tables, rowsPerBatch } = task<MergeTask>();
const cores = [assumptionsCore(), mutationsCore()];
const database = await PostgresDatabase.open(
  { url: targetUrl },
  cores.map(({ log, kinds }) => ({ log, kinds: withCommonKinds(kinds) })),
);
await database.close();

const executionsPerBatch = Math.floor(rowsPerBatch / Object.values(tables).reduce((total, one) => total + one, 0));
const batches = await Promise.all(Array.from({ length: partitions }, (_, partition) => batchesOf(partition)));
const writers = await Promise.all(batches.map(() => connected(targetUrl)));
const startedAt = sharedClockMs();
await Promise.all(batches.map((mine, partition) => mergeAll(writers[partition]!, mine)));
const ms = sharedClockMs() - startedAt;
await Promise.all(writers.map((writer) => writer.end()));
answer({ ms, batches: batches.flat().length } satisfies MergeAnswer);

async function batchesOf(partition: number): Promise<readonly Batch[]> {
  const perTable: { readonly table: string; readonly files: readonly Buffer[] }[] = [];
  for (const [table, rows] of Object.entries(tables))
    perTable.push({ table, files: await filesOf(table, partition, rows * executionsPerBatch) });
  const count = Math.max(...perTable.map(({ files }) => files.length));
  return Array.from({ length: count }, (_, at) =>
    perTable.flatMap(({ table, files }) => {
      const file = files[at];
      return file === undefined ? [] : [{ table, file }];
    }),
  );
}

/** Rows of a table's partition as binary COPY files of so many rows each. */
async function filesOf(table: string, partition: number, rowsPerFile: number): Promise<readonly Buffer[]> {
  const client = await connected(sourceUrl);
  const chunks: Buffer[] = [];
  for await (const chunk of client.query(
    copyTo(
      `COPY (SELECT * FROM ${quoted(table)} WHERE log_partition = ${String(partition)}) TO STDOUT (FORMAT binary)`,
    ),
  ))
    chunks.push(chunk as Buffer);
  await client.end();
  const whole = Buffer.concat(chunks);
  const header = whole.subarray(0, HEADER_SIZE);
  const files: Buffer[] = [];
  let current: Buffer[] = [];
  for (let at = HEADER_SIZE; whole.readInt16BE(at) !== -1;) {
    const end = endOfTuple(whole, at);
    current.push(whole.subarray(at, end));
    at = end;
    if (current.length === rowsPerFile) {
      files.push(Buffer.concat([header, ...current, TRAILER]));
      current = [];
    }
  }
  if (current.length > 0) files.push(Buffer.concat([header, ...current, TRAILER]));
  return files;
}

function endOfTuple(bytes: Buffer, start: number): number {
  let at = start + 2;
  for (let left = bytes.readInt16BE(start); left > 0; left -= 1) at += 4 + Math.max(0, bytes.readInt32BE(at));
  return at;
}

async function mergeAll(client: Client, mine: readonly Batch[]): Promise<void> {
  const merges = new Map<string, string>();
  for (const table of Object.keys(tables)) merges.set(table, await prepareMerge(client, table));
  for (const batch of mine) {
    await client.query('BEGIN');
    for (const { table, file } of batch) {
      await pipeline(Readable.from([file]), client.query(copyFrom(`COPY "stage_${table}" FROM STDIN (FORMAT binary)`)));
      await client.query(merges.get(table) ?? '');
    }
    await client.query('COMMIT');
  }
}

/** Makes the stage of a table; the statement that merges it. */
async function prepareMerge(client: Client, table: string): Promise<string> {
  const { rows } = await client.query<{ readonly name: string }>(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'mutations' AND table_name = '${table}' ORDER BY ordinal_position`,
  );
  const names = rows.map(({ name }) => `"${name}"`);
  const keys = new Set(['"log_partition"', '"group_key"', '"row_key"']);
  const set = names
    .filter((name) => !keys.has(name))
    .map((name) => `${name} = EXCLUDED.${name}`)
    .join(', ');
  await client.query(`CREATE TEMP TABLE "stage_${table}" (LIKE ${quoted(table)}) ON COMMIT DELETE ROWS`);
  return `INSERT INTO ${quoted(table)} (${names.join(', ')}) SELECT ${names.join(', ')} FROM "stage_${table}" ON CONFLICT (log_partition, group_key, row_key) DO UPDATE SET ${set}`;
}

function quoted(table: string): string {
  return `"mutations"."${table}"`;
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('SET synchronous_commit = off');
  return client;
}
