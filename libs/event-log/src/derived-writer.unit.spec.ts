// The derived log: a pure function of its source, written once whoever writes it.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { GateVerdict } from '@recourse/kafka';
import { countingCore, LoopWorld } from './loop.testing.js';
import type { AcceptedRecord, Derived, Doc } from './service-core.js';

const DERIVED = 'recourse.rollback-notifications';

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

describe('a derived log', () => {
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
