import { describe, expect, it } from '@jest/globals';
import { cellText, formatFields, formatTable, instant, minorUnits, money, span } from './table.js';

describe('a table', () => {
  it('is as wide as its widest cells, with numbers on the right and no trailing blanks', () => {
    const rows = [
      { name: 'a', count: 7 },
      { name: 'longer', count: 1_200 },
    ];
    expect(
      formatTable(
        [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'N', of: ({ count }) => count, align: 'right' },
        ],
        rows,
      ),
    ).toBe('NAME       N\na          7\nlonger  1200');
  });
  it('shows its headings when it is empty', () => {
    expect(formatTable([{ title: 'NAME', of: (row: string) => row }], [])).toBe('NAME');
  });
  it('has as many rows as there are, more than a function takes arguments', () => {
    const many = Array.from({ length: 200_000 }, (_, at) => String(at));
    expect(formatTable([{ title: 'AT', of: (row: string) => row }], many).endsWith('\n199999')).toBe(true);
  });
});

describe('a list of fields', () => {
  it('leaves out what has no value and indents further lines', () => {
    expect(
      formatFields([
        ['why', 'one\ntwo'],
        ['none', null],
        ['deadline', 3],
      ]),
    ).toBe('why       one\n          two\ndeadline  3');
  });
});

describe('a cell', () => {
  it.each([
    [null, '-'],
    [undefined, '-'],
    ['', '-'],
    [[], '-'],
    [['a', 'b'], 'a, b'],
    [{ a: 1 }, '{"a":1}'],
    [false, 'false'],
    [0, '0'],
  ])('shows %j as %s', (value, text) => {
    expect(cellText(value)).toBe(text);
  });
});

describe('values with a unit', () => {
  it('reads instants in UTC', () => {
    expect(instant(1_795_311_257_159)).toBe('2026-11-22 01:34:17Z');
  });
  it('has no instant where there is none', () => {
    expect(instant(9e15)).toBe('+275760-09-13 00:00:00Z');
    expect(instant(null)).toBeNull();
  });
  it.each([
    [0, '0 s'],
    [59_999, '59 s'],
    [3_661_000, '1 h 1 min'],
    [90_000_000, '1 d 1 h'],
  ])('reads %d ms as %s', (ms, text) => {
    expect(span(ms)).toBe(text);
  });
  it('places the decimals of the currency', () => {
    expect(minorUnits(500_000, 'INR')).toBe('5000.00 INR');
    expect(minorUnits(500, 'JPY')).toBe('500 JPY');
    expect(minorUnits(5_000_000, 'HUF')).toBe('50000.00 HUF');
    expect(minorUnits(5_000_000, 'IQD')).toBe('5000.000 IQD');
    expect(money({ amount_minor: 1, currency: 'EUR' })).toBe('0.01 EUR');
    expect(money(null)).toBeNull();
  });
});
