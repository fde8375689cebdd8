// The store in the notifier's own database. Commits wait for the disk: what was queued is sent, whatever is killed.
//
// Boundary: SQL; what follows from what is decided in rules/. Every call is one statement or one transaction.
import {
  coded,
  createPool,
  inTransaction,
  mendedStore,
  migrate,
  numberOrNull,
  Parameters,
  whereOf,
} from '@recourse/service';
import type { Query } from '@recourse/service';
import type { Pool, PoolClient } from 'pg';
import type { AttemptVerdict } from '../rules/delivery/attempt.decisions.js';
import { DELIVERY_STATES } from '../rules/delivery/delivery.messages.js';
import type { Delivery, DeliveryEvent, DeliveryState } from '../rules/delivery/delivery.messages.js';
import { DELIVERY_AFTER, UNTOLD } from '../rules/delivery/delivery.transitions.js';
import { keyOf, openingsIn } from '../rules/item/item.messages.js';
import type { Thing, KnownChange, WaitingThing } from '../rules/item/item.messages.js';
import type { Superseding } from '../rules/delivery/occasion.decisions.js';
import type {
  Claim,
  DeliveryQuery,
  EndpointFigures,
  ItemQuery,
  NotifierStore,
  ReadPosition,
  Taken,
} from './notifier-store.port.js';
import { DELIVERY_COLUMNS, deliveryOf } from '../rows.js';
import { CLAIM, DUE_FROM, FIGURES, FORGET_UNTRIED, PRUNE, QUEUE, RETRY, SETTLE, SUPERSEDE } from './deliveries.sql.js';
import type { DeliveryRow } from '../rows.js';
import { NOTIFIER_MIGRATIONS, TABLES } from './notifier-store.migrations.js';
import { ITEMS, KEPT_SEQS, MOVE, MOVE_BACK, MOVE_ON, PUT_THINGS } from './reading.sql.js';

const CONNECTIONS_MAX = 8;

/** Deliveries and cursors in PostgreSQL. */
export class PostgresNotifierStore implements NotifierStore {
  private constructor(private readonly pool: Pool) {}

  /** Connects and brings the tables to shape. Errors: Failure(DATABASE_UNAVAILABLE). */
  static async open(url: string): Promise<PostgresNotifierStore> {
    const shape = { url, applicationName: 'recourse-notifier', migrations: NOTIFIER_MIGRATIONS, tables: TABLES };
    const makeTables = async (own?: readonly string[]): Promise<void> =>
      (await migrate({ ...shape, onlyOver: own })).destroy();
    await makeTables();
    const store = new PostgresNotifierStore(createPool({ url, connectionsMax: CONNECTIONS_MAX, isDurable: true }));
    return mendedStore(store, () => makeTables(NOTIFIER_MIGRATIONS.map(({ name }) => name)));
  }

  position(topic: string, partition: number): Promise<ReadPosition | null> {
    return coded('read the position', async () => {
      const {
        rows: [row],
      } = await this.pool.query<{ seq: string; hash: Buffer; next_offset: string; cuts: ReadPosition['cuts'] }>(
        'SELECT seq, hash, next_offset, cuts FROM read_positions WHERE topic = $1 AND log_partition = $2',
        [topic, partition],
      );
      if (row === undefined) return null;
      return { seq: Number(row.seq), hash: row.hash, offset: Number(row.next_offset), cuts: row.cuts };
    });
  }

  keptSeqs(): Promise<ReadonlyMap<string, number>> {
    return coded('read all positions', async () => {
      const { rows } = await this.pool.query<{ place: string; seq: string }>(KEPT_SEQS);
      return new Map(rows.map(({ place, seq }) => [place, Number(seq)]));
    });
  }

  things(keys: readonly string[]): Promise<readonly Thing[]> {
    if (keys.length === 0) return Promise.resolve([]);
    // Docs are written by `take` alone.
    return coded('read things', async () =>
      (
        await this.pool.query<{ doc: Thing }>('SELECT doc FROM things WHERE thing_key = ANY($1::text[])', [keys])
      ).rows.map(({ doc }) => doc),
    );
  }

