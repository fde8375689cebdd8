// recovery: a run of eleven effects is taken back, the last first, each verified by another capability through a worker process.
//
// Idle: UndoRun is produced, and the last outcome is read from the log; one run at a time. Raw: the same hops and appends one
// after the other without our code, in turns with ours. Sustained: so many runs under way at once, the next begun when one ended.
import { mutationId } from '@recourse/sdk';
import { say } from './bench-stack.js';
import { hopTimes } from './hop-times.js';
import type { WayStep } from './hop-times.js';
import { isLastFirst, putExecution, TENANT, thingOf } from './recovery-actions.js';
import { floorSteps, openFloor } from './recovery-floor.js';
import { withRecoverySystem } from './recovery-system.js';
import type { RecoverySystem } from './recovery-system.js';
import type { Measured, Numbers } from './report.js';
import { median, percentile } from './rounds.js';
import { Traffic } from './traffic.js';
import { idle, within } from './waits.js';
import { sharedClockMs } from './worker-process.js';

/** Effects of a run. */
const EFFECTS = 11;
/** What every input consumer of ours waits at the broker, milliseconds. */
const MAX_WAIT_MS = 100;
const WARM_UPS = 5;
const COUNTED = 5;
const PATIENCE_MS = 60_000;
/** A rate counts as sustained when no more than one of a hundred takes longer, milliseconds. */
const P99_MS = 200;
/** The second half of a level may be slower than the first by this much before its backlog counts as growing. */
const FLAT_FACTOR = 1.5;
/** Runs made ready for a level beyond those the level before suggests; one that was too slow ends its level early. */
const SPARE = 1.5;
const RUNS_MAX = 20_000;

export interface RecoverySize {
  readonly samples: number;
  readonly levels: readonly number[];
  readonly levelMs: number;
}
export const RECOVERY_FULL: RecoverySize = { samples: 2_000, levels: [1, 16, 64, 256], levelMs: 60_000 };
export const RECOVERY_QUICK: RecoverySize = { samples: 30, levels: [1, 16, 64, 256], levelMs: 10_000 };

/** Records of a recovery; where a run has several, the last: so the four at the end are those of its last leg. */
const WAY: readonly WayStep[] = [
  { topic: 'recourse.ledger-commands', type: 'UndoRun', field: 'run_id' },
  { topic: 'recourse.mutations', type: 'MutationsFell', field: 'run_id' },
  { topic: 'recourse.recoveries', type: 'RecoveryPlanned', field: 'run_id' },
  { topic: 'recourse.recoveries', type: 'LegDispatched', field: 'run_id' },
  { topic: 'recourse.tool-requests.bench', type: 'LegRequested', field: 'run_id' },
  { topic: 'recourse.tool-results', type: 'LegReported', field: 'run_id' },
  { topic: 'recourse.recoveries', type: 'LegSettled', field: 'run_id' },
];

interface Idle {
  readonly ours: readonly number[];
  readonly raw: readonly number[];
}
interface Level {
  readonly concurrent: number;
  readonly perS: number;
  readonly p50: number;
  readonly p99: number;
  readonly isFlat: boolean;
  readonly runs: number;
  readonly recordsPerRun: number;
  readonly appendsPerRun: number;
  readonly transactionsPerRun: number;
}

export async function benchRecovery(size: RecoverySize): Promise<Measured> {
  return withRecoverySystem(async (system) => {
    const runs = new Runs(system);
    const idle = await measureIdle(system, runs, size.samples);
    const traffic = await Traffic.open(system.bench);
    try {
      const counted = await countOne(traffic, runs);
      const levels: Level[] = [];
      for (const concurrent of size.levels)
        levels.push(
          await measureLevel(traffic, runs, {
            concurrent,
            levelMs: size.levelMs,
            expectedPerS: levels.at(-1)?.perS ?? 1_000 / median(idle.ours),
          }),
        );
      const isRun = /^idle_\d+$/;
      const times = await hopTimes(system.bench, (name) => (isRun.test(name) ? name : null), WAY);
      return measuredOf({ size, idle, counted, levels, times, gates: await runs.gates() });
    } finally {
      await traffic.close();
    }
  });
}

/** Runs that were made ready, and what must be true of those that were undone. */
class Runs {
  readonly #ready: string[] = [];
  readonly #undone: string[] = [];

  constructor(private readonly system: RecoverySystem) {}

