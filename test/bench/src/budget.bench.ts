// budget: decisions about ceilings.
//
// Ours: preloaded, signed ReserveBudget of two partitions go through the accountant's production loop (verify, decide in five
// dimensions, append, project), from the first fetch to the last commit. Then as many again are offered at half that rate, and each is
// timed from its sending to its decision in the log. Raw: the same debits on the same PostgreSQL, one conditional UPDATE each, and
// batched. In turns, each on empty tables. Apart: one reservation over HTTP against one raw hop, everything idle.
import { BUDGET_COMMANDS, BUDGETS_LOG } from '@recourse/budget-accountant';
import { randomBytes } from 'node:crypto';
import {
  emptyTopics,
  freshDatabase,
  freshLogId,
  makeTopics,
  PARTITIONS,
  prepareWriters,
  say,
  withStack,
} from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { offer, preload } from './budget-asking.js';
import { openRefund } from './budget-commands.js';
import { budgetLoad, ceilingsOf, LogRecount } from './budget-load.js';
import { recounted } from './budget-log.js';
import type { BudgetLoad, LoadSize } from './budget-load.js';
import { reserveAlone } from './budget-reserves.js';
import type { Reserves } from './budget-reserves.js';
import type { BudgetAnswer, BudgetQuestion } from './budget-service.main.js';
import type { UpdatesAnswer, UpdatesTask } from './budget-updates.main.js';
import type { MeasuredAddress } from './measured-service.js';
import { CONTRACTS_TOPIC, lengthOf, register } from './preload.js';
import type { Measured } from './report.js';
import { interleaved, median, percentile, rateOf, sum } from './rounds.js';
import { within } from './waits.js';
import { answerOf, openHelper } from './worker-process.js';

/** Everything an accountant reads or writes. */
const TOPICS = [BUDGETS_LOG, BUDGET_COMMANDS, 'recourse.agent-signals', 'recourse.mutations', CONTRACTS_TOPIC];
/** Longest that a round may take, milliseconds. */
const PATIENCE_MS = 300_000;
/** Of the per-debit UPDATEs: enough that the hottest row is always waited for. */
const CONNECTIONS = 16;
const UPDATE_BATCH = 500;

export interface BudgetSize {
  readonly rounds: number;
  readonly load: LoadSize;
  /** Offered at half load. */
  readonly paced: LoadSize;
  /** What the per-debit UPDATE is given: it is slow, and its rate does not depend on how many there are. */
  readonly single: LoadSize;
  /** Reservations over HTTP. */
  readonly samples: number;
}
export const BUDGET_FULL: BudgetSize = {
  rounds: 3,
  load: { runs: 10_000, asksPerRun: 10, tenants: 200 },
  paced: { runs: 10_000, asksPerRun: 4, tenants: 200 },
  single: { runs: 2_000, asksPerRun: 10, tenants: 200 },
  samples: 200,
};
export const BUDGET_QUICK: BudgetSize = {
  rounds: 2,
  load: { runs: 500, asksPerRun: 10, tenants: 50 },
  paced: { runs: 200, asksPerRun: 10, tenants: 50 },
  single: { runs: 200, asksPerRun: 10, tenants: 50 },
  samples: 30,
};

interface Ours {
  readonly done: number;
  readonly ms: number;
  readonly decidedMs: number;
  readonly full: BudgetAnswer;
  /** From sending to the decision in the log, at half load, milliseconds. */
  readonly latencies: readonly number[];
  readonly offeredPerS: number;
  readonly recount: LogRecount;
  readonly expected: { readonly reserved: number; readonly escalated: number };
  readonly logged: number;
  readonly all: BudgetAnswer;
}
interface Raw {
  readonly single: UpdatesAnswer;
  readonly batched: UpdatesAnswer;
}

