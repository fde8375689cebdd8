// Crash runs of consumers: a producer tells commits and what they rested on falls, while consumers and services are killed and paused.
//
// Boundary: plans, starts, strikes and waits for rest; what is right is decided by heard.decisions.ts against the log itself, and by
// the naive closure of what was told.
import { createDatabase, SERVICES } from '@recourse/dev-stack';
import type { DevStack, Processes } from '@recourse/dev-stack';
import type { Pool } from 'pg';
import { Arena } from '../arena.js';
import { TENANT } from '../edge.js';
import { diceOf } from '../random.js';
import { Announced } from './announced.js';
import { CONSUMERS, heardBy, startConsumers, SUBSCRIBED, subscriptionOf } from './audience.js';
import type { Consumer, Place } from './audience.js';
import { consumerTable, strikesLine } from './consumer-report.js';
import type { ConsumerRow } from './consumer-report.js';
import { waitForRest } from './consumer-rest.js';
import type { Scene } from './consumer-rest.js';
import { complaintsOf, verdictOf } from './heard.decisions.js';
import { countJoined, openHeard, prepareHeard } from './heard-table.js';
import { answersOf, Recorded, rolledBack } from './ledger-readings.js';
import { Striker } from './striker.js';
import { isEachStruck } from './strikes.decisions.js';
import type { Strike } from './strikes.decisions.js';
import { tell } from './teller.js';
import { toldGraph } from './told-graph.decisions.js';
import type { ToldGraph } from './told-graph.decisions.js';

/** What is asked of these runs. */
export interface ConsumerRunsPlan {
  readonly commits: number;
  /** Commits that have to fall, at least. */
  readonly rollbacks: number;
  /** How long the producer takes to tell them, and strikes last at least. */
  readonly seconds: number;
  readonly seed: number;
}

/** Money is no part of this. */
const ABSENT = 'budget-accountant';
const BATCHES_PER_SECOND = 4;
const CONSUMERS_STRUCK_EVERY_MS = [300, 1_200] as const;
const SERVICES_STRUCK_EVERY_MS = [1_000, 3_000] as const;
/** Told of a third when the late consumer comes. */
const LATE_AT = 1 / 3;
const TOLD_LINES = 10;
const NAMED_MAX = 3;

export class ConsumerRuns {
  readonly problems: string[] = [];
  private checks = 0;
  private rows: readonly ConsumerRow[] = [];
  private strikes: readonly Strike[] = [];
  private readonly dice: () => number;

  constructor(
    private readonly stack: DevStack,
    private readonly plan: ConsumerRunsPlan,
    private readonly say: (line: string) => void,
  ) {
    this.dice = diceOf(plan.seed);
  }

  get passed(): number {
    return this.checks;
  }

  get table(): string {
    return this.rows.length === 0 ? '' : consumerTable(this.rows, this.strikes);
  }

  async all(): Promise<void> {
    const graph = this.graph();
    const onTrouble = (what: string): void => {
      this.report([what]);
    };
    const arena = await Arena.open(this.stack, {
      instances: 1,
      dataDir: this.stack.dataDir,
      withExample: false,
      onTrouble,
      reroute: ({ processes }) => processes.filter(({ name }) => name !== ABSENT),
    });
    const database = await createDatabase(this.stack, 'crash_consumers', 'crash_consumers', 'crash');
    const pool = openHeard(database.url);
    const announced = new Announced(this.stack, arena.plan.logId);
    const recorded = new Recorded(this.stack, arena.plan.logId);
    try {
      await prepareHeard(pool);
      await this.run({
        arena,
        graph,
        announced,
        recorded,
        place: { stack: this.stack, plan: arena.plan, database, pool, onTrouble },
      });
    } finally {
      await announced.close();
      await recorded.close();
      await pool.end();
      await arena.close();
    }
  }

  private graph(): ToldGraph {
    const { commits, rollbacks, seconds } = this.plan;
    const batches = seconds * BATCHES_PER_SECOND;
    const graph = toldGraph({ tenant: TENANT, commits, rollbacks, batches, at: Date.now(), dice: this.dice });
    this.say(
      `\n${String(graph.commits.length)} commits, ${String(graph.falls.length)} words against them, ${String(graph.fallen.size)} fall; told within ${String(seconds)} s`,
    );
    return graph;
  }

  private async run(scene: Scene): Promise<void> {
    const { arena, place } = scene;
    for (const consumer of SUBSCRIBED) await arena.edge.command(subscriptionOf(consumer));
    const groups = [
      await startConsumers(
        CONSUMERS.filter(({ isLate }) => !isLate),
        place,
      ),
    ];
    try {
      await this.storm(scene, groups);
      await waitForRest(scene, this.say);
      await this.verdicts(scene);
    } finally {
      for (const group of groups) await group.stop();
    }
  }

