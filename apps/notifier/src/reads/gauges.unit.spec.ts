import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import type { WaitingThing } from '../rules/item/item.messages.js';
import { MemoryNotifierStore } from '../store/notifier-store.memory.js';
import { testOf } from '../rules/delivery/occasion.decisions.js';
import { measure, measureAlarms } from './gauges.js';

const alarm = (log: string): WaitingThing => ({
  ...{ thing: 'alarm', id: `alm-${log}`, tenant: '*', runId: '', recoveryId: null, stepId: null },
  ...{ capability: null, runbook: null, log },
  item: {
    ...{ kind: 'alarm', opening: 'recourse.signed-heads/0/7', openedAt: 1, deadlineAt: 2, reason: 'rewritten' },
    ...{ owner: 'role:auditor', requiredApprovals: 0, approvals: 0 },
  },
});

describe('open alarms of the auditor', () => {
  const measured = async (items: () => Promise<readonly WaitingThing[]>): Promise<readonly unknown[]> => {
    const said: unknown[] = [];
    await measureAlarms(
      { items: (query) => (query.kind === 'alarm' ? items() : Promise.resolve([])) },
      { clear: (name) => said.push(['clear', name]), set: (name, labels, value) => said.push([name, labels, value]) },
    );
    return said;
  };

  it('are told by log and partition, so that an alert rings at the first', async () => {
    const logs = ['recourse.mutations/2', 'recourse.mutations/2', 'recourse.tool-executions/0'];
    expect(await measured(() => Promise.resolve(logs.map(alarm)))).toEqual([
      ['clear', 'alarmsOpen'],
      ['alarmsOpen', { log: 'recourse.mutations', partition: '2' }, 2],
      ['alarmsOpen', { log: 'recourse.tool-executions', partition: '0' }, 1],
    ]);
  });

  it('are told no more once they are closed, and go on while nobody can say', async () => {
    expect(await measured(() => Promise.resolve([]))).toEqual([['clear', 'alarmsOpen']]);
    const away = new Failure('DATABASE_UNAVAILABLE', 'away');
    expect(await measured(() => Promise.reject(away))).toEqual([]);
  });
});

it('the age of signed heads is told also while the database is silent', async () => {
  const { promise: silence } = Promise.withResolvers<never>();
  const told = Promise.withResolvers<string>();
  void measure(
    {
      endpoints: [],
      store: { figures: () => silence, items: () => silence },
      signed: () => Promise.resolve([{ log: 'recourse.budgets', partition: 0, at: 1 }]),
    },
    {
      clear: () => undefined,
      set: (name) => {
        told.resolve(name);
      },
    },
  );
  expect(await Promise.race([told.promise, new Promise((resolve) => setImmediate(resolve))])).toBe('signedHeadAge');
});

describe('notices that did not arrive', () => {
  it('are told by endpoint once they are given up, when nothing is queued any more', async () => {
    const store = new MemoryNotifierStore();
    await store.queue(testOf({ name: 'chat' }, 'acme', 'n', 1_000));
    for (const one of await store.claim({ endpoint: 'chat', now: 1_000, until: 2_000, countMax: 9 }))
      await store.settle(one, { event: 'GivenUp', error: null, nextAt: 0, closesEndpoint: false }, 1_001);
    const said: unknown[] = [];
    await measure(
      { endpoints: [{ name: 'chat' }, { name: 'desk' }], store, signed: () => Promise.resolve([]) },
      { clear: () => undefined, set: (name, labels, value) => said.push([name, labels, value]) },
    );
    expect(said).toEqual([
      ['webhookOldestSeconds', { endpoint: 'chat' }, 0],
      ['webhooksGivenUp', { endpoint: 'chat' }, 1],
      ['webhookEndpointOff', { endpoint: 'chat' }, 0],
      ['webhookOldestSeconds', { endpoint: 'desk' }, 0],
      ['webhooksGivenUp', { endpoint: 'desk' }, 0],
      ['webhookEndpointOff', { endpoint: 'desk' }, 0],
    ]);
  });
});

describe('the age of signed heads', () => {
  it('is told by log and partition, and of none while nobody can say', async () => {
    const said: (readonly unknown[])[] = [];
    const store = { figures: () => Promise.resolve([]), items: () => Promise.resolve([]) };
    const metrics = { clear: () => undefined, set: (...one: readonly unknown[]) => said.push(one) };
    const at = Date.now() - 3_600_000;
    const places = [0, 1].map((partition) => ({ log: 'recourse.budgets', partition, at }));
    await measure({ endpoints: [], store, signed: () => Promise.resolve(places) }, metrics);
    await measure({ endpoints: [], store, signed: () => Promise.resolve([]) }, metrics);
    expect(said.map(([name, labels, age]) => [name, labels, Number(age) >= 3_600])).toEqual([
      ['signedHeadAge', { log: 'recourse.budgets', partition: '0' }, true],
      ['signedHeadAge', { log: 'recourse.budgets', partition: '1' }, true],
    ]);
  });
});
