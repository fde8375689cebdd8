// The projection store of one partition of one log: a cache of the log and never more (L7, L8).
import type { Change, Row, RowAddress } from './service-core.js';

/** Position in an input, as the newest Progress of the own log states it. */
export interface StoredCursor {
  readonly topic: string;
  readonly partition: number;
  /** Offset of the next record to read. */
  readonly offset: number;
  /** Accepted head of the input log at that position; 0 and zeros for a wire. */
  readonly seq: number;
  readonly hash: Buffer;
}

/** How far the log has been projected. */
export interface ProjectedHead {
  readonly seq: number;
  readonly hash: Buffer;
  /** Offset in the own log of the next record to read. */
  readonly offset: number;
  readonly decidedAt: number;
  readonly cursors: readonly StoredCursor[];
  /** Reactions of every record up to this seq were sent. */
  readonly reactedSeq: number;
  /** An offset of the own log at or before the first record whose reactions are not known to be sent. */
  readonly reactedOffset: number;
}

export interface Loaded {
  /** Database time of the query, epoch milliseconds. */
  readonly now: number;
  /** Seq of the head these rows belong to; null before the first projection. Below what was projected: the database is an older copy. */
  readonly headSeq: number | null;
  readonly rows: readonly Row[];
}

/** Groups that have rows, and the head those rows belong to. */
export interface GroupPage {
  /** As that of `Loaded`. */
  readonly headSeq: number | null;
  readonly groups: readonly string[];
}

export interface GroupAddress {
  readonly kind: string;
  readonly group: string;
}

export type ProjectResult = 'projected' | 'fenced';

/**
 * Rows and head of one partition.
 *
 * Implementations MUST apply changes and head in one transaction that first moves the head from `from` (compare seq and hash).
 * Implementations MUST NOT apply anything when the head is elsewhere: they answer `fenced`.
 * Implementations MUST answer with database time, never the process's.
 * Errors: Failure(DATABASE_UNAVAILABLE).
 */
export interface PartitionStore {
  /** null before the first projection. */
  head(): Promise<ProjectedHead | null>;
  /** All rows of the groups; also the way to ask the time (with no groups). */
  load(groups: readonly GroupAddress[]): Promise<Loaded>;
  /** All rows of a kind, ordered by group and key; for kinds that are kept whole in memory. */
  all(kind: string): Promise<readonly Row[]>;
  /** Groups of a kind that have rows, each once, in order of code points, from the first behind `after`; null begins. */
  groups(kind: string, after: string | null, limit: number): Promise<GroupPage>;
  /** Timers due at or before `until`, earliest first, ties by address. */
  due(until: number, limit: number): Promise<readonly { readonly address: RowAddress; readonly dueAt: number }[]>;
  /** `from` is null for the first projection of an empty store. */
  project(
    from: { readonly seq: number; readonly hash: Buffer } | null,
    to: ProjectedHead,
    changes: readonly Change[],
  ): Promise<ProjectResult>;
  /** SHA-256 over all rows ordered by (kind, group, key), each as length-prefixed canonical text of its address, dueAt and doc. */
  stateHash(): Promise<string>;
  /** Removes rows and head: the next start rebuilds from offset 0. */
  drop(): Promise<void>;
}

/** Makes the store of each partition; one per service and log. */
export interface StoreFactory {
  partition(log: string, partition: number): PartitionStore;
}