  items({ kind, tenant, countMax, after }: ItemQuery): Promise<readonly WaitingThing[]> {
    // Docs are written by `take` alone.
    return coded('list items', async () =>
      (
        await this.pool.query<{ doc: WaitingThing }>(ITEMS, [
          kind ?? null,
          tenant ?? null,
          after?.deadlineAt ?? null,
          after?.key ?? null,
          countMax,
        ])
      ).rows.map(({ doc }) => doc),
    );
  }

  take(taken: Taken): Promise<boolean> {
    return coded('take what was read', () =>
      inTransaction(this.pool, 'BEGIN', async (client) => {
        if (!(await moveOn(client, taken))) return false;
        await putChanges(client, taken.changes);
        await supersede(client, taken.superseded);
        await queue(client, taken.queued);
        return true;
      }),
    );
  }

  beginAnew(topic: string, partition: number, from: ReadPosition, to: ReadPosition): Promise<void> {
    return coded('begin a log anew', () =>
      inTransaction(this.pool, 'BEGIN', async (client) => {
        const values = [...moveOf({ topic, partition, fromSeq: from.seq, to }), from.hash];
        const { rowCount } = await client.query(MOVE_BACK, values);
        if (rowCount === 0) return;
        const openings = openingsIn(topic, partition);
        await client.query("DELETE FROM things WHERE starts_with(doc->'item'->>'opening', $1)", [openings]);
        await client.query('DELETE FROM deliveries WHERE starts_with(opening, $1) AND state = ANY($2::text[])', [
          openings,
          UNTOLD,
        ]);
      }),
    );
  }

  claim({ endpoint, now, until, countMax }: Claim): Promise<readonly Delivery[]> {
    return coded('claim deliveries', async () =>
      (await this.pool.query<DeliveryRow>(CLAIM, [endpoint, now, until, countMax])).rows
        .map(deliveryOf)
        .sort((a, b) => a.dueAt - b.dueAt),
    );
  }

