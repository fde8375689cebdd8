// Amounts as text.
import { decimalsOf } from '@recourse/kernel/currency';
import type { Money } from '../api/shapes.js';
import { inert } from './inert.js';

const CURRENCY = /^[A-Z]{3}$/;

/** An amount with its unit; what is no currency is counted. */
export function amountText({ amount_minor: minor, currency }: Money): string {
  if (!CURRENCY.test(currency)) return `${minor.toLocaleString('en')} ${inert(currency)}`;
  const digits = decimalsOf(currency);
  const shown = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code', ...shown });
  return format.format(minor / 10 ** digits);
}
