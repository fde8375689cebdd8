// Rows as a decision leaves them so far: what it decides next, it decides on them. One decision on many triggers ends as one
// decision on each of them would.
import type { StateView } from '@recourse/event-log';
import { callByType } from '../rules/record.messages.js';
import type { MutationRecord } from '../rules/record.messages.js';
import type { Admitted } from '../rules/rollback/rollback.messages.js';
import { LIMIT_FOLD } from '../rows/limit.rows.js';
import { ADMISSION_FOLD, admittedRows } from '../rows/rollback.rows.js';
import { RowsOver } from '../rows/fold.js';

const FOLD = { ...ADMISSION_FOLD, ...LIMIT_FOLD };

/** Rows of rollbacks and limits over those of the state; all others are the state's. */
export class Draft extends RowsOver {
  constructor(
    state: StateView,
    private readonly now: number,
  ) {
    super(state);
  }

  /** Takes records that were decided. */
  take(records: readonly MutationRecord[]): void {
    for (const told of records) {
      const changes = callByType(FOLD, told, this, { decidedAt: this.now, seq: 0 });
      if (changes !== undefined) this.apply(changes);
    }
  }

  /** Takes it that a trigger was admitted: whether it is marked now or remembered makes no difference to what is decided next. */
  admit(admitted: Admitted): void {
    const of = { agent_id: null, policy: null, mark: null };
    this.apply(admittedRows(this, admitted, { event: 'Marked', at: this.now, deadlineAt: null, of }));
  }
}
