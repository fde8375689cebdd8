// Key store in PostgreSQL: one table in a database of its own, no part of any service's projection (docs/design/topics.md).
//
// Boundary: the only place that writes secrets. `synchronous_commit` is on: a key that is lost takes with it what it sealed.
import { scopeId, storableName, toldBy } from '@recourse/event-log';
import type { Erasure, KeyScope, KeyStore, StandingKey, StoredKey, Unit } from '@recourse/event-log';
import { Failure, InvariantViolation } from '@recourse/kernel';
import type { Pool } from 'pg';
import { createPool } from './postgres-connection.js';

/** Connections of one process; a batch asks once. */
const CONNECTIONS_MAX = 3;
const STATEMENT_TIMEOUT_MS = 5_000;
/** Answers that a race may spoil before something else is wrong. */
const TRIES_MAX = 5;

const TABLE = `
CREATE TABLE IF NOT EXISTS sealing_key (
  scope_id text NOT NULL, generation int NOT NULL, key_id text NOT NULL UNIQUE, tenant text NOT NULL, subject text NOT NULL,
  window_start bigint NOT NULL, window_end bigint NOT NULL, secret bytea, created_at timestamptz NOT NULL DEFAULT now(), destroyed_at timestamptz, destroyed_by text, destroyed_reason text,
  PRIMARY KEY (scope_id, generation), CHECK ((secret IS NULL) = (destroyed_at IS NOT NULL)));
ALTER TABLE sealing_key ADD COLUMN IF NOT EXISTS unit text;
CREATE INDEX IF NOT EXISTS sealing_key_of_subject ON sealing_key (tenant, subject) WHERE secret IS NOT NULL;
CREATE INDEX IF NOT EXISTS sealing_key_of_unit ON sealing_key (tenant, unit) WHERE secret IS NOT NULL AND unit IS NOT NULL`;

/** What is made last is there, so all is: a change of the table would wait for whoever reads it, and have all others wait behind. */
const IS_WHOLE = "SELECT to_regclass('sealing_key_of_unit') IS NOT NULL AS whole";

/** Instances that start together make the table one after the other. */
const TABLE_LOCK = 7_265_637;

/** The newest key of each scope, in the order of the question. */
const STANDING = `
SELECT k.key_id, k.tenant, k.secret FROM unnest($1::text[]) WITH ORDINALITY AS w(scope_id, n)
LEFT JOIN LATERAL (SELECT key_id, tenant, secret FROM sealing_key WHERE scope_id = w.scope_id ORDER BY generation DESC LIMIT 1) k ON true ORDER BY w.n`;

/** A first key, or the one after a destroyed one; nothing where one stands. Ids as `keyIdOf` has them. */
const MAKE = `
INSERT INTO sealing_key (scope_id, generation, key_id, tenant, subject, window_start, window_end, secret, unit)
SELECT w.scope_id, coalesce(k.generation, 0) + 1, w.scope_id || '.' || (coalesce(k.generation, 0) + 1)::text || '.' || w.told, w.tenant, w.subject, w.window_start, w.window_end, w.secret, w.unit
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[], $7::text[], $8::text[]) AS w(scope_id, tenant, subject, window_start, window_end, secret, unit, told)
LEFT JOIN LATERAL (SELECT generation, secret FROM sealing_key WHERE scope_id = w.scope_id ORDER BY generation DESC LIMIT 1) k ON true
WHERE k.secret IS NULL
ON CONFLICT DO NOTHING RETURNING scope_id, key_id, tenant, secret`;

const DESTROY = `
UPDATE sealing_key SET secret = NULL, destroyed_at = now(), destroyed_by = $4, destroyed_reason = $5
WHERE secret IS NOT NULL AND tenant = $1 AND ($2::text IS NULL OR subject = $2) AND ($3::bigint IS NULL OR window_end <= $3)`;

const DESTROY_UNITS = `
UPDATE sealing_key k SET secret = NULL, destroyed_at = now(), destroyed_by = $4, destroyed_reason = $5
FROM unnest($1::text[], $2::text[], $3::text[]) AS u(tenant, subject, unit)
WHERE k.secret IS NOT NULL AND k.unit IS NOT NULL AND k.tenant = u.tenant AND k.unit = u.unit AND (u.subject IS NULL OR k.subject = u.subject)`;

interface MadeRow {
  readonly scope_id: string;
  readonly key_id: string;
  readonly tenant: string;
  readonly secret: Buffer;
}
interface KeyRow {
  readonly key_id: string | null;
  readonly tenant: string | null;
  readonly secret: Buffer | null;
}

interface FoundRow {
  readonly key_id: string;
  readonly tenant: string;
  readonly secret: Buffer | null;
}

/** Keys in a table. Nothing is connected before the first call. */
export class PostgresKeyStore implements KeyStore {
  readonly #pool: Pool;
  #ready: Promise<void> | null = null;

