// A loop that was fenced while it read its tail went on with a projector that never projected again: found by the
// simulation, where two owners project the same tail. A reset that comes during a recovery begins another.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { LOG, LoopWorld } from '../../libs/event-log/src/loop.testing.js';

let world: LoopWorld;
beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(async () => {
  await world.stop();
});

it('a loop whose tail was projected by another owner while it read it projects what comes next', async () => {
  await world.start('a');
  await world.state([
    { ref: 'r1', id: '1' },
    { ref: 'r1', id: '2' },
  ]);
  await world.until('recorded', async () => (await world.statements()).length === 2);
  const partition = world.partitionOf('r1');
  const store = world.database.partition(LOG, partition);
  await world.until('projected', async () => (await store.head())?.seq === (await world.accepted(partition)).length);
  world.kill('a');
  // What the other owner projected, it projects only once this loop has read the older head.
  const newer = world.database.snapshot();
  world.database.wipe();
  world.fenceOnce(newer);
  await world.start('b');
  await world.state([{ ref: 'r1', id: '3' }]);
  await world.until('three', async () => (await world.statements()).length === 3);
  await world.until('projected', async () => (await store.head())?.seq === (await world.accepted(partition)).length);
  expect((await store.all('count')).map(({ doc }) => doc['count'])).toEqual([3]);
});
