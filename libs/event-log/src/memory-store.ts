// The store port in memory: a database of one service that can be gated, rolled back to an older copy and lost.
//
// Boundary: same promises as the PostgreSQL store, held by store.contract.ts. The clock is handed in.
//
// Invariants
//   M1. A call applies everything or nothing, at one instant: there is no await between its check and its effect.
//   M2. What is handed out is decoded anew: nobody can change a stored row by holding one. `keepsReferences` trades that for speed.
import { createHash } from 'node:crypto';
import { InvariantViolation } from '@recourse/kernel';
import { canonicalRow, columnValue, compareText, docOf, encodeDoc, keeping } from './row-codec.js';
import type { Change, Doc, KindSpec, Row, RowAddress } from './service-core.js';
import type {
  GroupAddress,
  GroupPage,
  Loaded,
  PartitionStore,
  ProjectedHead,
  ProjectResult,
  StoreFactory,
} from './store.port.js';
import type { StoredRow } from './row-codec.js';

/** What a gate is asked to let through. */
export interface StoreOperation {
  /** Name of the call, e.g. `project`. */
  readonly kind: string;
  /** Who calls, as `forActor` named it. */
  readonly actor: string;
  readonly log: string;
  readonly partition: number;
}

export interface MemoryDatabaseOptions {
  readonly kinds: readonly KindSpec[];
  /** Database time, epoch milliseconds. */
  readonly now: () => number;
  /** Passed before every call: may wait, or throw what a database would. Default: immediate. */
  readonly gate?: (operation: StoreOperation) => Promise<void>;
  /** Keeps docs as they are handed in instead of encoding each: for a simulation, whose rows nobody changes. Default false. */
  readonly keepsReferences?: boolean;
}

/** Kind, then group, then key. */
type Groups = Map<string, Map<string, StoredRow>>;

interface PartitionData {
  readonly head: ProjectedHead | null;
  readonly kinds: Map<string, Groups>;
}

/** A copy of the whole database; opaque. */
export interface MemorySnapshot {
  readonly partitions: ReadonlyMap<string, PartitionData>;
}

/** One service's database. Partitions of several logs may live in it. */
export class MemoryDatabase implements StoreFactory {
  private readonly kinds: ReadonlyMap<string, KindSpec>;
  private partitions = new Map<string, PartitionData>();

  constructor(private readonly options: MemoryDatabaseOptions) {
    this.kinds = new Map(options.kinds.map((spec) => [spec.kind, spec]));
  }

  partition(log: string, partition: number): PartitionStore {
    return this.forActor('').partition(log, partition);
  }

  /** The same database as somebody else sees it: the gate hears their name. */
  forActor(actor: string): StoreFactory {
    return { partition: (log, partition) => new MemoryPartitionStore(this, { actor, log, partition }) };
  }

  snapshot(): MemorySnapshot {
    return { partitions: copyOf(this.partitions) };
  }

  /** Puts an older copy in place; the copy stays usable. */
  restore(snapshot: MemorySnapshot): void {
    this.partitions = copyOf(snapshot.partitions);
  }

  /** The database is gone: the next start rebuilds it from the logs. */
  wipe(): void {
    this.partitions = new Map();
  }

  now(): number {
    return this.options.now();
  }

  /** A doc as this database keeps it. */
  kept(doc: Doc): Buffer | Doc {
    return this.options.keepsReferences === true ? doc : encodeDoc(doc);
  }

  async pass(operation: StoreOperation): Promise<void> {
    await this.options.gate?.(operation);
  }

  read(log: string, partition: number): PartitionData {
    return this.partitions.get(`${log}/${String(partition)}`) ?? { head: null, kinds: new Map() };
  }

  write(log: string, partition: number, data: PartitionData | null): void {
    if (data === null) this.partitions.delete(`${log}/${String(partition)}`);
    else this.partitions.set(`${log}/${String(partition)}`, data);
  }

  /** Errors: InvariantViolation for a kind no core declared. */
  spec(kind: string): KindSpec {
    const spec = this.kinds.get(kind);
    if (!spec) throw new InvariantViolation('C1', `no kind ${kind} is declared`, 'partition');
    return spec;
  }
}

class MemoryPartitionStore implements PartitionStore {
  constructor(
    private readonly database: MemoryDatabase,
    private readonly place: Omit<StoreOperation, 'kind'>,
  ) {}

  async head(): Promise<ProjectedHead | null> {
    await this.enter('head');
    return this.read().head;
  }

  async load(groups: readonly GroupAddress[]): Promise<Loaded> {
    await this.enter('load');
    const data = this.read();
    const rows: Row[] = [];
    for (const { kind, group } of distinct(groups)) {
      this.database.spec(kind);
      rows.push(...rowsOf(kind, group, data.kinds.get(kind)?.get(group)));
    }
    return { now: this.database.now(), headSeq: data.head?.seq ?? null, rows };
  }

  async all(kind: string): Promise<readonly Row[]> {
    await this.enter('all');
    const data = this.read();
    this.database.spec(kind);
    return rowsOfKind(kind, data.kinds.get(kind));
  }

