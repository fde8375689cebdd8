import { describe, expect, it } from '@jest/globals';
import { takeFault } from './faults.js';
import { OPERATIONS } from './operations.js';
import { EMPTY_WORLD, perform, seed } from './world.js';
import type { Answered, Doc, Operation, Request, World } from './world.js';

function asked(world: World, operation: string, body: Doc, headers: Partial<Request> = {}): Answered {
  return perform(world, OPERATIONS[operation] ?? nothing, {
    operation,
    body,
    key: null,
    ifMatch: null,
    now: 1_000,
    ...headers,
  });
}
const nothing: Operation = {
  isKeyed: false,
  change: () => {
    throw new Error('no such operation');
  },
};
const charge = { order_id: 'o1', amount_minor: 100, currency: 'EUR' };

describe('a service that remembers keys', () => {
  const once = asked(EMPTY_WORLD, 'payments.charge', charge, { key: 'k' });

  it('acts once per key, and counts who asked again', () => {
    const again = asked(once.world, 'payments.charge', charge, { key: 'k' });
    expect([again.status, again.body]).toEqual([200, once.body]);
    expect(again.world.effects).toMatchObject([{ operation: 'payments.charge', key: 'k', at: 1_000, requests: 2 }]);
  });
  it('refuses the key for something else, and acts anew under another', () => {
    expect(asked(once.world, 'payments.charge', { ...charge, amount_minor: 1 }, { key: 'k' })).toMatchObject({
      status: 409,
      body: { code: 'KEY_REUSED' },
    });
    expect(asked(once.world, 'payments.charge', charge, { key: 'l' }).world.effects).toHaveLength(2);
  });
  it('gives the same charge back once, whatever the key', () => {
    const refund = { charge_id: 'ch_0001', amount_minor: 100, currency: 'EUR' };
    const back = asked(once.world, 'payments.refund', refund, { key: 'rev_k' });
    expect(back.body).toMatchObject({ status: 'refunded' });
    expect(asked(back.world, 'payments.refund', refund, { key: 'rev_k' })).toMatchObject({
      status: 200,
      body: { status: 'refunded' },
    });
    expect(asked(back.world, 'payments.refund', refund, { key: 'another' })).toMatchObject({
      status: 409,
      body: { code: 'STATE_FORBIDS' },
    });
  });
});

describe('a service that goes by the state it finds', () => {
  it('changes nothing when it is so already', () => {
    const world = seed(EMPTY_WORLD, 'labels', 'i1', { issue: 'i1', labels: ['a'], version: 1 });
    const added = asked(world, 'labels.add', { issue: 'i1', label: 'b' });
    expect(added.body).toEqual({ issue: 'i1', labels: ['a', 'b'], version: 2 });
    expect(asked(added.world, 'labels.add', { issue: 'i1', label: 'b' }).world.effects).toHaveLength(1);
  });
  it('writes under the version that was seen, and under no other', () => {
    const world = seed(EMPTY_WORLD, 'config', 'r', { resource: 'r', value: 'old', version: 7 });
    expect(asked(world, 'config.update', { resource: 'r', value: 'new' }, { ifMatch: '6' })).toMatchObject({
      status: 412,
      body: { code: 'VERSION_MOVED' },
    });
    expect(asked(world, 'config.update', { resource: 'r', value: 'new' }, { ifMatch: '7' }).body).toMatchObject({
      value: 'new',
      version: 8,
    });
  });
  it('invites nobody twice, and tells everybody of a cancellation once', () => {
    const invite = { invite: 'kick-off', title: 'Kick-off', at: 'noon', attendees: ['a', 'b'] };
    const sent = asked(asked(EMPTY_WORLD, 'calendar.send', invite).world, 'calendar.send', invite);
    const off = asked(sent.world, 'calendar.cancel', { invite: 'kick-off', reason: 'r' });
    const twice = asked(off.world, 'calendar.cancel', { invite: 'kick-off', reason: 'r' });
    expect(twice.world.notices.map(({ to, text }) => `${to} ${text}`)).toEqual([
      'a calendar.send kick-off',
      'b calendar.send kick-off',
      'a calendar.cancel kick-off',
      'b calendar.cancel kick-off',
    ]);
  });
});

describe('a service that deduplicates nothing', () => {
  it('reserves again when it is asked again, key or no key', () => {
    const stock = { order_id: 'o1', sku: 'lamp', quantity: 1 };
    const twice = asked(
      asked(EMPTY_WORLD, 'inventory.reserve', stock, { key: 'k' }).world,
      'inventory.reserve',
      stock,
      { key: 'k' },
    );
    expect(twice.world.effects.map(({ thing, key }) => [thing, key])).toEqual([
      ['rsv_0001', null],
      ['rsv_0002', null],
    ]);
  });
});

describe('a fault', () => {
  it('is met once, by the request it is about', () => {
    const faults = [{ operation: 'mail.send', about: 'o1', mode: 'silent' as const }];
    expect(takeFault(faults, 'mail.send', { to: 'o2' }).mode).toBeNull();
    expect(takeFault(faults, 'payments.charge', { to: 'o1' }).mode).toBeNull();
    expect(takeFault(faults, 'mail.send', { to: 'o1@x' })).toEqual({ mode: 'silent', left: [] });
  });
});
