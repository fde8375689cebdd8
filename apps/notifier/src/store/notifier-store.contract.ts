// What every store of the notifier keeps to: the same suite in memory and on PostgreSQL.
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import type { AttemptVerdict } from '../rules/delivery/attempt.decisions.js';
import type { Delivery } from '../rules/delivery/delivery.messages.js';
import type { Thing, KnownChange } from '../rules/item/item.messages.js';
import type { NotifierStore, Taken } from './notifier-store.port.js';

const ITEM = {
  kind: 'approval',
  opening: 'recourse.recoveries/0/7',
  openedAt: 1_000,
  deadlineAt: 9_000,
  reason: 'HIGH_IMPACT',
  owner: 'role:approver',
  requiredApprovals: 2,
  approvals: 1,
} as const;
const THING: Thing = {
  thing: 'step',
  id: 'step-1',
  tenant: 'acme',
  runId: 'run-1',
  recoveryId: 'rec-1',
  stepId: 'step-1',
  capability: 'payments.reverse_refund',
  runbook: 'runbooks/refunds.md',
  item: ITEM,
};
const ABOUT = { key: 'step:step-1', opening: ITEM.opening };
const DELIVERED: AttemptVerdict = { event: 'Delivered', error: null, nextAt: 0, closesEndpoint: false };
const FAILED: AttemptVerdict = {
  event: 'Failed',
  error: { code: 'SERVER_ERROR', httpStatus: 500 },
  nextAt: 5_000,
  closesEndpoint: false,
};

function delivery(id: string, more: Partial<Delivery> = {}): Delivery {
  const { thing, id: itemId, runId, recoveryId, stepId, capability, runbook } = THING;
  const item = {
    thing,
    id: itemId,
    kind: 'approval' as const,
    runId,
    recoveryId,
    stepId,
    capability,
    runbook,
    owner: 'role:approver',
    reason: 'HIGH_IMPACT',
    requiredApprovals: 2,
    deadlineAt: 9_000,
  };
  const notice = { occasion: 'opened' as const, occurredAt: 1_000, tenant: 'acme', item };
  return {
    id,
    endpoint: 'chat',
    tenant: 'acme',
    about: ABOUT,
    notice,
    state: 'queued',
    attempts: 0,
    dueAt: 1_000,
    nextAt: 1_000,
    lastError: null,
    updatedAt: 1_000,
    ...more,
  };
}

const reminder = (id: string, more: Partial<Delivery> = {}): Delivery => {
  const one = delivery(id, more);
  return { ...one, notice: { ...one.notice, occasion: 'reminder' } };
};

function taken(fromSeq: number, seq: number, more: Partial<Taken> = {}): Taken {
  return {
    topic: 'recourse.recoveries',
    partition: 0,
    fromSeq,
    to: { seq, hash: Buffer.alloc(32, seq), offset: seq + 3, cuts: [] },
    changes: [],
    superseded: [],
    queued: [],
    ...more,
  };
}

/** An empty store, and another view of the same one. */
type Views = readonly [NotifierStore, NotifierStore];

const claimed = (store: NotifierStore, now: number, endpoint = 'chat', countMax = 10): Promise<readonly Delivery[]> =>
  store.claim({ endpoint, now, until: now + 100, countMax });

/** Takes a first step that queues these. */
const queue = (store: NotifierStore, ...queued: readonly Delivery[]): Promise<boolean> =>
  store.take(taken(0, 1, { queued }));
/** Settles an attempt that was claimed. */
const settle = (
  store: NotifierStore,
  claim: Delivery | undefined,
  verdict: AttemptVerdict,
  at: number,
): Promise<void> => store.settle(claim ?? delivery(''), verdict, at);
const stateOf = async (store: NotifierStore, id: string): Promise<string | null> =>
  (await store.find(id))?.state ?? null;
const seqOf = async (store: NotifierStore, partition = 0): Promise<number | undefined> =>
  (await store.position('recourse.recoveries', partition))?.seq;

/** Runs the suite. */
export function notifierStoreContract(name: string, fresh: () => Promise<Views>): void {
  describe(`a notifier's store (${name})`, () => runCases(CASES, fresh));
}

