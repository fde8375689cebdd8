// The store port on PostgreSQL: one transaction per projection, which first moves the head (L7).
//
// Boundary: knows rows and heads, not what they mean. Each service has its own database and role; nobody else reads it.
//
// Invariants
//   S1. Rows change only in a transaction in which the head moved from where the caller thinks it stands.
//   S2. The head and few rows are one statement, so one round trip; many rows of a kind are a COPY, straight into the table when they
//       turn out new.
//   S3. Time is the database's.
//   S4. Rows that another version of the service keeps are neither changed nor taken for ours.
import { compareText, decodeDoc, encodeDoc } from '@recourse/event-log';
import type {
  Change,
  GroupAddress,
  GroupPage,
  KindSpec,
  Loaded,
  PartitionStore,
  ProjectedHead,
  ProjectResult,
  Row,
  RowAddress,
  StoredCursor,
  StoreFactory,
} from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { Pool, PoolClient } from 'pg';
import { coded, inTransaction, SNAPSHOT } from './postgres-connection.js';
import { countRows, lastChanges } from './kind-changes.js';
import type { KindChanges } from './kind-changes.js';
import { addressesOf, BulkPuts, columnsOf, updatesOf } from './postgres-bulk.js';
import { HEADS_TABLE, isOtherShape, otherVersion, shapeOf, tableOf } from './postgres-schema.js';
import type { ProjectedLog } from './postgres-schema.js';
import { hashRows } from './postgres-state.js';
import { dueTimers, groupsOf, loadGroups, projectSmall, rowOf, wholeKind } from './postgres-statements.js';
import type { KindPart, Statement, StoredRow } from './postgres-statements.js';

/** Puts of one kind above which a COPY is cheaper than arrays as parameters, in spite of its round trips. */
const FEW_PUTS_MAX = 50;

type From = { readonly seq: number; readonly hash: Buffer } | null;

/** Where the head stands and moves to, and what changes with it, by kind. */
interface Projection {
  readonly from: From;
  readonly to: ProjectedHead;
  readonly changes: readonly KindChanges[];
}

const areMany = ({ puts }: KindChanges): boolean => puts.length > FEW_PUTS_MAX;

/** Stores of all partitions of the logs, over one pool. Errors: InvariantViolation for a log that was not declared. */
export function createPostgresStores(pool: Pool, logs: readonly ProjectedLog[]): StoreFactory {
  const known = new Map(logs.map((log) => [log.log, log]));
  const bulk = new BulkPuts();
  return {
    partition(log, partition) {
      const declared = known.get(log);
      if (!declared) throw new InvariantViolation('S1', `no log ${log} is projected here`, 'partition');
      return new PostgresPartitionStore({
        pool,
        log,
        partition,
        bulk,
        kinds: [...declared.kinds].sort((a, b) => compareText(a.kind, b.kind)),
        shape: shapeOf(declared),
      });
    },
  };
}

interface Place {
  readonly pool: Pool;
  readonly log: string;
  readonly partition: number;
  /** Ordered by name. */
  readonly kinds: readonly KindSpec[];
  /** Of its tables, as this version makes them. */
  readonly shape: string;
  readonly bulk: BulkPuts;
}

/** Statements kept of one store; kinds change together in a few ways only. */
const STATEMENTS_MAX = 256;

class PostgresPartitionStore implements PartitionStore {
  /** Those that project a few rows, by what they project. */
  private readonly statements = new Map<string, Statement>();

  constructor(private readonly place: Place) {}

  head(): Promise<ProjectedHead | null> {
    const { pool, log, partition, shape } = this.place;
    return coded('read head', async () => {
      const { rows } = await pool.query<HeadRow>(
        `SELECT * FROM ${tableOf(log, HEADS_TABLE)} WHERE log_partition = $1`,
        [partition],
      );
      if (rows[0] === undefined) return null;
      if (rows[0].shape !== shape) throw otherVersion(log);
      return headOf(rows[0]);
    });
  }

  load(groups: readonly GroupAddress[]): Promise<Loaded> {
    const wanted = new Map<KindSpec, Set<string>>();
    for (const { kind, group } of groups) {
      const spec = this.spec(kind);
      wanted.set(spec, (wanted.get(spec) ?? new Set()).add(group));
    }
    // In one order, so that the same kinds are asked for in the same words.
    const specs = this.place.kinds.filter((spec) => wanted.has(spec));
    return coded('load', async () => {
      const values: unknown[] = [this.place.partition, ...specs.map((spec) => [...(wanted.get(spec) ?? [])])];
      const { rows } = await this.place.pool.query<LoadedRow>({ ...loadGroups(this.place.log, specs), values });
      const [time, ...found] = rows;
      return {
        now: Number(time?.due_at),
        headSeq: seqOf(time?.row_key),
        rows: found.map((row) => rowOf(specs[row.n]?.kind ?? '', row)),
      };
    });
  }

  all(kind: string): Promise<readonly Row[]> {
    const spec = this.spec(kind);
    return coded('load all', async () => {
      const { rows } = await this.place.pool.query<StoredRow>(wholeKind(this.place.log, spec), [this.place.partition]);
      return rows.map((row) => rowOf(kind, row));
    });
  }

  groups(kind: string, after: string | null, limit: number): Promise<GroupPage> {
    const spec = this.spec(kind);
    const { pool, log, partition } = this.place;
    return coded('read groups', async () => {
      const { rows } = await pool.query<{ readonly group_key: string | null; readonly head: string | null }>({
        ...groupsOf(log, spec, after === null),
        values: after === null ? [partition, limit] : [partition, limit, after],
      });
      const [head, ...found] = rows;
      return { headSeq: seqOf(head?.head), groups: found.map(({ group_key }) => group_key ?? '') };
    });
  }

