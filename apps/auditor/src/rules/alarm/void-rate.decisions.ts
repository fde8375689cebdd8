// How many of the last records of a partition were void. Pure.

/** Counts of two windows: the one that fills, and the one before it. */
export interface VoidWindow {
  readonly records: number;
  readonly voids: number;
  readonly before: { readonly records: number; readonly voids: number };
}

export const NO_VOIDS: VoidWindow = { records: 0, voids: 0, before: { records: 0, voids: 0 } };
const WINDOW_RECORDS = 1_000;
/** Below so many records a rate says nothing. */
const RECORDS_MIN = 100;

/** The counts after one more record. */
export function counted({ records, voids, before }: VoidWindow, isVoid: boolean): VoidWindow {
  const now = { records: records + 1, voids: voids + (isVoid ? 1 : 0) };
  return now.records >= WINDOW_RECORDS ? { records: 0, voids: 0, before: now } : { ...now, before };
}

/** Are there more void ones than a thousandth part of this many? */
export function isAboveRate({ records, voids, before }: VoidWindow, permilleMax: number): boolean {
  const all = records + before.records;
  return all >= RECORDS_MIN && (voids + before.voids) * 1_000 > permilleMax * all;
}
