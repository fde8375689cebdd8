// Crash runs of legs: runs of eleven effects are undone, and the worker dies by kill -9 at every step of it.
//
// A few places play side by side, each with an adapter and a worker of its own: what takes time is the group's session, which a
// killed member is missed for. Each case is one kill. In the end the chains of all logs are verified from offset 0.
import { choosePorts } from '@recourse/dev-stack';
import type { DevStack, ProcessSpec, SystemPlan } from '@recourse/dev-stack';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { createProducer } from '@recourse/sdk';
import { Arena } from '../arena.js';
import { verifyChains } from '../proof.js';
import { legCases } from './leg.cases.js';
import type { LegCase } from './leg.cases.js';
import { takenUpWithinMs, undoneAgain } from './leg.decisions.js';
import { LegPlace, nameOf, workerName, workerOf } from './leg-place.js';
import type { LegResult, LegScene } from './leg-place.js';
import { legLine, legTable, takenUpLine } from './leg-report.js';
import { LegTool } from './leg-tool.js';

const ADAPTERS: readonly string[] = ['legs1', 'legs2', 'legs3', 'legs4'];
/** Money is no part of this. */
const ABSENT = 'budget-accountant';
/** Above the session of a worker's group, so that who takes over is still within the lease; as in the matrix. */
const LEASE_MS = 15_000;
/** More without a kill at their moment than this share, and the runs prove too little. */
const MISSED_SHARE_MAX = 0.1;
/** On a busy machine some take longer. */
const LATE_SHARE_MAX = 0.1;
/** What is broken so often says nothing new by going on. */
const PROBLEMS_MAX = 6;

export class LegRuns {
  readonly problems: string[] = [];
  private readonly results: LegResult[] = [];
  /** How long workers took to stop and start where nobody was missed, milliseconds. */
  private readonly starts: number[] = [];
  private checks = 0;

  constructor(
    private readonly stack: DevStack,
    private readonly kills: number,
    private readonly say: (line: string) => void,
  ) {}

  get passed(): number {
    return this.results.filter(({ isCounted, problems }) => isCounted && problems.length === 0).length + this.checks;
  }

  get table(): string {
    return this.results.length === 0 ? '' : legTable(this.results);
  }

  async all(): Promise<void> {
    this.say(`\n${String(this.kills)} kills of workers in the undo of eleven effects`);
    const tool = await LegTool.open();
    const ports = await choosePorts(ADAPTERS.map(workerName));
    const arena = await Arena.open(this.stack, {
      instances: 1,
      dataDir: this.stack.dataDir,
      withExample: false,
      adapters: ADAPTERS,
      onTrouble: (what) => {
        this.report([what]);
      },
      reroute: (plan) => [
        ...processesOf(plan),
        ...ADAPTERS.map((adapter) => workerOf(adapter, ports[workerName(adapter)] ?? 0, this.stack, tool)),
      ],
    });
    const producer = await createProducer({
      kafka: createKafka({ brokers: this.stack.kafka.brokers, clientId: 'crash-legs' }),
      codecs: createCodecs(createSchemaRegistry({ url: this.stack.registryUrl })),
      source: 'crash-legs',
    });
    try {
      await this.cases({ arena, producer, tool });
      const { problems, logs } = await verifyChains(arena, new Set());
      this.check(`chains of ${String(logs.length)} partitions verified from offset 0`, problems);
    } finally {
      await producer.close();
      await arena.close();
      await tool.close();
    }
  }

  private async cases(scene: LegScene): Promise<void> {
    const waiting = [...legCases(this.kills).entries()];
    await Promise.all(
      ADAPTERS.map(async (adapter) => {
        const place = new LegPlace(scene, adapter);
        this.starts.push(await place.prepare());
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          if (this.problems.length >= PROBLEMS_MAX) return;
          await this.one(place, next[1], next[0] + 1);
        }
      }),
    );
    this.judgeAll();
    this.check(
      `${String(scene.tool.runs.size)} runs, no effect undone again after its run was at rest`,
      [...scene.tool.runs].flatMap(([run, { undone }]) => undoneAgain(undone).map((problem) => `${run}: ${problem}`)),
    );
  }

  private async one(place: LegPlace, told: LegCase, number: number): Promise<void> {
    try {
      const result = await place.play(told, number);
      this.results.push(result);
      this.say(legLine(number, result));
      this.report(result.problems);
    } catch (cause) {
      this.report([`${nameOf(told)}: ${cause instanceof Error ? cause.message : String(cause)}`]);
    }
  }

  private judgeAll(): void {
    const counted = this.results.filter(({ isCounted }) => isCounted);
    const missed = this.kills - counted.length;
    if (missed > this.kills * MISSED_SHARE_MAX)
      this.report([`${String(missed)} of ${String(this.kills)} kills never struck at their moment`]);
    const times = counted.flatMap(({ takenUpMs }) => takenUpMs ?? []);
    const withinMs = takenUpWithinMs(this.starts);
    const late = times.filter((ms) => ms > withinMs).length + counted.length - times.length;
    this.check(
      takenUpLine(times, withinMs),
      late > counted.length * LATE_SHARE_MAX
        ? [`${String(late)} of ${String(counted.length)} were not taken up within ${String(withinMs)} ms`]
        : [],
    );
  }

  private check(what: string, problems: readonly string[]): void {
    if (problems.length === 0) {
      this.checks += 1;
      this.say(`  hold: ${what}`);
    }
    this.report(problems);
  }

  private report(problems: readonly string[]): void {
    for (const problem of problems) this.say(`  BROKEN  ${problem}`);
    this.problems.push(...problems);
  }
}

function processesOf({ processes }: SystemPlan): readonly ProcessSpec[] {
  return processes
    .filter(({ name }) => name !== ABSENT)
    .map((spec) =>
      spec.env?.['RECOURSE_LEASE_MS'] === undefined
        ? spec
        : { ...spec, env: { ...spec.env, RECOURSE_LEASE_MS: String(LEASE_MS) } },
    );
}
