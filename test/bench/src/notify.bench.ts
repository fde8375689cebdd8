// notify: from a trigger to the answer of every consumer that hears of the fall.
//
// Ours: TriggerRollback is put on the wire, and the log has ConsumerAcknowledged of each consumer; one fall at a time,
// everything idle. Raw: one record through kafkajs from this process to another, same broker, same maxWait. In turns.
import type { CommitRef } from '@recourse/messages';
import { PARTITIONS, say } from './bench-stack.js';
import { openEcho } from './echo.js';
import type { Echo } from './echo.js';
import { hopTimes } from './hop-times.js';
import type { WayStep } from './hop-times.js';
import { refOf, toldCommit } from './lineage-commits.js';
import { withLineageSystem } from './lineage-system.js';
import type { LineageSystem } from './lineage-system.js';
import { isEachOnceInOrder, listen } from './notify-listeners.js';
import type { Listeners } from './notify-listeners.js';
import { NotifyTail } from './notify-tail.js';
import type { Measured, Numbers } from './report.js';
import { median, percentile } from './rounds.js';
import { idle, sleep, within } from './waits.js';

/** What every input consumer of ours waits at the broker, milliseconds. */
const MAX_WAIT_MS = 100;
const ECHO_TOPIC = 'bench.notify';
const PATIENCE_MS = 120_000;
const WITHIN = { withinMs: PATIENCE_MS } as const;
const WARM_UPS = 3;

/** Records of a fall in the order they are made; of the answers the last counts. */
const WAY: readonly WayStep[] = [
  { topic: 'recourse.ledger-commands', type: 'TriggerRollback', field: 'run_id' },
  { topic: 'recourse.mutations', type: 'CheckpointRolledBack', field: 'run_id' },
  { topic: 'recourse.rollback-notifications', type: 'RollbackAnnounced', field: 'run_id' },
  { topic: 'recourse.consumer-acks', type: 'RollbackAcknowledged', field: 'run_id' },
  { topic: 'recourse.mutations', type: 'ConsumerAcknowledged', field: 'run_id' },
];

export interface NotifySize {
  readonly levels: readonly number[];
  readonly samples: number;
}
export const NOTIFY_FULL: NotifySize = { levels: [1, 10, 100], samples: 100 };
export const NOTIFY_QUICK: NotifySize = { levels: [1, 10, 100], samples: 15 };

/** One level: a time for each consumer and fall, to the answer in the log and to the handler. */
interface Level {
  readonly consumers: number;
  readonly acks: readonly number[];
  readonly heard: readonly number[];
  readonly raw: readonly number[];
  readonly way: readonly string[];
  readonly isInOrder: boolean;
  readonly isAcknowledged: boolean;
  readonly troubles: number;
}
interface Parts {
  readonly system: LineageSystem;
  readonly tail: NotifyTail;
  readonly echo: Echo;
}

export async function benchNotify({ levels, samples }: NotifySize): Promise<Measured> {
  return withLineageSystem(PARTITIONS, async (system) => {
    const [tail, echo] = [await NotifyTail.open(system.bench), await openEcho(system.bench, ECHO_TOPIC, MAX_WAIT_MS)];
    try {
      const measured: Level[] = [];
      for (const consumers of levels) measured.push(await measure({ system, tail, echo }, consumers, samples));
      return measuredOf(samples, measured);
    } finally {
      await echo.close();
      await tail.close();
    }
  });
}

interface Fall {
  readonly id: string;
  readonly sentAt: number;
  readonly acks: readonly number[];
}

async function measure(parts: Parts, consumers: number, samples: number): Promise<Level> {
  const { system } = parts;
  const agent = `agent-${String(consumers)}`;
  const listeners = await listen(system, { agent, count: consumers, partitions: PARTITIONS });
  const [falls, raw]: [Fall[], number[]] = [[], []];
  try {
    for (let index = -WARM_UPS; index < samples; index += 1) {
      if (index % 10 === 0) say(`${String(consumers)} consumers: fall ${String(index + 1)} of ${String(samples)}`);
      falls.push(await fallOf(parts, { agent, consumers, index }));
      await idle(index);
      raw.push(await parts.echo.hop());
    }
  } finally {
    await listeners.stop();
  }
  const times = await hopTimes(system.bench, (run) => (run.startsWith(`${agent}_s`) ? run : null), WAY);
  const ids = falls.map(({ id }) => id);
  const level = {
    consumers,
    acks: falls.slice(WARM_UPS).flatMap(({ acks }) => acks),
    heard: heardAfter(listeners, falls.slice(WARM_UPS)),
    raw: raw.slice(WARM_UPS),
    way: times.map(({ hop, ms }) => `    ${hop.padEnd(46)} ${ms.toFixed(0).padStart(5)} ms`),
    isInOrder: listeners.heard.every((one) => isEachOnceInOrder(one, ids)),
    isAcknowledged: await isAcknowledged(system, ids, consumers),
    troubles: listeners.troubles.length,
  };
  say(
    `${String(consumers)} consumers: p50 ${median(level.acks).toFixed(0)} ms, p99 ${percentile(level.acks, 0.99).toFixed(0)} ms, raw ${median(level.raw).toFixed(1)} ms`,
  );
  return level;
}

