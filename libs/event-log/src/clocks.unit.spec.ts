// Clocks that disagree: nothing is decided or appended, status says why, and nothing is left to wait for afterwards (L1, P14).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka, SendOutcome } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { countingCore, LoopWorld } from './loop.testing.js';
import type { ServiceRuntime } from './service-runtime.js';

const TWO_HOURS_MS = 7_200_000;

let world: LoopWorld;
const begin = async (settings: ConstructorParameters<typeof LoopWorld>[1] = {}): Promise<void> => {
  world = await new LoopWorld(countingCore(), { timeAgeMs: 0, ...settings }).prepare();
  world.now = Date.now();
};
beforeEach(() => begin());
afterEach(async () => {
  await world.stop();
});

const recorded =
  (...expected: readonly string[]) =>
  async (): Promise<boolean> =>
    (await world.statements()).join() === [...expected].sort().join();
const failedWith = (code: string) => (): boolean =>
  world.events.some((event) => event.kind === 'error' && String(event.cause).includes(code));
const isReady = (runtime: ServiceRuntime) => (): boolean => runtime.health().ready;
const says = (runtime: ServiceRuntime, code: string) => (): boolean =>
  !runtime.health().ready && JSON.stringify(runtime.health().detail).includes(code);

describe('a database clock far ahead of the own one', () => {
  it('decides nothing, says so, and leaves nothing to wait for once it was corrected', async () => {
    const runtime = await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('one', recorded('r1:1'));
    world.now += TWO_HOURS_MS;
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('told', says(runtime, 'CLOCK_AHEAD'));
    expect(await world.statements()).toEqual(['r1:1']);
    world.now -= TWO_HOURS_MS;
    await world.until('two', recorded('r1:1', 'r1:2'));
    await world.until('ready', isReady(runtime));
    expect(failedWith('CLOCK_BEHIND')()).toBe(false);
  });

  it('is told by a loop at rest, too', async () => {
    const runtime = await world.start('a');
    await world.until('ready', isReady(runtime));
    world.now += TWO_HOURS_MS;
    await world.until('told', says(runtime, 'CLOCK_AHEAD'));
  });

  it('is as far ahead as it is told that it may be', async () => {
    await begin({ clockAheadMaxMs: 2 * TWO_HOURS_MS });
    world.now += TWO_HOURS_MS;
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('one', recorded('r1:1'));
  });
});

describe('a database that takes no rows', () => {
  const begun = async (): Promise<{ readonly runtime: ServiceRuntime; readonly mend: () => void }> => {
    const runtime = await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('one', recorded('r1:1'));
    await world.until('ready', isReady(runtime));
    const refused = Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'could not extend file: No space left'));
    refused.catch(() => undefined);
    world.holding = refused;
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('told', says(runtime, 'DATABASE_UNAVAILABLE'));
    const mend = (): void => {
      world.holding = Promise.resolve();
    };
    return { runtime, mend };
  };

  it('is named in status and readiness until it takes them', async () => {
    const { runtime, mend } = await begun();
    expect(JSON.stringify(runtime.health().detail)).toContain('No space left');
    mend();
    await world.until('ready', isReady(runtime));
    expect(await world.statements()).toEqual(['r1:1', 'r1:2']);
  });

  it('keeps no process from ending', async () => {
    const { runtime } = await begun();
    await runtime.stop();
    expect(await world.statements()).toEqual(['r1:1', 'r1:2']);
  });

  it('has nothing more decided, which nobody could see, and all of it once it takes them', async () => {
    const { runtime, mend } = await begun();
    await world.state([{ ref: 'r1', id: '3' }]);
    let tried = 0;
    const failures = (): number => world.events.filter((event) => event.kind === 'error').length;
    for (const before = failures(); tried < 3; tried = failures() - before)
      await world.until('tried', () => failures() > before + tried);
    expect(await world.statements()).toEqual(['r1:1', 'r1:2']);
    mend();
    await world.until('all', recorded('r1:1', 'r1:2', 'r1:3'));
    await world.until('ready', isReady(runtime));
  });
});

describe('a broker that refuses appends', () => {
  let isRefused = true;
  const refusing = (kafka: Kafka): Kafka => ({
    ...kafka,
    logProducer: async () => {
      const producer = await kafka.logProducer();
      const refused: SendOutcome = { kind: 'unknown', cause: new Failure('CLOCK_REFUSED', 'an hour ahead') };
      return {
        send: (...sent) => (isRefused ? Promise.resolve(refused) : producer.send(...sent)),
        close: () => producer.close(),
      };
    },
  });

  it('is named in status and readiness until it takes one', async () => {
    isRefused = true;
    world.clusterOf = (name) => refusing(world.broker.forActor(name));
    const runtime = await world.start('a');
    await world.until('ready', isReady(runtime));
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('told', says(runtime, 'CLOCK_REFUSED'));
    expect(failedWith('CLOCK_REFUSED')()).toBe(true);
    for (let look = 0; look < 100; look += 1) {
      expect(says(runtime, 'CLOCK_REFUSED')()).toBe(true);
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
    isRefused = false;
    await world.until('one', recorded('r1:1'));
    await world.until('ready', isReady(runtime));
  });
});
