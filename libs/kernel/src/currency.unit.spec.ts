// Amounts on the wire are minor units of ISO 4217: what is shown of them has to be, too.
import { describe, expect, it } from '@jest/globals';
import { decimalsOf } from './currency.js';

describe('the decimals of a currency', () => {
  it.each([
    [0, 'JPY KRW CLP ISK UGX XOF'],
    [2, 'EUR INR HUF COP IDR PKR LBP ALL AFN MGA'],
    [3, 'IQD KWD TND'],
    [4, 'CLF'],
  ])('are %s as ISO 4217 says, not CLDR: %s', (decimals, currencies) => {
    expect(currencies.split(' ').map(decimalsOf)).toEqual(currencies.split(' ').map(() => decimals));
  });

  it('are two where nobody knows the currency', () => {
    expect(decimalsOf('TOK')).toBe(2);
  });
});
