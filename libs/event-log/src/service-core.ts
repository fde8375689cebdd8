// What a service is to the loop: pure functions over plain data (L1, L2, L9).
//
// Boundary: a ServiceCore knows no Kafka, no database, no clock and no randomness. The loop gives it state, input and
// database time; it answers with records. Its evolve turns accepted records into rows, and reads nothing else.
//
// Invariants
//   C1. decide, owed and evolve may throw Lacking through what they read; the loop loads it and calls again: no side effects.
//   C2. evolve depends on the record and on rows that earlier records made; never on views, input or time.
//   C3. Rows are plain readonly data (text, numbers, booleans, null, Buffer, lists, objects); numbers are safe integers.

import type { Speaker } from '@recourse/kernel';

/** Plain readonly data; bytes are Buffers. */
export type Doc = Readonly<Record<string, unknown>>;

/** Address of a row: rows of one kind are loaded a group at a time. */
export interface RowAddress {
  /** Name of the kind, as declared in `ServiceCore.kinds`. */
  readonly kind: string;
  /** What is loaded together: a run, a ref, a command id. At most 512 bytes. */
  readonly group: string;
  /** Unique within kind and group. At most 512 bytes. */
  readonly key: string;
}

/** A row of state. `dueAt` makes it a durable timer: the loop feeds a TimerInput when database time reaches it. */
export interface Row extends RowAddress {
  /** Epoch milliseconds; null for no timer. */
  readonly dueAt: number | null;
  readonly doc: Doc;
}

/** A change of state; projection applies it, the fold of a replay applies it, nothing else does. */
export type Change = Put | { readonly op: 'delete'; readonly address: RowAddress };

export interface Put {
  readonly op: 'put';
  readonly row: Row;
  /** The row was there, and the lasting members of its kind are as they were; the overlay says so, never a core. */
  readonly isLasting?: true;
}

/** Rows as the loop holds them. A group that is cold makes these throw Lacking, which only the loop catches. */
export interface StateView {
  get(kind: string, group: string, key: string): Doc | undefined;
  /** The row as it stands, payloads as they are in the log: for whoever looks into none of them. */
  stored(kind: string, group: string, key: string): Doc | undefined;
  /** All rows of a group, ordered by key. */
  list(kind: string, group: string): readonly Doc[];
  /** The same in no order: for whoever picks from many. */
  all(kind: string, group: string): readonly Doc[];
  /** Rows of a kind that has places, the last first: those placed below `below` (null: all), then those without a place. A walk costs what it walks over. */
  lastFirst(kind: string, group: string, below: number | null): Iterable<Doc>;
}

/** A broadcast log folded into a map, always at or after the cursor of the chain that reads it. */
export interface BroadcastView {
  get(key: string): Doc | undefined;
  /** Accepted seq of a partition of the log up to which the view is folded. */
  position(partition: number): number;
  /** Partition a key of that log lives on. */
  partitionOf(key: string): number;
}

export interface Views {
  /** Errors: InvariantViolation for a view the core did not declare. */
  view(name: string): BroadcastView;
  /** Asks for views that were read to the end seen after this input arrived: what is not in them then is not there. */
  readToEnd(): void;
}

/** An accepted record of the own log. */
export interface AcceptedRecord {
  readonly type: string;
  /** Fields of the record without seq, prev_hash and decided_at. */
  readonly body: Doc;
  readonly seq: number;
  readonly hash: Buffer;
  /** Hash of the accepted record before it; the genesis hash for the first. */
  readonly prevHash: Buffer;
  /** Epoch milliseconds of database time. */
  readonly decidedAt: number;
}

/** A record of a wire, or an accepted record of somebody's log. */
export interface RecordInput {
  readonly source: 'wire' | 'log';
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  /** Short record name, e.g. `ToolExecuted`. */
  readonly type: string;
  readonly body: Doc;
  /** The body in the shape of its writer's schema, where that is not ours. */
  readonly asWritten?: () => unknown;
  /** Chain position in its log; 0 for a wire. */
  readonly seq: number;
  /** Hash of the record in its log; zeros for a wire. */
  readonly hash: Buffer;
  /** Whose key signed it, on a wire whose records are signed. */
  readonly speaker?: Speaker;
}

