// Rows as changes leave them, over those of the state: whoever comes next sees what was changed before.
import type { Change, Doc, StateView } from './service-core.js';

/**
 * Folds the members of a record one after the other, each over the rows that those before it left.
 *
 * Shape:  lists show what was changed before only for the kinds of `listed`.
 */
export function foldEach<Member>(
  state: StateView,
  members: readonly Member[],
  fold: (member: Member, state: StateView, index: number) => readonly Change[],
  listed: readonly Listed[] = [],
): readonly Change[] {
  const rows = new RowsOver(state, listed);
  return members.flatMap((member, index) => {
    const changes = fold(member, rows, index);
    rows.apply(changes);
    return changes;
  });
}

/** Rows of a kind whose lists show what was changed before. */
export interface Listed {
  readonly kind: string;
  readonly keyOf: (doc: Doc) => string;
}

/** Rows over those of a state. */
export class RowsOver implements StateView {
  /** By kind, group and key; null for one that is deleted. */
  readonly #rows = new Map<string, Doc | null>();

  constructor(
    private readonly state: StateView,
    private readonly listed: readonly Listed[] = [],
  ) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    const own = this.#rows.get(addressOf(kind, group, key));
    return own === undefined ? this.state.get(kind, group, key) : (own ?? undefined);
  }

  stored(kind: string, group: string, key: string): Doc | undefined {
    const own = this.#rows.get(addressOf(kind, group, key));
    return own === undefined ? this.state.stored(kind, group, key) : (own ?? undefined);
  }

  list(kind: string, group: string): readonly Doc[] {
    const docs = this.state.list(kind, group);
    const keyOf = this.listed.find((one) => one.kind === kind)?.keyOf;
    if (keyOf === undefined) return docs;
    const within = addressOf(kind, group, '');
    const rows = new Map<string, Doc | null>(docs.map((doc) => [within + keyOf(doc), doc]));
    for (const [address, doc] of this.#rows) if (address.startsWith(within)) rows.set(address, doc);
    return [...rows.values()].filter((doc) => doc !== null);
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