  settle(
    { id, attempts, endpoint }: Pick<Delivery, 'id' | 'attempts' | 'endpoint'>,
    { event, error, nextAt, closesEndpoint }: AttemptVerdict,
    now: number,
  ): Promise<void> {
    return coded('settle an attempt', () =>
      inTransaction(this.pool, 'BEGIN', async (client) => {
        if (closesEndpoint)
          await client.query('INSERT INTO endpoints_off (endpoint, off_since) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
            endpoint,
            now,
          ]);
        const [before, after] = movesOf(event);
        await client.query(SETTLE, [
          id,
          before,
          after,
          nextAt,
          error?.code ?? null,
          error?.httpStatus ?? null,
          now,
          attempts,
        ]);
      }),
    );
  }

  queue(delivery: Delivery): Promise<void> {
    return coded('queue a delivery', () => inTransaction(this.pool, 'BEGIN', (client) => queue(client, [delivery])));
  }

  queuedOnce(ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return Promise.resolve([]);
    return coded('look for deliveries', async () =>
      (await this.pool.query<{ id: string }>('SELECT id FROM deliveries WHERE id = ANY($1::text[])', [ids])).rows.map(
        ({ id }) => id,
      ),
    );
  }

  find(id: string): Promise<Delivery | null> {
    return coded('read a delivery', async () =>
      firstOf((await this.pool.query<DeliveryRow>('SELECT * FROM deliveries WHERE id = $1', [id])).rows),
    );
  }

  list(query: DeliveryQuery): Promise<readonly Delivery[]> {
    const { text, values } = listQuery(query);
    return coded('list deliveries', async () =>
      (await this.pool.query<DeliveryRow>(text, [...values])).rows.map(deliveryOf),
    );
  }

  retry(id: string, now: number): Promise<Delivery | null> {
    return coded('retry a delivery', async () =>
      firstOf((await this.pool.query<DeliveryRow>(RETRY, [id, now, movesOf('Retried')[0]])).rows),
    );
  }

  turnOn(endpoint: string, now: number): Promise<void> {
    return coded('turn an endpoint on', () =>
      inTransaction(this.pool, 'BEGIN', async (client) => {
        await client.query('DELETE FROM endpoints_off WHERE endpoint = $1', [endpoint]);
        await client.query(DUE_FROM, [endpoint, now]);
      }),
    );
  }

  figures(now: number, tenant?: string): Promise<readonly EndpointFigures[]> {
    return coded('count deliveries', async () => {
      const { rows } = await this.pool.query<{
        name: string;
        off_since: string | null;
        queued: string;
        oldest_due_at: string | null;
        given_up: string;
      }>(FIGURES, [now, tenant ?? null]);
      return rows.map(({ name, off_since, queued: waiting, oldest_due_at, given_up }) => ({
        name,
        offSince: numberOrNull(off_since),
        queued: Number(waiting),
        oldestDueAt: numberOrNull(oldest_due_at),
        givenUp: Number(given_up),
      }));
    });
  }

  prune(before: number): Promise<void> {
    return coded('forget deliveries', async () => {
      await this.pool.query(PRUNE, [before]);
    });
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

/** The newest first; ids of one millisecond by their bytes. */
function listQuery({ state, endpoint, tenant, countMax, after }: DeliveryQuery): Query {
  const given = new Parameters();
  const equal = given.equal({ state, endpoint, tenant });
  const behind =
    after === undefined
      ? []
      : [`(updated_at, id COLLATE "C") < (${given.add(after.updatedAt)}, ${given.add(after.id)} COLLATE "C")`];
  return {
    text: `SELECT * FROM deliveries${whereOf([...equal, ...behind])} ORDER BY updated_at DESC, id COLLATE "C" DESC LIMIT ${given.add(countMax)}`,
    values: given.values,
  };
}

/** The cursor is the fence: whoever does not move it keeps nothing. */
async function moveOn(client: PoolClient, taken: Taken): Promise<boolean> {
  const { fromSeq } = taken;
  const { rowCount } = await client.query(fromSeq === 0 ? MOVE_ON : MOVE, moveOf(taken));
  if (rowCount === 1) return true;
  // Void records at the start move the offset and leave the seq at 0, and so does what begins anew.
  return fromSeq === 0 && (await client.query(MOVE, moveOf(taken))).rowCount === 1;
}

function moveOf({ topic, partition, fromSeq, to }: Pick<Taken, 'topic' | 'partition' | 'fromSeq' | 'to'>): unknown[] {
  return [topic, partition, fromSeq, to.seq, to.hash, to.offset, to.cuts === null ? null : JSON.stringify(to.cuts)];
}

async function putChanges(client: PoolClient, changes: readonly KnownChange[]): Promise<void> {
  // The last change of a thing is what is so: one statement takes each key once.
  const last = new Map(changes.map((change) => [change.op === 'put' ? keyOf(change.thing) : change.key, change]));
  const puts = [...last].flatMap(([key, change]) =>
    change.op === 'put' ? [[key, JSON.stringify(change.thing)] as const] : [],
  );
  const gone = [...last].flatMap(([key, { op }]) => (op === 'forget' ? [key] : []));
  if (puts.length > 0) await client.query(PUT_THINGS, [puts.map(([key]) => key), puts.map(([, doc]) => doc)]);
  if (gone.length > 0) await client.query('DELETE FROM things WHERE thing_key = ANY($1::text[])', [gone]);
}

async function supersede(client: PoolClient, items: readonly Superseding[]): Promise<void> {
  if (items.length === 0) return;
  const values = [items.map(({ key }) => key), items.map(({ opening }) => opening), items.map(({ only }) => only)];
  await client.query(FORGET_UNTRIED, values);
  await client.query(SUPERSEDE, values);
}

async function queue(client: PoolClient, all: readonly Delivery[]): Promise<void> {
  if (all.length === 0) return;
  await client.query(
    QUEUE,
    DELIVERY_COLUMNS.map(({ of }) => all.map(of)),
  );
}

/** States an event moves, and where to: a row of the table for each. */
function movesOf(event: DeliveryEvent): readonly [readonly DeliveryState[], readonly DeliveryState[]] {
  const moves = DELIVERY_STATES.flatMap((before) => {
    const after: DeliveryState | null = DELIVERY_AFTER[before][event];
    return after === null ? [] : [{ before, after }];
  });
  return [moves.map(({ before }) => before), moves.map(({ after }) => after)];
}

function firstOf(rows: readonly DeliveryRow[]): Delivery | null {
  return rows[0] === undefined ? null : deliveryOf(rows[0]);
}
