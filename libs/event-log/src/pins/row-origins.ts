// From which records of its log each row follows: those that wrote it, and those behind the rows that they read.
import type { Change, RowAddress } from '../service-core.js';
import { named } from './pin-state.js';
import type { FoldedRows, WatchedRows } from './pin-state.js';

/** Records behind one row at the most: a row that more of them made rests on more than a packet holds. */
const ORIGINS_MAX = 400;

/** Seqs of records; null: too many to follow. */
export type Origins = ReadonlySet<number> | null;

export class RowOrigins {
  readonly #rows = new Map<string, Origins>();
  readonly #keys = new Map<string, Set<string>>();

  /** Undefined for a row that never was. */
  of({ kind, group, key }: RowAddress): Origins | undefined {
    return this.#rows.get(rowId(kind, group, key));
  }

  /** Keys of all rows that ever were in a group. */
  keysOf(kind: string, group: string): readonly string[] {
    return [...(this.#keys.get(named(kind, group)) ?? [])];
  }

  /** Notes what a record made of rows, before they are changed. */
  fold(seq: number, read: WatchedRows, changes: readonly Change[], rows: FoldedRows): void {
    const behind = [
      ...[...read.addresses.values()].map((address) => this.of(address)),
      ...[...read.groups.values()].flatMap(({ kind, group }) =>
        rows.rowsOf(kind, group).map(({ key }) => this.of({ kind, group, key })),
      ),
    ];
    const origins = joined(seq, behind);
    for (const change of changes) {
      const { kind, group, key } = change.op === 'put' ? change.row : change.address;
      this.#rows.set(rowId(kind, group, key), origins);
      const keys = this.#keys.get(named(kind, group)) ?? new Set<string>();
      this.#keys.set(named(kind, group), keys.add(key));
    }
  }
}

function joined(seq: number, behind: readonly (Origins | undefined)[]): Origins {
  const all = new Set([seq]);
  for (const origins of behind) {
    if (origins === null) return null;
    for (const one of origins ?? []) all.add(one);
    if (all.size > ORIGINS_MAX) return null;
  }
  return all;
}

const rowId = (kind: string, group: string, key: string): string => `${named(kind, group)}\u0000${key}`;
