// The last word of a person on a log whose time lies ahead, as a row: whoever decides reads it like any other, so that a rebuild and
// a packet decide the same (docs/adr/0038-time-stands.md).
import type { StoodTime } from '@recourse/kernel';
import type { AcceptedRecord, Change, Doc, KindSpec, StateView } from './service-core.js';

export const TIME_KIND = 'time';
/** Record of it, and the group and the key of its row: there is one. */
export const TIME_ACCEPTED = 'TimeAccepted';

export const timeKind: KindSpec = { kind: TIME_KIND, table: 'time', columns: [] };

/** Where the time of this log stood last; null where it never did. */
export function stoodIn(state: Pick<StateView, 'stored'>): StoodTime | null {
  const doc = state.stored(TIME_KIND, TIME_ACCEPTED, TIME_ACCEPTED);
  return doc === undefined ? null : stoodAs(doc);
}

/** The same, as a record or its row tells it. */
export function stoodAs({ stands_at, true_now }: Doc): StoodTime {
  return { standsAt: Number(stands_at), trueNow: Number(true_now) };
}

export function timeChanges({ body }: AcceptedRecord): readonly Change[] {
  const row = { kind: TIME_KIND, group: TIME_ACCEPTED, key: TIME_ACCEPTED, dueAt: null, doc: { ...body } };
  return [{ op: 'put', row }];
}
