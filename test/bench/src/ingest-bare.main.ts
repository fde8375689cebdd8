// The raw side of ingest, a pipeline without rules: the same inputs are fetched, the same octets appended to another log, and the same rows
// written by COPY into a stage and a merge. What is appended and written comes from memory; rows follow while the next batch is appended.
import { createKafka } from '@recourse/kafka';
import type { RawReader } from '@recourse/kafka';
import { PostgresDatabase } from '@recourse/service';
import { withCommonKinds } from '@recourse/event-log';
import { assumptionsCore, mutationsCore } from '@recourse/mutation-ledger';
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import type { Producer } from 'kafkajs';
import { Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { answer, sharedClockMs, task } from './worker-process.js';

export interface BareTask {
  readonly brokers: readonly string[];
  /** Where the executions are, the log that ours made of them, and an empty one of as many partitions. */
  readonly topics: { readonly executions: string; readonly log: string; readonly copy: string };
  /** Database that holds the rows. */
  readonly sourceUrl: string;
  /** Empty database that gets them. */
  readonly targetUrl: string;
  readonly partitions: number;
  /** Rows of one execution by table of the mutations log. */
  readonly tables: Readonly<Record<string, number>>;
  /** Of one produce request and one transaction. */
  readonly executionsPerBatch: number;
}

export interface BareAnswer {
  readonly ms: number;
  readonly batches: number;
  readonly fetched: number;
  readonly appended: number;
}

const HEADER_SIZE = 19;
const TRAILER = Buffer.from([0xff, 0xff]);

/** One binary COPY file per table. */
type Batch = readonly { readonly table: string; readonly file: Buffer }[];

const { brokers, topics, sourceUrl, targetUrl, partitions, tables, executionsPerBatch } = task<BareTask>();
const cores = [assumptionsCore(), mutationsCore()];
const database = await PostgresDatabase.open(
  { url: targetUrl },
  cores.map(({ log, kinds }) => ({ log, kinds: withCommonKinds(kinds) })),
);
await database.close();

const kafka = createKafka({ brokers, clientId: 'bare' });
const parts = await Promise.all(Array.from({ length: partitions }, (_, partition) => prepared(partition)));
const startedAt = sharedClockMs();
const done = await Promise.all(parts.map(pipe));
const ms = sharedClockMs() - startedAt;
await Promise.all(parts.map(({ close }) => close()));
answer({
  ms,
  batches: parts.flatMap(({ batches }) => batches).length,
  fetched: total(done.map(({ fetched }) => fetched)),
  appended: total(done.map(({ appended }) => appended)),
} satisfies BareAnswer);

/** A partition, and what becomes of it, in memory. */
interface Part {
  readonly partition: number;
  readonly reader: RawReader;
  readonly producer: Producer;
  readonly writer: Client;
  readonly merges: ReadonlyMap<string, string>;
  readonly batches: readonly Batch[];
  /** Octets of the log's records. */
  readonly values: readonly Buffer[];
  readonly executions: number;
  close(): Promise<void>;
}

async function prepared(partition: number): Promise<Part> {
  const reader = await kafka.rawReader();
  const producer = new KafkaJs({ brokers: [...brokers], clientId: 'bare', logLevel: logLevel.NOTHING }).producer({
    allowAutoTopicCreation: false,
    maxInFlightRequests: 1,
  });
  await producer.connect();
  const writer = await connected(targetUrl);
  const merges = new Map<string, string>();
  for (const table of Object.keys(tables)) merges.set(table, await prepareMerge(writer, table));
  return {
    partition,
    reader,
    producer,
    writer,
    merges,
    batches: await batchesOf(partition),
    values: await valuesOf(reader, partition),
    executions: (await reader.range(topics.executions, partition)).high,
    close: async () => {
      await Promise.all([reader.close(), producer.disconnect(), writer.end()]);
    },
  };
}

async function valuesOf(reader: RawReader, partition: number): Promise<readonly Buffer[]> {
  const values: Buffer[] = [];
  const { high } = await reader.range(topics.log, partition);
  for (let offset = 0; offset < high;) {
    const { records, nextOffset } = await reader.read(topics.log, partition, offset);
    values.push(...records.flatMap(({ value }) => (value === null ? [] : [value])));
    if (nextOffset <= offset) throw new Error(`nothing more is read of ${topics.log} at ${String(offset)}`);
    offset = nextOffset;
  }
  return values;
}

/** Fetches, appends and writes, a batch after the other. */
async function pipe({ partition, reader, producer, writer, merges, batches, values, executions }: Part): Promise<{
  readonly fetched: number;
  readonly appended: number;
}> {
  const perBatch = Math.ceil(values.length / batches.length);
  let [fetched, offset] = [0, 0];
  let writing: Promise<void> = Promise.resolve();
  for (const [at, batch] of batches.entries()) {
    for (const wanted = Math.min(executions, (at + 1) * executionsPerBatch); fetched < wanted;) {
      const { records, nextOffset } = await reader.read(topics.executions, partition, offset);
      fetched += records.length;
      offset = nextOffset;
    }
    const messages = values.slice(at * perBatch, (at + 1) * perBatch).map((value) => ({ value, partition }));
    if (messages.length > 0) await producer.send({ topic: topics.copy, acks: -1, messages });
    await writing;
    writing = merge(writer, merges, batch);
  }
  await writing;
  return { fetched, appended: values.length };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

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

async function merge(client: Client, merges: ReadonlyMap<string, string>, batch: Batch): Promise<void> {
  await client.query('BEGIN');
  for (const { table, file } of batch) {
    await pipeline(Readable.from([file]), client.query(copyFrom(`COPY "stage_${table}" FROM STDIN (FORMAT binary)`)));
    await client.query(merges.get(table) ?? '');
  }
  await client.query('COMMIT');
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
