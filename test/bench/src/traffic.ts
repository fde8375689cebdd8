// What an idle system writes for one case: records and batches of all logs, transactions of all services' databases.
import { TOPICS } from '@recourse/messages';
import type { RawReader } from '@recourse/kafka';
import { Client } from 'pg';
import type { BenchStack } from './bench-stack.js';
import { sum } from './rounds.js';

/** Totals at one moment. */
export interface Totals {
  readonly atMs: number;
  readonly types: Readonly<Record<string, number>>;
  readonly topics: Readonly<Record<string, number>>;
  readonly transactions: number;
  /** Rows that were inserted, updated or deleted. */
  readonly rows: number;
}

/** PostgreSQL publishes a backend's counters within a second of its becoming idle, the lazy Progress comes after one, too. */
const SETTLE_MS = 3_000;
const LOGS: readonly string[] = (TOPICS as readonly { readonly name: string; readonly kind: string }[])
  .filter(({ kind }) => kind !== 'wire')
  .map(({ name }) => name);

export class Traffic {
  #counted = new Map<string, number>();
  #byTopic = new Map<string, number>();
  #positions = new Map<string, number>();
  #idlePerMs = 0;
  #idleRowsPerMs = 0;

  private constructor(
    private readonly bench: BenchStack,
    private readonly reader: RawReader,
    private readonly client: Client,
    private readonly counts: ReadonlyMap<string, number>,
  ) {}

  static async open(bench: BenchStack): Promise<Traffic> {
    const client = new Client({ ...bench.stack.postgres, database: 'postgres' });
    await client.connect();
    const admin = await bench.kafka.admin();
    const counts = new Map<string, number>();
    for (const topic of LOGS) counts.set(topic, (await admin.partitionCount(topic)) ?? 0);
    await admin.close();
    const traffic = new Traffic(bench, await bench.kafka.rawReader(), client, counts);
    await traffic.learnIdle();
    return traffic;
  }

  async close(): Promise<void> {
    await this.reader.close();
    await this.client.end();
  }

  /** Totals after everything has come to rest. */
  async settled(): Promise<Totals> {
    await new Promise((resolve) => {
      setTimeout(resolve, SETTLE_MS);
    });
    for (const [topic, partitions] of this.counts)
      for (let partition = 0; partition < partitions; partition += 1) await this.readOn(topic, partition);
    return {
      atMs: performance.now(),
      types: Object.fromEntries(this.#counted),
      topics: Object.fromEntries(this.#byTopic),
      ...(await this.inDatabases()),
    };
  }

  /** What was written between two moments, for each of so many cases; what an idle system does anyway is taken off. */
  between(
    from: Totals,
    to: Totals,
    cases: number,
  ): {
    readonly records: number;
    readonly appends: number;
    readonly transactions: number;
    readonly rows: number;
    readonly types: string;
    readonly topics: Readonly<Record<string, number>>;
  } {
    const gained = Object.entries(to.types)
      .map(([type, count]) => [type, (count - (from.types[type] ?? 0)) / cases] as const)
      .filter(([, count]) => count > 0);
    const idle = this.#idlePerMs * (to.atMs - from.atMs);
    return {
      records: sum(gained.map(([, count]) => count)),
      appends: gained.find(([type]) => type === 'Progress')?.[1] ?? 0,
      transactions: Math.max(0, to.transactions - from.transactions - idle) / cases,
      rows: Math.max(0, to.rows - from.rows - this.#idleRowsPerMs * (to.atMs - from.atMs)) / cases,
      types: gained.map(([type, count]) => `${type} ${count.toFixed(1)}`).join(', '),
      topics: Object.fromEntries(
        Object.entries(to.topics).map(([topic, count]) => [topic, (count - (from.topics[topic] ?? 0)) / cases]),
      ),
    };
  }

  private async learnIdle(): Promise<void> {
    const before = await this.settled();
    const after = await this.settled();
    this.#idlePerMs = (after.transactions - before.transactions) / (after.atMs - before.atMs);
    this.#idleRowsPerMs = (after.rows - before.rows) / (after.atMs - before.atMs);
  }

  private async readOn(topic: string, partition: number): Promise<void> {
    const place = `${topic}/${String(partition)}`;
    for (;;) {
      const { records } = await this.reader.read(topic, partition, this.#positions.get(place) ?? 0);
      if (records.length === 0) return;
      for (const { value, offset } of records) {
        this.#positions.set(place, offset + 1);
        if (value !== null) await this.bench.codecs.load(value.readInt32BE(1));
        const decoded = this.bench.codecs.decodeSync(value);
        const type = 'type' in decoded ? decoded.type : decoded.kind;
        this.#counted.set(type, (this.#counted.get(type) ?? 0) + 1);
        this.#byTopic.set(topic, (this.#byTopic.get(topic) ?? 0) + 1);
      }
    }
  }

  private async inDatabases(): Promise<Pick<Totals, 'transactions' | 'rows'>> {
    const { rows } = await this.client.query<{ readonly name: string; readonly transactions: string }>(
      `SELECT datname AS name, xact_commit AS transactions FROM pg_stat_database WHERE datname LIKE 'recourse\\_%'`,
    );
    const written = await Promise.all(rows.map(({ name }) => this.rowsWritten(name)));
    return { transactions: sum(rows.map(({ transactions }) => Number(transactions))), rows: sum(written) };
  }

  /** What stages hold for the length of a transaction does not count. */
  private async rowsWritten(database: string): Promise<number> {
    const client = new Client({ ...this.bench.stack.postgres, database });
    await client.connect();
    const { rows } = await client.query<{ readonly n: string | null }>(
      `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) AS n FROM pg_stat_user_tables WHERE schemaname NOT LIKE 'pg_temp%'`,
    );
    await client.end();
    return Number(rows[0]?.n ?? 0);
  }
}
