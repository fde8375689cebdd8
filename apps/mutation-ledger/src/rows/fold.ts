// How accepted records of the mutations log become rows: tables by record type, one per kind of thing (L2).
import type { AcceptedRecord, Change, StateView } from '@recourse/event-log';
import type { ByType } from '../rules/record.messages.js';
import { RowsOver } from './rows-over.js';

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