  /** Tells everything, and strikes meanwhile. */
  private async storm({ arena, place, graph }: Scene, groups: Processes[]): Promise<void> {
    const { seconds } = this.plan;
    const batches = seconds * BATCHES_PER_SECOND;
    const listeners = new Map(groups.flatMap((group) => group.names.map((name) => [name, group] as const)));
    const services = new Map(
      SERVICES.filter((name) => name !== ABSENT).map((name) => [name, arena.processes] as const),
    );
    const strikers = [
      new Striker({
        dice: diceOf(this.plan.seed + 1),
        everyMs: CONSUMERS_STRUCK_EVERY_MS,
        targets: listeners,
        onStrike: () => undefined,
      }),
      new Striker({
        dice: diceOf(this.plan.seed + 2),
        everyMs: SERVICES_STRUCK_EVERY_MS,
        targets: services,
        onStrike: () => undefined,
      }),
    ];
    let late: Promise<void> = Promise.resolve();
    const onBatch = (batch: number): void => {
      if (batch === Math.ceil(batches * LATE_AT)) late = this.comeLate(place, groups, listeners);
      if (batch % Math.ceil(batches / TOLD_LINES) === 0)
        this.say(
          `  ${String(Math.round((100 * batch) / batches))} % told, ${String(strikers.reduce((sum, { done }) => sum + done.length, 0))} strikes`,
        );
    };
    for (const striker of strikers) striker.start();
    await tell(this.stack, graph, { tenant: TENANT, batches, lastsMs: seconds * 1_000, onBatch });
    await late;
    for (const striker of strikers) await striker.stop();
    this.strikes = strikers.flatMap(({ done }) => done);
    this.say(`  ${strikesLine(this.strikes)}`);
    this.check(
      'consumers and services were each killed and paused',
      isEachStruck([...listeners.keys(), ...services.keys()], this.strikes) ? [] : ['somebody was not struck'],
    );
  }

  private async comeLate(place: Place, groups: Processes[], listeners: Map<string, Processes>): Promise<void> {
    const group = await startConsumers(
      CONSUMERS.filter(({ isLate }) => isLate),
      place,
    );
    groups.push(group);
    for (const name of group.names) listeners.set(name, group);
  }

  private async verdicts({ arena, place, graph, announced, recorded: { times } }: Scene): Promise<void> {
    this.check(`${String(times.size)} commits on record, each once`, [
      ...differences('on record', new Set(graph.commits.map(({ commitId }) => commitId)), new Set(times.keys())),
      ...[...times].filter(([, count]) => count > 1).map(([id, count]) => `${id} is ${String(count)} times on record`),
    ]);
    this.check(
      `${String(announced.fallen.size)} rollbacks announced: the naive closure of what was told`,
      differences('announced', graph.fallen, announced.fallen),
    );
    this.check(
      'the ledger gives the same to who polls',
      differences('rolled back at the ledger', graph.fallen, await rolledBack(arena)),
    );
    this.check(
      `the log says each commit before its rollback (${String(announced.words.length)} words, ${String(announced.voids)} void records skipped)`,
      complaintsOf('the log', verdictOf(announced.words, announced.words)),
    );
    this.rows = await Promise.all(CONSUMERS.map(async (consumer) => this.rowOf(consumer, { arena, place, announced })));
    for (const { name, verdict, answered } of this.rows) {
      this.check(
        `${name} heard ${String(verdict.rollbacks)} rollbacks, each once, after its commit, in order`,
        complaintsOf(name, verdict),
      );
      if (answered !== null)
        this.check(
          `${name} answered all it was waited for`,
          answered.acknowledged === answered.due && answered.due === verdict.rollbacks
            ? []
            : [
                `${name} owed ${String(answered.due)} answers for ${String(verdict.rollbacks)} rollbacks and gave ${String(answered.acknowledged)}`,
              ],
        );
    }
    await this.rebalanced(place.pool);
  }

  private async rowOf(
    consumer: Consumer,
    { arena, place, announced }: Pick<Scene, 'arena' | 'place' | 'announced'>,
  ): Promise<ConsumerRow> {
    const verdict = verdictOf(announced.for(consumer), await heardBy(consumer, place));
    return {
      name: consumer.name,
      processes: consumer.processes,
      verdict,
      answered: SUBSCRIBED.includes(consumer) ? await answersOf(arena, consumer.name) : null,
    };
  }

  private async rebalanced(pool: Pool): Promise<void> {
    const joined = await countJoined(pool);
    const members = CONSUMERS.filter(({ kind }) => kind === 'group').flatMap(({ processes }) => processes).length;
    this.check(
      `members of the group were given partitions ${String(joined)} times`,
      joined > members ? [] : ['the group was never rebalanced'],
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

/** What one set has and the other has not, both ways. */
function differences(what: string, wanted: ReadonlySet<string>, found: ReadonlySet<string>): readonly string[] {
  const told = (ids: readonly string[], how: string): readonly string[] =>
    ids.length === 0 ? [] : [`${String(ids.length)} commits are ${how} ${what}: ${ids.slice(0, NAMED_MAX).join(', ')}`];
  return [
    ...told(
      [...wanted].filter((id) => !found.has(id)),
      'not',
    ),
    ...told(
      [...found].filter((id) => !wanted.has(id)),
      'wrongly',
    ),
  ];
}
