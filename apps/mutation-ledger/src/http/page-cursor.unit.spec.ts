import { describe, expect, it } from '@jest/globals';
import { EdgeRefusal } from '@recourse/service';
import type { Order, Position } from '../reads/mutation-statements.js';
import { cursorOf, positionOf } from './page-cursor.js';

const POSITIONS: readonly (readonly [Order, Position])[] = [
  ['place', [3, 'run-1', 'mut_1']],
  ['updated', [1_700_000_000_000, 'mut_1']],
  ['expiry', [0, '']],
  ['newest', [1_700_000_000_000, 'mut_1']],
];
const told = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe.each(POSITIONS)('a cursor in order of %s', (order, position) => {
  it('leads back to where it was made', () => {
    expect(positionOf(order, cursorOf(order, position) ?? undefined)).toEqual(position);
  });

  it('is refused by a list in another order', () => {
    for (const [other] of POSITIONS.filter(([one]) => one !== order))
      expect(() => positionOf(other, cursorOf(order, position) ?? undefined)).toThrow(EdgeRefusal);
  });
});

describe('a cursor', () => {
  it('is absent on the last page and on the first request', () => {
    expect([cursorOf('expiry', null), positionOf('expiry', undefined)]).toEqual([null, undefined]);
  });

  it.each([
    '',
    'rubbish',
    told(null),
    told(['expiry']),
    told(['expiry', 1.5, 'x']),
    told(['expiry', -1, 'x']),
    told(['expiry', 1, 'a\0b']),
    told(['expiry', 1, 'x', 'y']),
    told(['expiry', '1', 'x']),
  ])('%j is refused with its code', (cursor) => {
    const refusal = (): unknown => {
      try {
        return positionOf('expiry', cursor);
      } catch (error) {
        return error;
      }
    };
    expect(refusal()).toMatchObject({ code: 'INPUT_INVALID', problems: [{ code: 'CURSOR_INVALID', path: '/cursor' }] });
  });
});
