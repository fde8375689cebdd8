// An instance that died is missed at once, and strangers in the group are told of (L13).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@recourse/kernel';
import { LOG, LoopWorld, PARTITIONS, WIRE } from './loop.testing.js';
import { deadIn, foreignIn, foreignMessage } from './peers.decisions.js';
import { Peers } from './peers.js';
import type { PeerEvent } from './peers.js';
import { MemoryPlace } from './presence.memory.js';
import type { ServiceRuntime } from './service-runtime.js';

let world: LoopWorld;
let here: MemoryPlace;
let presences: Map<string, ReturnType<MemoryPlace['presence']>>;
const events: (PeerEvent & { readonly by: string })[] = [];

beforeEach(async () => {
  world = await new LoopWorld().prepare();
  here = new MemoryPlace();
  presences = new Map();
  events.length = 0;
});
afterEach(() => world.stop());

async function start(name: string): Promise<ServiceRuntime> {
  const presence = here.presence();
  presences.set(name, presence);
  const onEvent = (event: PeerEvent): number => events.push({ ...event, by: name });
  const peers = { presence, kin: 'service-', onEvent };
  return world.start(name, undefined, undefined, peers);
}
const owned = (runtime: ServiceRuntime): number => runtime.loops().length;
const putOut = (): readonly string[] =>
  events.flatMap((event) => (event.kind === 'put_out' ? event.members.map(({ name }) => name) : []));

describe('an instance that died', () => {
  it('is put out of the group at once by another, which takes over and goes on', async () => {
    await start('service-a');
    const living = await start('service-b');
    await world.until('they share', () => owned(living) === PARTITIONS / 2);
    await seenByEachOther();
    world.die('service-a');
    presences.get('service-a')?.die();
    await world.until('the other has all', () => owned(living) === PARTITIONS);
    for (const ref of ['r1', 'r2', 'r3']) await world.state([{ ref, id: '1' }]);
    await world.until('it goes on', async () => (await world.statements()).length === 3);
    expect(putOut()).toHaveLength(1);
  });

  it('holds up nobody of its service that starts', async () => {
    await start('service-a');
    world.die('service-a');
    presences.get('service-a')?.die();
    const next = await start('service-b');
    await world.until('it has all', () => owned(next) === PARTITIONS && next.health().ready);
    expect(putOut()).toHaveLength(1);
  });

  it('is left to the group where nobody can tell who is here, and nobody who lives is put out', async () => {
    await start('service-a');
    const living = await start('service-b');
    await world.until('they share', () => owned(living) === PARTITIONS / 2);
    await seenByEachOther();
    here.isBroken = true;
    await world.until('the living one failed', () =>
      events.some(({ kind, by }) => kind === 'failed' && by === 'service-b'),
    );
    presences.get('service-a')?.die();
    here.isBroken = false;
    await rest();
    expect(putOut()).toEqual([]);
  });
});

describe('an instance of a service', () => {
  it('that stops has left the group by itself, and counts for none that was put out', async () => {
    const [a, b] = ['service-a', 'service-b'].map((name) => ({
      memberId: name,
      name,
      host: '10.0.0.9',
      partitions: 1,
    }));
    if (a === undefined || b === undefined) throw new Error('two are in the group');
    let members = [a, b];
    const removed: string[] = [];
    const peers = new Peers({
      presence: {
        show: () => Promise.resolve(),
        here: () => Promise.resolve(new Set(members.map(({ name }) => name))),
        close: () => Promise.resolve(),
      },
      group: {
        members: () => Promise.resolve(members),
        remove: (ids) => Promise.resolve(void removed.push(...ids)),
        close: () => Promise.resolve(),
      },
      groupId: 'service',
      kin: 'service-',
      clock: systemClock,
      onEvent: (event) => events.push({ ...event, by: b.name }),
    });
    await peers.beforeJoin(b.name);
    await seenByEachOther();
    members = [b];
    await rest();
    await peers.stop();
    expect([putOut(), removed]).toEqual([[], []]);
  });

  it('says how many partitions its logs have and who else is there, so that what it does not own is missed', async () => {
    const one = await start('service-a');
    await world.until('it knows that it is alone', () => alone(one));
    expect(one.health().detail['partitions']).toEqual({ [LOG]: PARTITIONS });
    await start('service-b');
    await world.until('they share', () => owned(one) === PARTITIONS / 2 && !alone(one));
    expect(one.health().detail['others']).toEqual([expect.stringMatching(/^service-b/u)]);
  });
});
const alone = (runtime: ServiceRuntime): boolean => {
  const { others } = runtime.health().detail;
  return Array.isArray(others) && others.length === 0;
};

describe('a stranger in the group of a service', () => {
  it('who was given partitions makes it not ready, and is told by name and address; ready again without them', async () => {
    const runtime = await start('service-a');
    await world.until('ready', () => runtime.health().ready);
    const stranger = world.broker
      .forActor('rogue')
      .inputConsumer({ groupId: 'service', aligned: [WIRE], broadcast: [] });
    await stranger.start(DEAF);
    await world.until('it is told', () => !runtime.health().ready);
    expect(runtime.health().detail['problem']).toMatch(
      /^FOREIGN_MEMBER: in group service, and no instance of the service: "rogue-\d+" from memory \(1 partitions\)$/u,
    );
    await stranger.stop();
    await world.until('ready again', () => runtime.health().ready);
  });
});

describe('members of a group', () => {
  const member = (name: string, partitions = 1) => ({ memberId: `${name}/id`, name, host: '10.0.0.9', partitions });

  it('are dead when they are instances and not here, and strangers when they are none and hold something', () => {
    const members = [member('service-1-a'), member('service-2-b'), member('rogue'), member('idle', 0)];
    const seen = { members, here: new Set(['service-1-a']), kin: 'service-' };
    expect(deadIn(seen).map(({ name }) => name)).toEqual(['service-2-b']);
    expect(foreignIn(seen).map(({ name }) => name)).toEqual(['rogue']);
    expect(foreignMessage('g', [])).toBeNull();
    expect(foreignMessage('g', [member('x'.repeat(500))])?.length).toBeLessThan(200);
  });
});

const DEAF = {
  onAssigned: () => undefined,
  onBatch: () => undefined,
  onTrouble: () => undefined,
  onCrash: () => undefined,
};

const rest = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 400);
  });
/** Each has looked for the others once. */
const seenByEachOther = rest;
