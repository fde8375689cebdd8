import { describe, expect, it } from '@jest/globals';
import { EdgeRefusal } from '@recourse/service';
import type { Order, Position } from '../reads/mutation-statements.js';
import { cursorOf, positionOf } from './page-cursor.js';
import type { OrderedList } from './page-cursor.js';

const POSITIONS: readonly (readonly [Order, Position])[] = [
  ['place', [3, 'run-1', 'mut_1']],
  ['updated', [1_700_000_000_000, 'mut_1']],
  ['expiry', [0, '']],
  ['newest', [1_700_000_000_000, 'mut_1']],
];
const listIn = (order: Order): OrderedList => ({ list: 'effects', order, filter: { run_id: 'run-1' } });
const CLOSING = listIn('expiry');
/** A cursor of that list, with another place in it. */
function told(place: unknown): string {
  const cursor = cursorOf(CLOSING, [0, '']) ?? '';
  const [mark] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as readonly [string];
  return Buffer.from(JSON.stringify([mark, place])).toString('base64url');
}

describe.each(POSITIONS)('a cursor in order of %s', (order, position) => {
  it('leads back to where it was made', () => {
    expect(positionOf(listIn(order), cursorOf(listIn(order), position) ?? undefined)).toEqual(position);
  });

  it('is refused by a list in another order', () => {
    for (const [other] of POSITIONS.filter(([one]) => one !== order))
      expect(() => positionOf(listIn(other), cursorOf(listIn(order), position) ?? undefined)).toThrow(EdgeRefusal);
  });
});

describe('a cursor', () => {
  it.each([
    ['another list', { list: 'horizon' }],
    ['the same list under another filter', { filter: { run_id: 'run-2' } }],
    ['the same list without its filter', { filter: {} }],
  ])('is refused by %s in the same order', (_what, other) => {
    const cursor = cursorOf(CLOSING, [1, 'mut_1']) ?? undefined;
    expect(() => positionOf({ ...CLOSING, ...other }, cursor)).toThrow('not a cursor of this list');
  });

  it('is absent on the last page and on the first request', () => {
    expect([cursorOf(CLOSING, null), positionOf(CLOSING, undefined)]).toEqual([null, undefined]);
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
        return positionOf(CLOSING, cursor);
      } catch (error) {
        return error;
      }
    };
    expect(refusal()).toMatchObject({ code: 'INPUT_INVALID', problems: [{ code: 'CURSOR_INVALID', path: '/cursor' }] });
  });
});