/** Lets a commit fall, and waits for the answer of every consumer. */
async function fallOf(
  { system, tail }: Parts,
  { agent, consumers, index }: { readonly agent: string; readonly consumers: number; readonly index: number },
): Promise<Fall> {
  const commit = await committed({ system, tail }, agent, index);
  await idle(index);
  const sentAt = await system.trigger(commit);
  const answered = await within(tail.answered(commit.commit_id, consumers), `${String(consumers)} answers`, WITHIN);
  return { id: commit.commit_id, sentAt, acks: answered.map((atMs) => atMs - sentAt) };
}

/** How long after each trigger the handlers of the consumers heard of the fall, milliseconds. */
function heardAfter(listeners: Listeners, falls: readonly Fall[]): readonly number[] {
  const timed = new Map(falls.map(({ id, sentAt }) => [id, sentAt] as const));
  return listeners.heard.flat().flatMap(({ what, commitId, atMs }) => {
    const sentAt = timed.get(commitId);
    return what === 'rollback' && sentAt !== undefined ? [atMs - sentAt] : [];
  });
}

/** A commit on record, in a run of its own. */
async function committed(
  { system, tail }: Pick<Parts, 'system' | 'tail'>,
  agent: string,
  index: number,
): Promise<CommitRef> {
  const told = toldCommit({
    run: `${agent}_${index < 0 ? 'w' : 's'}${String(Math.abs(index))}`,
    step: 'answer',
    agent,
    parents: [],
  });
  await system.stand([told]);
  await within(tail.recorded(told.commitId), `the commit ${told.commitId}`, WITHIN);
  return refOf(told);
}

/** Does the ledger list exactly one delivery for each fall and consumer, and each as acknowledged? */
async function isAcknowledged({ ledger }: LineageSystem, ids: readonly string[], consumers: number): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { rows } = await ledger.query<{ readonly phase: string; readonly n: string; readonly who: string }>(
      'SELECT phase, count(*) AS n, count(DISTINCT consumer) AS who FROM mutations.delivery WHERE mutation_id = ANY($1::text[]) GROUP BY phase',
      [ids],
    );
    const [one] = rows;
    // Rows may be a moment behind the log that the answers were read from.
    if (
      rows.length === 1 &&
      one?.phase === 'acknowledged' &&
      Number(one.n) === ids.length * consumers &&
      Number(one.who) === consumers
    )
      return true;
    if (performance.now() > deadline) return false;
    await sleep(MAX_WAIT_MS);
  }
}

function measuredOf(samples: number, levels: readonly Level[]): Measured {
  const each = (word: string, pick: (level: Level) => number): Numbers =>
    Object.fromEntries(levels.map((level) => [`notify_at_${String(level.consumers)}_${word}`, pick(level)]));
  const raw = levels.flatMap((level) => level.raw);
  const [one] = levels;
  const acks = one?.acks ?? [];
  return {
    figures: {
      notify_p50_ms: median(acks),
      notify_p99_ms: percentile(acks, 0.99),
      notify_hop_p50_ms: median(raw),
      notify_hop_p99_ms: percentile(raw, 0.99),
      ...each('p50_ms', (level) => median(level.acks)),
      ...each('p99_ms', (level) => percentile(level.acks, 0.99)),
      ...each('heard_p50_ms', (level) => median(level.heard)),
      ...each('heard_p99_ms', (level) => percentile(level.heard, 0.99)),
    },
    ratios: {
      notify_vs_hop_p50: median(acks) / median(one?.raw ?? []),
      ...each('vs_hop_p50', (level) => median(level.acks) / median(level.raw)),
    },
    counts: {
      notify_samples: samples,
      ...each('acks', (level) => level.acks.length),
      ...each('troubles', ({ troubles }) => troubles),
    },
    gates: {
      notify_commit_before_rollback_each_once: levels.every(({ isInOrder }) => isInOrder),
      notify_every_delivery_acknowledged: levels.every(({ isAcknowledged: is }) => is),
      notify_every_raw_record_arrived: raw.every((ms) => Number.isFinite(ms) && ms > 0),
    },
    notes: [
      'notify: four services, broker, registry, PostgreSQL and the bench with all consumers share the cores; notify_p50_ms and notify_p99_ms are of one consumer',
      ...levels.flatMap(({ consumers, way }) => [
        `  from record to record, median, ${String(consumers)} consumers (the last answer):`,
        ...way,
      ]),
    ],
  };
}