  async groups(kind: string, after: string | null, limit: number): Promise<GroupPage> {
    await this.enter('groups');
    this.database.spec(kind);
    const { head, kinds } = this.read();
    const held = [...(kinds.get(kind) ?? [])].filter(([, rows]) => rows.size > 0).map(([group]) => group);
    const groups = held
      .filter((group) => after === null || compareText(group, after) > 0)
      .sort(compareText)
      .slice(0, limit);
    return { headSeq: head?.seq ?? null, groups };
  }

  async due(
    until: number,
    limit: number,
  ): Promise<readonly { readonly address: RowAddress; readonly dueAt: number }[]> {
    await this.enter('due');
    const data = this.read();
    const timers: { address: RowAddress; dueAt: number }[] = [];
    data.kinds.forEach((groups, kind) => {
      groups.forEach((rows, group) => {
        rows.forEach(({ dueAt }, key) => {
          if (dueAt !== null && dueAt <= until) timers.push({ address: { kind, group, key }, dueAt });
        });
      });
    });
    return timers.sort((a, b) => a.dueAt - b.dueAt || compareAddress(a.address, b.address)).slice(0, limit);
  }

  async project(
    from: { readonly seq: number; readonly hash: Buffer } | null,
    to: ProjectedHead,
    changes: readonly Change[],
  ): Promise<ProjectResult> {
    await this.enter('project');
    const { head, kinds } = this.read();
    if (!standsAt(head, from)) return 'fenced';
    const checked = changes.map((change) => this.checked(change));
    for (const [address, stored, lasting] of checked) apply(kinds, address, stored, lasting);
    this.database.write(this.place.log, this.place.partition, { head: to, kinds });
    return 'projected';
  }

  async stateHash(): Promise<string> {
    await this.enter('stateHash');
    const data = this.read();
    const hash = createHash('sha256');
    for (const kind of [...data.kinds.keys()].sort(compareText)) {
      for (const row of rowsOfKind(kind, data.kinds.get(kind))) hash.update(canonicalRow(row));
    }
    return hash.digest('hex');
  }

  async drop(): Promise<void> {
    await this.enter('drop');
    this.database.write(this.place.log, this.place.partition, null);
  }

  private enter(kind: string): Promise<void> {
    return this.database.pass({ kind, ...this.place });
  }

  /** After the gate, never before: what another caller did meanwhile is seen (M1). */
  private read(): PartitionData {
    return this.database.read(this.place.log, this.place.partition);
  }

  /** Everything that can be refused is refused here, before anything is applied. */
  private checked(change: Change): readonly [RowAddress, StoredRow | null, (readonly string[])?] {
    if (change.op === 'delete') {
      this.database.spec(change.address.kind);
      return [change.address, null];
    }
    const { row, isLasting } = change;
    const { columns, lasting } = this.database.spec(row.kind);
    for (const column of columns) columnValue(column, row);
    const stored = { dueAt: row.dueAt, doc: this.database.kept(row.doc) };
    return isLasting === true && lasting !== undefined ? [row, stored, lasting] : [row, stored];
  }
}

function standsAt(head: ProjectedHead | null, from: { readonly seq: number; readonly hash: Buffer } | null): boolean {
  if (head === null || from === null) return head === null && from === null;
  return head.seq === from.seq && head.hash.equals(from.hash);
}

function apply(
  kinds: Map<string, Groups>,
  { kind, group, key }: RowAddress,
  stored: StoredRow | null,
  lasting?: readonly string[],
): void {
  const groups = kinds.get(kind) ?? new Map<string, Map<string, StoredRow>>();
  const rows = groups.get(group) ?? new Map<string, StoredRow>();
  if (stored) rows.set(key, lasting === undefined ? stored : keeping(rows.get(key), stored, lasting));
  else rows.delete(key);
  if (rows.size > 0) groups.set(group, rows);
  else groups.delete(group);
  kinds.set(kind, groups);
}

function rowsOfKind(kind: string, groups: Groups | undefined): readonly Row[] {
  if (!groups) return [];
  return [...groups.keys()].sort(compareText).flatMap((group) => rowsOf(kind, group, groups.get(group)));
}

function rowsOf(kind: string, group: string, rows: Map<string, StoredRow> | undefined): readonly Row[] {
  if (!rows) return [];
  const entries = rows.size < 2 ? [...rows] : [...rows].sort(([a], [b]) => compareText(a, b));
  return entries.map(([key, stored]) => ({ kind, group, key, dueAt: stored.dueAt, doc: docOf(stored) }));
}

function distinct(groups: readonly GroupAddress[]): readonly GroupAddress[] {
  if (groups.length < 2) return groups;
  const seen = new Set<string>();
  return groups.filter(({ kind, group }) => {
    const id = `${kind}\0${group}`;
    return !seen.has(id) && seen.add(id);
  });
}

function compareAddress(a: RowAddress, b: RowAddress): number {
  return compareText(a.kind, b.kind) || compareText(a.group, b.group) || compareText(a.key, b.key);
}

function copyOf(partitions: ReadonlyMap<string, PartitionData>): Map<string, PartitionData> {
  return new Map(
    [...partitions].map(([place, { head, kinds }]) => [
      place,
      {
        head,
        kinds: new Map(
          [...kinds].map(([kind, groups]) => [
            kind,
            new Map([...groups].map(([group, rows]) => [group, new Map(rows)])),
          ]),
        ),
      },
    ]),
  );
}
