import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '@recourse/kernel';
import type { ContractEntries, StandingSubscription } from '@recourse/contract';
import { subscriptionsOf } from '@recourse/contract';
import { dueConsumers } from './due.decider.js';
import { Hearers } from './hearers.decisions.js';

const SCOPES = [
  'acme',
  'acme/a',
  'acme/*/run-1',
  '*',
  '*/*/*/order',
  'acme/b/*/order/4711',
  'acme/a/run-1/*/4711',
  'globex/*',
];
const WHO = ['a', 'b', '*'].flatMap((agent) =>
  ['run-1', 'run-2'].flatMap((run) =>
    ['', 'order', 'order/4711', 'order/4711/line/1', 'cart/4711'].map((subject) => ({
      tenant: 'acme',
      agent,
      run,
      subject,
    })),
  ),
);

const entries: ContractEntries = (() => {
  const kept = new Map<string, object>();
  for (const owner of ['acme', '*']) {
    const own = SCOPES.map((scope, at) => ({ scope, name: `s${String(at)}`, consumer: `c${String(at % 5)}` })).filter(
      ({ scope }) => scope.startsWith('acme') === (owner === 'acme'),
    );
    kept.set(`subscriptions/${owner}`, { names: own.map(({ name }) => name) });
    for (const { name, ...asked } of own) {
      const body = canonicalJson({ owner: 'o', doc: 'd', ...asked, mode: 'async', commit_to_user_ms: 5_000 });
      const digest = Buffer.alloc(32);
      kept.set(`entry/subscription/${owner}/${name}`, {
        tenant: owner,
        name,
        version: 1,
        digest,
        body,
        registered_by: 'x',
      });
    }
  }
  return { get: (key: string) => kept.get(key) } as unknown as ContractEntries; // what is read of a view
})();

describe('who hears of commits', () => {
  it('is who is due to hear of each, whatever the scopes cover', () => {
    const hearers = new Hearers(subscriptionsOf(entries, 'acme'));
    const due = WHO.map((who) => dueConsumers(entries, who, 1).map(({ consumer }) => consumer));
    expect(WHO.map((who) => hearers.of(who))).toEqual(due);
    expect(new Set(due.map((names) => names.join())).size).toBeGreaterThan(5);
  });

  it('is one list for all commits that the same scopes cover', () => {
    const all: Pick<StandingSubscription, 'scope' | 'consumer'>[] = [
      { scope: 'acme/a', consumer: 'mailer' },
      { scope: 'acme', consumer: 'ledger' },
      { scope: 'acme/a', consumer: 'ledger' },
    ];
    const hearers = new Hearers(all);
    const [first, second] = ['run-1', 'run-2'].map((run) =>
      hearers.of({ tenant: 'acme', agent: 'a', run, subject: run }),
    );
    expect(first).toEqual(['ledger', 'mailer']);
    expect(second).toBe(first);
  });
});
