// What one projection does to each table: the last change of every address.
import { compareText } from '@recourse/event-log';
import type { Change, KindSpec, Row, RowAddress } from '@recourse/event-log';

/** Rows of one kind to put and addresses to delete, each address once. */
export interface KindChanges {
  readonly spec: KindSpec;
  readonly puts: readonly Row[];
  /** Rows that keep their lasting members. */
  readonly updates: readonly Row[];
  readonly deletes: readonly RowAddress[];
}

/**
 * The last change of every address, by kind, in order of their names: what is asked of a database in the same words it has planned.
 *
 * Shape:  one that keeps lasting members which an earlier one here writes, or takes away, is a put.
 * Errors: those of `specOf`.
 */
export function lastChanges(changes: readonly Change[], specOf: (kind: string) => KindSpec): readonly KindChanges[] {
  const kinds = new Map<KindSpec, Map<string, Change>>();
  for (const change of changes) {
    const { kind, group, key } = change.op === 'put' ? change.row : change.address;
    const spec = specOf(kind);
    const byAddress = kinds.get(spec) ?? new Map<string, Change>();
    const address = `${String(group.length)}:${group}${key}`;
    const before = byAddress.get(address);
    byAddress.set(address, before === undefined || isUpdate(before) ? change : whole(change));
    kinds.set(spec, byAddress);
  }
  return [...kinds]
    .sort(([one], [other]) => compareText(one.kind, other.kind))
    .map(([spec, byAddress]) => {
      const last = [...byAddress.values()];
      return {
        spec,
        puts: last.flatMap((change) => (change.op === 'put' && !isUpdate(change) ? [change.row] : [])),
        updates: last.flatMap((change) => (change.op === 'put' && isUpdate(change) ? [change.row] : [])),
        deletes: last.flatMap((change) => (change.op === 'delete' ? [change.address] : [])),
      };
    });
}

/** How many rows they touch: a row that changed ten times is one. */
export function countRows(perKind: readonly KindChanges[]): number {
  return perKind.reduce((sum, { puts, updates, deletes }) => sum + puts.length + updates.length + deletes.length, 0);
}

function isUpdate(change: Change): boolean {
  return change.op === 'put' && change.isLasting === true;
}

function whole(change: Change): Change {
  return change.op === 'put' ? { op: 'put', row: change.row } : change;
}
