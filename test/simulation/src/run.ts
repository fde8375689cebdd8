// One run: a world, its stories, healing, quiet, and then the checker.
import { startChaos } from './chaos.js';
import type { Bias } from './bias.js';
import type { Mutation } from './mutation.js';
import { Consumers } from './consumers.js';
import { startErasures } from './erasures.js';
import { People } from './people.js';
import { ORDINARY, TERMS } from './profile.js';
import type { Profile } from './profile.js';
import { Random } from './random.js';
import { EPOCH } from './scheduler.js';
import { Stories, STORIES, TENANTS } from './stories.js';
import type { StoryWeights } from './stories.js';
import { PARTITIONS, SERVICES, sharedRegistry, World } from './world.js';
import { check } from './checker/check.js';
import type { Checked, Violation } from './checker/check.js';

export interface RunOptions {
  readonly seed: number;
  readonly events: number;
  readonly bias?: Bias;
  readonly mutation?: Mutation;
  readonly trace?: (at: number, line: string) => void;
  /** Skips the rebuild into empty databases; only for looking at a run. */
  readonly isQuick?: boolean;
  /** Is shown the world once everything has come to rest, before it is checked. */
  readonly onQuiet?: (world: World) => Promise<void>;
}

/** What a run did and what the checker says of it. */
export interface RunResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly operations: number;
  readonly accepted: number;
  readonly verified: number;
  readonly dependent: number;
  readonly effects: number;
  readonly heard: number;
  readonly answered: number;
  readonly fired: Readonly<Record<string, number>>;
  readonly troubles: Readonly<Record<string, number>>;
  readonly records: number;
  readonly steps: number;
  readonly virtualMs: number;
  /** Time of the processor, milliseconds. */
  readonly cpuMs: number;
}

/** Longest a run may take to become quiet after it was healed, virtual milliseconds. */
const QUIET_WITHIN_MS = 180_000;
const STEPS_MAX = 400_000;

/** Runs a seed. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { seed, events, bias, mutation, trace } = options;
  const cpu = process.cpuUsage();
  const random = new Random(seed);
  const profile = profileOf(random, bias, seed);
  const { registry, codecs } = await sharedRegistry();
  const world = new World(
    {
      seed,
      profile,
      random,
      ...(mutation === undefined ? {} : { mutation }),
      ...(trace === undefined ? {} : { trace }),
    },
    registry,
    codecs,
  );
  const people = new People(world);
  const stories: Stories = new Stories(world, {
    people: () => {
      people.act();
    },
    subscribers: () => {
      consumers.resubscribe();
    },
  });
  const consumers = new Consumers(world, stories.outside, (tenant) => stories.parent(tenant));
  for (const service of SERVICES)
    for (let instance = 1; instance <= random.between(1, service === 'contract-registry' ? 1 : 2); instance += 1)
      world.start(service, instance);
  for (let worker = 1; worker <= random.between(1, 2); worker += 1) world.start('worker', worker);
  if (profile.observed.length > 0)
    for (let observer = 1; observer <= random.between(1, 2); observer += 1) world.start('observer', observer);
  stories.begin();
  consumers.begin();
  startChaos(world);
  startErasures(world);
  const story = tell(world, stories, { ...STORIES, ...bias?.stories }, events);
  const failed = await live(world, story, people, consumers);
  await options.onQuiet?.(world);
  const checked =
    failed === null ? await check(world, { isQuick: options.isQuick ?? false }) : await checkRestless(world, failed);
  for (const actor of world.living()) actor.alive = false;
  return {
    seed,
    violations: checked.violations,
    operations: checked.operations,
    accepted: checked.accepted,
    verified: checked.verified,
    dependent: checked.dependent,
    effects: world.provider.effects.length,
    heard: checked.heard,
    answered: checked.answered,
    fired: Object.fromEntries(world.faults.fired),
    troubles: Object.fromEntries(world.troubles),
    records: world.order,
    steps: world.scheduler.steps,
    virtualMs: world.scheduler.now - EPOCH,
    cpuMs: cpuMsSince(cpu),
  };
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / 1_000);
}

/** Half the worlds have a bound: shorter than their stories, so that it cuts some of them, milliseconds. */
const BOUND_MS = 4_000;

/** In every third ordinary world somebody has data erased so often, milliseconds. */
const ERASE_EVERY_MS = 1_200;

/** Last digits of the seeds of ordinary worlds in which another worker observes: together with every other shape. */
const OBSERVED_SEEDS: readonly number[] = [1, 3, 6];

/** Every second of them is observed for one tenant and not for the other. */
function observedIn(seed: number): readonly string[] {
  return OBSERVED_SEEDS.includes(seed % 10) ? TENANTS.slice(0, seed % 20 < 10 ? 2 : 1) : [];
}

/** Every fourth ordinary world is careful about triggers. */
function profileOf(random: Random, bias: Bias | undefined, seed: number): Profile {
  return {
    ...ORDINARY,
    terms: random.pick(TERMS),
    isCareful: bias === undefined && seed % 4 === 3,
    boundMs: seed % 2 === 0 ? null : BOUND_MS,
    eraseEveryMs: bias === undefined && seed % 3 === 2 ? ERASE_EVERY_MS : null,
    observed: bias === undefined ? observedIn(seed) : [],
    ...bias?.profile,
  };
}

