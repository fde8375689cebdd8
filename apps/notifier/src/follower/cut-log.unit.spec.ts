// A log that lost records which the notifier had read, over the memory broker and the real reader of a log.
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { holdsPosition, OwnLog } from '@recourse/event-log';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { BUDGETS, endpoint, recordOf } from '../items.testing.js';
import { MemoryNotifierStore } from '../store/notifier-store.memory.js';
import type { ReadPosition } from '../store/notifier-store.port.js';
import { CatchUp } from './catch-up.js';
import { LogFollower } from './log-follower.js';

const NOW = 50_000;
const PAGER = endpoint({ name: 'pager', tellsEnds: true });

class World {
  readonly broker = new MemoryBroker();
  readonly registry = new MemoryRegistry();
  readonly store = new MemoryNotifierStore();
  readonly reader = this.logOf('notifier');
  anew = 0;

  async prepare(): Promise<this> {
    await (await this.broker.forActor('admin').admin()).ensureTopics([{ name: BUDGETS, partitions: 1 }]);
    await createCodecs(this.registry.forActor('owner')).prepareWriter(BUDGETS, { register: true });
    return this;
  }

  logOf(actor: string): OwnLog {
    const codecs = createCodecs(this.registry.forActor(actor));
    const kafka = this.broker.forActor(actor);
    return new OwnLog({ kafka, codecs, topic: BUDGETS, partition: 0, partitionCount: 1, logId: 'log-1' });
  }

  /** An owner that has read its log appends records. */
  async write(...records: readonly (readonly [string, Readonly<Record<string, unknown>>])[]): Promise<void> {
    const owner = this.logOf('owner');
    await owner.prepare();
    for await (const page of owner.read(owner.origin())) expect(page.length).toBeGreaterThan(0);
    const batch = owner.seal(1_000);
    for (const [type, more] of records) batch.add(recordOf(BUDGETS, type, more), 'k');
    expect(await owner.append(batch)).toBe('accepted');
  }

  /** A follower as a process has it after its start. */
  follower(): LogFollower {
    const { reader, store } = this;
    const log = {
      origin: () => reader.origin(),
      position: () => reader.position,
      holds: (position: Parameters<typeof holdsPosition>[1]) => holdsPosition(reader, position),
      read: (from: Parameters<OwnLog['read']>[0]) => reader.read(from),
    };
    const common = { store, endpoints: [PAGER], now: () => NOW };
    return new LogFollower({ topic: BUDGETS, partition: 0, log, catchUp: new CatchUp(common), ...common });
  }

  readOn(follower: LogFollower): Promise<number> {
    return follower.readOn(() => {
      this.anew += 1;
    });
  }

  /** Everybody was told of what is due, so long ago that it is forgotten where it waits no more. */
  async tellAll(): Promise<void> {
    for (const one of await this.store.claim({ endpoint: 'pager', now: NOW, until: NOW + 1, countMax: 99 }))
      await this.store.settle(one, { event: 'Delivered', error: null, nextAt: 0, closesEndpoint: false }, NOW);
    await this.store.prune(NOW + 1);
  }

  async lastRead(): Promise<ReadPosition> {
    const at = await this.store.position(BUDGETS, 0);
    if (at === null) throw new Error('nothing was read');
    return at;
  }

  /** The position is as a version kept it that did not keep which losses it knows. */
  async keepAsBefore(): Promise<void> {
    const at = await this.lastRead();
    const to = { ...at, cuts: null };
    await this.store.take({
      topic: BUDGETS,
      partition: 0,
      fromSeq: at.seq,
      to,
      changes: [],
      superseded: [],
      queued: [],
    });
  }

  async waiting(): Promise<readonly string[]> {
    return (await this.store.items({ countMax: 99 })).map(({ id }) => id).sort();
  }

  async notices(): Promise<readonly string[]> {
    const all = await this.store.list({ countMax: 99, state: 'queued' });
    return all.map(({ notice }) => `${notice.item?.id ?? ''} ${notice.occasion}`).sort();
  }
}

const asks = (id: string): readonly [string, Readonly<Record<string, unknown>>] => [
  'BudgetEscalated',
  { reservation_id: id, deadline_at: 900_000, owner: 'role:approver' },
];
const ends = (id: string): readonly [string, Readonly<Record<string, unknown>>] => [
  'BudgetSettled',
  { reservation_id: id },
];
const cutFrom = (
  lost_from_seq: number,
  head: Pick<ReadPosition, 'seq' | 'hash'> = { seq: 99, hash: Buffer.alloc(32) },
): readonly [string, Readonly<Record<string, unknown>>] => [
  'CutAccepted',
  { lost_from_seq, lost_to_seq: head.seq, lost_head_hash: head.hash },
];

let world: World;
beforeEach(async () => {
  world = await new World().prepare();
});

