// Instants as people read them.

/** The last instant that a calendar has, milliseconds from its beginning in either direction. */
const CALENDAR_MS = 8.64e15;

/**
 * An instant as ISO 8601 text in UTC.
 *
 * Shape:  total: what lies beyond the calendar is told as its first or last instant, for windows have no end but their author's.
 * Units:  epoch milliseconds.
 */
export function instantText(at: number): string {
  return new Date(Math.min(CALENDAR_MS, Math.max(-CALENDAR_MS, at))).toISOString();
}
