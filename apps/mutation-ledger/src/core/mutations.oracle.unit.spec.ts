// The closure of a rollback against a naive oracle, on random graphs: parents told late, several rollbacks at once, gates, bounds (E9, E10, P9).
//
// The ledgers are several partitions that share the derived log; an orchestrator that admits all lineage drives them to quiescence,
// in an order drawn at random. RECOURSE_ORACLE_RUNS sets how many graphs are tried.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Input, RecordInput } from '@recourse/event-log';
import type { Evidence } from '@recourse/messages';
import { memoryView } from '@recourse/testing';
import { bundleRegistered, commit, committed, gateOf, rollback, told } from './commits.testing.js';
import type { Told } from './commits.testing.js';
import { ledger, NOW } from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';
import { fallenView } from '../core.js';

const RUNS_TRIED = Number(process.env['RECOURSE_ORACLE_RUNS'] ?? '60');
const PARTITIONS = 3;
const MINUTE_MS = 60_000;

interface Node {
  readonly parents: readonly number[];
  readonly run: number;
  readonly gate: 'none' | 'admits' | 'refuses';
}
interface Plan {
  readonly nodes: readonly Node[];
  readonly roots: readonly number[];
  readonly told: readonly number[];
  readonly bound: number | null;
  readonly order: readonly number[];
}

const plans: fc.Arbitrary<Plan> = fc.integer({ min: 2, max: 14 }).chain((count) =>
  fc.record({
    nodes: fc.tuple(
      ...Array.from({ length: count }, (_, at) =>
        fc.record({
          parents: at === 0 ? fc.constant([]) : fc.uniqueArray(fc.integer({ min: 0, max: at - 1 }), { maxLength: 3 }),
          run: fc.integer({ min: 0, max: 4 }),
          gate: fc.oneof(
            { arbitrary: fc.constant('none' as const), weight: 4 },
            { arbitrary: fc.constant('admits' as const), weight: 1 },
            { arbitrary: fc.constant('refuses' as const), weight: 1 },
          ),
        }),
      ),
    ),
    roots: fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { minLength: 1, maxLength: 3 }),
    told: fc.shuffledSubarray(
      Array.from({ length: count }, (_, at) => at),
      { minLength: count, maxLength: count },
    ),
    bound: fc.option(fc.integer({ min: 0, max: count - 2 }), { nil: null }),
    order: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
  }),
);

/** What each commit should be at rest: `fallen`, `beyond`, or standing. A gate that admits keeps its commit; a parent that was told later than the fall is no less a parent. */
function oracle({ nodes, roots, told: toldIn, bound }: Plan): readonly ('fallen' | 'beyond' | 'stands')[] {
  const recordedAt = nodes.map((_, at) => toldIn.indexOf(at));
  const fates = nodes.map((_, at): 'fallen' | 'beyond' | 'stands' => (roots.includes(at) ? 'fallen' : 'stands'));
  for (let moved = true; moved;) {
    moved = false;
    nodes.forEach(({ parents, gate }, at) => {
      if (fates[at] !== 'stands' || !parents.some((parent) => fates[parent] !== 'stands')) return;
      const isOld = bound !== null && (recordedAt[at] ?? 0) < bound;
      if (isOld || gate !== 'admits') {
        fates[at] = isOld ? 'beyond' : 'fallen';
        moved = true;
      }
    });
  }
  return fates;
}

/** A driver of several ledgers: every message is delivered, one of those that wait at a time. */
class World {
  readonly fallen = memoryView(fallenView, (run) => Number(run.split('-')[1] ?? 0) % PARTITIONS);
  readonly ledgers: readonly Ledger[];
  private readonly waiting: (readonly [number, RecordInput])[] = [];
  now = NOW;
  /** How often the fall of a root was told of a commit beyond its bound. */
  readonly notices = new Map<string, number>();

  constructor(
    private readonly order: readonly number[],
    boundMs: number | null,
  ) {
    const bound = boundMs === null ? {} : { boundMs };
    this.ledgers = Array.from({ length: PARTITIONS }, (_, partition) =>
      ledger({ partition, fallen: this.fallen, ...bound }),
    );
    for (const { entries } of this.ledgers)
      entries.append('risk', bundleRegistered('risk', [{ name: 'free', when: 'gate.free', reason: 'it is in doubt' }]));
  }