export async function benchBudget(size: BudgetSize): Promise<Measured> {
  return withStack(async (bench) => {
    await makeTopics(bench);
    await prepareWriters(bench, ...TOPICS);
    const measured = await interleaved(size.rounds, {
      ours: async (round) => {
        say(`round ${String(round + 1)} of ${String(size.rounds)}: accountant`);
        const result = await ourRound(bench, size, round);
        say(`  ${String(Math.round(rateOf([result])))} decisions/s`);
        return result;
      },
      raw: async (round) => {
        say(`round ${String(round + 1)} of ${String(size.rounds)}: updates`);
        return rawRound(bench, size);
      },
    });
    return measuredOf(size, measured, await reserveAlone(bench, size.samples));
  });
}

async function ourRound(bench: BenchStack, size: BudgetSize, round: number): Promise<Ours> {
  const address = await freshAddress(bench);
  const loads = {
    full: budgetLoad(`f${String(round)}`, size.load),
    paced: budgetLoad(`p${String(round)}`, size.paced),
  };
  await preload(bench, address, loads);
  const accountant = await openHelper<BudgetQuestion, BudgetAnswer>('./budget-service.main.js', address);
  const ask = (question: BudgetQuestion): Promise<BudgetAnswer> =>
    within(accountant.ask(question), `decision ${String(question.decisions)}`, { withinMs: PATIENCE_MS });
  try {
    say('deciding');
    const full = await ask({ decisions: loads.full.asks.length });
    const ms = full.projectedAt - full.startedAt;
    const offeredPerS = (loads.full.asks.length / ms) * 500;
    const { sentAt, all } = await offer(bench, address, loads, { offeredPerS, ask });
    const tenants = [...loads.full.tenants, ...loads.paced.tenants];
    const fitting = sum(tenants.map((one) => one.fitting));
    return {
      done: loads.full.asks.length,
      ms,
      decidedMs: full.decidedAt - full.startedAt,
      full,
      all,
      offeredPerS,
      latencies: [...sentAt].map(([id, at]) => (all.acceptedAt.get(id) ?? Infinity) - at),
      recount: await recounted(bench, new LogRecount(tenants)),
      expected: { reserved: fitting, escalated: sum(tenants.map((one) => one.asks)) - fitting },
      logged: await lengthOf(bench, BUDGETS_LOG),
    };
  } finally {
    await accountant.close();
  }
}

/** Empty topics with the contract in them, an empty database, and an edge key of its own. */
async function freshAddress(bench: BenchStack): Promise<MeasuredAddress> {
  await emptyTopics(bench, TOPICS);
  const address: MeasuredAddress = {
    brokers: bench.stack.kafka.brokers,
    registryUrl: bench.stack.registryUrl,
    databaseUrl: (await freshDatabase(bench, 'budget')).url,
    logId: freshLogId(),
    keyStoreUrl: null,
    edgeKey: randomBytes(32).toString('hex'),
  };
  await register(bench, address.logId, openRefund());
  return address;
}

async function rawRound(bench: BenchStack, { load, single }: BudgetSize): Promise<Raw> {
  return {
    single: await updates(bench, budgetLoad('u', single), { connections: CONNECTIONS, batch: 1 }),
    batched: await updates(bench, budgetLoad('u', load), { connections: PARTITIONS, batch: UPDATE_BATCH }),
  };
}

async function updates(
  bench: BenchStack,
  { tenants, asks }: BudgetLoad,
  how: Pick<UpdatesTask, 'connections' | 'batch'>,
): Promise<UpdatesAnswer> {
  const { url } = await freshDatabase(bench, 'updates');
  const task: UpdatesTask = {
    url,
    ceilings: tenants.map((one) => ({
      tenant: one.tenant,
      ceilings: ceilingsOf(one).map(({ amount_minor }) => amount_minor),
    })),
    debits: asks.map(({ tenant }) => tenant),
    ...how,
  };
  return answerOf<UpdatesAnswer>('./budget-updates.main.js', task);
}

