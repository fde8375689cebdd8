// How accepted records of the mutations log become rows: tables by record type, one per kind of thing (L2).
import type { AcceptedRecord, Change, Doc, StateView } from '@recourse/event-log';
import type { ByType } from '../rules/record.messages.js';

/** What records of some types make of rows. */
export type Fold = ByType<[state: StateView, record: AcceptedRecord], readonly Change[]>;

/** Folds the members of a record one after the other, each over the rows that those before it left. */
export function foldEach<Member>(
  state: StateView,
  members: readonly Member[],
  fold: (member: Member, state: StateView, index: number) => readonly Change[],
): readonly Change[] {
  const rows = new RowsOver(state);
  return members.flatMap((member, index) => {
    const changes = fold(member, rows, index);
    rows.apply(changes);
    return changes;
  });
}

// Rows as changes leave them, over those of the state: whoever comes next sees what was changed before.

/** Rows over those of a state. Lists stay those of the state: nothing decided or folded together lists what another part of it wrote. */
export class RowsOver implements StateView {
  /** By kind, group and key; null for one that is deleted. */
  readonly #rows = new Map<string, Doc | null>();

  constructor(private readonly state: StateView) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    const own = this.#rows.get(addressOf(kind, group, key));
    return own === undefined ? this.state.get(kind, group, key) : (own ?? undefined);
  }

  stored(kind: string, group: string, key: string): Doc | undefined {
    const own = this.#rows.get(addressOf(kind, group, key));
    return own === undefined ? this.state.stored(kind, group, key) : (own ?? undefined);
  }

  list(kind: string, group: string): readonly Doc[] {
    return this.state.list(kind, group);
  }

  all(kind: string, group: string): readonly Doc[] {
    return this.state.all(kind, group);
  }

  lastFirst(kind: string, group: string, below: number | null): Iterable<Doc> {
    return this.state.lastFirst(kind, group, below);
  }

  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const { kind, group, key } = change.op === 'put' ? change.row : change.address;
      this.#rows.set(addressOf(kind, group, key), change.op === 'put' ? change.row.doc : null);
    }
  }
}

function addressOf(kind: string, group: string, key: string): string {
  return `${kind}\u0000${group}\u0000${key}`;
}
