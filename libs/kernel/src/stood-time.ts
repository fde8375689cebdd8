// What a time of record says of the true time, in a log whose time once lay ahead (docs/adr/0038-time-stands.md). Pure.

/** A person accepted that the time of a log lay ahead: it stands until the true time has come. Epoch milliseconds. */
export interface StoodTime {
  /** Decisions are made as of this instant meanwhile, and were made before it until then. */
  readonly standsAt: number;
  /** Database time when that was accepted. */
  readonly trueNow: number;
}

/**
 * The earliest true instant of what is on record as of `at`; null where nobody can say.
 *
 * Shape:  what was recorded while time stood happened after it was accepted; what was recorded before may be wrong by more than
 *         the clock was ahead by then, since the last decision was made a while before anybody accepted its time.
 * Units:  epoch milliseconds.
 */
export function earliestOf(at: number, stood: StoodTime | null): number | null {
  if (stood === null || at > stood.standsAt) return at;
  return at === stood.standsAt ? stood.trueNow : null;
}
