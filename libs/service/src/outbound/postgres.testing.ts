// A database of its own on the PostgreSQL of the test stack, for specs on real parts.
import { Client } from 'pg';

interface TestStack {
  readonly postgres: { readonly host: string; readonly port: number; readonly user: string; readonly password: string };
}

const stack = process.env['RECOURSE_TEST_STACK'];
export const HAS_STACK = stack !== undefined;

export function urlOf(database: string): string {
  // The stack's launcher wrote it.
  const { host, port, user, password } = (JSON.parse(stack ?? '{}') as TestStack).postgres;
  return `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${String(port)}/${database}`;
}

/** Runs one statement, in the database named or in the administrator's. */
export async function asAdmin(statement: string, database = 'postgres'): Promise<void> {
  const client = new Client({ connectionString: urlOf(database) });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
