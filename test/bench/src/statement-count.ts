// Counts the statements a process sends to PostgreSQL, by listening at the client.
import { Client } from 'pg';

export interface StatementCount {
  total: number;
}

/** Counts from now on. */
export function countStatements(): StatementCount {
  const count: StatementCount = { total: 0 };
  // The client's own signature is a set of overloads; the wrapper hands every call through unchanged.
  const prototype = Client.prototype as unknown as { query: (...args: readonly unknown[]) => unknown };
  const query = prototype.query;
  prototype.query = function counted(...args: readonly unknown[]): unknown {
    count.total += 1;
    return query.apply(this, [...args]);
  };
  return count;
}