  settle(isQuiet: boolean): void {
    for (let turn = 0; this.waiting.length > 0 && (isQuiet || turn < 3); turn += 1) {
      const [at, input] = this.waiting.splice(
        (this.order[turn % this.order.length] ?? 0) % this.waiting.length,
        1,
      )[0] as readonly [number, RecordInput];
      this.deliver(at, input);
    }
  }

  /** Commits that triggers waited for are marked by timers; then all comes to rest. */
  fire(): void {
    for (let isMoving = true; isMoving;) {
      this.settle(true);
      const due = this.ledgers.flatMap(({ run }, at) =>
        run
          .rows('rollback')
          .filter(({ dueAt }) => dueAt !== null && dueAt <= this.now)
          .map(({ key }) => [at, run.timer('rollback', key)] as const),
      );
      for (const [at, timer] of due) this.deliver(at, timer);
      isMoving = due.length > 0 || this.waiting.length > 0;
    }
  }

  deliver(at: number, input: Input): void {
    const on = this.ledgers[at];
    if (on === undefined) return;
    this.now += 1;
    on.run.when(input, this.now);
    for (const notice of told(on.run, this.fallen)) {
      this.count(notice);
      this.ledgers.forEach((_, every) => this.waiting.push([every, notice]));
    }
  }

  private count({ type, body }: RecordInput): void {
    if (type !== 'BoundReached') return;
    const { root } = body['caused_by'] as Evidence; // a notice says why
    const key = `${String(body['mutation_id'])} ${String(root?.rollback_id)}`;
    this.notices.set(key, (this.notices.get(key) ?? 0) + 1);
  }
}

function partitionOf(run: string): number {
  return Number(run.split('-')[1] ?? 0) % PARTITIONS;
}

function commitsOf({ nodes }: Plan): readonly Told[] {
  const commits: Told[] = [];
  for (const [at, { parents, run, gate }] of nodes.entries()) {
    commits.push(
      commit(`step-${String(at)}`, {
        run: `run-${String(run)}`,
        parents: parents.map((parent) => (commits[parent] as Told).ref),
        gate: gate === 'none' ? null : gateOf('risk', { free: gate === 'admits' }),
      }),
    );
  }
  return commits;
}

/** Plays a plan: each commit is told at its own minute, so that the bound falls between two of them; rollbacks come in between. */
function play(plan: Plan): { readonly fates: ReadonlyMap<string, string>; readonly notices: readonly number[] } {
  const { roots, told: toldIn, bound, order } = plan;
  // A rollback begins in the minute before the last, a bound falls half a minute before that of its commit.
  const begins = toldIn.length - 2;
  const world = new World(order, bound === null ? null : (begins - bound) * MINUTE_MS + MINUTE_MS / 2);
  const commits = commitsOf(plan);
  for (const [minute, at] of toldIn.entries()) {
    world.now = Math.max(world.now, NOW + minute * MINUTE_MS);
    const one = commits[at] as Told;
    world.deliver(partitionOf(one.ref.run_id), committed(one));
    if (minute === begins)
      for (const root of roots) {
        const offender = commits[root] as Told;
        world.deliver(partitionOf(offender.ref.run_id), rollback(offender));
      }
    world.settle(false);
  }
  world.fire();
  const rows = world.ledgers.flatMap(({ run }) => run.rows('commit').map(({ doc }) => doc));
  const fates = new Map(
    rows.map(
      (doc) =>
        [
          String(doc['commit_id']),
          doc['rollback_id'] !== null
            ? 'fallen'
            : (doc['beyond'] as readonly string[]).length > 0
              ? 'beyond'
              : 'stands',
        ] as const,
    ),
  );
  return { fates, notices: [...world.notices.values()] };
}

describe('a fall at rest', () => {
  it('equals what a naive oracle says of the same graph', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const { fates, notices } = play(plan);
        expect(commitsOf(plan).map(({ id }) => fates.get(id))).toEqual(oracle(plan));
        expect(notices.filter((count) => count > 1)).toEqual([]);
      }),
      { numRuns: RUNS_TRIED },
    );
  }, 1_200_000);
});
