// expiry: windows that close while executions come in.
//
// The ledger records executions whose windows end spread evenly over one minute, and is started anew, as after a deployment,
// so that its timers come from the database. In that minute a producer offers executions at a fixed rate, whatever becomes
// of them. The lag is from a window's end to the moment at which the log has the record that says it expired.
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OutgoingRecord } from '@recourse/kafka';
import { Client } from 'pg';
import { root } from '../../../scripts/lib/paths.mjs';
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
import { execution, fullExecution, withWindow } from './executions.js';
import type { ExpiryAnswer, ExpiryTask } from './expiry-service.main.js';
import type { IngestAnswer, IngestTask } from './ingest-service.main.js';
import type { LedgerAddress } from './ledger-process.js';
import {
  CONTRACTS_TOPIC,
  encoded,
  EXECUTIONS_TOPIC,
  LEDGER_LOGS,
  LEDGER_TOPICS,
  lengthOf,
  preload,
  produce,
  register,
} from './preload.js';
import type { Measured } from './report.js';
import { answerOf } from './worker-process.js';

const MINUTE_MS = 60_000;
/** Too short for anybody to be warned of its end: a window of hours is warned of hours before. */
const WINDOW_MS = 540_000;
/** Time to record the windows and to start anew before the first of them ends: a part of its own, and one for each of them, milliseconds. */
const LEAD = { startMs: 60_000, eachMs: 1.5 } as const;
/** What the second start is given of it, milliseconds. */
const START_MS = 20_000;
/** A machine that was too slow is given half as much again, as long as the windows are longer than that. */
const TRIES = [1, 1.5, 2] as const;
/** After the minute the ledger may take this long for what it could not do within it, milliseconds. */
const PATIENCE_MS = 240_000;
/** Between two sends of what has become due, milliseconds. */
const TICK_MS = 20;
/** Executions of the load are none of those whose windows close. */
const LOAD_FROM = 10_000_000;

export interface ExpirySize {
  readonly windows: number;
  readonly perSecond: number;
}
export const EXPIRY_FULL: ExpirySize = { windows: 100_000, perSecond: 5_000 };
export const EXPIRY_QUICK: ExpirySize = { windows: 10_000, perSecond: 500 };

interface Sent {
  readonly records: number;
  readonly ms: number;
  readonly startedAt: number;
}
interface Closed {
  readonly expired: number;
  readonly open: number;
  readonly recorded: number;
}

export async function benchExpiry(size: ExpirySize): Promise<Measured> {
  return withStack(async (bench) => {
    await makeTopics(bench);
    await prepareWriters(bench, ...LEDGER_TOPICS);
    const { address, firstEndsAt, recorded } = await openWindows(bench, size);
    const load = loadOf(bench, size, firstEndsAt);
    const task: ExpiryTask = { ...address, executions: load.length, deadlineAt: firstEndsAt + MINUTE_MS + PATIENCE_MS };
    say('the ledger starts anew');
    const [answer, sent] = await Promise.all([
      answerOf<ExpiryAnswer>('./expiry-service.main.js', task),
      offer(bench, load, size, firstEndsAt),
    ]);
    const logged = await lengthOf(bench, 'recourse.mutations');
    return measuredOf(size, {
      answer,
      sent,
      recorded,
      logged,
      firstEndsAt,
      closed: await closedIn(address.databaseUrl),
    });
  });
}

interface OpenWindows {
  readonly address: LedgerAddress;
  readonly firstEndsAt: number;
  readonly recorded: IngestAnswer;
}

/** A ledger with windows that end from an instant to come; tried anew on a machine that needs longer to record them. */
async function openWindows(bench: BenchStack, size: ExpirySize): Promise<OpenWindows> {
  let last: OpenWindows | null = null;
  for (const factor of TRIES) {
    await emptyTopics(bench, [EXECUTIONS_TOPIC, ...LEDGER_LOGS, CONTRACTS_TOPIC]);
    const { stack } = bench;
    const address = {
      brokers: stack.kafka.brokers,
      registryUrl: stack.registryUrl,
      databaseUrl: (await freshDatabase(bench, 'expiry')).url,
      logId: freshLogId(),
      keyStoreUrl: (await freshDatabase(bench, 'keys')).url,
    };
    const firstEndsAt = Date.now() + factor * (LEAD.startMs + Math.ceil(size.windows * LEAD.eachMs));
    last = { address, firstEndsAt, recorded: await recordWindows(bench, address, size, firstEndsAt) };
    if (Date.now() < firstEndsAt - START_MS) return last;
    say('too late for the first window; anew');
  }
  if (last === null) throw new Error('nothing was tried');
  return last;
}

