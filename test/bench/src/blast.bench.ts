// blast: one thing that many effects relied on turns out wrong, and all of them are taken back.
//
// AssumptionInvalidated is produced once; the clock runs until the log has the last MutationsFell, and until it has the
// last outcome. The memory of every service is watched meanwhile. There is no raw side: the targets are absolute.
import { say } from './bench-stack.js';
import { putExecution, TENANT, thingOf } from './recovery-actions.js';
import { withRecoverySystem } from './recovery-system.js';
import { verdictKey } from './recovery-tail.js';
import type { RecoverySystem } from './recovery-system.js';
import type { Measured } from './report.js';
import { Traffic } from './traffic.js';
import { sharedClockMs } from './worker-process.js';

const EFFECTS = 20;
const REF = 'bench/everything#holds';
const WITHIN_MS = 900_000;
const WARM_UP = 20;
const MS_PER_S = 1_000;
/** Compensated is what the log says of an effect that was seen to be gone. */
const VERIFIED = verdictKey('compensated');

export interface BlastSize {
  readonly mutations: number;
}
export const BLAST_FULL: BlastSize = { mutations: 100_000 };
export const BLAST_QUICK: BlastSize = { mutations: 2_000 };

interface Blast {
  readonly contradictedMs: number;
  readonly verifiedMs: number;
  readonly memory: Readonly<Record<string, number>>;
}

export async function benchBlast({ mutations }: BlastSize): Promise<Measured> {
  return withRecoverySystem(async (system) => {
    await blast(system, 'warm', WARM_UP);
    say(`making ${String(mutations)} effects ready`);
    await prepare(system, 'blast', mutations);
    const traffic = await Traffic.open(system.bench);
    try {
      const before = await traffic.settled();
      say('one invalidation');
      const done = await invalidate(system, 'blast', mutations);
      const counted = traffic.between(before, await traffic.settled(), mutations);
      return measuredOf(mutations, done, counted, await judged(system, mutations));
    } finally {
      await traffic.close();
    }
  });
}

async function blast(system: RecoverySystem, prefix: string, mutations: number): Promise<Blast> {
  await prepare(system, prefix, mutations);
  return invalidate(system, prefix, mutations);
}

async function prepare({ stand, digest }: RecoverySystem, prefix: string, mutations: number): Promise<void> {
  const now = Date.now();
  await stand(mutations, (index) =>
    putExecution(
      { run: `${prefix}_${String(Math.floor(index / EFFECTS))}`, index: index % EFFECTS },
      digest,
      now + index,
      `${REF}-${prefix}`,
    ),
  );
}

async function invalidate(
  { producer, tail, watchMemory }: RecoverySystem,
  prefix: string,
  mutations: number,
): Promise<Blast> {
  const contradicted = tail.countOf('MutationsFell').count + mutations;
  const outcomes = tail.countOf(VERIFIED).count + mutations;
  const memory = watchMemory();
  const sentAt = sharedClockMs();
  await producer.assumptionInvalidated({
    tenant: TENANT,
    ref: `${REF}-${prefix}`,
    statement: { status: 'wrong' },
    statedAt: Date.now(),
    sourceKind: 'observation',
  });
  const [contradictedAt, verifiedAt] = await Promise.all([
    tail.reached('MutationsFell', contradicted, WITHIN_MS),
    tail.reached(VERIFIED, outcomes, WITHIN_MS),
  ]);
  const most = await memory.stop();
  return {
    contradictedMs: (contradictedAt ?? Infinity) - sentAt,
    verifiedMs: (verifiedAt ?? Infinity) - sentAt,
    memory: most,
  };
}

interface Judged {
  readonly isOnce: boolean;
  readonly isVerified: boolean;
  readonly lastFirst: number;
}

/** Was each effect taken back once, and verified? And of how many runs was each taken back before those made earlier? */
async function judged({ taken, tail }: RecoverySystem, mutations: number): Promise<Judged> {
  const byRun = new Map<string, number[]>();
  for (const { run, index } of (await taken()).map(thingOf))
    if (run.startsWith('blast_')) byRun.set(run, [...(byRun.get(run) ?? []), index]);
  const runs = [...byRun.entries()];
  const total = runs.reduce((sum, [, indexes]) => sum + indexes.length, 0);
  const verdicts = runs.flatMap(([run]) => tail.outcomesOf(run).verdicts);
  return {
    isOnce: total === mutations && runs.every(([, indexes]) => new Set(indexes).size === indexes.length),
    isVerified: verdicts.length === mutations && verdicts.every((verdict) => verdict === 'compensated'),
    lastFirst: runs.filter(([, indexes]) => indexes.every((index, at) => at === 0 || index < (indexes[at - 1] ?? 0)))
      .length,
  };
}

function measuredOf(
  mutations: number,
  { contradictedMs, verifiedMs, memory }: Blast,
  counted: ReturnType<Traffic['between']>,
  { isOnce, isVerified, lastFirst }: Judged,
): Measured {
  const runs = Math.ceil(mutations / EFFECTS);
  const perService = Object.fromEntries(
    Object.entries(memory).map(([name, mb]) => [`blast_rss_${name.replaceAll('-', '_')}_mb`, mb]),
  );
  return {
    figures: {
      blast_contradicted_s: contradictedMs / MS_PER_S,
      blast_verified_s: verifiedMs / MS_PER_S,
      blast_rss_max_mb: Math.max(...Object.values(memory)),
      ...perService,
    },
    ratios: {},
    counts: {
      blast_mutations: mutations,
      blast_runs: runs,
      blast_runs_last_first: lastFirst,
      blast_log_records_per_mutation: counted.records,
      blast_produce_requests_per_mutation: counted.appends,
      blast_transactions_per_mutation: counted.transactions,
    },
    gates: {
      blast_all_contradicted: Number.isFinite(contradictedMs),
      blast_every_effect_taken_back_once: isOnce,
      blast_every_outcome_verified: isVerified,
      blast_every_run_last_first: lastFirst === runs,
    },
    notes: [
      'blast: four services, worker, issuer, broker, registry, PostgreSQL and the bench share the cores',
      `  records per mutation: ${counted.types}`,
    ],
  };
}
