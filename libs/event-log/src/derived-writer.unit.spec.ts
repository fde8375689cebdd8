// The derived log: a pure function of its source, written once whoever writes it.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { GateVerdict } from '@recourse/kafka';
import { countingCore, LoopWorld, PARTITIONS } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import type { LoopHealth } from './partition-loop.js';
import type { AcceptedRecord, Derived, Doc } from './service-core.js';
import type { ProjectedHead } from './store.port.js';

const DERIVED = 'recourse.rollback-notifications';
const SOURCE = countingCore().log;

/** Two notices per statement, each as long as its source says. */
function derive(record: AcceptedRecord): readonly Derived[] {
  if (record.type !== 'AssumptionStated') return [];
  const id = String(record.body['event_id']);
  const member = { mutation_id: id, rollback_id: id, subject_ref: 'x'.repeat(subjectLength), derived_from: [] };
  return ['first', 'second'].map((reason) => ({
    key: 'run-1',
    type: 'RollbackSettled',
    body: { tenant: 'acme', run_id: 'run-1', members: [{ ...member, recoverability: 'compensated', reason }] },
  }));
}

let subjectLength = 0;
let world: LoopWorld;
beforeEach(async () => {
  world = await new LoopWorld(countingCore({ derived: { topic: DERIVED, derive } })).prepare();
});
afterEach(async () => {
  subjectLength = 0;
  await world.stop();
});

const notices = async (): Promise<readonly string[]> => {
  const records = await world.accepted(world.partitionOf('r1'), DERIVED);
  return records.flatMap(({ body }) =>
    membersOf(body).map(
      (one) => `${String(one['mutation_id'])}:${String(one['reason'])}:${String(body['source_index'])}`,
    ),
  );
};
const membersOf = ({ members }: Doc): readonly Doc[] => members as readonly Doc[]; // derived above
const three = ['1:first:0', '1:second:1', '2:first:0', '2:second:1', '3:first:0', '3:second:1'];
const state = async (...ids: readonly string[]): Promise<void> => world.state(ids.map((id) => ({ ref: 'r1', id })));

/** What the writer keeps of its place when it stands at the end of both logs. */
async function cachedHead(): Promise<ProjectedHead> {
  const partition = world.partitionOf('r1');
  const placed = async (topic: string) => {
    const { high } = await (await world.broker.forActor('look').rawReader()).range(topic, partition);
    const last = (await world.accepted(partition, topic)).at(-1);
    return { topic, partition, offset: high, seq: last?.seq ?? 0, hash: last?.hash ?? Buffer.alloc(32), last };
  };
  const [{ last, ...derived }, { last: _, ...source }] = [await placed(DERIVED), await placed(SOURCE)];
  return {
    ...derived,
    decidedAt: 0,
    reactedSeq: Number(last?.body['source_seq']),
    reactedOffset: Number(last?.body['source_index']),
    cursors: [source],
  };
}

/** The source ends with this statement, and what came after it was given up as `recourse log accept-cut` does. */
async function cutBehind(id: string): Promise<void> {
  const partition = world.partitionOf('r1');
  const topic = SOURCE;
  const records = await world.accepted(partition, topic);
  const kept = records.findIndex(({ body }) => body['event_id'] === id) + 1;
  const lost = records.slice(kept);
  world.broker.truncate(topic, partition, kept);
  const own = new OwnLog({
    kafka: world.broker.forActor('cli'),
    codecs: world.codecs,
    logId: world.logId,
    topic,
    partition,
    partitionCount: PARTITIONS,
  });
  await own.prepare();
  for await (const _ of own.read(own.origin()));
  const batch = own.seal(records[kept - 1]?.decidedAt ?? 0);
  const body = {
    lost_from_seq: lost[0]?.seq,
    lost_to_seq: lost.at(-1)?.seq,
    lost_head_hash: lost.at(-1)?.hash,
    by: 'mira',
    reason: 'restored',
  };
  batch.add({ type: 'CutAccepted', body }, 'progress');
  expect(await own.append(batch)).toBe('accepted');
  await own.close();
}

