// What a page is told to read again.
import { describe, expect, it } from '@jest/globals';
import { eventId, movedBetween, NOWHERE, positionIn, positionsOf } from './positions.js';
import type { Positions } from './positions.js';

const at = (seq: number): Positions => ({
  ...NOWHERE,
  ledger: { 'recourse.mutations/0': seq },
  recoveries: { 'recourse.recoveries/0': 3 },
});

describe('what moved', () => {
  it('are the services whose rows are others than before, and no others', () => {
    expect(movedBetween(at(1), at(2))).toEqual({ moved: ['ledger'], away: ['contracts', 'budgets', 'notifier'] });
    expect(movedBetween(at(2), at(2)).moved).toEqual([]);
  });

  it('is all of a service of which nobody knows where it stood', () => {
    expect(movedBetween(NOWHERE, at(1)).moved).toEqual(['ledger', 'recoveries']);
  });

  it('is nothing of a service that is away, and it is told when it answers again', () => {
    expect(movedBetween(at(1), { ...at(1), ledger: null })).toMatchObject({
      moved: [],
      away: expect.arrayContaining(['ledger']),
    });
    expect(movedBetween(at(1), at(4)).moved).toEqual(['ledger']);
  });
});

describe('the id of an event', () => {
  it('holds the positions it brings a page to', () => {
    expect(positionsOf(eventId(at(5)))).toEqual(at(5));
  });

  it.each([undefined, '', 'e30', 'not base64 at all', 'x'.repeat(70_000), Buffer.from('null').toString('base64url')])(
    'that is none of ours is nowhere: everything is read again',
    (id) => {
      expect(positionsOf(id)).toEqual(NOWHERE);
    },
  );
});

it('a status that is none is no position', () => {
  expect(positionIn({ detail: {} })).toEqual({});
  expect(positionIn('<html>')).toBeNull();
});
