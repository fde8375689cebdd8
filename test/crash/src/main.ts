// Crash runs: the drifted refund on real parts, and kill -9 of everything that takes part in it.
//
// One stack and one set of processes serve many runs. Each kill has a few stories under way; each of them is a run, and
// counts when the outcome of its recovery came after the death. Phases: one instance of every service, then two. Each
// phase ends with the proof over all logs and a rebuild of all projections from offset 0, which begins the next phase.
import { join } from 'node:path';
import { CONTRACTS, REFUND_POLICY } from '@recourse/example-drifted-refund';
import type { DevStack } from '@recourse/dev-stack';
import { Arena, PARTITIONS } from './arena.js';
import { BrokerRuns } from './brokers/broker-runs.js';
import { ConsumerRuns } from './consumers/consumer-runs.js';
import { CONTRACT_EDITOR } from './edge.js';
import { killOnce } from './kill.js';
import { HELP, readOptions } from './options.js';
import type { CrashOptions } from './options.js';
import { LegRuns } from './legs/leg-runs.js';
import { MatrixRuns } from './matrix/matrix-runs.js';
import { openOwnStack } from './own-stack.js';
import { prove, requestsSent } from './proof.js';
import { diceOf } from './random.js';
import { differences, dropProjections, hashesAtRest } from './rebuild.js';
import type { HashSeen } from './rebuild.js';
import { lineOf, tableOf } from './report.js';
import { complaintsIn } from './log-digest.js';
import { nextKill } from './schedule.decisions.js';
import type { RunResult } from './schedule.decisions.js';
import type { Story } from './story.js';
import { TakeOverRuns } from './takeover/takeover-runs.js';
import { earlierVersion } from './upgrade/earlier-version.js';
import { UpgradeRuns } from './upgrade/upgrade-runs.js';
import { Watch } from './watch.js';

/** Stories under way at each kill. */
const CROWD = 2;
/** Times that each target has to die in time, over all phases. */
const PER_TARGET = 5;
/** A run that is broken so often says nothing new by going on. */
const PROBLEMS_MAX = 4;

interface Phase {
  readonly instances: number;
  readonly runs: number;
  readonly perTarget: number;
}
interface Rest {
  readonly hashes: readonly HashSeen[];
  readonly requests: readonly number[];
}

class CrashRuns {
  readonly runs: RunResult[] = [];
  readonly problems: string[] = [];
  private readonly dice: () => number;
  private readonly followed = new Map<string, Story>();
  private checks = 0;
  private number = 0;

  constructor(
    private readonly stack: DevStack,
    private readonly options: CrashOptions,
  ) {
    this.dice = diceOf(options.seed);
  }

  get passed(): number {
    return this.runs.filter(({ isCounted, isSound }) => isCounted && isSound).length + this.checks;
  }

  get table(): string {
    return this.runs.length === 0 ? '' : tableOf(this.runs);
  }

  async all(): Promise<void> {
    let rest: Rest | null = null;
    for (const phase of phasesOf(this.options)) rest = this.problems.length > 0 ? null : await this.phase(phase, rest);
    if (rest !== null) await this.lastRebuild(rest);
    if (this.problems.length === 0) this.countRuns();
  }

  /** Runs of one phase. The phase begins on what the one before left, with empty databases. */
  private async phase(phase: Phase, before: Rest | null): Promise<Rest> {
    say(`\n${phase.instances === 1 ? 'One instance' : 'Two instances'} of every service`);
    const arena = await this.open(phase.instances);
    const watch = new Watch(this.stack, PARTITIONS, (sighting) => {
      this.followed.get(sighting.runId)?.see(sighting);
    });
    try {
      if (before !== null) await this.compare(arena, before);
      await arena.edge.command({
        side: 'registry',
        path: '/v1/entries/policy_bundle',
        body: REFUND_POLICY,
        person: CONTRACT_EDITOR,
        key: `policy-${REFUND_POLICY.name}`,
      });
      for (const contract of CONTRACTS)
        await arena.edge.command({
          side: 'registry',
          path: '/v1/contracts',
          body: contract,
          person: CONTRACT_EDITOR,
          key: `contract-${contract.name}`,
        });
      await watch.start();
      await this.kills(arena, phase);
      await this.proof(arena);
      const hashes = await hashesAtRest(arena);
      return { hashes, requests: await requestsSent(arena) };
    } finally {
      await watch.stop();
      await arena.close();
      if (this.problems.length === 0) await dropProjections(arena);
    }
  }

  private async kills(arena: Arena, { instances, runs, perTarget }: Phase): Promise<void> {
    const done = (): readonly RunResult[] => this.runs.filter((run) => run.instances === instances);
    for (;;) {
      const kill = nextKill(done(), this.options.targets, { runs, perTarget });
      if (kill === null || this.problems.length >= PROBLEMS_MAX) return;
      this.number += 1;
      const startedAt = performance.now();
      const report = await killOnce(arena, {
        ...kill,
        number: this.number,
        crowd: CROWD,
        dice: this.dice,
        follow: (story) => {
          this.followed.set(story.runId, story);
        },
      });
      this.runs.push(...report.runs);
      say(lineOf(this.number, report, performance.now() - startedAt));
      this.report(report.problems);
    }
  }

