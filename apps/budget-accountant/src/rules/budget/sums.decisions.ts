// Sums of minor units that rows and records can hold. Pure.

/** Largest sum: the largest whole number that a record can say. */
const SUM_MAX = Number.MAX_SAFE_INTEGER - 1;

/** Largest amount of one effect that is counted: ten of them fill a sum for good, and no single one that somebody misspelt. */
const AMOUNT_MAX = Math.floor(SUM_MAX / 10);

/** Is it more than is counted of one effect? */
export function isTooLarge(amount: number): boolean {
  return amount > AMOUNT_MAX;
}

/** A sum that can be held, whichever way it goes. */
export function capped(sum: number): number {
  return Math.max(-SUM_MAX, Math.min(sum, SUM_MAX));
}

/** What is used, and more of it: one that reached the largest stays there, since nobody knows how much was left out. */
export function summed(used: number, more: number): number {
  return used >= SUM_MAX ? SUM_MAX : capped(used + more);
}

/** Does a sum that says how much is used still say so with more of it? One that says it no more, more does not change. */
export function holds(used: number, more: number): boolean {
  return used >= SUM_MAX || used + more < SUM_MAX;
}