/** When a record of somebody's log was decided, by their database; epoch milliseconds. */
export function decidedAtOf({ body }: Pick<RecordInput, 'body'>): number {
  return Number(body['decided_at'] ?? 0);
}

/** Database time reached the `dueAt` of a row. */
export interface TimerInput {
  readonly source: 'timer';
  readonly address: RowAddress;
  readonly dueAt: number;
}

export type Input = RecordInput | TimerInput;

/** A record to be appended: the loop adds seq, prev_hash and decided_at. */
export interface Decided {
  readonly type: string;
  readonly body: Doc;
}

/** The one answer to a command (L9). Rejections are values with a code. `Told`: what is told of one that is accepted. */
export interface CommandAnswer<Told extends Doc = Doc> {
  readonly status: 'accepted' | 'rejected';
  readonly httpStatus: number;
  readonly code: string | null;
  /** JSON the caller gets: the outcome, or `{code, message, ...}`. */
  readonly body: Told | Doc;
}

/** `Told` stands in the OpenAPI documents. */
export interface Decision<Told extends Doc = Doc> {
  readonly records: readonly Decided[];
  /** Present exactly when the input is a command (its body has an `envelope`). */
  readonly answer?: CommandAnswer<Told>;
  /** The input cannot be taken: park it with this code. */
  readonly park?: { readonly reason: string; readonly detail: string };
}

export interface DecideContext {
  readonly state: StateView;
  readonly views: Views;
  /** Database time, epoch milliseconds; never below the decided_at of the chain's head. */
  readonly now: number;
  readonly partition: number;
  /** How many partitions the own log has: a limit on all of them is shared out. */
  readonly partitions: number;
  /** Does a key of the own log live on the partition that decides? */
  readonly owns: Owns;
}

/** Does a key of the own log live on this partition? Pure. */
export type Owns = (key: string) => boolean;