describe('a log that lost what was read of it', () => {
  it('is read anew once a person has accepted that: what was lost is forgotten, and what still waits is known', async () => {
    await world.write(asks('a'), asks('b'), asks('lost'));
    const follower = world.follower();
    await world.readOn(follower);
    world.broker.truncate(BUDGETS, 0, 2);
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    await world.write(cutFrom(3), ends('a'), asks('c'), asks('d'));
    await world.readOn(follower);
    expect([world.anew, await world.waiting(), await world.notices(), follower.keptSeq]).toEqual([
      1,
      ['b', 'c', 'd'],
      ['a ended', 'b opened', 'c opened', 'd opened'],
      6,
    ]);
    expect(await world.readOn(world.follower())).toBe(0);
    expect(world.anew).toBe(1);
  });

  it('is read anew by a process that was down meanwhile, also where it ends before what was read', async () => {
    await world.write(asks('a'), asks('b'), asks('c'), asks('d'));
    await world.readOn(world.follower());
    world.broker.truncate(BUDGETS, 0, 1);
    await world.write(cutFrom(2));
    await world.readOn(world.follower());
    expect([world.anew, await world.waiting()]).toEqual([1, ['a']]);
  });

  it('is not read on in silence while nobody has accepted that, however far it has gone on', async () => {
    await world.write(asks('a'), asks('b'));
    await world.readOn(world.follower());
    world.broker.truncate(BUDGETS, 0, 1);
    await world.write(asks('x'), asks('y'));
    const follower = world.follower();
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    await world.write(cutFrom(2));
    await world.readOn(follower);
    expect([world.anew, await world.waiting()]).toEqual([1, ['a', 'x', 'y']]);
  });

  it('tells nobody a second time of what had ended before the loss, however long ago it was told', async () => {
    await world.write(asks('a'), ends('a'), asks('b'), asks('lost'));
    await world.readOn(world.follower());
    await world.tellAll();
    world.broker.truncate(BUDGETS, 0, 3);
    await world.write(cutFrom(4), asks('c'));
    await world.readOn(world.follower());
    expect(await world.notices()).toEqual(['c opened']);
  });

  it('halts again after a further loss until that one is accepted: consent to one is none to another', async () => {
    await world.write(asks('a'), asks('b'));
    await world.readOn(world.follower());
    world.broker.truncate(BUDGETS, 0, 1);
    await world.write(cutFrom(2), asks('c'), asks('d'));
    await world.readOn(world.follower());
    world.broker.truncate(BUDGETS, 0, 3);
    const follower = world.follower();
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    await world.write(asks('x'), asks('y'));
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    expect([world.anew, await world.waiting()]).toEqual([1, ['a', 'c', 'd']]);
    await world.write(cutFrom(4));
    await world.readOn(follower);
    expect([world.anew, await world.waiting()]).toEqual([2, ['a', 'c', 'x', 'y']]);
  });

  it('tells of what ended between two losses that were both accepted while nobody read', async () => {
    await world.write(...['a', 'b', 'l1', 'l2', 'l3', 'l4', 'l5'].map((id) => asks(id)));
    await world.readOn(world.follower());
    world.broker.truncate(BUDGETS, 0, 2);
    await world.write(cutFrom(3), asks('x'), ends('x'), asks('lost'));
    world.broker.truncate(BUDGETS, 0, 5);
    await world.write(cutFrom(6));
    await world.readOn(world.follower());
    expect([world.anew, await world.notices()]).toEqual([1, ['a opened', 'b opened', 'x ended']]);
  });

  it('tells nobody a second time of an older end, also where the process was killed while it read anew', async () => {
    await world.write(asks('a'), ends('a'), asks('b'), asks('lost'));
    await world.readOn(world.follower());
    await world.tellAll();
    world.broker.truncate(BUDGETS, 0, 3);
    await world.write(cutFrom(4), asks('c'));
    const { store } = world;
    const take = jest.spyOn(store, 'take').mockRejectedValueOnce(new Failure('DATABASE_UNAVAILABLE', 'killed'));
    await expect(world.readOn(world.follower())).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(take).toHaveBeenCalledTimes(1);
    await world.readOn(world.follower());
    expect(await world.notices()).toEqual(['c opened']);
  });
});

describe('a log that lost what an earlier version read of it', () => {
  beforeEach(async () => {
    await world.write(asks('a'), ends('a'), asks('b'), asks('l'));
    await world.readOn(world.follower());
    world.broker.truncate(BUDGETS, 0, 3);
    await world.write(cutFrom(4), asks('c'), ends('c'), asks('d'));
    await world.readOn(world.follower());
    await world.keepAsBefore();
    await world.tellAll();
  });

  it('halts until that loss is accepted, whatever was accepted in what it had read', async () => {
    expect(await world.readOn(world.follower())).toBe(0);
    world.broker.truncate(BUDGETS, 0, 6);
    const follower = world.follower();
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    await world.write(asks('x'));
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    await world.write(cutFrom(7));
    await world.readOn(follower);
    expect([world.anew, await world.waiting(), await world.notices()]).toEqual([2, ['b', 'x'], ['x opened']]);
  });

  it('halts also where the loss came before the upgrade, until the record that it read last is given up by name', async () => {
    const read = await world.lastRead();
    world.broker.truncate(BUDGETS, 0, 6);
    const follower = world.follower();
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    await world.write(cutFrom(7, { ...read, hash: Buffer.alloc(32, 7) }), asks('x'));
    await expect(world.readOn(follower)).rejects.toMatchObject({ code: 'LOG_CUT' });
    await world.write(cutFrom(7, read));
    await world.readOn(follower);
    expect([world.anew, await world.waiting(), await world.notices()]).toEqual([2, ['b', 'x'], ['x opened']]);
  });

  it('is read on where only its front is gone, which holds no consent any more', async () => {
    await world.write(ends('d'));
    world.broker.trim(BUDGETS, 0, 5);
    expect(await world.readOn(world.follower())).toBe(1);
    expect((await world.store.position(BUDGETS, 0))?.cuts).toEqual([]);
  });
});
