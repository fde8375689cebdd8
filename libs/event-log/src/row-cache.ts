// Rows in memory (L16): hot groups are kept, cold ones are loaded, and a batch that is being decided sees its own changes.
//
// Invariants
//   I1. A group is either loaded whole or not at all; reading a cold one throws Lacking.
//   I2. A group with changes that are not projected yet is never evicted, so what is cold is in the store as it should be.
//   I3. What a batch costs is what it reads and changes: a group it touches is not copied, however large it is.
//   I4. What is kept is bounded in rows, since a group may have one or ten thousand; an empty group counts as one.
import { InvariantViolation } from '@recourse/kernel';
import { ChangedRows, GroupRows, KnownGroups, docsOf } from './group-rows.js';
import type { Group } from './group-rows.js';
import { isStorableKey, Lacking } from './lacks.js';
import type { Lacks } from './lacks.js';
import type { Change, ChangedRow, Doc, KindSpec, Row, RowAddress, StateView } from './service-core.js';

/** Nobody puts anything into it. */
const EMPTY = new GroupRows(undefined);
const NO_DOCS: readonly Doc[] = [];

/** One group by its address. Looked up by kind, then group: joining the two into one key for every read costs more than reading. */
interface Held<Rows extends Group> {
  readonly kind: string;
  readonly group: string;
  rows: Rows;
}

class GroupTable<Rows extends Group> {
  readonly #kinds = new Map<string, Map<string, Held<Rows>>>();

  find(kind: string, group: string): Held<Rows> | undefined {
    return this.#kinds.get(kind)?.get(group);
  }

  add(held: Held<Rows>): Held<Rows> {
    const groups = this.#kinds.get(held.kind);
    if (groups === undefined) this.#kinds.set(held.kind, new Map([[held.group, held]]));
    else groups.set(held.group, held);
    return held;
  }

  delete({ kind, group }: Held<Rows>): void {
    this.#kinds.get(kind)?.delete(group);
  }
  clear(): void {
    this.#kinds.clear();
  }
}

/** What memory holds of one partition. */
export class RowCache {
  readonly #groups = new GroupTable<GroupRows>();
  /** Least recently changed first, with what each was counted as. */
  readonly #order = new Map<Held<GroupRows>, number>();
  /** Sum of what they were counted as. */
  #size = 0;
  readonly #pinned = new Map<Held<GroupRows>, number>();
  /** What the store may hold: what is neither there nor here is empty. */
  readonly known = new KnownGroups();
  /** Lasting members by kind. */
  readonly #lasting: ReadonlyMap<string, readonly string[]>;
  readonly #places: ReadonlyMap<string, KindSpec['place']>;

  /** `wholeKinds` are loaded completely at start: a missing group of theirs is empty, not cold. */
  constructor(
    private readonly wholeKinds: ReadonlySet<string>,
    private readonly rowsMax: number,
    kinds: readonly Pick<KindSpec, 'kind' | 'lasting' | 'place'>[] = [],
  ) {
    this.#places = new Map(kinds.map(({ kind, place }) => [kind, place]));
    this.#lasting = new Map(kinds.flatMap(({ kind, lasting }) => (lasting === undefined ? [] : [[kind, lasting]])));
  }

  /** The change as a store should hear of it: whether it leaves lasting members as they were. */
  told(change: Change, before: Row | undefined): Change {
    if (change.op === 'delete' || before === undefined) return change;
    const { row } = change;
    const isLasting = this.#lasting.get(row.kind)?.every((name) => row.doc[name] === before.doc[name]) === true;
    return isLasting ? { op: 'put', row, isLasting } : change;
  }

  find(kind: string, group: string): GroupRows | undefined {
    const held = this.#groups.find(kind, group)?.rows;
    if (held !== undefined) return held;
    return this.wholeKinds.has(kind) || !this.known.mayHold(kind, group) ? EMPTY : undefined;
  }

  has(kind: string, group: string): boolean {
    return this.find(kind, group) !== undefined;
  }

