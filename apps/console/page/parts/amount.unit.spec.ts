// Amounts are minor units as ISO 4217 counts them, whatever the browser takes a price to look like.
import { describe, expect, it } from '@jest/globals';
import { amountText } from './amount.js';

const said = (amount_minor: number, currency: string): string =>
  amountText({ amount_minor, currency }).replaceAll('\u00a0', ' ');

describe('an amount', () => {
  it.each([
    [5_000_000, 'HUF', 'HUF 50,000.00'],
    [5_000_000, 'COP', 'COP 50,000.00'],
    [5_000_001, 'IDR', 'IDR 50,000.01'],
    [5_000_000, 'IQD', 'IQD 5,000.000'],
    [5_000, 'JPY', 'JPY 5,000'],
    [5_000_000, 'INR', 'INR 50,000.00'],
    [5_000_000, 'CLF', 'CLF 500.0000'],
  ])('has the decimals of its currency: %s %s', (minor, currency, text) => {
    expect(said(minor, currency)).toBe(text);
  });

  it('is a count where its unit is no currency', () => {
    expect(said(3, 'comms')).toBe('3 comms');
  });
});
