// Rows in memory (L16): hot groups are kept, cold ones are loaded, and a batch that is being decided sees its own changes.
//
// Invariants
//   I1. A group is either loaded whole or not at all; reading a cold one throws Lacking.
//   I2. A group with changes that are not projected yet is never evicted, so what is cold is in the store as it should be.
import { InvariantViolation } from '@recourse/kernel';
import { KnownGroups } from './known-groups.js';
import { isStorableKey, Lacking } from './lacks.js';
import type { Lacks } from './lacks.js';
import type { Change, ChangedRow, Doc, KindSpec, Row, RowAddress, StateView } from './service-core.js';

type Group = ReadonlyMap<string, Row>;
const EMPTY: Group = new Map();
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
  readonly #groups = new GroupTable<Group>();
  /** Least recently changed first. */
  readonly #order = new Set<Held<Group>>();
  readonly #pinned = new Map<Held<Group>, number>();
  /** What the store may hold: what is neither there nor here is empty. */
  readonly known = new KnownGroups();
  /** Lasting members by kind. */
  readonly #lasting: ReadonlyMap<string, readonly string[]>;

  /** `wholeKinds` are loaded completely at start: a missing group of theirs is empty, not cold. */
  constructor(
    private readonly wholeKinds: ReadonlySet<string>,
    private readonly groupsMax: number,
    kinds: readonly Pick<KindSpec, 'kind' | 'lasting'>[] = [],
  ) {
    this.#lasting = new Map(kinds.flatMap(({ kind, lasting }) => (lasting === undefined ? [] : [[kind, lasting]])));
  }

  /** The change as a store should hear of it: whether it leaves lasting members as they were. */
  told(change: Change, before: Row | undefined): Change {
    if (change.op === 'delete' || before === undefined) return change;
    const { row } = change;
    const isLasting = this.#lasting.get(row.kind)?.every((name) => row.doc[name] === before.doc[name]) === true;
    return isLasting ? { op: 'put', row, isLasting } : change;
  }

  find(kind: string, group: string): Group | undefined {
    const held = this.#groups.find(kind, group)?.rows;
    if (held !== undefined) return held;
    return this.wholeKinds.has(kind) || !this.known.mayHold(kind, group) ? EMPTY : undefined;
  }

  has(kind: string, group: string): boolean {
    return this.find(kind, group) !== undefined;
  }

  /** Takes loaded groups; those without rows become empty ones. */
  fill(groups: readonly { readonly kind: string; readonly group: string }[], rows: readonly Row[]): void {
    const asked = new GroupTable<Map<string, Row>>();
    const filled = groups.map(
      ({ kind, group }) => asked.find(kind, group) ?? asked.add({ kind, group, rows: new Map() }),
    );
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
      const held = this.#groups.find(kind, group) ?? this.#hold({ kind, group, rows: EMPTY });
      held.rows = new Map(held.rows).set(row.key, row);
    }
  }

  /** Makes a batch's changes the truth; its groups stay until `projected` reaches `seq`. */
  commit(changed: readonly Held<Group>[], seq: number): void {
    for (const { kind, group, rows } of changed) {
      this.known.add(kind, group);
      const known = this.#groups.find(kind, group);
      if (known !== undefined) {
        known.rows = rows;
        this.#order.delete(known);
        this.#order.add(known);
      }
      this.#pinned.set(known ?? this.#hold({ kind, group, rows }), seq);
    }
  }

  /** Lets go of what is projected and too much, least recently changed first. */
  evict(projectedSeq: number): void {
    for (const [held, seq] of this.#pinned) if (seq <= projectedSeq) this.#pinned.delete(held);
    let excess = this.#order.size - this.groupsMax;
    if (excess <= 0) return;
    for (const held of this.#order) {
      if (excess <= 0) return;
      if (this.#pinned.has(held) || this.wholeKinds.has(held.kind)) continue;
      this.#groups.delete(held);
      this.#order.delete(held);
      excess -= 1;
    }
  }

  clear(): void {
    this.#groups.clear();
    this.#order.clear();
    this.#pinned.clear();
    this.known.clear();
  }

  #hold(held: Held<Group>): Held<Group> {
    this.#order.add(held);
    return this.#groups.add(held);
  }
}

/** The state a batch sees while it is decided: the cache, with the changes of its own decisions on top. */
export class Overlay implements StateView {
  readonly #own = new GroupTable<Map<string, Row>>();
  /** In the order of their first change. */
  readonly #changed: Held<Map<string, Row>>[] = [];
  #journal: { readonly group: Map<string, Row>; readonly key: string; readonly before: Row | undefined }[] = [];
  readonly changes: Change[] = [];

  /** With `lacks` it is a probe: cold groups are noted there and count as empty. A probe never decides. */
  constructor(
    private readonly cache: RowCache,
    private readonly lacks?: Lacks,
  ) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    return this.#group(kind, group).get(key)?.doc;
  }

  list(kind: string, group: string): readonly Doc[] {
    const rows = this.#group(kind, group);
    if (rows.size === 0) return NO_DOCS;
    if (rows.size < 2) return Array.from(rows.values(), ({ doc }) => doc);
    return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ doc }) => doc);
  }

  all(kind: string, group: string): readonly Doc[] {
    return Array.from(this.#group(kind, group).values(), ({ doc }) => doc);
  }

  row(address: RowAddress): Row | undefined {
    return this.#group(address.kind, address.group).get(address.key);
  }

  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const address = change.op === 'put' ? change.row : change.address;
      const group = this.#writable(address.kind, address.group);
      const before = group.get(address.key);
      this.#journal.push({ group, key: address.key, before });
      if (change.op === 'put') group.set(address.key, change.row);
      else group.delete(address.key);
      this.changes.push(this.cache.told(change, before));
    }
  }

  /** A scratch copy with the changes so far, in which cold groups are noted and count as empty. */
  probe(lacks: Lacks): Overlay {
    const probe = new Overlay(this.cache, lacks);
    for (const { kind, group, rows } of this.#changed) probe.#hold(kind, group, rows);
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
      if (undo === undefined) break;
      if (undo.before === undefined) undo.group.delete(undo.key);
      else undo.group.set(undo.key, undo.before);
    }
  }

  get changedGroups(): readonly Held<Group>[] {
    return this.#changed;
  }

  #group(kind: string, group: string): Group {
    const found = this.#own.find(kind, group)?.rows ?? this.cache.find(kind, group);
    if (found !== undefined) return found;
    // A key that the database refuses has no rows (L7): asking for them would be asked again for ever.
    if (!isStorableKey(group)) return EMPTY;
    if (this.lacks === undefined) throw new Lacking({ rows: [{ kind, group }] });
    this.lacks.addGroup(kind, group);
    return EMPTY;
  }

  #writable(kind: string, group: string): Map<string, Row> {
    return this.#own.find(kind, group)?.rows ?? this.#hold(kind, group, this.#group(kind, group));
  }

  /** Takes a copy that may be written. */
  #hold(kind: string, group: string, rows: Group): Map<string, Row> {
    const held = { kind, group, rows: new Map(rows) };
    this.#changed.push(this.#own.add(held));
    return held.rows;
  }
}
