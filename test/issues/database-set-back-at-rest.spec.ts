// PostgreSQL runs with synchronous_commit=off: killed, it comes back without its last transactions. A service at rest did not
// notice for up to a minute, and answered 404 for what it had acknowledged. A read that misses a row now asks the log for its
// end, has the loop look again where the database lost something, and looks for the row once more.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { LOG, LoopWorld } from '../../libs/event-log/src/loop.testing.js';
import { projectedIn, ProjectionEnd } from '../../libs/service/src/projection-end.js';

const REF = 'r1';
const PARTITIONS = 2;
/** The loop does not look on its own while this runs: only a read finds what is missing. */
const NEVER_MS = 3_600_000;

let world: LoopWorld;
beforeEach(async () => {
  world = await new LoopWorld(undefined, { headCheckMs: NEVER_MS }).prepare();
});
afterEach(async () => {
  await world.stop();
});

it('a database that lost its last transactions while its service was at rest has them again before a read says that there is nothing', async () => {
  const runtime = await world.start('a');
  const partition = world.partitionOf(REF);
  const store = world.database.partition(LOG, partition);
  const end = new ProjectionEnd({
    reader: () => world.broker.forActor('edge').rawReader(),
    partitionCount: () => Promise.resolve(PARTITIONS),
    logId: 'spec',
    head: (log, at) => world.database.partition(log, at).head(),
    projectedHere: (log, at) => projectedIn(runtime.loops(), log, at),
  });
  const projected = (): Promise<void> =>
    world.until('projected', async () => (await store.head())?.seq === (await world.accepted(partition)).length);
  await world.state([{ ref: REF, id: '1' }]);
  await world.until('recorded', async () => (await world.statements()).length === 1);
  await projected();
  const older = world.database.snapshot();
  await world.state([{ ref: REF, id: '2' }]);
  await world.until('recorded', async () => (await world.statements()).length === 2);
  await projected();
  expect(await end.isReached(LOG)).toBe(true);
  world.database.restore(older);
  expect(await end.isReached(LOG)).toBe(true);
  expect((await store.all('count')).map(({ doc }) => doc['count'])).toEqual([2]);
  await end.close();
});
