// Rows as a decision leaves them so far: what it decides next, it decides on them. One decision on many triggers ends as one
// decision on each of them would.
import type { Change, Doc, StateView } from '@recourse/event-log';
import { callByType } from '../domain/record.messages.js';
import type { MutationRecord } from '../domain/record.messages.js';
import type { Admitted } from '../domain/rollback/rollback.messages.js';
import { LIMIT_FOLD } from './limit-rows.js';
import { ADMISSION_FOLD, admittedRows } from './rollback-rows.js';

const FOLD = { ...ADMISSION_FOLD, ...LIMIT_FOLD };

/** Rows of rollbacks and limits over those of the state; all others are the state's. */
export class Draft implements StateView {
  /** By kind, group and key; null for one that is deleted. */
  readonly #rows = new Map<string, Doc | null>();

  constructor(
    private readonly state: StateView,
    private readonly now: number,
  ) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    const own = this.#rows.get(addressOf(kind, group, key));
    return own === undefined ? this.state.get(kind, group, key) : (own ?? undefined);
  }

  /** No decision on triggers lists what another part of it wrote. */
  list(kind: string, group: string): readonly Doc[] {
    return this.state.list(kind, group);
  }
  all(kind: string, group: string): readonly Doc[] {
    return this.state.all(kind, group);
  }

  /** Takes records that were decided. */
  take(records: readonly MutationRecord[]): void {
    for (const told of records) {
      const changes = callByType(FOLD, told, this, { decidedAt: this.now });
      if (changes !== undefined) this.#apply(changes);
    }
  }

  /** Takes it that a trigger was admitted: whether it is marked now or remembered makes no difference to what is decided next. */
  admit(admitted: Admitted): void {
    const of = { agent_id: null, policy: null };
    this.#apply(admittedRows(this, admitted, { event: 'Marked', at: this.now, deadlineAt: null, of }));
  }

  #apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const { kind, group, key } = change.op === 'put' ? change.row : change.address;
      this.#rows.set(addressOf(kind, group, key), change.op === 'put' ? change.row.doc : null);
    }
  }
}

function addressOf(kind: string, group: string, key: string): string {
  return `${kind}\u0000${group}\u0000${key}`;
}
