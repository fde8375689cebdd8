import { describe, expect, it } from '@jest/globals';
import { ALL_TENANTS } from '@recourse/service';
import type { Caller } from '@recourse/service';
import { testOf } from '../rules/delivery/occasion.decisions.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import { MemoryNotifierStore } from '../store/notifier-store.memory.js';
import { DeliveriesController } from './deliveries.controller.js';

const NOW = 1_000;
const endpoint = (name: string, tenants: readonly string[] | null): Endpoint => ({
  name,
  tenants,
  url: 'https://hooks.example.org/T0/secret',
  shape: 'generic',
  keys: [],
  kinds: null,
  remindBeforeMs: null,
  tellsEnds: false,
});
const SHARED = endpoint('shared', ['acme', 'globex']);
const EVERYBODY = endpoint('everybody', null);
const OTHERS = endpoint('others', ['globex']);

type Narrowed = Parameters<DeliveriesController['deliveries']>[1];
const GIVEN_UP: Narrowed = { state: 'given_up' };

const callerOf = (tenant: string): Caller =>
  ({ principal: { id: 'olga', tenant, roles: ['auditor'] } }) as unknown as Caller; // no more is read

describe('endpoints of notices, asked for by a tenant', () => {
  const endpoints = [SHARED, EVERYBODY, OTHERS];
  const shownTo = async (tenant: string): Promise<readonly unknown[]> => {
    const store = new MemoryNotifierStore();
    const told: readonly (readonly [Endpoint, string])[] = [
      [SHARED, 'acme'],
      [SHARED, 'globex'],
      [SHARED, 'globex'],
      [EVERYBODY, 'globex'],
      [OTHERS, 'globex'],
    ];
    for (const [at, [one, of]] of told.entries()) await store.queue(testOf(one, of, String(at), NOW - at));
    const notifier = {
      headsSignedAt: () => Promise.resolve(null),
      health: () => ({ live: true, ready: true, started: true, detail: {} }),
      endpoints,
      followed: () => [],
      store,
      now: () => NOW,
      nonce: () => 'nonce',
    };
    const { items } = await new DeliveriesController(notifier).endpoints(callerOf(tenant));
    return items.map(({ name, tenants, queued, oldest_due_at }) => [name, tenants, queued, oldest_due_at]);
  };

  it('show what is queued about that tenant, no other tenant that is told there, and nothing of others', async () => {
    expect(await shownTo('acme')).toEqual([
      ['shared', ['acme'], 1, NOW],
      ['everybody', 'all', 0, null],
    ]);
  });

  it('show everything to who speaks for all', async () => {
    expect(await shownTo(ALL_TENANTS)).toEqual([
      ['shared', ['acme', 'globex'], 3, NOW - 2],
      ['everybody', 'all', 1, NOW - 3],
      ['others', ['globex'], 1, NOW - 4],
    ]);
  });
});

describe('notices of one endpoint, asked for by its name', () => {
  const GONE = endpoint('gone', ['acme']);
  const asked = async (name: string, tenant = 'acme', narrowed: Narrowed = {}): Promise<number> => {
    const store = new MemoryNotifierStore();
    for (const [at, one] of [SHARED, GONE].entries()) await store.queue(testOf(one, 'acme', String(at), NOW));
    const notifier = {
      headsSignedAt: () => Promise.resolve(null),
      health: () => ({ live: true, ready: true, started: true, detail: {} }),
      endpoints: [SHARED, EVERYBODY, OTHERS],
      followed: () => [],
      store,
      now: () => NOW,
      nonce: () => 'nonce',
    };
    const query = { endpoint: name, ...narrowed };
    const { items } = await new DeliveriesController(notifier).deliveries(callerOf(tenant), query);
    return items.length;
  };

  it('are none of one that has sent none, and those of one that is no more', async () => {
    expect([await asked('shared'), await asked('everybody'), await asked('gone')]).toEqual([1, 0, 1]);
    expect(await asked('others', ALL_TENANTS)).toBe(0);
  });

  it('are none of one that is no more where it has none of that state', async () => {
    expect([await asked('gone', 'acme', GIVEN_UP), await asked('gone', ALL_TENANTS, GIVEN_UP)]).toEqual([0, 0]);
    await expect(asked('gone', 'globex', GIVEN_UP)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each(['shard', 'others'])('are not found where the tenant has no such endpoint: %s', async (name) => {
    await expect(asked(name)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
