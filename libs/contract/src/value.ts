// Money: what a call moves, and what of it counts as debt.
import type { Json } from '@recourse/kernel';
import type { Money } from '@recourse/messages';
import { readPointer } from './json-pointer.js';
import type { Contract } from './shape.js';

/** Weights have three decimals, so that debts are computed in whole numbers. */
const WEIGHT_SCALE = 1_000;

/**
 * Reads the money a call moves from its arguments.
 *
 * Units:  minor units of the currency.
 * Errors: none; null when the contract has no value expression, or the arguments hold no whole amount of at least 0.
 */
export function valueOf(contract: Contract, args: Json): Money | null {
  if (contract.value === undefined) return null;
  const amount = readPointer(args, contract.value.amount);
  const currency = contract.value.currency.startsWith('/')
    ? readPointer(args, contract.value.currency)
    : contract.value.currency;
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) return null;
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? { amount_minor: amount, currency } : null;
}

/** Reads the business subject of a call; null when the contract names none or it is not there. */
export function subjectOf(contract: Contract, args: Json): string | null {
  const found = contract.subject === undefined ? undefined : readPointer(args, contract.subject);
  return typeof found === 'string' ? found : typeof found === 'number' ? String(found) : null;
}

/**
 * Weighs a value.
 *
 * Units:  minor units, rounded up; whole-number arithmetic, so 0.1 × 30 is 3.
 */
export function weighted(value: Money, weight: number): Money {
  const scaled = BigInt(value.amount_minor) * BigInt(Math.round(weight * WEIGHT_SCALE));
  const scale = BigInt(WEIGHT_SCALE);
  return { amount_minor: Number((scaled + scale - 1n) / scale), currency: value.currency };
}
