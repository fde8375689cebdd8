// Instances of a service as its database sees them: each holds one connection under its name, and the operating system closes the
// connections of a process that dies.
//
// Boundary: one connection of its own, outside of the pool; nothing is written.
//
// Invariants
//   I1. What is not answered within ANSWER_MS costs the connection; the next call opens another, and shows the name again.
//   I2. No end waits for a database that says nothing: a server that is told goodbye and does not close is cut off.
import { createHash } from 'node:crypto';
import { Failure } from '@recourse/kernel';
import type { Presence } from '@recourse/event-log';
import { Client } from 'pg';
import { coded, CONNECT_TIMEOUT_MS, goodbye } from './postgres-connection.js';

const ANSWER_MS = 1_000;
const PREFIX = 'recourse-here/';
/** Names are longer than what PostgreSQL keeps of one (63 bytes). */
const MARK_LENGTH = 32;

export class PostgresPresence implements Presence {
  private client: Promise<Client> | null = null;
  private name: string | null = null;

  constructor(
    private readonly url: string,
    private readonly answerMs: number = ANSWER_MS,
  ) {}

  async show(name: string): Promise<void> {
    this.name = name;
    await this.forget();
    await this.connected();
  }

  async here(names: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.client === null) {
      await this.connected();
      throw new Failure('DATABASE_UNAVAILABLE', 'who is here could not be told for a while');
    }
    try {
      const client = await this.connected();
      const { rows } = await coded('who is here', () =>
        client.query<{ readonly application_name: string }>({
          name: 'here',
          text: `SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE $1`,
          values: [`${PREFIX}%`],
        }),
      );
      const marks = new Set(rows.map(({ application_name }) => application_name));
      return new Set(names.filter((name) => marks.has(markOf(name))));
    } catch (error) {
      await this.forget();
      throw error;
    }
  }

  close(): Promise<void> {
    this.name = null;
    return this.forget();
  }

  private connected(): Promise<Client> {
    this.client ??= this.connect();
    return this.client;
  }

  private async connect(): Promise<Client> {
    const { name } = this;
    const client = new Client({
      connectionString: this.url,
      application_name: name === null ? 'recourse' : markOf(name),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: this.answerMs,
      keepAlive: true,
    });
    const lost = (): void => {
      this.client = null;
    };
    client.on('error', lost);
    client.on('end', lost);
    try {
      await coded('presence', () => client.connect());
      return client;
    } catch (error) {
      this.client = null;
      throw error;
    }
  }

  private async forget(): Promise<void> {
    const { client } = this;
    this.client = null;
    const opened = await client?.catch(() => null);
    if (opened) await goodbye(opened, this.answerMs);
  }
}

function markOf(name: string): string {
  return `${PREFIX}${createHash('sha256').update(name).digest('hex').slice(0, MARK_LENGTH)}`;
}
