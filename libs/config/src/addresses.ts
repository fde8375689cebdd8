// What an address may say, and what not.

export const HTTP: readonly string[] = ['http:', 'https:'];

/** A user or a password before its host. */
export function hasCredentials(address: string): boolean {
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
}

/** What a program says of its own connections: the marks it is seen by, and how long a statement or a lock may take. */
export const SAID_BY_US = [
  'application_name',
  'statement_timeout',
  'lock_timeout',
  'query_timeout',
  'options',
] as const;