  /** Makes runs whose effects stand. */
  async prepare(prefix: string, count: number): Promise<void> {
    const { digest } = this.system;
    const nameOf = (run: number): string => `${prefix}_${String(run)}`;
    const now = Date.now();
    await this.system.stand(count * EFFECTS, (index) =>
      putExecution({ run: nameOf(Math.floor(index / EFFECTS)), index: index % EFFECTS }, digest, now + index),
    );
    this.#ready.splice(0, this.#ready.length, ...Array.from({ length: count }, (_, run) => nameOf(run)));
  }

  get left(): number {
    return this.#ready.length;
  }

  /** Undoes the next run; milliseconds until the last of its outcomes was read. */
  async undoNext(): Promise<number> {
    const run = this.#ready.shift();
    if (run === undefined) throw new Error('no run is ready');
    this.#undone.push(run);
    const ended = this.system.tail.ended(run, EFFECTS);
    const sentAt = await this.system.undo(run);
    const endedAt = await within(ended, `the outcomes of ${run}`, {
      withinMs: PATIENCE_MS,
      seen: () => this.system.tail.outcomesOf(run),
    });
    return endedAt - sentAt;
  }

  async gates(): Promise<Readonly<Record<string, boolean>>> {
    const byRun = new Map<string, number[]>();
    for (const { run, index } of (await this.system.taken()).map(thingOf))
      byRun.set(run, [...(byRun.get(run) ?? []), index]);
    const outcomes = this.#undone.map((run) => ({ run, ...this.system.tail.outcomesOf(run) }));
    return {
      recovery_every_effect_taken_back_once_last_first: this.#undone.every((run) =>
        isLastFirst(byRun.get(run) ?? [], EFFECTS),
      ),
      recovery_every_outcome_recorded_once_last_first: outcomes.every(
        ({ run, outcomes: ids }) => ids.join() === idsLastFirst(run).join(),
      ),
      recovery_every_outcome_verified: outcomes.every(
        ({ verdicts }) => verdicts.length === EFFECTS && verdicts.every((verdict) => verdict === 'compensated'),
      ),
      recovery_nothing_else_taken_back: byRun.size === this.#undone.length,
    };
  }
}

function idsLastFirst(run: string): readonly string[] {
  return Array.from({ length: EFFECTS }, (_, at) => {
    const { effect_key } = putExecution({ run, index: EFFECTS - 1 - at }, Buffer.alloc(0), 0);
    return mutationId(TENANT, run, effect_key);
  });
}

async function measureIdle(system: RecoverySystem, runs: Runs, samples: number): Promise<Idle> {
  const floor = await openFloor(system.bench, EFFECTS, MAX_WAIT_MS);
  try {
    await runs.prepare('warm', WARM_UPS);
    for (let index = 0; index < WARM_UPS; index += 1) {
      await runs.undoNext();
      await floor.recover();
    }
    await runs.prepare('idle', samples);
    const ours: number[] = [];
    const raw: number[] = [];
    for (let index = 0; index < samples; index += 1) {
      if (index % 30 === 0) say(`idle: sample ${String(index + 1)} of ${String(samples)}`);
      await idle(index);
      ours.push(await runs.undoNext());
      await idle(index);
      raw.push(await floor.recover());
    }
    return { ours, raw };
  } finally {
    await floor.close();
  }
}

type PerCase = ReturnType<Traffic['between']>;

/** What one recovery alone writes. */
async function countOne(traffic: Traffic, runs: Runs): Promise<PerCase> {
  await runs.prepare('counted', COUNTED);
  const before = await traffic.settled();
  for (let index = 0; index < COUNTED; index += 1) await runs.undoNext();
  return traffic.between(before, await traffic.settled(), COUNTED);
}

interface LevelPlan {
  readonly concurrent: number;
  readonly levelMs: number;
  readonly expectedPerS: number;
}

async function measureLevel(
  traffic: Traffic,
  runs: Runs,
  { concurrent, levelMs, expectedPerS }: LevelPlan,
): Promise<Level> {
  const count = Math.min(
    RUNS_MAX,
    concurrent + Math.ceil(expectedPerS * (concurrent === 1 ? 1 : 2) * SPARE * (levelMs / 1_000)),
  );
  say(`sustained: ${String(concurrent)} at once; making ${String(count)} runs ready`);
  await runs.prepare(`at${String(concurrent)}`, count);
  const before = await traffic.settled();
  const took: Took[] = [];
  const startedAt = sharedClockMs();
  const until = startedAt + levelMs;
  await Promise.all(
    Array.from({ length: concurrent }, async () => {
      while (sharedClockMs() < until && runs.left > 0) {
        const ms = await runs.undoNext();
        took.push({ endedAt: sharedClockMs(), ms });
      }
    }),
  );
  const level = levelOf(concurrent, took, startedAt, traffic.between(before, await traffic.settled(), took.length));
  say(
    `sustained: ${String(concurrent)} at once: ${level.perS.toFixed(1)} runs/s, p50 ${level.p50.toFixed(0)} ms, p99 ${level.p99.toFixed(0)} ms`,
  );
  return level;
}

