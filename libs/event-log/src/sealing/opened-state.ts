// State as a decider sees it: rows with payloads that open when they are used.
import type { Doc, StateView } from '../service-core.js';
import type { Sealing } from './sealing.js';

/** Errors: Lacking, for cold rows. */
export class OpenedState implements StateView {
  constructor(
    private readonly rows: StateView,
    private readonly sealing: Pick<Sealing, 'openOnUse'>,
  ) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    const doc = this.rows.get(kind, group, key);
    return doc === undefined ? undefined : this.sealing.openOnUse(doc);
  }

  list(kind: string, group: string): readonly Doc[] {
    return this.rows.list(kind, group).map((doc) => this.sealing.openOnUse(doc));
  }

  all(kind: string, group: string): readonly Doc[] {
    return this.rows.all(kind, group).map((doc) => this.sealing.openOnUse(doc));
  }

  *lastFirst(kind: string, group: string, below: number | null): Generator<Doc> {
    for (const doc of this.rows.lastFirst(kind, group, below)) yield this.sealing.openOnUse(doc);
  }
}
