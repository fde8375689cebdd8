// Debits by unit: sums, differences, and what of them counts. Pure.
import type { Debit } from '@recourse/messages';

/** Adds by unit. */
export function plus(left: readonly Debit[], right: readonly Debit[]): readonly Debit[] {
  return unitsOf(left, right).map((currency) => {
    const [a, b] = [inUnit(left, currency), inUnit(right, currency)];
    return {
      currency,
      value_minor: capped(a.value_minor + b.value_minor),
      debit_minor: capped(a.debit_minor + b.debit_minor),
    };
  });
}

/** The same with the other sign. */
export function negated(debits: readonly Debit[]): readonly Debit[] {
  return debits.map(({ currency, value_minor, debit_minor }) => ({
    currency,
    value_minor: -value_minor,
    debit_minor: -debit_minor,
  }));
}

/** What of `actual` is held, by unit. */
export function within(actual: readonly Debit[], held: readonly Debit[]): readonly Debit[] {
  return held.map((one) => {
    const found = inUnit(actual, one.currency);
    return {
      currency: one.currency,
      value_minor: Math.min(found.value_minor, one.value_minor),
      debit_minor: Math.min(found.debit_minor, one.debit_minor),
    };
  });
}

/** What of `actual` is beyond what is held; units of which nothing is left are gone. */
export function beyond(actual: readonly Debit[], held: readonly Debit[]): readonly Debit[] {
  return actual
    .map((one) => {
      const found = inUnit(held, one.currency);
      return {
        currency: one.currency,
        value_minor: Math.max(0, one.value_minor - found.value_minor),
        debit_minor: Math.max(0, one.debit_minor - found.debit_minor),
      };
    })
    .filter(moves);
}

/** Debit in a unit; of nothing where there is none. */
export function inUnit(debits: readonly Debit[], currency: string): Debit {
  return debits.find((one) => one.currency === currency) ?? { currency, value_minor: 0, debit_minor: 0 };
}

/** True of a debit of something. */
export function moves({ value_minor, debit_minor }: Debit): boolean {
  return value_minor !== 0 || debit_minor !== 0;
}

/** True of a unit of money. */
export function isMoney({ currency }: Pick<Debit, 'currency'>): boolean {
  return /^[A-Z]{3}$/.test(currency);
}

/** Rows hold safe integers: what adds up beyond them stays at the largest. */
export function capped(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function unitsOf(...debits: readonly (readonly Debit[])[]): readonly string[] {
  return [...new Set(debits.flat().map(({ currency }) => currency))];
}