  due(until: number, limit: number): Promise<readonly { readonly address: RowAddress; readonly dueAt: number }[]> {
    const { pool, log, partition, kinds } = this.place;
    if (kinds.length === 0) return Promise.resolve([]);
    return coded('read timers', async () => {
      const { rows } = await pool.query<LoadedRow>({
        ...dueTimers(log, kinds),
        values: [partition, wholeMs(until), limit],
      });
      return rows.map((row) => ({
        address: { kind: kinds[row.n]?.kind ?? '', group: row.group_key, key: row.row_key },
        dueAt: Number(row.due_at),
      }));
    });
  }

  project(from: From, to: ProjectedHead, changes: readonly Change[]): Promise<ProjectResult> {
    const projection = { from, to, changes: lastChanges(changes, (kind) => this.spec(kind)) };
    return coded('project', async () => {
      try {
        return await (projection.changes.some(areMany)
          ? this.projectMany(projection)
          : this.projectFew(this.place.pool, projection));
      } catch (error) {
        throw isOtherShape(error) ? otherVersion(this.place.log) : error;
      }
    });
  }

  stateHash(): Promise<string> {
    const { pool, log, partition, kinds } = this.place;
    return coded('state hash', () =>
      inTransaction(pool, SNAPSHOT, (client) => hashRows(client, { log, kinds }, partition)),
    );
  }

  drop(): Promise<void> {
    const { pool, log, partition, kinds } = this.place;
    return coded('drop', () =>
      inTransaction(pool, 'BEGIN', async (client) => {
        await client.query(`DELETE FROM ${tableOf(log, HEADS_TABLE)} WHERE log_partition = $1`, [partition]);
        for (const { table } of kinds)
          await client.query(`DELETE FROM ${tableOf(log, table)} WHERE log_partition = $1`, [partition]);
      }),
    );
  }

  /** Moves the head and changes the rows in one statement. */
  private async projectFew(
    client: Pick<PoolClient, 'query'>,
    { from, to, changes }: Projection,
  ): Promise<ProjectResult> {
    const touched = changes.filter((one) => countRows([one]) > 0);
    const parts = touched.map(({ spec, puts, updates, deletes }) => ({
      spec,
      puts: puts.length > 0,
      updates: updates.length > 0,
      deletes: deletes.length > 0,
    }));
    const values = touched.flatMap(({ spec, puts, updates, deletes }) => [
      ...(puts.length > 0 ? columnsOf(spec, puts) : []),
      ...(updates.length > 0 ? updatesOf(spec, updates) : []),
      ...(deletes.length > 0 ? addressesOf(deletes) : []),
    ]);
    const { rows } = await client.query<{ moved: number }>({
      ...this.statementOf(from === null, parts),
      values: [...headValues(this.place.partition, from, to), ...values],
    });
    return rows[0]?.moved === 1 ? 'projected' : 'fenced';
  }

  private statementOf(isFirst: boolean, parts: readonly KindPart[]): Statement {
    const words = parts.map(({ spec, puts, updates, deletes }) => [spec.kind, puts, updates, deletes].join('.'));
    const key = [isFirst, ...words].join(' ');
    const known = this.statements.get(key);
    if (known !== undefined) return known;
    const statement = projectSmall(this.place, isFirst, parts);
    if (this.statements.size < STATEMENTS_MAX) this.statements.set(key, statement);
    return statement;
  }

  /** Many puts of a kind follow by COPY, in the transaction in which the head moved. */
  private projectMany({ from, to, changes }: Projection): Promise<ProjectResult> {
    const { pool, log, partition, bulk } = this.place;
    return inTransaction(pool, 'BEGIN', async (client) => {
      const few = changes.map((one) => (areMany(one) ? { ...one, puts: [] } : one));
      if ((await this.projectFew(client, { from, to, changes: few })) === 'fenced') return 'fenced';
      for (const { spec, puts } of changes.filter(areMany)) await bulk.put(client, { log, partition, spec }, puts);
      return 'projected';
    });
  }

  private spec(kind: string): KindSpec {
    const spec = this.place.kinds.find((one) => one.kind === kind);
    if (!spec) throw new InvariantViolation('C1', `no kind ${kind} is declared for ${this.place.log}`, 'partition');
    return spec;
  }
}

/** The first row of a load carries the head's seq where others carry their key. */
function seqOf(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}

interface LoadedRow extends StoredRow {
  readonly n: number;
}
interface HeadRow {
  readonly seq: string;
  readonly head_hash: Buffer;
  readonly log_offset: string;
  readonly decided_at: string;
  readonly reacted_seq: string;
  readonly reacted_offset: string;
  readonly cursors: Buffer;
  readonly shape: string;
}

/** Due times are whole milliseconds; paced clocks are not. */
function wholeMs(until: number): number {
  return Math.floor(Math.min(until, Number.MAX_SAFE_INTEGER));
}

function headOf(row: HeadRow): ProjectedHead {
  // headValues wrote the list, so it is one of cursors.
  const cursors = decodeDoc(row.cursors)['cursors'] as readonly StoredCursor[];
  return {
    seq: Number(row.seq),
    hash: row.head_hash,
    offset: Number(row.log_offset),
    decidedAt: Number(row.decided_at),
    reactedSeq: Number(row.reacted_seq),
    reactedOffset: Number(row.reacted_offset),
    cursors,
  };
}

function headValues(partition: number, from: From, to: ProjectedHead): unknown[] {
  const head = [
    partition,
    to.seq,
    to.hash,
    to.offset,
    to.decidedAt,
    to.reactedSeq,
    to.reactedOffset,
    encodeDoc({ cursors: to.cursors }),
  ];
  return from === null ? head : [...head, from.seq, from.hash];
}
