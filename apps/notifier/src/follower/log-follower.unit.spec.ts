import { describe, expect, it } from '@jest/globals';
import type { LogPosition, PlacedRecord } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { BUDGETS, endpoint, HEADS, RECOVERIES, recordOf } from '../items.testing.js';
import type { FollowedLog } from '../core.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import { CATCH_UP_MAX, CatchUp } from './catch-up.js';
import { lookAt } from './kept-positions.js';
import { LogFollower } from './log-follower.js';
import type { FollowedPartition } from './followed-partition.js';
import { MemoryNotifierStore } from '../store/notifier-store.memory.js';
import type { NotifierStore } from '../store/notifier-store.port.js';

const NOW = 50_000;
const PAGER = endpoint({ name: 'pager', remindBeforeMs: 10_000, tellsEnds: true });
const START: LogPosition = { head: { seq: 0, hash: Buffer.alloc(32) }, offset: 0 };
const asked = (step: string, deadline_at = 90_000): Readonly<Record<string, unknown>> => ({
  step_id: step,
  rollback_id: `rb-${step}`,
  decision: 'request_approval',
  reason: 'HIGH_IMPACT',
  required_approvals: 1,
  deadline_at,
});

/** A log in memory, read in pages. */
class Log implements FollowedPartition {
  readonly records: PlacedRecord[] = [];
  #at: LogPosition = START;
  constructor(
    private readonly pageSize = 100,
    readonly topic: FollowedLog = RECOVERIES,
  ) {}

  add(type: string, more: Readonly<Record<string, unknown>>): void {
    const seq = this.records.length + 1;
    this.records.push({
      ...recordOf(this.topic, type, more),
      seq,
      hash: Buffer.alloc(32, seq),
      prevHash: Buffer.alloc(32, seq - 1),
      decidedAt: 1_000 * seq,
      offset: seq - 1,
      key: 'run-1',
    });
  }

  origin(): LogPosition {
    return START;
  }
  position(): LogPosition {
    return this.#at;
  }
  holds(): Promise<boolean> {
    return Promise.resolve(true);
  }
  async *read(from: LogPosition): AsyncGenerator<readonly PlacedRecord[]> {
    this.#at = from;
    for (let at = from.head.seq; at < this.records.length; at = this.#at.head.seq) {
      const page = await Promise.resolve(this.records.slice(at, at + this.pageSize));
      const last = page.at(-1);
      if (last === undefined) return;
      this.#at = { head: { seq: last.seq, hash: last.hash }, offset: last.offset + 1 };
      yield page;
    }
  }
}

function follower(log: Log, store: FollowedStore, now = NOW, endpoints: readonly Endpoint[] = [PAGER]): LogFollower {
  const common = { store, endpoints, now: () => now };
  return new LogFollower({ topic: log.topic, partition: 0, log, catchUp: new CatchUp(common), ...common });
}

type FollowedStore = Pick<
  NotifierStore,
  'position' | 'things' | 'take' | 'beginAnew' | 'items' | 'queuedOnce' | 'list'
>;

function storeOf(store: MemoryNotifierStore): FollowedStore {
  return {
    items: (query) => store.items(query),
    queuedOnce: (ids) => store.queuedOnce(ids),
    list: (query) => store.list(query),
    position: (topic, partition) => store.position(topic, partition),
    things: (keys) => store.things(keys),
    take: (taken) => store.take(taken),
    beginAnew: (...given) => store.beginAnew(...given),
  };
}

async function queuedIn(store: MemoryNotifierStore): Promise<readonly (readonly [string, string, number])[]> {
  return (await store.list({ countMax: 100, state: 'queued' }))
    .map(({ notice, dueAt }) => [notice.item?.id ?? '', notice.occasion, dueAt] as const)
    .sort();
}

