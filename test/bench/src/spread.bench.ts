// spread: one commit falls, and everything that was made from it over all partitions falls with it.
//
// The trigger is put on the wire; the clock runs until the log has the last mark, and until the ledger says that the fall is
// settled: marked, projected, and read past by every partition. A chain apart, each commit on another partition than the one before.
import { partitionForKey } from '@recourse/kafka';
import type { ToldCheckpoint } from '@recourse/sdk';
import { say } from './bench-stack.js';
import { chainCommits, refOf, treeCommits } from './lineage-commits.js';
import { withLineageSystem } from './lineage-system.js';
import { until } from './waits.js';
import type { LineageSystem } from './lineage-system.js';
import { RecoveryTail } from './recovery-tail.js';
import type { Measured, Numbers } from './report.js';
import { sum } from './rounds.js';
import { Traffic } from './traffic.js';
import { sharedClockMs } from './worker-process.js';

/** Between two looks, milliseconds. */
const POLL_MS = 250;
const PARTITIONS = 6;
const DEPTH = 6;
const WITHIN_MS = 900_000;
const WARM_UP = 50;
const MS_PER_S = 1_000;
const MARK = 'CheckpointRolledBack';
const DESCENDANTS_FULL = 100_000;
const LOGS = {
  mutations: 'recourse.mutations',
  recoveries: 'recourse.recoveries',
  notices: 'recourse.rollback-notifications',
} as const;

export interface SpreadSize {
  readonly descendants: number;
  readonly chain: number;
}
export const SPREAD_FULL: SpreadSize = { descendants: DESCENDANTS_FULL, chain: 200 };
export const SPREAD_QUICK: SpreadSize = { descendants: 2_000, chain: 40 };

/** One fall: how long it took, what it wrote, and whether exactly what should fall fell. */
interface Fall {
  readonly markedMs: number;
  readonly settledMs: number;
  readonly counted: ReturnType<Traffic['between']>;
  readonly cpu: Numbers;
  readonly isExact: boolean;
  readonly isSettled: boolean;
  readonly isOnce: boolean;
}
/** What stands ready to fall, its root first; `beside` must stand. */
interface Ready {
  readonly root: ToldCheckpoint;
  readonly ids: ReadonlySet<string>;
}
interface Watch {
  readonly system: LineageSystem;
  readonly tail: RecoveryTail;
  readonly traffic: Traffic;
}

export async function benchSpread({ descendants, chain }: SpreadSize): Promise<Measured> {
  return withLineageSystem(PARTITIONS, async (system) => {
    const tail = await RecoveryTail.open(system.bench);
    try {
      const all = await ready(system, { warm: WARM_UP, descendants, chain });
      const traffic = await Traffic.open(system.bench);
      try {
        const watch = { system, tail, traffic };
        await fall(watch, all.warm);
        say(`one root falls, with ${String(descendants)} descendants`);
        const spread = await fall(watch, all.tree);
        say(`a chain of ${String(chain)} falls`);
        const linked = await fall(watch, all.chain);
        const parked = tail.countOf('RecordParked').count;
        return measuredOf({ descendants, chain }, spread, linked, parked);
      } finally {
        await traffic.close();
      }
    } finally {
      await tail.close();
    }
  });
}

async function ready(
  system: LineageSystem,
  { warm, descendants, chain }: SpreadSize & { readonly warm: number },
): Promise<Readonly<Record<'warm' | 'tree' | 'chain', Ready>>> {
  say(`making ${String(descendants)} descendants of one root, and others beside them`);
  const links = chainCommits(runsOnEach(), chain);
  await system.stand(links);
  return {
    warm: await readyTree(system, 'warm', warm),
    tree: await readyTree(system, 'spread', descendants),
    chain: readyOf(links),
  };
}

async function readyTree(system: LineageSystem, name: string, descendants: number): Promise<Ready> {
  const falling: { root: ToldCheckpoint | null; readonly ids: Set<string> } = { root: null, ids: new Set() };
  await system.stand(
    (function* told(): Generator<ToldCheckpoint> {
      for (const { commit, falls } of treeCommits({
        name,
        descendants,
        depth: DEPTH,
        bystanders: Math.ceil(descendants / 10),
      })) {
        if (falls) {
          falling.root ??= commit;
          falling.ids.add(commit.commitId);
        }
        yield commit;
      }
    })(),
  );
  if (falling.root === null) throw new Error('a tree has a root');
  return { root: falling.root, ids: falling.ids };
}

function readyOf(commits: readonly ToldCheckpoint[]): Ready {
  const [root] = commits;
  if (root === undefined) throw new Error('a chain has a first');
  return { root, ids: new Set(commits.map(({ commitId }) => commitId)) };
}

