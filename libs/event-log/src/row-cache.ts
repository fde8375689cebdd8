// Rows in memory (L16): hot groups are kept, cold ones are loaded, and a batch that is being decided sees its own changes.
//
// Invariants
//   I1. A group is either loaded whole or not at all; reading a cold one throws NotLoaded.
//   I2. A group with changes that are not projected yet is never evicted, so what is cold is in the store as it should be.
import { InvariantViolation } from '@recourse/kernel';
import { NotLoaded } from './service-core.js';
import type { Change, Doc, Row, RowAddress, StateView } from './service-core.js';

type Group = ReadonlyMap<string, Row>;
const EMPTY: Group = new Map();
const NO_DOCS: readonly Doc[] = [];

export const groupId = (kind: string, group: string): string => `${kind}\u0000${group}`;

/** What memory holds of one partition. */
export class RowCache {
  #groups = new Map<string, Group>();
  #pinned = new Map<string, number>();

  /** `wholeKinds` are loaded completely at start: a missing group of theirs is empty, not cold. */
  constructor(private readonly wholeKinds: ReadonlySet<string>, private readonly groupsMax: number) {}

  find(kind: string, group: string): Group | undefined {
    return this.#groups.get(groupId(kind, group)) ?? (this.wholeKinds.has(kind) ? EMPTY : undefined);
  }

  has(kind: string, group: string): boolean { return this.find(kind, group) !== undefined; }

  /** Takes loaded groups; those without rows become empty ones. */
  fill(groups: readonly { readonly kind: string; readonly group: string }[], rows: readonly Row[]): void {
    const filled = new Map<string, Map<string, Row>>();
    for (const { kind, group } of groups) filled.set(groupId(kind, group), new Map());
    for (const row of rows) {
      const target = filled.get(groupId(row.kind, row.group));
      if (target === undefined) throw new InvariantViolation('row-cache', `loaded a row of ${row.kind} nobody asked for`, 'partition');
      target.set(row.key, row);
    }
    for (const [id, group] of filled) if (!this.#groups.has(id)) this.#groups.set(id, group);
  }

  fillWhole(rows: readonly Row[]): void {
    for (const row of rows) {
      const id = groupId(row.kind, row.group);
      this.#groups.set(id, new Map(this.#groups.get(id) ?? EMPTY).set(row.key, row));
    }
  }

  /** Makes a batch's changes the truth; its groups stay until `projected` reaches `seq`. */
  commit(changed: ReadonlyMap<string, Group>, seq: number): void {
    for (const [id, group] of changed) {
      this.#groups.delete(id);
      this.#groups.set(id, group);
      this.#pinned.set(id, seq);
    }
  }

  /** Lets go of what is projected and too much, least recently changed first. */
  evict(projectedSeq: number): void {
    for (const [id, seq] of this.#pinned) if (seq <= projectedSeq) this.#pinned.delete(id);
    let excess = this.#groups.size - this.groupsMax;
    if (excess <= 0) return;
    for (const id of this.#groups.keys()) {
      if (excess <= 0) return;
      if (this.#pinned.has(id) || this.wholeKinds.has(id.slice(0, id.indexOf('\u0000')))) continue;
      this.#groups.delete(id);
      excess -= 1;
    }
  }

  clear(): void { this.#groups.clear(); this.#pinned.clear(); }
}

/** The state a batch sees while it is decided: the cache, with the changes of its own decisions on top. */
export class Overlay implements StateView {
  #changed = new Map<string, Map<string, Row>>();
  #journal: { readonly group: Map<string, Row>; readonly key: string; readonly before: Row | undefined }[] = [];
  readonly changes: Change[] = [];

  /** `onCold` hears of cold groups, which then count as empty: to find out what will be read, never to decide. */
  constructor(private readonly cache: RowCache, private readonly onCold?: (kind: string, group: string) => void) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    return this.#group(kind, group).get(key)?.doc;
  }

  list(kind: string, group: string): readonly Doc[] {
    const rows = this.#group(kind, group);
    if (rows.size === 0) return NO_DOCS;
    if (rows.size < 2) return [...rows.values()].map(({ doc }) => doc);
    return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ doc }) => doc);
  }

  row(address: RowAddress): Row | undefined { return this.#group(address.kind, address.group).get(address.key); }

  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const address = change.op === 'put' ? change.row : change.address;
      const group = this.#writable(address.kind, address.group);
      this.#journal.push({ group, key: address.key, before: group.get(address.key) });
      if (change.op === 'put') group.set(address.key, change.row); else group.delete(address.key);
      this.changes.push(change);
    }
  }

  /** A scratch copy with the changes so far, in which cold groups count as empty. */
  probe(onCold: (kind: string, group: string) => void): Overlay {
    const probe = new Overlay(this.cache, onCold);
    for (const [id, group] of this.#changed) probe.#changed.set(id, new Map(group));
    return probe;
  }

  mark(): number { return this.changes.length; }

  /** Takes back every change since the mark. */
  rollback(mark: number): void {
    while (this.changes.length > mark) {
      this.changes.pop();
      const undo = this.#journal.pop();
      if (undo === undefined) break;
      if (undo.before === undefined) undo.group.delete(undo.key); else undo.group.set(undo.key, undo.before);
    }
  }

  get changedGroups(): ReadonlyMap<string, Group> { return this.#changed; }

  #group(kind: string, group: string): Group {
    const found = this.#changed.get(groupId(kind, group)) ?? this.cache.find(kind, group);
    if (found !== undefined) return found;
    if (this.onCold === undefined) throw new NotLoaded(kind, group);
    this.onCold(kind, group);
    return EMPTY;
  }

  #writable(kind: string, group: string): Map<string, Row> {
    const id = groupId(kind, group);
    const own = this.#changed.get(id);
    if (own !== undefined) return own;
    const copy = new Map(this.#group(kind, group));
    this.#changed.set(id, copy);
    return copy;
  }
}