describe('who follows a log', () => {
  it('tells once of what nobody has to decide, and keeps nothing of it', async () => {
    const [log, store] = [new Log(100, BUDGETS), new MemoryNotifierStore()];
    await follower(log, store).readOn();
    log.add('CeilingMoved', { scope: 'tenant', scope_id: 'acme', cause: 'lowered', until: null });
    await follower(log, store).readOn();
    await follower(log, store).readOn();
    expect((await queuedIn(store)).map(([, occasion]) => occasion)).toEqual(['told']);
    expect(await store.items({ countMax: 10 })).toEqual([]);
  });

  it('reads a quiet log anew where the tables of its store were made anew, and has notices held back meanwhile', async () => {
    const log = new Log();
    log.add('RecoveryPlanned', asked('s1'));
    let store = new MemoryNotifierStore();
    const names = ['position', 'things', 'take', 'beginAnew', 'items', 'queuedOnce', 'list'] as const;
    const changing = storeOf(store);
    for (const name of names)
      Object.assign(changing, { [name]: (...given: never[]) => Reflect.apply(store[name], store, given) });
    const one = follower(log, changing);
    const named = [{ name: `${RECOVERIES}/0`, follower: one }];
    let held = 0;
    const readOn = (): Promise<number> =>
      one.readOn(() => {
        held += 1;
      });
    await readOn();
    await lookAt(store, named);
    expect([await readOn(), held]).toEqual([0, 0]);
    store = new MemoryNotifierStore();
    await lookAt(store, named);
    expect([await readOn(), held]).toEqual([1, 1]);
    expect(await store.items({ countMax: 10 })).toMatchObject([{ id: 's1' }]);
  });

  it('queues what opened, and its reminder, due from when it is read', async () => {
    const [log, store] = [new Log(), new MemoryNotifierStore()];
    log.add('RecoveryPlanned', asked('s1'));
    expect(await follower(log, store).readOn()).toBe(1);
    expect(await queuedIn(store)).toEqual([
      ['s1', 'opened', NOW],
      ['s1', 'reminder', 80_000],
    ]);
    expect(await store.position(RECOVERIES, 0)).toEqual({ seq: 1, hash: Buffer.alloc(32, 1), offset: 1, cuts: [] });
  });

  it.each([1, 100])(
    'tells nobody of what ended meanwhile, and takes its reminder back: pages of %i',
    async (pageSize) => {
      const [log, store] = [new Log(pageSize), new MemoryNotifierStore()];
      await follower(log, store).readOn();
      log.add('RecoveryPlanned', asked('s1'));
      log.add('RecoveryPlanned', asked('s2'));
      log.add('StepResolved', { step_id: 's1' });
      await follower(log, store).readOn();
      expect(await queuedIn(store)).toEqual([
        ['s1', 'ended', NOW],
        ['s2', 'opened', NOW],
        ['s2', 'reminder', 80_000],
      ]);
    },
  );

  it.each([1, 100])(
    'tells of an alarm that was over before anybody was told, and reminds nobody of it (P11): pages of %i',
    async (pageSize) => {
      const [log, store] = [new Log(pageSize, HEADS), new MemoryNotifierStore()];
      await follower(log, store).readOn();
      log.add('AlarmRaised', { alarm_id: 'alm-9', tenant: '*', topic: RECOVERIES, deadline_at: 90_000 });
      log.add('AlarmClosed', { alarm_id: 'alm-9' });
      await follower(log, store).readOn();
      expect(await queuedIn(store)).toEqual([
        ['alm-9', 'ended', NOW],
        ['alm-9', 'opened', NOW],
      ]);
    },
  );

  it.each([1, 100])(
    'tells of what is open where its database is empty, of alarms like the rest, and of nothing that was over by then (P11): pages of %i',
    async (pageSize) => {
      const [log, store] = [new Log(pageSize, HEADS), new MemoryNotifierStore()];
      const raise = (id: string): void => {
        log.add('AlarmRaised', { alarm_id: id, tenant: '*', topic: RECOVERIES, deadline_at: 90_000 });
      };
      for (const id of ['alm-1', 'alm-2', 'alm-3']) raise(id);
      log.add('AlarmClosed', { alarm_id: 'alm-1' });
      let takes = 0;
      const dying: FollowedStore = {
        ...storeOf(store),
        take: (taken) =>
          (takes += 1) === 2 ? Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'killed')) : store.take(taken),
      };
      await expect(follower(log, dying).readOn()).rejects.toThrow('killed');
      log.add('AlarmClosed', { alarm_id: 'alm-2' });
      await follower(log, store).readOn();
      expect(await queuedIn(store)).toEqual([
        ['alm-3', 'opened', NOW],
        ['alm-3', 'reminder', 80_000],
      ]);
      log.add('AlarmClosed', { alarm_id: 'alm-3' });
      raise('alm-4');
      log.add('AlarmClosed', { alarm_id: 'alm-4' });
      await follower(log, store).readOn();
      expect((await queuedIn(store)).map(([id, occasion]) => `${id} ${occasion}`)).toEqual([
        'alm-3 ended',
        'alm-3 opened',
        'alm-4 ended',
        'alm-4 opened',
      ]);
    },
  );

  it('says how far it has kept, and not further', async () => {
    const log = new Log();
    log.add('RecoveryPlanned', asked('s1'));
    const store = new MemoryNotifierStore();
    const full = { ...storeOf(store), take: () => Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'no')) };
    const failing = follower(log, full);
    await expect(failing.readOn()).rejects.toThrow(Failure);
    expect(failing.keptSeq).toBe(0);
    const reading = follower(log, store);
    await reading.readOn();
    expect(reading.keptSeq).toBe(1);
  });

  it('has all but reminders tried at once, also by a clock that is put right a moment later', async () => {
    const [log, store] = [new Log(), new MemoryNotifierStore()];
    log.add('RecoveryPlanned', asked('s1', 9_000_000));
    await follower(log, store, 1_000_000).readOn();
    const claimed = await store.claim({ endpoint: 'pager', now: 2_000, until: 3_000, countMax: 9 });
    expect(claimed.map(({ notice, dueAt }) => [notice.occasion, dueAt])).toEqual([['opened', 1_000_000]]);
  });

  it('says what moved without the readings of sealed payloads: who looks at what moved would make another by looking', async () => {
    const [log, store] = [new Log(), new MemoryNotifierStore()];
    log.add('RecoveryPlanned', asked('s1'));
    const reading = follower(log, store);
    await reading.readOn();
    log.add('PayloadsRead', {});
    log.add('CommandAnswered', {});
    await reading.readOn();
    expect([reading.keptSeq, reading.movedSeq]).toEqual([3, 1]);
    log.add('StepResolved', { step_id: 's1' });
    await reading.readOn();
    expect([reading.keptSeq, reading.movedSeq]).toEqual([4, 4]);
    const again = follower(log, store);
    await again.readOn();
    expect(again.movedSeq).toBe(4);
  });

  it('reminds of no deadline that is over', async () => {
    const [log, store] = [new Log(), new MemoryNotifierStore()];
    log.add('RecoveryPlanned', asked('s1', 40_000));
    await follower(log, store).readOn();
    expect(await queuedIn(store)).toEqual([['s1', 'opened', NOW]]);
  });

  it('goes on where it stopped, and queues nothing twice when it is killed between two pages', async () => {
    const [log, store] = [new Log(1), new MemoryNotifierStore()];
    log.add('RecoveryPlanned', asked('s1'));
    log.add('RecoveryPlanned', asked('s2'));
    let pages = 0;
    const dying: FollowedStore = {
      ...storeOf(store),
      take: (taken) => {
        pages += 1;
        return pages === 2 ? Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'killed')) : store.take(taken);
      },
    };
    await expect(follower(log, dying).readOn()).rejects.toThrow('killed');
    expect(await follower(log, store, NOW + 5).readOn()).toBe(1);
    expect((await queuedIn(store)).map(([id, occasion, at]) => [id, occasion, at])).toEqual([
      ['s1', 'opened', NOW],
      ['s1', 'reminder', 80_000],
      ['s2', 'opened', NOW + 5],
      ['s2', 'reminder', 80_000],
    ]);
  });

  it('keeps nothing where another process has read on, and goes on from there', async () => {
    const [log, store] = [new Log(1), new MemoryNotifierStore()];
    log.add('RecoveryPlanned', asked('s1'));
    const [slow, quick] = [follower(log, store), follower(log, store)];
    await slow.readOn();
    log.add('RecoveryPlanned', asked('s2'));
    await quick.readOn();
    expect([await slow.readOn(), await slow.readOn()]).toEqual([0, 0]);
    log.add('StepResolved', { step_id: 's2' });
    expect(await slow.readOn()).toBe(1);
    expect((await queuedIn(store)).map(([id, occasion]) => `${id} ${occasion}`)).toEqual([
      's1 opened',
      's1 reminder',
      's2 ended',
    ]);
  });
});

