// One database and one role per service: no service can read another's tables.
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import type { PostgresAddress } from './postgres-server.js';

/** The server has answered before; on a busy machine the next connection may take long all the same. */
const CONNECT_WITHIN_MS = 60_000;

/** How a service reaches its own database. */
export interface DatabaseAddress extends PostgresAddress {
  readonly database: string;
  /** `postgres://…`, for programs that take one string. */
  readonly url: string;
}

/**
 * Makes a database that only its own role may connect to. Existing ones are kept; the role's password is set.
 *
 * Errors: the server's.
 */
export async function createDatabase(
  stack: { readonly postgres: PostgresAddress },
  name: string,
  role: string,
  password: string,
): Promise<DatabaseAddress> {
  const { host, port } = stack.postgres;
  await asSuperuser(stack.postgres, 'postgres', async (client) => {
    const roles = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
    const verb = roles.rowCount === 0 ? 'CREATE' : 'ALTER';
    await client.query(
      `${verb} ROLE ${escapeIdentifier(role)} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD ${escapeLiteral(password)}`,
    );
    const databases = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (databases.rowCount === 0)
      await client.query(`CREATE DATABASE ${escapeIdentifier(name)} OWNER ${escapeIdentifier(role)}`);
    await client.query(`REVOKE ALL ON DATABASE ${escapeIdentifier(name)} FROM PUBLIC`);
  });
  return {
    host,
    port,
    user: role,
    password,
    database: name,
    url: `postgres://${encodeURIComponent(role)}:${encodeURIComponent(password)}@${host}:${String(port)}/${encodeURIComponent(name)}`,
  };
}

/** Drops a database with everybody still connected to it; nothing happens when there is none. */
export async function dropDatabase(stack: { readonly postgres: PostgresAddress }, name: string): Promise<void> {
  await asSuperuser(stack.postgres, 'postgres', async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
  });
}

async function asSuperuser<T>(
  address: PostgresAddress,
  database: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ ...address, database, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
