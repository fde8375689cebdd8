// What a page is told to read again.
import { describe, expect, it } from '@jest/globals';
import { eventId, movedBetween, NOWHERE, positionIn, positionsOf, startOf } from './positions.js';
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

  it('is all of a service that came back, for what was asked of it meanwhile failed', () => {
    expect(movedBetween(at(1), at(1), ['ledger', 'budgets']).moved).toEqual(['ledger']);
  });
});

describe('where the stream of a page begins', () => {
  it('fits in an address, or is nowhere: everything is read twice', () => {
    const many = (count: number): Positions => ({
      ...NOWHERE,
      ledger: Object.fromEntries(Array.from({ length: count }, (_, at) => [`recourse.mutations/${at}`, 1_000_000])),
    });
    expect(positionsOf(startOf(many(50)))).toEqual(many(50));
    expect(startOf(many(500))).toBe('');
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

describe('how far a service has come', () => {
  const loop = { log: 'a', partition: 0, projectedSeq: 9, movedSeq: 7, state: 'ready' };

  it('is told without the readings that looking makes, or a page would look again and again at what nobody changed', () => {
    expect(positionIn({ ready: true, detail: { loops: [loop] } })).toEqual({ 'a/0': 7 });
  });
});

describe('a service whose database is away', () => {
  const loops = [{ log: 'a', partition: 0, movedSeq: 9, state: 'ready', problem: null }];
  const waits = { ...loops[0], state: 'waiting', problem: 'DATABASE_UNAVAILABLE: connect ECONNREFUSED' };
  const way = (code: string) => ({ code, detail: 'no answer' });

  it.each([
    ['a loop of it waits for that', { ready: false, detail: { loops: [...loops, waits] } }],
    ['it has no loop and says so', { ready: false, detail: { loops: [], in_the_way: way('DATABASE_UNAVAILABLE') } }],
    ['it has not started', { ready: false, detail: { in_the_way: way('BROKER_UNAVAILABLE') } }],
  ])('is away, though its status is answered, where %s; all of it has moved once that is over', (_where, status) => {
    expect(positionIn(status)).toBeNull();
    const back = { ...at(1), ledger: positionIn({ ready: true, detail: { loops } }) };
    expect(movedBetween(back, { ...back, ledger: positionIn(status) }).away).toContain('ledger');
    expect(movedBetween(back, back, ['ledger']).moved).toEqual(['ledger']);
  });

  it('is not away for another trouble, and has moved with each change of that: what was asked meanwhile may have failed', () => {
    const ledger = (status: object): Positions => ({ ...at(1), ledger: positionIn(status) });
    const stands = [
      { ready: true, detail: { loops } },
      { ready: false, detail: { loops } },
      { ready: true, detail: { loops, in_the_way: way('KEYRING_INVALID') } },
      { ready: false, detail: { loops: [{ ...waits, problem: 'BROKER_UNAVAILABLE: no leader' }] } },
      { ready: false, detail: { loops: [{ ...waits, problem: 'KEY_STORE_UNAVAILABLE: no host' }] } },
      { ready: false, detail: { loops: [{ ...waits, state: 'catching_up', problem: null }] } },
    ].map(ledger);
    for (const [index, stand] of stands.entries())
      for (const [other, next] of stands.entries())
        expect(movedBetween(stand, next)).toMatchObject({
          moved: index === other ? [] : ['ledger'],
          away: expect.not.arrayContaining(['ledger']),
        });
    expect(positionsOf(eventId(stands[3] ?? NOWHERE))).toEqual(stands[3]);
  });
});

it('a status that is none is no position', () => {
  expect(positionIn({ ready: true, detail: {} })).toEqual({});
  expect(positionIn({ detail: {} })).toBeNull();
  expect(positionIn('<html>')).toBeNull();
});