  /** Takes loaded groups; those without rows become empty ones. */
  fill(groups: readonly { readonly kind: string; readonly group: string }[], rows: readonly Row[]): void {
    const asked = new GroupTable<GroupRows>();
    const filled = groups.map(({ kind, group }) => asked.find(kind, group) ?? asked.add(this.#empty(kind, group)));
    for (const row of rows) {
      const target = asked.find(row.kind, row.group);
      if (target === undefined)
        throw new InvariantViolation('row-cache', `loaded a row of ${row.kind} nobody asked for`, 'partition');
      target.rows.set(row.key, row);
    }
    for (const held of filled) if (this.#groups.find(held.kind, held.group) === undefined) this.#hold(held);
  }

  fillWhole(rows: readonly Row[]): void {
    for (const row of rows) {
      const { kind, group } = row;
      const held = this.#groups.find(kind, group) ?? this.#hold(this.#empty(kind, group));
      held.rows.set(row.key, row);
    }
  }

  /** Makes a batch's changes the truth; its groups stay until `projected` reaches `seq`. */
  commit(changed: readonly Held<ChangedRows>[], seq: number): void {
    for (const { kind, group, rows } of changed) {
      this.known.add(kind, group);
      const known = this.#groups.find(kind, group);
      // A group that was let go while the batch was decided is what the batch lies over.
      const held = known ?? { kind, group, rows: rows.base };
      rows.into(held.rows);
      if (known !== undefined) this.#count(known);
      else this.#hold(held);
      this.#pinned.set(held, seq);
    }
  }

  /** Lets go of what is projected and too much, least recently changed first. */
  evict(projectedSeq: number): void {
    for (const [held, seq] of this.#pinned) if (seq <= projectedSeq) this.#pinned.delete(held);
    if (this.#size <= this.rowsMax) return;
    for (const [held, counted] of this.#order) {
      if (this.#size <= this.rowsMax) return;
      if (this.#pinned.has(held) || this.wholeKinds.has(held.kind)) continue;
      this.#groups.delete(held);
      this.#order.delete(held);
      this.#size -= counted;
    }
  }

  clear(): void {
    this.#groups.clear();
    this.#order.clear();
    this.#size = 0;
    this.#pinned.clear();
    this.known.clear();
  }

  /** Rows of a kind, of which there are none yet. */
  none(kind: string): GroupRows {
    return new GroupRows(this.#places.get(kind));
  }

  #empty(kind: string, group: string): Held<GroupRows> {
    return { kind, group, rows: this.none(kind) };
  }

  #hold(held: Held<GroupRows>): Held<GroupRows> {
    this.#count(held);
    return this.#groups.add(held);
  }

  /** Counts it anew, as the most recently changed. */
  #count(held: Held<GroupRows>): void {
    this.#size -= this.#order.get(held) ?? 0;
    this.#order.delete(held);
    const counted = Math.max(1, held.rows.size);
    this.#order.set(held, counted);
    this.#size += counted;
  }
}

/** A change that may be taken back. */
interface Undo {
  readonly rows: ChangedRows;
  readonly key: string;
  readonly before: Row | undefined;
  /** What the batch had made of the row before. */
  readonly own: Row | null | undefined;
}

/** The state a batch sees while it is decided: the cache, with the changes of its own decisions on top. */
export class Overlay implements StateView {
  readonly #own = new GroupTable<ChangedRows>();
  /** In the order of their first change. */
  readonly #changed: Held<ChangedRows>[] = [];
  readonly #journal: Undo[] = [];
  readonly changes: Change[] = [];

  /** With `lacks` it is a probe: cold groups are noted there and count as empty. A probe never decides. */
  constructor(
    private readonly cache: RowCache,
    private readonly lacks?: Lacks,
  ) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    return this.#group(kind, group).get(key)?.doc;
  }

  stored(kind: string, group: string, key: string): Doc | undefined {
    return this.get(kind, group, key);
  }

  list(kind: string, group: string): readonly Doc[] {
    const rows = this.#group(kind, group);
    if (rows === EMPTY) return NO_DOCS;
    const all = Array.from(rows.values());
    return docsOf(all.length < 2 ? all : all.sort((a, b) => (a.key < b.key ? -1 : 1)));
  }

  all(kind: string, group: string): readonly Doc[] {
    return docsOf(this.#group(kind, group).values());
  }

  *lastFirst(kind: string, group: string, below: number | null): Generator<Doc> {
    for (const { doc } of this.#group(kind, group).lastFirst(below ?? Infinity)) yield doc;
  }

  row(address: RowAddress): Row | undefined {
    return this.#group(address.kind, address.group).get(address.key);
  }

  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const address = change.op === 'put' ? change.row : change.address;
      const rows = this.#writable(address.kind, address.group);
      const { key } = address;
      const before = rows.get(key);
      this.#journal.push({ rows, key, before, own: rows.own(key) });
      rows.set(key, change.op === 'put' ? change.row : null);
      this.changes.push(this.cache.told(change, before));
    }
  }

  /** A scratch copy with the changes so far, in which cold groups are noted and count as empty. */
  probe(lacks: Lacks): Overlay {
    const probe = new Overlay(this.cache, lacks);
    for (const { kind, group, rows } of this.#changed) probe.#hold(kind, group, new ChangedRows(rows.base, rows));
    return probe;
  }

  mark(): number {
    return this.changes.length;
  }

  /** Rows that changed between two marks, in the order of their changes. */
  changed(from: number, to: number): readonly ChangedRow[] {
    return this.changes.slice(from, to).map((change, index) => ({
      kind: change.op === 'put' ? change.row.kind : change.address.kind,
      before: this.#journal[from + index]?.before?.doc,
      after: change.op === 'put' ? change.row.doc : undefined,
    }));
  }

  /** Takes back every change since the mark. */
  rollback(mark: number): void {
    while (this.changes.length > mark) {
      this.changes.pop();
      const undo = this.#journal.pop();
      undo?.rows.restore(undo.key, undo.own);
    }
  }

  get changedGroups(): readonly Held<ChangedRows>[] {
    return this.#changed;
  }

  #group(kind: string, group: string): Group {
    return this.#own.find(kind, group)?.rows ?? this.#accepted(kind, group);
  }

  #accepted(kind: string, group: string): GroupRows {
    const found = this.cache.find(kind, group);
    if (found !== undefined) return found;
    // A key that the database refuses has no rows (L7): asking for them would be asked again for ever.
    if (!isStorableKey(group)) return EMPTY;
    if (this.lacks === undefined) throw new Lacking({ rows: [{ kind, group }] });
    this.lacks.addGroup(kind, group);
    return EMPTY;
  }

  #writable(kind: string, group: string): ChangedRows {
    const own = this.#own.find(kind, group);
    if (own !== undefined) return own.rows;
    const accepted = this.#accepted(kind, group);
    return this.#hold(kind, group, new ChangedRows(accepted === EMPTY ? this.cache.none(kind) : accepted));
  }

  #hold(kind: string, group: string, rows: ChangedRows): ChangedRows {
    this.#changed.push(this.#own.add({ kind, group, rows }));
    return rows;
  }
}
