// A log whose last decision lies ahead of the true time: it waits, and goes on once a person accepted that its time stands (L1, P14).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { earliestOf } from '@recourse/kernel';
import type { StoodTime } from '@recourse/kernel';
import { countingCore, LOG, LOG_ID, LoopWorld, PARTITIONS } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import type { ServiceRuntime } from './service-runtime.js';

const TWO_HOURS_MS = 7_200_000;

let world: LoopWorld;
let began: number;
beforeEach(async () => {
  world = await new LoopWorld(countingCore(), { timeAgeMs: 0, clockAheadMaxMs: 3 * TWO_HOURS_MS }).prepare();
  world.now = Date.now();
  began = world.now;
});
afterEach(async () => {
  await world.stop();
});

const partition = (): number => world.partitionOf('r1');
const recorded =
  (...expected: readonly string[]) =>
  async (): Promise<boolean> =>
    (await world.statements()).join() === [...expected].sort().join();
const isBehind = (runtime: ServiceRuntime) => (): boolean =>
  !runtime.health().ready && JSON.stringify(runtime.health().detail).includes('CLOCK_BEHIND');
const isReady = (runtime: ServiceRuntime) => (): boolean => runtime.health().ready;

/** When a statement was decided. */
async function decidedAt(event: string): Promise<number> {
  const records = await world.accepted(partition());
  return records.find(({ body }) => body['event_id'] === event)?.decidedAt ?? 0;
}

/** One statement is decided while the clock is two hours ahead; then it is right again. */
async function jump(service: string, id: string, ...before: readonly string[]): Promise<ServiceRuntime> {
  world.now += TWO_HOURS_MS;
  const runtime = await world.start(service);
  await world.state([{ ref: 'r1', id }]);
  await world.until('decided ahead', recorded(...before, `r1:${id}`));
  world.now -= TWO_HOURS_MS;
  return runtime;
}

/** What `recourse log accept-time` writes. */
async function accept(trueNow = world.now): Promise<StoodTime> {
  const { codecs } = world;
  const kafka = world.broker.forActor('mira');
  const log = new OwnLog({
    kafka,
    codecs,
    topic: LOG,
    partition: partition(),
    partitionCount: PARTITIONS,
    logId: LOG_ID,
  });
  let head = 0;
  for await (const records of log.read(log.origin())) head = records.at(-1)?.decidedAt ?? head;
  const batch = log.seal(head + 1);
  const body = { stands_at: head + 1, true_now: trueNow, by: 'mira', reason: 'a clock was two hours ahead' };
  batch.add({ type: 'TimeAccepted', body }, 'progress');
  expect(await log.append(batch)).toBe('accepted');
  return { standsAt: head + 1, trueNow };
}

describe('a log whose last decision lies ahead of the true time', () => {
  it('waits, and goes on at the time that stands once that was accepted, and with the clock when it has come', async () => {
    const before = await jump('a', '1');
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('waits', isBehind(before));
    expect(await world.statements()).toEqual(['r1:1']);
    await before.stop();
    const { standsAt } = await accept();
    const runtime = await world.start('b');
    await world.until('goes on', recorded('r1:1', 'r1:2'));
    await world.until('ready', isReady(runtime));
    expect(await decidedAt('2')).toBe(standsAt);
    world.now = standsAt + 5_000;
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('moves on', recorded('r1:1', 'r1:2', 'r1:3'));
    expect(await decidedAt('3')).toBe(standsAt + 5_000);
  });

  it('lets no service that starts be ready, not for a moment either', async () => {
    await (await jump('a', '1')).stop();
    await world.until('waits', isBehind(await world.start('b')));
    expect(world.events.filter((event) => event.by === 'b' && event.kind === 'recovered' && event.seq > 0)).toEqual([]);
  });

  it('stands after a restart and after a rebuild, too', async () => {
    await (await jump('a', '1')).stop();
    const { standsAt } = await accept();
    await (await world.start('b')).stop();
    const restarted = await world.start('c');
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('restarted', recorded('r1:1', 'r1:2'));
    await restarted.stop();
    await world.database.forActor('mira').partition(LOG, partition()).drop();
    await world.start('d');
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('rebuilt', recorded('r1:1', 'r1:2', 'r1:3'));
    expect([await decidedAt('2'), await decidedAt('3')]).toEqual([standsAt, standsAt]);
  });

  it('fires what is due by the time that stands, and nothing later', async () => {
    await (await jump('a', '1')).stop();
    const { standsAt } = await accept();
    const [later = ''] = ['s1', 's2', 's3', 's4'].filter((ref) => world.partitionOf(ref) === partition());
    await world.start('b');
    await world.state([
      { ref: later, id: '2', source: 'timed', statedAt: standsAt + 1 },
      { ref: 'r1', id: '3', source: 'timed', statedAt: standsAt - 1 },
    ]);
    await world.until('fired', async () => (await world.statements()).includes('r1:timer'));
    expect(await decidedAt('timer')).toBe(standsAt);
    expect(await world.statements()).not.toContain(`${later}:timer`);
    world.now = standsAt + 5_000;
    await world.until('fired later', async () => (await world.statements()).includes(`${later}:timer`));
  });

  it('is not accepted with what was accepted of an earlier jump', async () => {
    await (await jump('a', '1')).stop();
    const { standsAt } = await accept();
    world.now = standsAt + 5_000;
    const again = await jump('b', '2', 'r1:1');
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('waits', isBehind(again));
    await again.stop();
    await accept();
    await world.start('c');
    await world.until('goes on', recorded('r1:1', 'r1:2', 'r1:3'));
  });

  it('is not accepted for a clock that went further back since', async () => {
    await (await jump('a', '1')).stop();
    await accept(began);
    world.now = began - 10_000;
    const runtime = await world.start('b');
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('waits', isBehind(runtime));
    expect(await world.statements()).toEqual(['r1:1']);
  });
});

describe('what a time on record says of the true time', () => {
  const stood = { standsAt: 10_000, trueNow: 4_000 };
  it('is itself where no time stood, or after it', () => {
    expect([earliestOf(9_000, null), earliestOf(10_001, stood)]).toEqual([9_000, 10_001]);
  });
  it('is not before it was accepted, while it stands', () => {
    expect(earliestOf(10_000, stood)).toBe(4_000);
  });
  it('is nothing of what was recorded before, with a clock that was ahead by nobody knows how much', () => {
    expect(earliestOf(9_999, stood)).toBeNull();
  });
});
