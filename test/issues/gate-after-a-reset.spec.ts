// A loop that was reset while it asked for the ends of its inputs opened its gate at the old ends: it sent again before it had
// read what came meanwhile (L10). Found by the simulation, seed 613.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { LOG, LoopWorld } from '../../libs/event-log/src/loop.testing.js';

const LAST_INPUT = 'recourse.ledger-commands';

let world: LoopWorld;
beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(async () => {
  await world.stop();
});

it('a loop that is reset while it asks for ends reads up to those of the start after it', async () => {
  const partition = world.partitionOf('r1');
  const [ends, delivery] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let isAsking = false;
  let asked = 0;
  world.verdicts.push(({ kind, topic, partition: at }) => {
    if (kind === 'deliver' && at === partition) return delivery.promise.then(() => 'proceed' as const);
    if (kind !== 'range' || topic !== LAST_INPUT || at !== partition) return undefined;
    // First it is asked what the wire still holds, then where it ends.
    asked += 1;
    if (asked < 2) return undefined;
    isAsking = true;
    return ends.promise.then(() => 'proceed' as const);
  });
  const runtime = await world.start('a');
  await world.until('the end of the first input is known', () => isAsking);
  const loop = runtime.loops().find((one) => one.health().partition === partition);
  // The wire grows behind the end that was seen, and the loop begins anew.
  await world.state([{ ref: 'r1', id: '1' }]);
  loop?.reset();
  ends.resolve(undefined);
  const recovered = (): number =>
    world.events.filter((event) => event.kind === 'recovered' && 'log' in event && event.log === LOG).length;
  await world.until('it read its log anew', () => recovered() >= 3);
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  expect(loop?.health().state).toBe('catching_up');
  delivery.resolve(undefined);
  await world.until('it is ready once it has read everything', () => loop?.health().state === 'ready');
  expect(await world.statements()).toEqual(['r1:1']);
});