describe('a derived log', () => {
  it('that cannot be written is told by its service, which is ready all the same, until it is written', async () => {
    let isRefused = true;
    world.verdicts.push(({ kind, topic }) =>
      kind === 'append' && topic === DERIVED && isRefused ? 'fail' : undefined,
    );
    const runtime = await world.start('a');
    const problem = (): string | null =>
      (runtime.health().detail['loops'] as readonly LoopHealth[]).find(
        ({ partition }) => partition === world.partitionOf('r1'),
      )?.problem ?? null;
    await state('1');
    await world.until('it is told', () => Promise.resolve(problem() !== null));
    expect(problem()).toContain(`${DERIVED} is not written`);
    expect(runtime.health().ready).toBe(true);
    isRefused = false;
    await world.until('it is written', async () => (await notices()).length === 2);
    await world.until('nothing is wrong', () => Promise.resolve(problem() === null));
  });

  it('follows its source in order, each record naming what it comes from', async () => {
    await world.start('a');
    await state('1', '2', '3');
    await world.until('six', async () => (await notices()).length === 6);
    expect(await notices()).toEqual(three);
  });

  it.each(['fail', 'lose_ack', 'late', 'duplicate'] as const)(
    'is written once when an append is of unknown outcome (%s)',
    async (verdict: GateVerdict) => {
      let left = 2;
      world.verdicts.push(({ kind, topic }) =>
        kind === 'append' && topic === DERIVED && left > 0 ? ((left -= 1), verdict) : undefined,
      );
      await world.start('a');
      await state('1', '2', '3');
      await world.until('six', async () => (await notices()).length === 6);
      for (const packet of [...world.broker.pendingLate]) packet.release();
      expect(await notices()).toEqual(three);
    },
  );

  it('is written in requests that a broker takes, however long its records are', async () => {
    subjectLength = 400_000;
    const appended: number[] = [];
    world.verdicts.push(({ kind, topic, count }) => {
      if (kind === 'append' && topic === DERIVED) appended.push(count ?? 0);
      return undefined;
    });
    await state('1', '2', '3');
    await world.start('a');
    await world.until('six', async () => (await notices()).length === 6);
    expect(await notices()).toEqual(three);
    expect([appended.reduce((sum, count) => sum + count, 0), Math.max(...appended)]).toEqual([6, 2]);
  });

  it('goes on after a kill where its tail says, also without its cached position', async () => {
    await world.start('a');
    await state('1');
    await world.until('two', async () => (await notices()).length === 2);
    world.kill('a');
    world.database.wipe();
    await state('2', '3');
    await world.start('b');
    await world.until('six', async () => (await notices()).length === 6);
    expect(await notices()).toEqual(three);
  });

  it.each(['kept', 'lost'] as const)(
    'goes on behind an accepted cut of its source, whose places are used again (database %s)',
    async (database) => {
      await world.start('a');
      // One by one, with what its owner notes in between: decided again, they take fewer places.
      for (let id = 1; id <= 8; id += 1) {
        await state(String(id));
        await world.until('two more', async () => (await notices()).length === 2 * id);
      }
      world.kill('a');
      const head = await cachedHead();
      await cutBehind('2');
      world.database.wipe();
      if (database === 'kept') world.database.write(DERIVED, world.partitionOf('r1'), { head, kinds: new Map() });
      await world.start('b');
      await state('9', '10');
      const both = ['9:first:0', '9:second:1', '10:first:0', '10:second:1'];
      await world.until('the new ones', async () => (await notices()).filter((one) => both.includes(one)).length === 4);
      world.kill('b');
      await world.start('c');
      await state('11');
      await world.until('the last one', async () => (await notices()).includes('11:second:1'));
      const told = await notices();
      expect([...both, '11:first:0'].map((one) => told.filter((each) => each === one).length)).toEqual([1, 1, 1, 1, 1]);
    },
  );

  it('goes on behind a second cut that is as deep', async () => {
    await world.start('a');
    for (const [at, from] of [1, 7, 13].entries()) {
      for (let id = from; id < from + 6; id += 1) {
        const before = (await notices()).length;
        await state(String(id));
        await world.until('told', async () => (await notices()).length > before);
      }
      const told = await notices();
      for (let id = from; id < from + 6; id += 1) expect(told).toContain(`${String(id)}:second:1`);
      if (at === 2) break;
      world.kill(at === 0 ? 'a' : 'b');
      await cutBehind('1');
      world.database.wipe();
      await world.start(at === 0 ? 'b' : 'c');
      // What the wire holds is decided, and told, once more.
      const last = `${String(from + 5)}:second:1`;
      await world.until('anew', async () => (await notices()).filter((one) => one === last).length === 2);
    }
  });

  it('is written once by two owners', async () => {
    await world.start('a');
    await state('1');
    await world.until('two', async () => (await notices()).length === 2);
    world.broker.evict('a');
    await world.start('b');
    await state('2', '3');
    await world.until('six', async () => (await notices()).length === 6);
    expect(await notices()).toEqual(three);
  });
});