describe('an endpoint that began to hear of what waits already', () => {
  /** Steps that nobody was told of: there was no endpoint. */
  async function waiting(count: number, deadlineOf = (_n: number): number => 90_000) {
    const [log, store] = [new Log(), new MemoryNotifierStore()];
    for (let n = 1; n <= count; n += 1) log.add('RecoveryPlanned', asked(`s${String(n)}`, deadlineOf(n)));
    await follower(log, store, NOW, []).readOn();
    return {
      log,
      store,
      restart: (endpoints = [PAGER], of: FollowedStore = store, now = NOW) =>
        follower(log, of, now, endpoints).readOn(),
    };
  }

  it('is told of it and reminded when the notifier starts, once', async () => {
    const { store, restart } = await waiting(1);
    await restart();
    await restart();
    expect(await queuedIn(store)).toEqual([
      ['s1', 'opened', NOW],
      ['s1', 'reminder', 80_000],
    ]);
  });

  it('is told of what its kinds, tenants and reminders were widened to, and of nothing else again', async () => {
    const { store, restart } = await waiting(1);
    await restart([endpoint({ name: 'pager', kinds: ['incident'] })]);
    await restart([endpoint({ name: 'pager', tenants: ['globex'] })]);
    expect(await queuedIn(store)).toEqual([]);
    await restart([endpoint({ name: 'pager' })]);
    const [told] = await store.claim({ endpoint: 'pager', now: NOW, until: NOW + 1, countMax: 9 });
    await store.settle(told!, { event: 'Delivered', error: null, nextAt: NOW, closesEndpoint: false }, NOW);
    await restart([endpoint({ name: 'pager', remindBeforeMs: 10_000 })]);
    expect(await queuedIn(store)).toEqual([['s1', 'reminder', 80_000]]);
  });

  it('is not told of what is over in the records behind the place where it waits', async () => {
    const { log, store, restart } = await waiting(2);
    log.add('StepResolved', { step_id: 's1' });
    await restart([endpoint({ name: 'pager' })]);
    expect(await queuedIn(store)).toEqual([['s2', 'opened', NOW + 1_000]]);
  });

  it('is left to whoever has read on meanwhile, and looked at anew', async () => {
    const { store, restart } = await waiting(1);
    let takes = 0;
    const contested: FollowedStore = {
      ...storeOf(store),
      take: (taken) => ((takes += 1) === 1 ? Promise.resolve(false) : store.take(taken)),
    };
    await restart([PAGER], contested);
    expect(await queuedIn(store)).toEqual([]);
    await restart([PAGER], contested);
    expect(await queuedIn(store)).toHaveLength(2);
  });

  it('hears of one a second, the soonest deadline first, and of so many at one start', async () => {
    const count = CATCH_UP_MAX + 2;
    const { store, restart } = await waiting(count, (n) => 10_000_000 - n);
    const plain = [endpoint({ name: 'pager' })];
    await restart(plain);
    const queued = await store.list({ countMax: 2 * count, state: 'queued' });
    const inOrder = [...queued].sort((a, b) => a.nextAt - b.nextAt);
    expect(inOrder.slice(0, 3).map(({ notice, nextAt }) => [notice.item?.id, nextAt])).toEqual([
      [`s${String(count)}`, NOW],
      [`s${String(count - 1)}`, NOW + 1_000],
      [`s${String(count - 2)}`, NOW + 2_000],
    ]);
    expect(queued).toHaveLength(CATCH_UP_MAX);
    // Another process: what is still queued counts, and the rest comes behind it.
    await restart(plain);
    expect(await store.list({ countMax: 2 * count, state: 'queued' })).toHaveLength(CATCH_UP_MAX);
    const now = NOW + 3_000;
    for (const told of await store.claim({ endpoint: 'pager', now: NOW + 2_000, until: now, countMax: 9 }))
      await store.settle(told, { event: 'Delivered', error: null, nextAt: now, closesEndpoint: false }, now);
    await restart(plain, store, now);
    const left = await store.list({ countMax: 2 * count, state: 'queued' });
    expect(left).toHaveLength(count - 3);
    expect(new Set(left.map(({ nextAt }) => nextAt)).size).toBe(left.length);
  });
});
