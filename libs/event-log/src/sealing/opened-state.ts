// State as a decider sees it: rows with their payloads opened.
import type { Doc, StateView } from '../service-core.js';
import type { Sealing } from './sealing.js';

/** Opens what it hands out. Errors: Lacking. */
export class OpenedState implements StateView {
  constructor(
    private readonly rows: StateView,
    private readonly sealing: Pick<Sealing, 'open'>,
  ) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    const doc = this.rows.get(kind, group, key);
    return doc === undefined ? undefined : this.sealing.open(doc);
  }

  list(kind: string, group: string): readonly Doc[] {
    return this.rows.list(kind, group).map((doc) => this.sealing.open(doc));
  }

  all(kind: string, group: string): readonly Doc[] {
    return this.rows.all(kind, group).map((doc) => this.sealing.open(doc));
  }
}