/** A run for each partition, in their order. */
function runsOnEach(): readonly string[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    for (let index = 0; ; index += 1)
      if (partitionForKey(Buffer.from(`chain_${String(index)}`), PARTITIONS) === partition)
        return `chain_${String(index)}`;
  });
}

/** Lets a root fall and waits until that is settled. */
async function fall({ system, tail, traffic }: Watch, { root, ids }: Ready): Promise<Fall> {
  const [before, fallenBefore, marks] = [await traffic.settled(), await fallen(system), tail.countOf(MARK).count];
  const used = system.cpu();
  const sentAt = await system.trigger(refOf(root));
  const markedAt = await tail.reached(MARK, marks + ids.size, WITHIN_MS);
  let told: Readonly<Record<string, unknown>> = {};
  await until(
    'the fall to settle',
    async () => {
      told = await system.read(`/v1/lineage/${root.commitId}/settled`).catch(() => told);
      return told['settled'] === true;
    },
    { withinMs: WITHIN_MS, pollMs: POLL_MS },
  ).catch(() => undefined);
  const settledAt = sharedClockMs();
  const cpu = difference(system.cpu(), used);
  const counted = traffic.between(before, await traffic.settled(), ids.size);
  const gained = [...(await fallen(system))].filter((id) => !fallenBefore.has(id));
  return {
    markedMs: (markedAt ?? Infinity) - sentAt,
    settledMs: settledAt - sentAt,
    counted,
    cpu,
    isExact: gained.length === ids.size && gained.every((id) => ids.has(id)),
    isSettled: told['settled'] === true && told['fallen'] === ids.size,
    isOnce: tail.countOf(MARK).count === marks + ids.size,
  };
}

/** Ids of all commits that fell so far, by the ledger's rows. */
async function fallen({ ledger }: LineageSystem): Promise<ReadonlySet<string>> {
  return new Set(
    (
      await ledger.query<{ readonly commit_id: string }>(
        'SELECT commit_id FROM mutations.commit WHERE rollback_id IS NOT NULL',
      )
    ).rows.map(({ commit_id: id }) => id),
  );
}

function difference(now: Numbers, before: Numbers): Numbers {
  return Object.fromEntries(Object.entries(now).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)]));
}

function measuredOf({ descendants, chain }: SpreadSize, spread: Fall, linked: Fall, parked: number): Measured {
  const settledS = spread.settledMs / MS_PER_S;
  return {
    figures: {
      ...(descendants === DESCENDANTS_FULL ? { spread_100k_s: settledS } : {}),
      spread_settled_s: settledS,
      spread_marked_s: spread.markedMs / MS_PER_S,
      spread_commits_per_s: (descendants + 1) / settledS,
      spread_chain_ms_per_commit: linked.markedMs / chain,
      ...cpuOf(spread),
    },
    ratios: {},
    counts: {
      spread_descendants: descendants,
      spread_partitions: PARTITIONS,
      spread_depth: DEPTH,
      spread_chain_commits: chain,
      ...perCommit('spread', spread),
      ...perCommit('spread_chain', linked),
    },
    gates: {
      spread_exactly_the_closure_fell: spread.isExact && linked.isExact,
      spread_each_fell_once: spread.isOnce && linked.isOnce,
      spread_settled_as_told: spread.isSettled && linked.isSettled,
      spread_nothing_parked: parked === 0,
    },
    notes: [
      'spread: four services, broker, registry, PostgreSQL and the bench share the cores',
      `  CPU of the processes from the trigger to settled: ${sum(Object.values(spread.cpu)).toFixed(1)} s in ${settledS.toFixed(1)} s`,
      `  records per commit of the tree: ${spread.counted.types}`,
      `  records per commit of the chain: ${linked.counted.types}`,
    ],
  };
}

function perCommit(prefix: string, { counted }: Fall): Numbers {
  return {
    ...Object.fromEntries(
      Object.entries(LOGS).map(([name, topic]) => [`${prefix}_${name}_records_per_commit`, counted.topics[topic] ?? 0]),
    ),
    [`${prefix}_log_records_per_commit`]: counted.records,
    [`${prefix}_produce_requests_per_commit`]: counted.appends,
    [`${prefix}_transactions_per_commit`]: counted.transactions,
  };
}

function cpuOf({ cpu }: Fall): Numbers {
  return Object.fromEntries(
    Object.entries(cpu).map(([name, seconds]) => [`spread_cpu_${name.replaceAll('-', '_')}_s`, seconds]),
  );
}
