// One kill: a few stories under way, something dies at a moment, comes back, and every story has to end well.
import type { Arena } from './arena.js';
import { listOf, pause } from './edge.js';
import type { RunResult, Kill } from './schedule.decisions.js';
import { RefundRefused, Story } from './story.js';
import type { Ending } from './story.js';
import { DISTURBANCES } from './targets.js';
import type { Point } from './targets.js';

export interface KillReport {
  readonly runs: readonly RunResult[];
  readonly stories: readonly Story[];
  readonly victim: string;
  readonly problems: readonly string[];
}

export interface KillPlan extends Kill {
  /** Consecutive number, part of the orders' names. */
  readonly number: number;
  readonly crowd: number;
  readonly dice: () => number;
  /** Registers a story with the watch, before it begins. */
  readonly follow: (story: Story) => void;
}

/** Random moments lie within this after the first word of the warehouse. */
const RANDOM_WITHIN_MS = 900;
/** A dead process is missing for up to this long before it is started again. */
const ABSENCE_MS = 300;
/** Stories of one crowd are this far apart. */
const STAGGER_MS = 120;
/** A moment that does not come is a failure of the run, not a wait for ever. */
const MOMENT_MS = 60_000;

export async function killOnce(arena: Arena, plan: KillPlan): Promise<KillReport> {
  const stories = Array.from(
    { length: plan.crowd },
    (_, index) => new Story(arena.edge, `${String(plan.number)}-${String(index)}`),
  );
  stories.forEach(plan.follow);
  if (plan.point === 'effect done') await arena.edge.post('provider', '/faults', { mode: 'timeout_after', times: 1 });
  const early = plan.point === 'execution published' || plan.point === 'execution recorded';
  // A death while the agent still reserves would only refuse the refund; the others are opened before.
  if (!early) await Promise.all(stories.map((story) => story.refund()));
  const endings = stories.map((story, index) => play(story, index, early));
  const settled = Promise.allSettled(endings);
  const isInTime = await moment(arena, stories, plan);
  const victim = await arena.kill(plan.target, plan.dice(), DISTURBANCES[plan.number % DISTURBANCES.length] ?? 'delay');
  const diedAt = Date.now();
  await pause(plan.dice() * ABSENCE_MS);
  await arena.revive(victim);
  const recoveredInMs = Date.now() - diedAt;
  const problems = [
    ...(isInTime ? [] : [`nobody came to "${plan.point}"`]),
    ...(await problemsOf(arena, stories, await settled)),
  ];
  const runs = (await settled).map((result): RunResult => ({
    target: plan.target,
    point: plan.point,
    instances: arena.instances,
    recoveredInMs,
    isCounted: result.status === 'fulfilled' && result.value.at > diedAt,
    isSound: problems.length === 0,
  }));
  return { runs, stories, victim, problems };
}

async function play(story: Story, index: number, early: boolean): Promise<Ending> {
  await pause(index * STAGGER_MS);
  if (early) await story.refund();
  return story.drift();
}

/** Waits for the first story to come to the moment. */
async function moment(arena: Arena, stories: readonly Story[], { point, dice }: KillPlan): Promise<boolean> {
  const late = pause(MOMENT_MS).then(() => 'late' as const);
  const came =
    point === 'random'
      ? Promise.race(stories.map((story) => story.when('invalidation published'))).then(() =>
          pause(dice() * RANDOM_WITHIN_MS),
        )
      : point === 'effect done'
        ? effectOf(arena, stories)
        : Promise.race(stories.map((story) => story.when(point as Point)));
  return (await Promise.race([came, late])) !== 'late';
}

/** Until the provider has moved money back for one of them. */
async function effectOf(arena: Arena, stories: readonly Story[]): Promise<void> {
  await Promise.race(stories.map((story) => story.when('leg requested')));
  const deadlineAt = Date.now() + MOMENT_MS;
  while (Date.now() < deadlineAt) {
    const orders = new Set(stories.map(({ order }) => order));
    const effects = await effectsOf(arena);
    const refunds = new Set(effects.filter((effect) => orders.has(effect.order) && effect.kind === 'reversal'));
    if (refunds.size > 0) return;
  }
}

export interface EffectOnOrder {
  readonly kind: string;
  readonly order: string;
  readonly key: string;
  readonly refundId: string;
}

/** The provider's effects with the order each is about; the agent's idempotency key names no order, so the refund is asked for it once. */
const orderOfRefund = new Map<string, string>();
export async function effectsOf(arena: Arena): Promise<readonly EffectOnOrder[]> {
  const { body } = await arena.edge.get('provider', '/effects');
  return Promise.all(
    listOf(body['effects']).map(async (effect) => {
      const refundId = String(effect['refund_id']);
      const order =
        orderOfRefund.get(refundId) ?? String((await arena.edge.get('provider', `/refunds/${refundId}`)).body['order']);
      orderOfRefund.set(refundId, order);
      return { kind: String(effect['kind']), order, key: String(effect['key']), refundId };
    }),
  );
}

/** What the provider and the ledger say about each story in the end. */
export async function problemsOf(
  arena: Arena,
  stories: readonly Story[],
  results: readonly PromiseSettledResult<Ending>[],
): Promise<readonly string[]> {
  const effects = await effectsOf(arena);
  return stories.flatMap((story, index) => {
    const result = results[index];
    const own = effects.filter(({ order }) => order === story.order);
    if (result?.status === 'rejected' && result.reason instanceof RefundRefused)
      return own.length === 0 ? [] : [`order ${story.order} was refused and has effects: ${JSON.stringify(own)}`];
    if (result === undefined || result.status === 'rejected') return [String(result?.reason)];
    const [refunds, reversals] = ['refund', 'reversal'].map(
      (kind) => own.filter((effect) => effect.kind === kind).length,
    );
    return [
      ...(result.value.recoverability === 'compensated'
        ? []
        : [`run ${story.runId} ended as ${result.value.recoverability}`]),
      ...(refunds === 1 ? [] : [`order ${story.order} was refunded ${String(refunds)} times`]),
      ...(reversals === 1 ? [] : [`order ${story.order} was compensated ${String(reversals)} times`]),
    ];
  });
}