  private async proof(arena: Arena): Promise<void> {
    // Stories that did not end were reported; the others must hold to the last detail.
    const { problems, logs } = await prove(
      arena,
      [...this.followed.values()].filter(({ mutationId }) => mutationId !== ''),
    );
    const total = (measure: (log: (typeof logs)[number]) => number): string =>
      String(logs.reduce((sum, log) => sum + measure(log), 0));
    say(
      `  chains of ${String(logs.length)} partitions verified from offset 0: ${total(({ accepted }) => accepted)} records accepted, ${total(({ voids }) => voids)} void`,
    );
    say(
      `  ${String(arena.edge.acknowledged.length)} acknowledged commands of this phase, each with its answer in a log and under its key`,
    );
    this.check(problems);
  }

  private async compare(arena: Arena, before: Rest): Promise<void> {
    const hashes = await hashesAtRest(arena);
    const requests = await requestsSent(arena);
    say(
      `  rebuilt from offset 0: ${String(hashes.length)} state hashes compared, requests to workers ${requests.join()} (before: ${before.requests.join()})`,
    );
    this.check([
      ...differences(before.hashes, hashes),
      ...(requests.join() === before.requests.join()
        ? []
        : [`the rebuild sent requests: ${before.requests.join()} before, ${requests.join()} after`]),
    ]);
  }

  private async lastRebuild(rest: Rest): Promise<void> {
    if (this.problems.length > 0) return;
    say('\nRebuild');
    const arena = await this.open(1);
    try {
      await this.compare(arena, rest);
    } finally {
      await arena.close();
    }
  }

  /** Enough runs, of every target. */
  private countRuns(): void {
    const { runs, targets } = this.options;
    const counted = this.runs.filter(({ isCounted }) => isCounted);
    if (counted.length < runs) this.report([`${String(counted.length)} runs counted, ${String(runs)} were asked for`]);
    const perTarget = Math.min(PER_TARGET, Math.floor(runs / targets.length));
    for (const target of targets) {
      const times = counted.filter((run) => run.target === target).length;
      if (times < perTarget) this.report([`${target} died in time ${String(times)} times, not ${String(perTarget)}`]);
    }
  }

  private open(instances: number): Promise<Arena> {
    return Arena.open(this.stack, {
      instances,
      dataDir: this.stack.dataDir,
      onTrouble: (what) => {
        this.report([what]);
      },
    });
  }

  private check(problems: readonly string[]): void {
    if (problems.length === 0) this.checks += 1;
    this.report(problems);
  }

  private report(problems: readonly string[]): void {
    for (const problem of problems) say(`  BROKEN  ${problem}`);
    this.problems.push(...problems);
  }
}

/** A third of the runs has two instances of every service. */
function phasesOf({ runs, targets }: CrashOptions): readonly Phase[] {
  const withTwo = Math.ceil(runs / 3);
  const withOne = runs - withTwo;
  return [
    { instances: 1, runs: withOne, perTarget: Math.min(PER_TARGET, Math.floor(withOne / targets.length)) },
    { instances: 2, runs: withTwo, perTarget: Math.min(1, Math.floor(withTwo / targets.length)) },
  ];
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What is played on one stack, one after the other. */
interface Lane {
  readonly problems: string[];
  readonly passed: number;
  readonly table: string;
  all(): Promise<void>;
}

function lanesOf(stack: DevStack, options: CrashOptions): readonly Lane[] {
  const { consumers, matrix, legs, takeOver, brokers, upgrade } = options;
  if (upgrade !== null) return [new UpgradeRuns(stack, upgrade, say)];
  if (brokers !== null) return [new BrokerRuns(stack, brokers, say)];
  if (takeOver !== null) return [new TakeOverRuns(stack, takeOver, say)];
  if (consumers !== null) return [new ConsumerRuns(stack, consumers, say)];
  if (matrix !== null) return [new MatrixRuns(stack, matrix, say)];
  const legRuns = legs === null ? [] : [new LegRuns(stack, legs.kills, say)];
  return legs?.isAlone === true ? legRuns : [new CrashRuns(stack, options), ...legRuns];
}

/** Plays them until one finds something. */
async function play(lanes: readonly Lane[]): Promise<void> {
  for (const lane of lanes) {
    try {
      await lane.all();
    } catch (cause) {
      lane.problems.push(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
    }
    if (lane.problems.length > 0) return;
  }
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === null) {
    say(HELP);
    return 0;
  }
  if (options.matrix === null && options.legs?.isAlone !== true) say(`seed ${String(options.seed)}`);
  const upgrade = options.upgrade === null ? null : earlierVersion(options.upgrade, say);
  const { stack, ended, close } = await openOwnStack(say, options.brokers === null ? 1 : 3);
  const lanes = lanesOf(stack, { ...options, upgrade });
  await play(lanes);
  const problems = [...lanes.flatMap((lane) => lane.problems), ...ended];
  for (const { table } of lanes) if (table !== '') say(`\n${table}`);
  const logs = join(stack.dataDir, 'logs');
  if (problems.length > 0)
    say(
      `\nWhat did not hold:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\nData and logs are kept in ${stack.dataDir} (${logs}).\nWhat the processes said:\n${complaintsIn(logs).join('\n')}`,
    );
  await close(problems.length > 0 || options.keep);
  say(`${String(lanes.reduce((sum, { passed }) => sum + passed, 0))} passed, ${String(problems.length)} failed`);
  return problems.length > 0 ? 1 : 0;
}

process.exitCode = await main().catch((cause: unknown) => {
  say(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
  say('0 passed, 1 failed');
  return 1;
});
// Whatever still holds the loop open, its work is done.
process.exit();