const CASES: Cases<Views> = {
  'keeps cursor, things and deliveries of one step together': async ([store, other]) => {
    expect(await store.take(taken(0, 7, { changes: [{ op: 'put', thing: THING }], queued: [delivery('msg_1')] }))).toBe(
      true,
    );
    const at = { seq: 7, hash: Buffer.alloc(32, 7), offset: 10, cuts: [] };
    expect(await other.position('recourse.recoveries', 0)).toEqual(at);
    expect(await other.keptSeqs()).toEqual(new Map([['recourse.recoveries/0', 7]]));
    expect(await other.things(['step:step-1', 'step:other'])).toEqual([THING]);
    expect(await other.find('msg_1')).toEqual(delivery('msg_1'));
  },

  'keeps nothing of a step that begins elsewhere than it stands': async ([store, other]) => {
    await store.take(taken(0, 7));
    expect(await other.take(taken(0, 8, { changes: [{ op: 'put', thing: THING }], queued: [delivery('msg_1')] }))).toBe(
      false,
    );
    expect([await store.things(['step:step-1']), await store.find('msg_1'), await seqOf(store)]).toEqual([[], null, 7]);
  },

  'keeps with the cursor which losses are known': async ([store, other]) => {
    const known = { seq: 8, hash: Buffer.alloc(32, 8), offset: 11, cuts: [{ fromSeq: 8, hash: 'ab' }] };
    await store.take(taken(0, 7));
    await store.take({ ...taken(7, 8), to: known });
    expect(await other.position('recourse.recoveries', 0)).toEqual(known);
    await store.take({ ...taken(8, 8), to: { ...known, cuts: null } });
    expect(await other.position('recourse.recoveries', 0)).toEqual({ ...known, cuts: null });
  },

  'lets one of two that race read on': async ([store, other]) => {
    const both = await Promise.all([
      store.take(taken(0, 5, { queued: [delivery('msg_1')] })),
      other.take(taken(0, 5, { queued: [delivery('msg_1')] })),
    ]);
    expect([...both].sort()).toEqual([false, true]);
  },

  'forgets a thing that is over, and keeps partitions apart': async ([store]) => {
    await store.take(taken(0, 7, { changes: [{ op: 'put', thing: THING }] }));
    await store.take({ ...taken(0, 2), partition: 1 });
    await store.take(taken(7, 8, { changes: [{ op: 'forget', key: 'step:step-1' }] }));
    expect(await store.things(['step:step-1'])).toEqual([]);
    expect([await seqOf(store), await seqOf(store, 1)]).toEqual([8, 2]);
  },

  'hands a delivery that is due to one of two that ask, and to nobody before its time': async ([store, other]) => {
    await queue(
      store,
      delivery('msg_1'),
      delivery('msg_2', { nextAt: 2_000 }),
      delivery('msg_3', { endpoint: 'other' }),
    );
    const both = await Promise.all([
      claimed(store, 1_000),
      other.claim({ endpoint: 'chat', now: 1_000, until: 1_100, countMax: 10 }),
    ]);
    expect(both.flat().map(({ id, attempts, nextAt }) => ({ id, attempts, nextAt }))).toEqual([
      { id: 'msg_1', attempts: 1, nextAt: 1_100 },
    ]);
  },

  'knows the ids that were ever queued, whatever became of them': async ([store, other]) => {
    await queue(store, delivery('msg_1'), delivery('msg_2'));
    await claimed(store, 1_000);
    await store.settle(
      { id: 'msg_1', attempts: 1, endpoint: 'chat' },
      { event: 'Delivered', error: null, nextAt: 1_000, closesEndpoint: false },
      1_000,
    );
    expect([await other.queuedOnce(['msg_1', 'msg_2', 'msg_3']), await store.queuedOnce([])]).toEqual([
      expect.arrayContaining(['msg_1', 'msg_2']),
      [],
    ]);
    expect(await store.queuedOnce(['msg_3'])).toEqual([]);
  },

  'hands out the oldest first, and so many': async ([store]) => {
    await queue(
      store,
      delivery('msg_b', { nextAt: 900 }),
      delivery('msg_a', { nextAt: 1_000 }),
      delivery('msg_c', { nextAt: 800 }),
    );
    expect((await claimed(store, 1_000, 'chat', 2)).map(({ id }) => id)).toEqual(['msg_c', 'msg_b']);
  },

  'hands a delivery out again when an attempt brought nothing in time: the process was killed': async ([store]) => {
    await queue(store, delivery('msg_1'));
    await claimed(store, 1_000);
    expect(await claimed(store, 1_099)).toEqual([]);
    expect((await claimed(store, 1_100)).map(({ id, attempts }) => [id, attempts])).toEqual([['msg_1', 2]]);
  },

  'settles an attempt once, and an older one not at all': async ([store]) => {
    await queue(store, delivery('msg_1'));
    const [first] = await claimed(store, 1_000);
    const [second] = await claimed(store, 1_200);
    await settle(store, first, DELIVERED, 1_250);
    expect(await stateOf(store, 'msg_1')).toBe('queued');
    await settle(store, second, FAILED, 1_300);
    expect(await store.find('msg_1')).toMatchObject({
      state: 'queued',
      attempts: 2,
      nextAt: 5_000,
      lastError: { code: 'SERVER_ERROR', httpStatus: 500 },
      updatedAt: 1_300,
    });
  },

  'queues an id once, also after it was delivered': async ([store]) => {
    await queue(store, delivery('msg_1'));
    const [one] = await claimed(store, 1_000);
    await settle(store, one, DELIVERED, 1_001);
    await store.take(taken(1, 2, { queued: [delivery('msg_1')] }));
    await store.queue(delivery('msg_1'));
    expect(await stateOf(store, 'msg_1')).toBe('delivered');
    expect(await claimed(store, 9_000)).toEqual([]);
  },

  'lets what nobody needs any more rest: what was never tried is gone, what was tried is told': async ([store]) => {
    await queue(
      store,
      delivery('msg_1'),
      reminder('msg_2', { nextAt: 5_000 }),
      delivery('msg_3', { about: { ...ABOUT, opening: 'another' } }),
    );
    const [tried] = await claimed(store, 1_000, 'chat', 1);
    await settle(store, tried, FAILED, 1_001);
    await store.take(taken(1, 2, { superseded: [{ ...ABOUT, only: null }] }));
    const states = await Promise.all(['msg_1', 'msg_2', 'msg_3'].map((id) => stateOf(store, id)));
    expect([tried?.id, states]).toEqual(['msg_1', ['superseded', null, 'queued']]);
  },

  'lets reminders alone rest when a deadline moves, and queues the new ones after that': async ([store]) => {
    await queue(store, delivery('msg_1'), reminder('msg_2', { nextAt: 5_000 }));
    await store.take(
      taken(1, 2, { superseded: [{ ...ABOUT, only: 'reminder' }], queued: [reminder('msg_4', { nextAt: 7_000 })] }),
    );
    const states = await Promise.all(['msg_1', 'msg_2', 'msg_4'].map((id) => stateOf(store, id)));
    expect(states).toEqual(['queued', null, 'queued']);
  },

  'says of an attempt that ends after its item that somebody was told': async ([store]) => {
    await queue(store, delivery('msg_1'));
    const [one] = await claimed(store, 1_000);
    await store.take(taken(1, 2, { superseded: [{ ...ABOUT, only: null }] }));
    await settle(store, one, DELIVERED, 1_050);
    expect(await stateOf(store, 'msg_1')).toBe('delivered');
  },

  'hands out nothing for an endpoint that is gone until it is turned on, and goes on with the others': async ([
    store,
  ]) => {
    await queue(store, delivery('msg_1'), delivery('msg_2'), delivery('msg_3', { endpoint: 'other' }));
    const [one] = await claimed(store, 1_000, 'chat', 1);
    await settle(
      store,
      one,
      { ...FAILED, error: { code: 'GONE', httpStatus: 410 }, nextAt: 1_500, closesEndpoint: true },
      1_001,
    );
    expect(await claimed(store, 2_000)).toEqual([]);
    expect(await claimed(store, 2_000, 'other')).toHaveLength(1);
    expect(await store.figures(2_000)).toEqual([
      { name: 'chat', offSince: 1_001, queued: 2, oldestDueAt: 1_000, givenUp: 0 },
      { name: 'other', offSince: null, queued: 1, oldestDueAt: 1_000, givenUp: 0 },
    ]);
    await store.turnOn('chat', 2_000);
    expect(await claimed(store, 2_000)).toHaveLength(2);
  },

  'counts how long what is queued was tried from when its endpoint is turned on, and of no other': async ([store]) => {
    await queue(
      store,
      delivery('msg_1'),
      delivery('msg_2', { dueAt: 9_000, nextAt: 9_000 }),
      delivery('msg_3', { endpoint: 'other' }),
    );
    await store.turnOn('chat', 5_000);
    const dueAt = async (id: string): Promise<number | undefined> => (await store.find(id))?.dueAt;
    expect(await Promise.all(['msg_1', 'msg_2', 'msg_3'].map(dueAt))).toEqual([5_000, 9_000, 1_000]);
    expect(await claimed(store, 5_000)).toHaveLength(1);
  },

  'begins a partition anew: what waits by its records and was told to nobody is forgotten, and nothing of another':
    async ([store, other]) => {
      const elsewhere = { ...THING, id: 'step-2', item: { ...ITEM, opening: 'recourse.recoveries/01/7' } };
      await store.take(
        taken(0, 7, {
          changes: [
            { op: 'put', thing: THING },
            { op: 'put', thing: elsewhere },
            { op: 'put', thing: { ...THING, id: 'step-3', item: null } },
          ],
          queued: [
            delivery('msg_1'),
            delivery('msg_2', { nextAt: 5_000 }),
            delivery('msg_3', { nextAt: 5_000, about: { key: 'step:step-2', opening: elsewhere.item.opening } }),
          ],
        }),
      );
      const [told] = await claimed(store, 1_000);
      await settle(store, told, DELIVERED, 1_001);
      const position = await store.position('recourse.recoveries', 0);
      const stale = { seq: 6, hash: Buffer.alloc(32, 6), offset: 9, cuts: [] };
      const start = { seq: 0, hash: Buffer.alloc(32), offset: 0, cuts: [{ fromSeq: 6, hash: 'ab' }] };
      await store.beginAnew('recourse.recoveries', 0, stale, start);
      expect(await seqOf(store)).toBe(7);
      await store.beginAnew('recourse.recoveries', 0, position ?? stale, start);
      expect(await other.position('recourse.recoveries', 0)).toEqual(start);
      const keys = ['step:step-1', 'step:step-2', 'step:step-3'];
      expect((await other.things(keys)).map(({ id }) => id).sort()).toEqual(['step-2', 'step-3']);
      const states = await Promise.all(['msg_1', 'msg_2', 'msg_3'].map((id) => stateOf(store, id)));
      expect(states).toEqual(['delivered', null, 'queued']);
      expect(await store.take(taken(0, 1, { queued: [delivery('msg_2')] }))).toBe(true);
      expect(await stateOf(store, 'msg_2')).toBe('queued');
    },

  'counts for one tenant what is told of it, and not what others have before an endpoint that they share': async ([
    store,
  ]) => {
    await queue(
      store,
      delivery('msg_1'),
      delivery('msg_2', { tenant: 'globex' }),
      delivery('msg_3', { tenant: 'globex', endpoint: 'other' }),
    );
    const [one] = await claimed(store, 1_000);
    await settle(store, one, { ...FAILED, event: 'GivenUp' }, 1_001);
    const chat = { name: 'chat', offSince: null };
    expect(await store.figures(2_000, 'acme')).toEqual([{ ...chat, queued: 0, oldestDueAt: null, givenUp: 1 }]);
    expect(await store.figures(2_000, 'globex')).toEqual([
      { ...chat, queued: 1, oldestDueAt: 1_000, givenUp: 0 },
      { name: 'other', offSince: null, queued: 1, oldestDueAt: 1_000, givenUp: 0 },
    ]);
  },

  'tries one that was given up again, and no other': async ([store]) => {
    await queue(store, delivery('msg_1'));
    const [one] = await claimed(store, 1_000);
    await settle(store, one, { ...FAILED, event: 'GivenUp' }, 1_001);
    expect((await store.figures(1_001))[0]).toMatchObject({ queued: 0, oldestDueAt: null, givenUp: 1 });
    expect(await store.retry('msg_1', 4_000)).toMatchObject({
      state: 'queued',
      dueAt: 4_000,
      nextAt: 4_000,
      lastError: null,
    });
    const [again] = await claimed(store, 4_000);
    await settle(store, again, DELIVERED, 4_001);
    expect([await store.retry('msg_1', 5_000), await store.retry('msg_9', 5_000)]).toEqual([null, null]);
  },

  'lists by state, endpoint and tenant, the newest first, page by page': async ([store]) => {
    await queue(
      store,
      delivery('msg_1', { updatedAt: 1 }),
      delivery('msg_2', { updatedAt: 2 }),
      delivery('msg_3', { updatedAt: 2 }),
      delivery('msg_4', { endpoint: 'other', updatedAt: 3 }),
      delivery('msg_5', { tenant: 'globex', updatedAt: 4 }),
    );
    const ids = async (query: Parameters<NotifierStore['list']>[0]): Promise<readonly string[]> =>
      (await store.list(query)).map(({ id }) => id);
    expect(await ids({ countMax: 10 })).toEqual(['msg_5', 'msg_4', 'msg_3', 'msg_2', 'msg_1']);
    expect(await ids({ tenant: 'acme', endpoint: 'chat', state: 'queued', countMax: 2 })).toEqual(['msg_3', 'msg_2']);
    expect(await ids({ tenant: 'acme', endpoint: 'chat', countMax: 2, after: { updatedAt: 2, id: 'msg_2' } })).toEqual([
      'msg_1',
    ]);
    expect(await ids({ state: 'given_up', countMax: 2 })).toEqual([]);
  },

  'lists what waits, the soonest deadline first, by kind and tenant, page by page': async ([store]) => {
    const waits = (id: string, deadlineAt: number, more: Partial<Thing> = {}): KnownChange => {
      const thing = { ...THING, id, ...more };
      return { op: 'put', thing: { ...thing, item: thing.item === null ? null : { ...thing.item, deadlineAt } } };
    };
    await store.take(
      taken(0, 1, {
        changes: [
          waits('late', 9_000),
          waits('b', 5_000),
          waits('a', 5_000),
          waits('theirs', 1_000, { tenant: 'globex' }),
          waits('rests', 1_000, { item: null }),
        ],
      }),
    );
    const ids = async (query: Parameters<NotifierStore['items']>[0]): Promise<readonly string[]> =>
      (await store.items(query)).map(({ id }) => id);
    expect(await ids({ countMax: 10 })).toEqual(['theirs', 'a', 'b', 'late']);
    expect(await ids({ tenant: 'acme', kind: 'approval', countMax: 2 })).toEqual(['a', 'b']);
    expect(await ids({ tenant: 'acme', countMax: 2, after: { deadlineAt: 5_000, key: 'step:a' } })).toEqual([
      'b',
      'late',
    ]);
    expect(await ids({ kind: 'task', countMax: 2 })).toEqual([]);
  },

  'forgets what ended long ago, and nothing that is queued': async ([store]) => {
    await queue(store, delivery('msg_1'), delivery('msg_2'));
    const [one] = await claimed(store, 1_000, 'chat', 1);
    await settle(store, one, DELIVERED, 1_500);
    await store.prune(1_501);
    expect([await store.find(one?.id ?? ''), (await store.list({ countMax: 10 })).length]).toEqual([null, 1]);
  },

  'forgets nothing that was told of a thing that still waits': async ([store]) => {
    await store.take(taken(0, 1, { changes: [{ op: 'put', thing: THING }], queued: [delivery('msg_1')] }));
    const [one] = await claimed(store, 1_000, 'chat', 1);
    await settle(store, one, DELIVERED, 1_500);
    await store.prune(1_501);
    expect((await store.find('msg_1'))?.state).toBe('delivered');
    await store.take(taken(1, 2, { changes: [{ op: 'forget', key: 'step:step-1' }] }));
    await store.prune(1_501);
    expect(await store.find('msg_1')).toBeNull();
  },
};
