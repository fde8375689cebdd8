import { describe, expect, it } from '@jest/globals';
import type { Outcome } from './checkout.js';
import type { Case } from './steps.js';
import { faultsIn, seenOf } from './verdict.js';
import type { Seen } from './verdict.js';

const noCourier: Case = { order: 'o1', fails: { step: 'book', how: 'refuse' } };
const recovered: Outcome = {
  case: noCourier,
  runId: 'r',
  found: {},
  reconciled: [],
  answers: [
    { step: 'reserve', kind: 'succeeded' },
    { step: 'charge', kind: 'succeeded' },
    { step: 'book', kind: 'failed' },
  ],
  takenBack: [
    { step: 'charge', recoverability: 'compensated' },
    { step: 'reserve', recoverability: 'compensated' },
  ],
};
const seen: Seen = {
  reservation: 'released',
  charge: 'refunded',
  parcel: null,
  notices: 0,
  effects: ['inventory.reserve', 'payments.charge', 'payments.refund', 'inventory.release'],
};

describe('the verdict on a checkout', () => {
  it('holds when the charge went back first, then the stock, and nobody was told (A2)', () => {
    expect(faultsIn(recovered, seen)).toEqual([]);
  });

  it('sees stock that was released before the money was back', () => {
    expect(
      faultsIn(recovered, {
        ...seen,
        effects: ['inventory.reserve', 'payments.charge', 'inventory.release', 'payments.refund'],
      }),
    ).toHaveLength(1);
  });

  it('sees a message that was sent all the same', () => {
    expect(faultsIn(recovered, { ...seen, notices: 1 })).toEqual(['the customer got 1 messages']);
  });

  it('sees what is not compensated', () => {
    expect(
      faultsIn(
        {
          ...recovered,
          takenBack: [
            { step: 'charge', recoverability: 'compensation_failed' },
            { step: 'reserve', recoverability: 'compensated' },
          ],
        },
        seen,
      ),
    ).toEqual(['charge is compensation_failed']);
  });

  it.each(['silent', 'lost'] as const)('sees a call that ended %s, and that nobody looked into', (how) => {
    const unanswered = { ...recovered, case: { order: 'o1', fails: { step: 'book', how } } } as const;
    expect(faultsIn(unanswered, seen)).toContain('nobody found out how the unanswered call ended');
  });

  it('sees an agent that stopped where it could have gone on', () => {
    const silent = { ...recovered, case: { order: 'o1', fails: { step: 'book', how: 'silent' } } } as const;
    expect(faultsIn(silent, seen)).toContain('the agent went 3 steps, not 4');
  });

  it('reads an order from the services, apart from every other', () => {
    const world = {
      things: {
        'payments/ch_1': { order_id: 'o1', status: 'refunded' },
        'payments/ch_2': { order_id: 'o2', status: 'captured' },
        'mail/m1': { to: 'o2@example.test', status: 'sent' },
      },
      effects: [
        { seq: 1, at: 1, operation: 'payments.charge', thing: 'ch_1', key: 'k', request: 'r', requests: 1 },
        { seq: 2, at: 2, operation: 'payments.charge', thing: 'ch_2', key: 'l', request: 'r', requests: 1 },
      ],
      notices: [{ seq: 3, to: 'o2@example.test', text: 't' }],
    };
    expect(seenOf('o1', world)).toEqual({
      reservation: null,
      charge: 'refunded',
      parcel: null,
      notices: 0,
      effects: ['payments.charge'],
    });
  });
});
