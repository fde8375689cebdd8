// The rows of one partition in memory: cold until they are loaded, plain data throughout.
import { Lacking } from '@recourse/event-log';
import type { Change, ChangedRow, Row, RowAddress, ServiceCore, StateView, TimerInput } from '@recourse/event-log';
import { plainProblem } from './plain-data.js';

/** Rows by kind, group and key. */
export class RowStore {
  /** By kind and group, then by address: a read looks at its own group alone, however many there are. */
  private readonly groups = new Map<string, Map<string, Row>>();
  /** All of them in order; null after a change. */
  private sorted: readonly Row[] | null = null;
  private readonly kinds: ReadonlyMap<string, ServiceCore['kinds'][number]>;

  constructor(kinds: ServiceCore['kinds']) {
    this.kinds = new Map(kinds.map((spec) => [spec.kind, spec]));
  }

  apply(changes: readonly Change[]): readonly ChangedRow[] {
    return changes.map((change) => {
      const address = change.op === 'delete' ? change.address : change.row;
      const group = this.groupOf(address);
      const before = group.get(address.key)?.doc;
      this.sorted = null;
      if (change.op === 'delete') {
        group.delete(address.key);
        return { kind: address.kind, before, after: undefined };
      }
      this.assertStorable(change.row);
      group.set(address.key, change.row);
      return { kind: address.kind, before, after: change.row.doc };
    });
  }

  view(loaded: ReadonlySet<string>): StateView {
    const touch = (kind: string, group: string): void => {
      if (!this.kinds.has(kind)) throw new Error(`kind ${kind} is not declared`);
      if (!loaded.has(`${kind}/${group}`)) throw new Lacking({ rows: [{ kind, group }] });
    };
    const get: StateView['get'] = (kind, group, key) => {
      touch(kind, group);
      return this.groups.get(groupId({ kind, group }))?.get(key)?.doc;
    };
    return {
      get,
      stored: get,
      list: (kind, group) => {
        touch(kind, group);
        return this.inGroup({ kind, group }).map((row) => row.doc);
      },
      // The other way round: no decision may rest on an order that nobody promised.
      all: (kind, group) => {
        touch(kind, group);
        return this.inGroup({ kind, group })
          .map((row) => row.doc)
          .reverse();
      },
      lastFirst: (kind, group, below) => {
        touch(kind, group);
        const placeOf = ({ doc }: Row): number => this.kinds.get(kind)?.place?.(doc) ?? -1;
        return this.inGroup({ kind, group })
          .filter((row) => placeOf(row) < (below ?? Infinity))
          .sort((a, b) => placeOf(b) - placeOf(a))
          .map((row) => row.doc);
      },
    };
  }

  due(now: number): readonly Row[] {
    return this.all()
      .filter((row) => row.dueAt !== null && row.dueAt <= now)
      .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
  }

  all(): readonly Row[] {
    this.sorted ??= [...this.groups.values()]
      .flatMap((group) => [...group.values()])
      .sort((a, b) => compare(a.kind, b.kind) || compare(a.group, b.group) || compare(a.key, b.key));
    return this.sorted;
  }

  private inGroup(address: Pick<RowAddress, 'kind' | 'group'>): readonly Row[] {
    return [...(this.groups.get(groupId(address))?.values() ?? [])].sort((a, b) => compare(a.key, b.key));
  }

  private groupOf(address: RowAddress): Map<string, Row> {
    const id = groupId(address);
    const standing = this.groups.get(id) ?? new Map<string, Row>();
    this.groups.set(id, standing);
    return standing;
  }

  private assertStorable(row: Row): void {
    if (!this.kinds.has(row.kind)) throw new Error(`kind ${row.kind} is not declared`);
    if (Buffer.byteLength(row.group) > 512 || Buffer.byteLength(row.key) > 512)
      throw new Error(`address of a ${row.kind} is above 512 bytes`);
    const problem = plainProblem(row.doc, row.kind);
    if (problem !== null) throw new Error(`row is not plain data: ${problem}`);
  }
}

/** The timer that is set on a row. */
export function timerOf(row: Row): TimerInput {
  return { source: 'timer', address: { kind: row.kind, group: row.group, key: row.key }, dueAt: row.dueAt ?? 0 };
}

/** Kinds have no slash in their names. */
function groupId({ kind, group }: Pick<RowAddress, 'kind' | 'group'>): string {
  return `${kind}/${group}`;
}

/** Code unit order, as a C collation gives it for ASCII keys. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
