// The raw side of budget: ceilings of a tenant in one row, debited by conditional UPDATEs; no log, no reservation, no escalation.
//
// One each: one statement and one commit per debit, on several connections. Batched: so many debits a statement, summed by tenant; where
// a sum does not fit, its debits are tried one by one. Both debit all five dimensions or none.
import { partitionForKey } from '@recourse/kafka';
import { Client } from 'pg';
import { ASKED } from './budget-load.js';
import { answer, sharedClockMs, task } from './worker-process.js';

export interface UpdatesTask {
  readonly url: string;
  readonly ceilings: readonly { readonly tenant: string; readonly ceilings: readonly number[] }[];
  /** Tenants of the debits, in order. */
  readonly debits: readonly string[];
  readonly connections: number;
  /** Debits of a statement; 1: one UPDATE each. */
  readonly batch: number;
}

export interface UpdatesAnswer {
  readonly ms: number;
  readonly granted: number;
  readonly refused: number;
  /** The most that any dimension has beyond its ceiling. */
  readonly overspend: number;
}

const PLACES = ASKED.map((_, at) => String(at));
const AMOUNTS = ASKED.map(({ amount_minor }) => amount_minor);
const SET = PLACES.map((at) => `used_${at} = used_${at} + ${String(AMOUNTS[Number(at)])}`).join(', ');
const FITS = PLACES.map((at) => `used_${at} + ${String(AMOUNTS[Number(at)])} <= ceiling_${at}`).join(' AND ');
const ONE = `UPDATE ceilings SET ${SET} WHERE tenant = $1 AND ${FITS}`;
const ofSum = (at: string): string => `${String(AMOUNTS[Number(at)])} * s.debits`;
const MANY = `UPDATE ceilings c SET ${PLACES.map((at) => `used_${at} = used_${at} + ${ofSum(at)}`).join(', ')}
  FROM unnest($1::text[], $2::bigint[]) AS s (tenant, debits)
  WHERE c.tenant = s.tenant AND ${PLACES.map((at) => `used_${at} + ${ofSum(at)} <= ceiling_${at}`).join(' AND ')}
  RETURNING c.tenant`;

const { url, ceilings, debits, connections, batch } = task<UpdatesTask>();
const clients = await Promise.all(Array.from({ length: connections }, () => connected()));
await prepare();
let granted = 0;
const startedAt = sharedClockMs();
await (batch === 1 ? oneEach() : batched());
const ms = sharedClockMs() - startedAt;
const overspend = await overspent();
await Promise.all(clients.map((client) => client.end()));
answer({ ms, granted, refused: debits.length - granted, overspend } satisfies UpdatesAnswer);

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function prepare(): Promise<void> {
  const columns = PLACES.map((at) => `used_${at} bigint NOT NULL DEFAULT 0, ceiling_${at} bigint NOT NULL`).join(', ');
  const [client] = clients;
  // A page that has room keeps the new version of a row beside the old one.
  await client?.query(`CREATE TABLE ceilings (tenant text PRIMARY KEY, ${columns}) WITH (fillfactor = 50)`);
  const into = PLACES.map((at) => `ceiling_${at}`).join(', ');
  for (const { tenant, ceilings: bounds } of ceilings)
    await client?.query(
      `INSERT INTO ceilings (tenant, ${into}) VALUES ($1, ${bounds.map((_, at) => `$${String(at + 2)}`).join(', ')})`,
      [tenant, ...bounds],
    );
  await client?.query('ANALYZE ceilings');
}

async function oneEach(): Promise<void> {
  let next = 0;
  await Promise.all(
    clients.map(async (client) => {
      for (let at = next++; at < debits.length; at = next++) granted += await debit(client, debits[at] ?? '');
    }),
  );
}

async function debit(client: Client, tenant: string): Promise<number> {
  return (await client.query({ name: 'one', text: ONE, values: [tenant] })).rowCount ?? 0;
}

/** A tenant's debits go over one connection, so that no two statements wait for each other's rows. */
async function batched(): Promise<void> {
  await Promise.all(
    clients.map(async (client, at) => {
      const own = debits.filter((tenant) => partitionForKey(tenant, clients.length) === at);
      for (let from = 0; from < own.length; from += batch) await debitMany(client, own.slice(from, from + batch));
    }),
  );
}

async function debitMany(client: Client, tenants: readonly string[]): Promise<void> {
  const sums = new Map<string, number>();
  for (const tenant of tenants) sums.set(tenant, (sums.get(tenant) ?? 0) + 1);
  const values = [[...sums.keys()], [...sums.values()]];
  const { rows } = await client.query<{ readonly tenant: string }>({ name: 'many', text: MANY, values });
  const fitted = new Set(rows.map(({ tenant }) => tenant));
  for (const [tenant, count] of sums)
    if (fitted.has(tenant)) granted += count;
    else for (let left = count; left > 0; left -= 1) granted += await debit(client, tenant);
}

async function overspent(): Promise<number> {
  const over = PLACES.map((at) => `max(used_${at} - ceiling_${at})`).join(', ');
  const found = await clients[0]?.query<{ readonly over: string }>(`SELECT greatest(0, ${over}) AS over FROM ceilings`);
  return Number(found?.rows[0]?.over);
}
