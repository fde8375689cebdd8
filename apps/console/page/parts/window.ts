// Which rows of a long list are drawn: those in sight, and some before and behind. Pure.

export interface Sight {
  /** Height of the list that is in sight, CSS pixels. */
  readonly heightPx: number;
  /** Height of each row. */
  readonly rowPx: number;
  readonly count: number;
}

export interface Drawn {
  readonly from: number;
  /** The row behind the last one that is drawn. */
  readonly to: number;
}

/** Rows beyond sight on either side: a key or a notch of the wheel finds them drawn. */
const BEYOND = 3;

export function drawnRows(topPx: number, { heightPx, rowPx, count }: Sight): Drawn {
  const first = Math.floor(topPx / rowPx) - BEYOND;
  const last = Math.ceil((topPx + heightPx) / rowPx) + BEYOND;
  return { from: Math.max(0, Math.min(first, count)), to: Math.max(0, Math.min(last, count)) };
}

/** Where a list has to be scrolled to so that a row is in sight: no further than it must. */
export function topShowing(at: number, topPx: number, { heightPx, rowPx }: Sight): number {
  const [start, end] = [at * rowPx, (at + 1) * rowPx];
  if (start < topPx) return start;
  return end > topPx + heightPx ? end - heightPx : topPx;
}