  /** `isAskedOnly`: it neither makes nor changes anything; whoever asks may have no right to. */
  constructor(private readonly options: { readonly url: string; readonly isAskedOnly?: boolean }) {
    this.#pool = createPool({
      url: options.url,
      connectionsMax: CONNECTIONS_MAX,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      isDurable: true,
    });
  }

  ensure(wanted: readonly { readonly scope: KeyScope; readonly candidate: Buffer }[]): Promise<readonly StandingKey[]> {
    if (wanted.length === 0) return Promise.resolve([]);
    return this.#answered(async () => {
      const scopes = wanted.map(({ scope }) => scopeId(scope));
      for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
        const made = await this.#pool.query<MadeRow>(MAKE, columnsOf(wanted));
        // All new, as most are: what was made is the answer.
        if (made.rows.length === wanted.length) return inOrderOf(scopes, made.rows);
        const { rows } = await this.#pool.query<KeyRow>(STANDING, [scopes]);
        const keys = rows.flatMap(({ key_id: keyId, tenant, secret }) =>
          keyId === null || tenant === null || secret === null ? [] : [{ keyId, tenant, secret }],
        );
        // One that was destroyed between the two statements is followed by another.
        if (keys.length === wanted.length) return keys;
      }
      throw new InvariantViolation('key-store', `no key stands after ${String(TRIES_MAX)} tries`, 'partition');
    });
  }

  find(keyIds: readonly string[]): Promise<readonly StoredKey[]> {
    if (keyIds.length === 0) return Promise.resolve([]);
    return this.#answered(async () => {
      const { rows } = await this.#pool.query<FoundRow>(
        'SELECT key_id, tenant, secret FROM sealing_key WHERE key_id = ANY($1::text[])',
        [keyIds],
      );
      return rows.map(({ key_id: keyId, tenant, secret }) => ({ keyId, tenant, secret }));
    });
  }

  destroy({ tenant, subject, endedBy, by, reason }: Erasure): Promise<number> {
    return this.#answered(
      async () =>
        (await this.#pool.query(DESTROY, [storableName(tenant), storableOrNull(subject), endedBy ?? null, by, reason]))
          .rowCount ?? 0,
    );
  }

  destroyUnits(units: readonly Unit[], by: string, reason: string): Promise<number> {
    if (units.length === 0) return Promise.resolve(0);
    const named = [
      units.map(({ tenant }) => storableName(tenant)),
      units.map(({ subject }) => storableOrNull(subject)),
      units.map(({ unit }) => storableName(unit)),
    ];
    return this.#answered(async () => (await this.#pool.query(DESTROY_UNITS, [...named, by, reason])).rowCount ?? 0);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #answered<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.#ready ??= this.options.isAskedOnly === true ? Promise.resolve() : this.#makeTable();
      await this.#ready;
      return await work();
    } catch (cause) {
      if (cause instanceof InvariantViolation) throw cause;
      throw new Failure('KEY_STORE_UNAVAILABLE', cause instanceof Error ? cause.message : String(cause), { cause });
    }
  }

  async #makeTable(): Promise<void> {
    try {
      const { rows } = await this.#pool.query<{ readonly whole: boolean }>(IS_WHOLE);
      if (rows[0]?.whole === true) return;
      // One message, so one transaction: the lock is let go with it.
      await this.#pool.query(`SELECT pg_advisory_xact_lock(${String(TABLE_LOCK)}); ${TABLE}`);
    } catch (cause) {
      this.#ready = null;
      throw cause;
    }
  }
}

function inOrderOf(scopes: readonly string[], rows: readonly MadeRow[]): readonly StandingKey[] {
  const made = new Map(
    rows.map(({ scope_id: scope, key_id: keyId, tenant, secret }) => [scope, { keyId, tenant, secret }] as const),
  );
  return scopes.flatMap((scope) => made.get(scope) ?? []);
}

function columnsOf(wanted: readonly { readonly scope: KeyScope; readonly candidate: Buffer }[]): unknown[] {
  // Each scope once: one statement cannot insert the same key twice.
  const scopes = new Map(wanted.map((one) => [scopeId(one.scope), one]));
  const given = [...scopes];
  return [
    given.map(([id]) => id),
    given.map(([, { scope }]) => storableName(scope.tenant)),
    given.map(([, { scope }]) => storableName(scope.subject)),
    given.map(([, { scope }]) => scope.windowStart),
    given.map(([, { scope }]) => scope.windowEnd),
    given.map(([, { candidate }]) => candidate),
    given.map(([, { scope }]) => storableOrNull(scope.unit)),
    given.map(([, { candidate }]) => toldBy(candidate)),
  ];
}

function storableOrNull(name: string | undefined): string | null {
  return name === undefined ? null : storableName(name);
}