/** Executions whose windows end within the minute, each at an instant of its own, and the ledger until it has them. */
async function recordWindows(
  bench: BenchStack,
  address: LedgerAddress,
  { windows }: ExpirySize,
  firstEndsAt: number,
): Promise<IngestAnswer> {
  const contract = withWindow(
    readFileSync(join(root, 'examples', 'contracts', 'payments.issue_refund.json'), 'utf8'),
    WINDOW_MS,
  );
  await register(bench, address.logId, contract);
  await preload(bench, windows, (index) =>
    fullExecution(index, contract, firstEndsAt - WINDOW_MS + Math.floor((index * MINUTE_MS) / windows)),
  );
  say('recording them');
  return answerOf<IngestAnswer>('./ingest-service.main.js', { ...address, executions: windows } satisfies IngestTask);
}

/** A minute's executions, each with the instant at which it is sent as that of its commit. */
function loadOf(bench: BenchStack, { perSecond }: ExpirySize, startsAt: number): readonly OutgoingRecord[] {
  const count = (perSecond * MINUTE_MS) / 1_000;
  return Array.from({ length: count }, (_, at) =>
    encoded(bench, { ...execution(LOAD_FROM + at), committed_at: startsAt + Math.floor((at * 1_000) / perSecond) }),
  );
}

/** Sends each execution when its time has come. */
async function offer(
  { raw }: BenchStack,
  load: readonly OutgoingRecord[],
  { perSecond }: ExpirySize,
  startsAt: number,
): Promise<Sent> {
  const producer = raw.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  await sleep(Math.max(0, startsAt - Date.now()));
  say(`offering ${String(perSecond)} executions/s while windows close`);
  const startedAt = Date.now();
  for (let next = 0; next < load.length;) {
    const due = Math.min(load.length, Math.floor(((Date.now() - startedAt) * perSecond) / 1_000) + 1);
    if (due > next) await produce(producer, load.slice(next, due));
    next = Math.max(next, due);
    await sleep(TICK_MS);
  }
  const ms = Date.now() - startedAt;
  await producer.disconnect();
  return { records: load.length, ms, startedAt };
}

/** What the projection says in the end. */
async function closedIn(url: string): Promise<Closed> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<keyof Closed, string>>(
    `SELECT count(*) FILTER (WHERE recoverability = 'reversal_expired') AS expired, count(*) FILTER (WHERE recoverability = 'reversal_available') AS open, count(*) AS recorded FROM "mutations"."mutation"`,
  );
  await client.end();
  return { expired: Number(rows[0]?.expired), open: Number(rows[0]?.open), recorded: Number(rows[0]?.recorded) };
}

interface Outcome {
  readonly answer: ExpiryAnswer;
  readonly sent: Sent;
  readonly recorded: IngestAnswer;
  readonly logged: number;
  readonly firstEndsAt: number;
  readonly closed: Closed;
}

function measuredOf(
  { windows }: ExpirySize,
  { answer, sent, recorded, logged, firstEndsAt, closed }: Outcome,
): Measured {
  const seconds = (ms: number): number => ms / 1_000;
  return {
    figures: {
      expiry_lag_p50_s: seconds(answer.logged.p50),
      expiry_lag_p99_s: seconds(answer.logged.p99),
      expiry_lag_max_s: seconds(answer.logged.max),
      expiry_decided_lag_p99_s: seconds(answer.decided.p99),
      expiry_offered_per_s: sent.records / seconds(sent.ms),
      expiry_achieved_per_s: answer.recorded / seconds(answer.lastRecordedAt - sent.startedAt),
      expiry_execution_wait_p50_s: seconds(answer.waits.p50),
      expiry_execution_wait_p99_s: seconds(answer.waits.p99),
      expiry_cpu_s: seconds(answer.cpuMs),
    },
    ratios: {},
    counts: {
      expiry_windows: windows,
      expiry_executions: sent.records,
      expiry_closed: answer.closed,
      expiry_recorded: answer.recorded,
      expiry_ready_before_first_end_s: seconds(firstEndsAt - answer.readyAt),
    },
    gates: {
      expiry_windows_were_open_before: recorded.recorded === windows && answer.readyAt < firstEndsAt,
      expiry_each_closed_once:
        answer.closed === windows && answer.stray === 0 && closed.expired === windows && closed.open === 0,
      expiry_none_before_its_time: answer.early === 0,
      expiry_executions_all_recorded: answer.recorded === sent.records && closed.recorded === windows + sent.records,
      expiry_log_holds_each_once: logged === recorded.records + answer.records,
      expiry_nothing_parked:
        recorded.parked + answer.parked === 0 && recorded.appendsUnknown + answer.appendsUnknown === 0,
    },
    notes: [
      `expiry: ${String(windows)} windows end within a minute, ${String(PARTITIONS)} partitions, one process; ledger, broker, PostgreSQL and the producer share the cores`,
    ],
  };
}
