// Disturbances of whole actors and databases, at seeded instants.
import type { ChaosKind } from './profile.js';
import type { World } from './world.js';
import { SERVICES } from './world.js';

/** Disturbs a world until it is healed. */
export function startChaos(world: World): void {
  const {
    scheduler,
    options: { profile },
  } = world;
  const random = world.random.fork();
  const snapshots = new Map<string, ReturnType<World['databases']['mutation-ledger']['snapshot']>>();

  function next(): void {
    scheduler.after(1 + Math.floor(-Math.log(1 - random.next()) * profile.chaosEveryMs), strike);
  }

  function strike(): void {
    if (world.faults.healed) return;
    DO[random.weighted(profile.chaos)]();
    next();
  }

  const victim = () => {
    const living = world.living().filter(({ frozen, role }) => !frozen && role !== 'consumer');
    return living.length === 0 ? null : random.pick(living);
  };

  const DO: Readonly<Record<ChaosKind, () => void>> = {
    crash: () => {
      world.faults.arm('plane');
    },
    zombie: () => {
      const actor = victim();
      if (actor === null) return;
      world.faults.note('zombie');
      world.trace(() => `${actor.name} is evicted and not told`);
      world.broker.evict(actor.name);
      scheduler.after(random.between(300, 5_000), () => {
        world.broker.rejoin(actor.name);
      });
    },
    freeze: () => {
      const actor = victim();
      if (actor === null) return;
      const ms = random.between(200, profile.freezeMaxMs);
      world.faults.note('freeze');
      world.trace(() => `${actor.name} freezes for ${String(ms)} ms`);
      actor.frozen = true;
      if (ms > 1_500)
        scheduler.after(1_500, () => {
          world.broker.evict(actor.name);
        });
      scheduler.after(ms, () => {
        scheduler.thaw(actor);
        world.broker.rejoin(actor.name);
      });
    },
    snapshot: () => {
      const service = random.pick(SERVICES);
      snapshots.set(service, world.databases[service].snapshot());
    },
    restore: () => {
      const service = random.pick(SERVICES);
      const snapshot = snapshots.get(service);
      if (snapshot === undefined) return;
      world.faults.note('database rolled back');
      world.trace(() => `the database of ${service} is an older copy now`);
      world.databases[service].restore(snapshot);
      world.restored.add(service);
    },
    wipe: () => {
      const service = random.pick(SERVICES);
      world.faults.note('database dropped');
      world.trace(() => `the database of ${service} is gone`);
      world.databases[service].wipe();
      world.restored.add(service);
    },
    clock: () => {
      world.stepClock();
    },
  };
  next();
}