/** A world that does not come to rest is wrong already; what else is wrong with it says why. */
async function checkRestless(world: World, failed: Violation): Promise<Checked> {
  try {
    const checked = await check(world, { isQuick: true });
    return { ...checked, violations: [...checked.violations, failed] };
  } catch {
    return { violations: [failed], accepted: 0, verified: 0, dependent: 0, heard: 0, answered: 0, operations: 1 };
  }
}

interface Story {
  isTold: boolean;
}

/** Tells events one after the other, at random instants. */
function tell(world: World, stories: Stories, weights: StoryWeights, events: number): Story {
  const story: Story = { isTold: false };
  const random = world.random.fork();
  let left = events;
  const next = (): void => {
    world.scheduler.after(Math.floor(-Math.log(1 - random.next()) * world.options.profile.eventEveryMs), () => {
      if (left === 0) {
        story.isTold = true;
        return;
      }
      left -= 1;
      stories.tell(random.weighted(weights));
      next();
    });
  };
  world.scheduler.after(1_500, next);
  return story;
}

/** Lets the story be told under faults, then heals, then waits for quiet. What cannot become quiet is a violation itself. */
async function live(world: World, story: Story, people: People, consumers: Consumers): Promise<Violation | null> {
  const { scheduler } = world;
  try {
    await scheduler.run(() => story.isTold, STEPS_MAX);
    const faultsUntil = scheduler.now + 3_000;
    scheduler.at(faultsUntil, () => undefined);
    await scheduler.run(() => scheduler.now >= faultsUntil, STEPS_MAX);
    world.heal();
    keepActing(world, people);
    const quietBy = scheduler.now + QUIET_WITHIN_MS;
    let quiet = false;
    watch(world, consumers, (isQuiet) => {
      quiet = isQuiet;
    });
    await scheduler.run(() => quiet || scheduler.now > quietBy, STEPS_MAX);
    if (!quiet)
      return {
        promise: 'P12',
        rule: 'quiet',
        detail: `still busy ${String(QUIET_WITHIN_MS)} ms after everything was well: ${JSON.stringify(stateOf(world))}`,
      };
    return null;
  } catch (cause) {
    return {
      promise: 'P12',
      rule: 'quiet',
      detail: `${cause instanceof Error ? cause.message : String(cause)}: ${JSON.stringify(stateOf(world))}`,
    };
  }
}

/** People go on for a while after the story: they approve what waits. */
function keepActing(world: World, people: People): void {
  let left = 25;
  const act = (): void => {
    if ((left -= 1) > 0) {
      people.act();
      world.scheduler.after(250, act);
    }
  };
  act();
}

/** Longest consumers are waited for when all else is quiet: what they have not heard by then they never will, milliseconds. */
const CONSUMERS_WITHIN_MS = 20_000;

/** Quiet: every loop ready with nothing waiting, no timer pending, nothing written for a while, and consumers have heard it all. */
function watch(world: World, consumers: Consumers, tell: (isQuiet: boolean) => void): void {
  let restingSince: number | null = null;
  const areConsumersThrough = async (): Promise<boolean> => {
    restingSince ??= world.scheduler.now;
    return world.scheduler.now - restingSince > CONSUMERS_WITHIN_MS || (await consumers.areThrough());
  };
  const look = (): void => {
    void (async () => {
      const isReady =
        world.scheduler.now - world.lastAppendAt > 2_500 && world.halted.length === 0
          ? SERVICES.every((service) => isServiceReady(world, service))
          : world.halted.length > 0;
      if (isReady && (world.halted.length > 0 || ((await hasNoTimers(world)) && (await areConsumersThrough())))) {
        tell(true);
        return;
      }
      world.scheduler.after(500, look);
    })();
  };
  world.scheduler.after(3_000, look);
}

function isServiceReady(world: World, service: (typeof SERVICES)[number]): boolean {
  const loops = [...world.runtimes]
    .filter(([actor]) => actor.role === service)
    .flatMap(([, runtime]) => runtime.loops().map((loop) => loop.health()));
  const wanted = world.cores[service].reduce(
    (sum, { log }) => sum + (log === 'recourse.contracts' ? 1 : PARTITIONS),
    0,
  );
  return (
    loops.length === wanted &&
    loops.every(({ state, waiting, seq, projectedSeq }) => state === 'ready' && waiting === 0 && seq === projectedSeq)
  );
}

async function hasNoTimers(world: World): Promise<boolean> {
  for (const service of SERVICES)
    for (const { log } of world.cores[service])
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        if ((await world.databases[service].partition(log, partition).due(Number.MAX_SAFE_INTEGER, 1)).length > 0)
          return false;
      }
  return true;
}

function stateOf(world: World): unknown {
  return [...world.runtimes].flatMap(([actor, runtime]) =>
    runtime.loops().map((loop) => {
      const { log, partition, state, waiting, seq, projectedSeq, problem } = loop.health();
      return [actor.name, log, partition, state, waiting, seq, projectedSeq, problem];
    }),
  );
}