function measuredOf(
  size: BudgetSize,
  { ours, raw }: { readonly ours: readonly Ours[]; readonly raw: readonly Raw[] },
  { ours: alone, raw: hops, reserved }: Reserves,
): Measured {
  const decisionsPerS = rateOf(ours);
  const updatePerS = rateOf(raw.map(({ single }) => ({ ...single, done: single.granted + single.refused })));
  const batchedPerS = rateOf(raw.map(({ batched }) => ({ ...batched, done: batched.granted + batched.refused })));
  const latencies = ours.flatMap((round) => round.latencies);
  const done = sum(ours.map((round) => round.done));
  return {
    figures: {
      decisions_per_s: decisionsPerS,
      decisions_logged_per_s: rateOf(ours.map((round) => ({ done: round.done, ms: round.decidedMs }))),
      budget_update_per_s: updatePerS,
      budget_batched_per_s: batchedPerS,
      overspend: Math.max(...ours.map(({ recount }) => recount.overspend)),
      p50_half_load_ms: median(latencies),
      p99_half_load_ms: percentile(latencies, 0.99),
      reserve_p50_ms: median(alone),
      reserve_p99_ms: percentile(alone, 0.99),
      budget_hop_p50_ms: median(hops),
      budget_cpu_us_per_decision: (sum(ours.map(({ full }) => full.cpuMs)) / done) * 1_000,
    },
    ratios: {
      decisions_vs_update: decisionsPerS / updatePerS,
      decisions_vs_batched: decisionsPerS / batchedPerS,
      reserve_vs_hop_p50: median(alone) / median(hops),
    },
    counts: countsOf(size, ours, done),
    gates: gatesOf(size, { ours, raw }, reserved),
    notes: [
      `budget: ${String(size.load.runs)} runs × ${String(size.load.asksPerRun)} asks × five dimensions over ${String(size.load.tenants)} tenants by Zipf's law and ${String(PARTITIONS)} partitions a round; accountant, broker and PostgreSQL share the cores, at half load with whoever asks; updates share them with PostgreSQL alone`,
    ],
  };
}

function countsOf(size: BudgetSize, ours: readonly Ours[], done: number): Measured['counts'] {
  const perDecision = (pick: (answer: BudgetAnswer) => number): number =>
    sum(ours.map(({ full }) => pick(full))) / done;
  return {
    budget_decisions: size.load.runs * size.load.asksPerRun,
    budget_rounds: size.rounds,
    budget_offered_per_s: sum(ours.map(({ offeredPerS }) => offeredPerS)) / ours.length,
    budget_log_records_per_decision: perDecision(({ records }) => records),
    budget_produce_requests_per_decision: perDecision(({ appends }) => appends),
    budget_commits_per_decision: perDecision(({ projections }) => projections),
  };
}

function gatesOf(
  { samples }: BudgetSize,
  { ours, raw }: { readonly ours: readonly Ours[]; readonly raw: readonly Raw[] },
  reserved: number,
): Measured['gates'] {
  const updatesOf = raw.flatMap(({ single, batched }) => [single, batched]);
  return {
    budget_no_prefix_exceeds_a_ceiling: ours.every(({ recount }) => recount.overspend === 0),
    budget_as_many_reserved_as_fit: ours.every(
      ({ recount, expected }) => recount.reserved === expected.reserved && recount.escalated === expected.escalated,
    ),
    budget_each_decided_once: ours.every(({ recount }) => recount.twice === 0),
    budget_every_ask_was_decided: ours.every(({ latencies }) => latencies.every(Number.isFinite)),
    budget_nothing_parked: ours.every(({ all }) => all.parked === 0 && all.appendsUnknown === 0),
    budget_log_is_as_long_as_appended: ours.every(({ logged, all }) => logged === all.records),
    budget_updates_kept_the_ceilings: updatesOf.every((one) => one.overspend === 0 && one.granted > 0),
    budget_every_reserve_was_answered: reserved === samples,
  };
}
