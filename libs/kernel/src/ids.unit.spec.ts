import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deriveId, keptIds, partOf } from './ids.js';

describe('ids that are remembered', () => {
  it('are those that are derived, the first time, again, and after others were forgotten', () => {
    const idOf = keptIds('rec');
    const ids = Array.from({ length: 2_500 }, (_, at) => at);
    for (const round of [1, 2])
      for (const at of ids) expect([round, idOf('acme', at)]).toEqual([round, deriveId('rec', 'acme', at)]);
  });

  it('are derived each time where their parts are long', () => {
    const idOf = keptIds('rec');
    const long = 'x'.repeat(100_000);
    for (const part of [long, `${long}y`, long]) expect(idOf('acme', part)).toBe(deriveId('rec', 'acme', part));
  });

  it('are told apart by their parts and by their prefix', () => {
    const idOf = keptIds('a');
    const other = keptIds('b');
    const all = [idOf('x', 'yz'), idOf('xy', 'z'), idOf('xyz'), idOf('x', 'y', 'z'), other('x', 'yz')];
    expect(new Set(all).size).toBe(all.length);
    expect(idOf('x', 'yz')).toBe(all[0]);
  });
});

describe('a name of several parts', () => {
  const text = () => fc.string({ unit: fc.constantFrom('a', '/', '|', '%', '2', 'F', '5', '7', 'C') });

  it.each(['/', '|'] as const)(
    'that %s keeps apart is of no other parts, and stays as it was without it',
    (separator) => {
      const nameOf = (first: string, last: string): string => `${partOf(first, separator)}${separator}${last}`;
      fc.assert(
        fc.property(text(), text(), text(), text(), (a, b, c, d) => {
          expect(nameOf(a, b) === nameOf(c, d)).toBe(a === c && b === d);
          // What stands in one part is moved into the other.
          expect(nameOf(`${a}${separator}${b}`, c)).not.toBe(nameOf(a, `${b}${separator}${c}`));
        }),
      );
      expect(nameOf('acme', 'mut_1')).toBe(`acme${separator}mut_1`);
    },
  );
});
