// Rebuilds the state of one partition in memory: its log from offset 0, in order, through the fold of the loop (L2, L8, P10).
//
// Boundary: reads one log and nothing else; no input, no wire, no clock, no database. Writes and sends nothing.
//
// Invariants
//   R1. Rows come from accepted records alone, by the one fold, so the same records give the same state hash anywhere.
//   R2. It stops exactly behind the last record that was asked for.
import { InvariantViolation } from '@recourse/kernel';
import { foldAll, withCommonKinds } from './fold.js';
import type { Lacks } from './lacks.js';
import { MemoryDatabase } from './memory-store.js';
import type { OwnLog, PlacedRecord } from './own-log.js';
import { Overlay, RowCache } from './row-cache.js';
import type { ServiceCore } from './service-core.js';
import type { PartitionStore, ProjectedHead } from './store.port.js';

/** Where a replay stops: behind a seq, or before the first record decided later than an instant. Neither: at the end. */
export interface ReplayBounds {
  readonly untilSeq?: number | null;
  /** Epoch milliseconds of database time. */
  readonly asOf?: number | null;
}

export interface ReplayOptions extends ReplayBounds {
  readonly core: ServiceCore;
  readonly log: OwnLog;
  /** Hears the offset that was read up to, and the end seen at the start. */
  readonly onProgress?: (offset: number, end: number) => void;
}

export interface Replayed {
  /** Last record that was folded; 0 for none. */
  readonly seq: number;
  /** Its hash; the genesis hash for none. */
  readonly hash: Buffer;
  /** Epoch milliseconds; 0 for none. */
  readonly decidedAt: number;
  readonly rows: number;
  /** Records that were skipped by the acceptance rule. */
  readonly voids: number;
  /** SHA-256 over all rows, in hex, as a projection store computes it. */
  readonly stateHash: string;
  readonly endedBy: 'log' | 'bound';
}

const CHUNK = 500;
const ROWS_MAX = 20_000;

/** Errors: those of reading a log (LOG_CUT, UNKNOWN_SCHEMA, CURSOR_OUT_OF_RANGE and the broker's); InvariantViolation of the fold. */
export async function replayPartition({ core, log, onProgress, ...bounds }: ReplayOptions): Promise<Replayed> {
  const { topic, partition } = log.options;
  const database = new MemoryDatabase({ kinds: withCommonKinds(core.kinds), now: () => 0 });
  const store = database.partition(topic, partition);
  const fold = new Fold(core, store);
  const end = await log.end();
  let endedBy: Replayed['endedBy'] = bounds.untilSeq === 0 ? 'bound' : 'log';
  if (endedBy === 'log')
    for await (const records of log.read(log.origin())) {
      const wanted = records.filter((record) => isWithin(record, bounds));
      for (let at = 0; at < wanted.length; at += CHUNK) await fold.take(wanted.slice(at, at + CHUNK));
      onProgress?.(log.position.offset, end);
      if (wanted.length === records.length && wanted.at(-1)?.seq !== bounds.untilSeq) continue;
      endedBy = 'bound';
      break;
    }
  const { seq, hash, decidedAt } = fold.head ?? { ...log.origin().head, decidedAt: 0 };
  return {
    seq,
    hash,
    decidedAt,
    rows: rowsIn(database, topic, partition),
    voids: log.voids.length,
    stateHash: await store.stateHash(),
    endedBy,
  };
}

function isWithin({ seq, decidedAt }: PlacedRecord, { untilSeq, asOf }: ReplayBounds): boolean {
  return seq <= (untilSeq ?? Infinity) && decidedAt <= (asOf ?? Infinity);
}

function rowsIn(database: MemoryDatabase, log: string, partition: number): number {
  const kinds = [...database.read(log, partition).kinds.values()];
  return kinds.reduce((sum, groups) => sum + [...groups.values()].reduce((rows, group) => rows + group.size, 0), 0);
}

/** The loop's fold over rows of one store, without anything around it. */
class Fold {
  readonly #cache = new RowCache(new Set(), ROWS_MAX);
  head: ProjectedHead | null = null;

  constructor(
    private readonly core: ServiceCore,
    private readonly store: PartitionStore,
  ) {}

  async take(records: readonly PlacedRecord[]): Promise<void> {
    const overlay = new Overlay(this.#cache);
    await foldAll(this.core, overlay, records, { load: (lacks) => this.#load(lacks) });
    const last = records.at(-1);
    if (last === undefined) return;
    const { seq, hash, decidedAt, offset } = last;
    const to = { seq, hash, decidedAt, offset: offset + 1, cursors: [], reactedSeq: 0, reactedOffset: 0 };
    if ((await this.store.project(this.head, to, overlay.changes)) !== 'projected')
      throw new InvariantViolation('replay', 'somebody else writes the rebuilt state', 'partition');
    this.head = to;
    this.#cache.commit(overlay.changedGroups, seq);
    this.#cache.evict(seq);
  }

  async #load(lacks: Lacks): Promise<void> {
    const cold = lacks.rows.filter(({ kind, group }) => !this.#cache.has(kind, group));
    this.#cache.fill(cold, (await this.store.load(cold)).rows);
  }
}