/** A message that leaves because of an accepted record. */
export interface Outgoing {
  /** Row that is open as long as the message is owed; `owed` looks at it. */
  readonly obligationId: string;
  readonly topic: string;
  readonly key: string;
  /** Full record name, e.g. `recourse.tools.LegRequested`. */
  readonly type: string;
  readonly body: Doc;
  /** What goes with it for whoever carries or traces it; nothing is decided by it. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A row that an accepted record changed, as it was and as it is; undefined where there was or is none. */
export interface ChangedRow {
  readonly kind: string;
  readonly before: Doc | undefined;
  readonly after: Doc | undefined;
}

/** A record derived from an accepted one (L17); the loop adds seq, prev_hash, source_seq and source_index. */
export interface Derived {
  readonly key: string;
  readonly type: string;
  readonly body: Doc;
}

export type ColumnType = 'text' | 'bigint' | 'boolean' | 'bytea';

/** A queryable column of a kind, read from the row's doc. */
export interface ColumnSpec {
  readonly name: string;
  readonly type: ColumnType;
  readonly of: (row: Row) => string | number | boolean | Buffer | null;
  /** It says the same as long as the lasting members of the kind stay as they are. */
  readonly isLasting?: true;
}

export interface KindSpec {
  readonly kind: string;
  /** Table in the service's database; snake_case. */
  readonly table: string;
  /** Columns beside partition, group_key, row_key, due_at and doc. */
  readonly columns: readonly ColumnSpec[];
  /** Secondary indexes, each a list of columns. */
  readonly indexes?: readonly (readonly string[])[];
  /** Where a row stands among those of its group, from 0; null for one without a place. What is put later has a greater one, or its group is put in order anew. */
  readonly place?: (doc: Doc) => number | null;
  /** Members that stay as they are while others change: a store keeps them apart and does not write them again. */
  readonly lasting?: readonly string[];
}

export interface InputSpec {
  readonly topic: string;
  readonly source: 'wire' | 'log';
  /** aligned: same partition number as the own log; broadcast: every partition of it. */
  readonly mode: 'aligned' | 'broadcast';
  /** Short names that are handed to decide; others of a log only move the cursor. Commands about parked records are the loop's own. */
  readonly types: readonly string[];
  /** False for a record of a log that decide answers with nothing, whatever the state, and for one of a wire that is another service's to answer: it only moves the cursor, at no cost. Pure. */
  readonly concerns?: (input: RecordInput, owns: Owns) => boolean;
  /**
   * Decided before others that wait, however long they have waited: answers to what the own log asked for within a time. Nothing
   * that may rest on a record of another topic that came before it: an approval waits for the news that was there before it.
   */
  readonly goesFirst?: true;
  /**
   * How long its records may wait for others to be decided with, milliseconds: nobody waits for what they lead to, and each batch
   * costs an append, its readers and a transaction. Anything else that comes ends the wait. Default 0.
   */
  readonly patienceMs?: number;
}

export interface ViewSpec {
  readonly name: string;
  readonly topic: string;
  /** Entries a record changes; `null` removes. Pure; reads only the record and the entry that stands. */
  readonly fold: (
    record: AcceptedRecord,
    get: (key: string) => Doc | undefined,
  ) => readonly (readonly [string, Doc | null])[];
}

/** Whose data a record holds; the retention window is told by the time. */
export interface SealScope {
  readonly tenant: string;
  readonly subject: string;
  /** What is destroyed by itself, e.g. the id of a commit whose state it is: it has a key of its own. None: the key of the subject. */
  readonly unit?: string;
}

/** One log of one service, as pure functions. */
export interface ServiceCore {
  /** Topic of the own log. */
  readonly log: string;
  readonly inputs: readonly InputSpec[];
  readonly views: readonly ViewSpec[];
  readonly kinds: readonly KindSpec[];
  /** Raised when a record that stands already leaves other rows than it did: rows of another edition are filled anew from the log. Default 1. */
  readonly edition?: number;
  /** Record key of a decided record: the aggregate it is about. */
  readonly keyOf: (record: Decided) => string;
  /** Whose data the payloads of a decided record are; they are sealed under a key of that subject (docs/design/topics.md). A payload in an element of a top-level `members` is that element's; null: it is in none. Default: the record key's. */
  readonly sealScope?: (record: Decided, state: StateView, member: Doc | null) => SealScope;
  readonly decide: (context: DecideContext, input: Input) => Decision;
  readonly evolve: (state: StateView, record: AcceptedRecord) => readonly Change[];
  /** Messages an accepted record sends. Pure function of the record. */
  readonly react: (record: AcceptedRecord) => readonly Outgoing[];
  /** Is the message still owed? Asked before it is sent again after a take-over. */
  readonly owed: (state: StateView, message: Outgoing, now: number) => boolean;
  /** Derived log of this log (L17), when it has one. Pure function of the record. */
  readonly derived?: { readonly topic: string; readonly derive: (record: AcceptedRecord) => readonly Derived[] };
}

/** A decision that appends records and answers nobody. */
export function append(...records: readonly Decided[]): Decision<never> {
  return { records };
}

/** A decision that changes nothing. */
export const NOTHING: Decision<never> = { records: [] };

/** A decision that accepts a command. */
export function accepted<const Told extends Doc>(
  httpStatus: number,
  body: Told,
  ...records: readonly Decided[]
): Decision<Told> {
  return { records, answer: { status: 'accepted', httpStatus, code: null, body } };
}

/** A decision that refuses a command; still recorded, as its answer. */
export function refused(
  httpStatus: number,
  code: string,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
): Decision<never> {
  return { records: [], answer: { status: 'rejected', httpStatus, code, body: { code, message, ...more } } };
}