/** A run that ended, and how long it took, milliseconds. */
interface Took {
  readonly endedAt: number;
  readonly ms: number;
}

function levelOf(
  concurrent: number,
  took: readonly Took[],
  startedAt: number,
  { records, appends, transactions }: PerCase,
): Level {
  const endedAt = Math.max(...took.map((one) => one.endedAt));
  const times = took.map(({ ms }) => ms);
  return {
    concurrent,
    perS: (took.length / (endedAt - startedAt)) * 1_000,
    p50: median(times),
    p99: percentile(times, 0.99),
    runs: took.length,
    isFlat: isFlat(times),
    recordsPerRun: records,
    appendsPerRun: appends,
    transactionsPerRun: transactions,
  };
}

/** Does the later half, in the order in which they ended, take no longer than the earlier one? Pure. */
export function isFlat(times: readonly number[]): boolean {
  const half = Math.floor(times.length / 2);
  return half === 0 || median(times.slice(half)) <= FLAT_FACTOR * median(times.slice(0, half));
}

interface Outcome {
  readonly size: RecoverySize;
  readonly idle: Idle;
  readonly counted: PerCase;
  readonly levels: readonly Level[];
  readonly times: readonly { readonly hop: string; readonly ms: number }[];
  readonly gates: Readonly<Record<string, boolean>>;
}

function measuredOf({ size, idle: { ours, raw }, counted, levels, times, gates }: Outcome): Measured {
  const isSustained = ({ p99, isFlat: flat }: Level): boolean => flat && p99 <= P99_MS;
  return {
    figures: {
      recovery_idle_p50_ms: median(ours),
      recovery_idle_p99_ms: percentile(ours, 0.99),
      recovery_floor_p50_ms: median(raw),
      recovery_floor_p99_ms: percentile(raw, 0.99),
      recovery_sustained_per_s: Math.max(0, ...levels.filter(isSustained).map(({ perS }) => perS)),
      recovery_most_per_s: Math.max(0, ...levels.map(({ perS }) => perS)),
      ...atLevels(levels, { per_s: ({ perS }) => perS, p50_ms: ({ p50 }) => p50, p99_ms: ({ p99 }) => p99 }),
    },
    ratios: { recovery_idle_vs_floor: median(ours) / median(raw) },
    counts: countsOf(size, counted, levels),
    gates,
    notes: [
      'recovery: four services, worker, issuer, broker, registry, PostgreSQL and the bench share the cores; a recovery is a run of eleven',
      `  records of one recovery: ${counted.types}`,
      `  backlog flat at ${levels
        .filter(({ isFlat: flat }) => flat)
        .map(({ concurrent }) => String(concurrent))
        .join(', ')} at once`,
      '  from record to record, median; the last of its kind in each run:',
      ...times.map(({ hop, ms }) => `    ${hop.padEnd(44)} ${ms.toFixed(0).padStart(4)} ms`),
    ],
  };
}

function countsOf(size: RecoverySize, counted: PerCase, levels: readonly Level[]): Numbers {
  const steps = floorSteps(EFFECTS);
  const hops = steps.filter((step) => step.do === 'hop').length;
  return {
    recovery_samples: size.samples,
    recovery_effects: EFFECTS,
    recovery_floor_hops: hops,
    recovery_floor_appends: steps.length - hops,
    recovery_log_records: counted.records,
    recovery_produce_requests: counted.appends,
    recovery_transactions: counted.transactions,
    ...atLevels(levels, {
      runs: ({ runs }) => runs,
      log_records: ({ recordsPerRun }) => recordsPerRun,
      produce_requests: ({ appendsPerRun }) => appendsPerRun,
      transactions: ({ transactionsPerRun }) => transactionsPerRun,
    }),
  };
}

/** One number per level and key: `recovery_at_16_p50_ms`. */
function atLevels(levels: readonly Level[], keys: Readonly<Record<string, (level: Level) => number>>): Numbers {
  return Object.fromEntries(
    Object.entries(keys).flatMap(([key, pick]) =>
      levels.map((level) => [`recovery_at_${String(level.concurrent)}_${key}`, pick(level)]),
    ),
  );
}
