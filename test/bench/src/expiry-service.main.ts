// The ledger, started anew over open windows, until all have closed and all executions that came meanwhile are recorded.
import type { RecoverabilityChanged } from '@recourse/messages';
import { Client } from 'pg';
import { ExpiryTimes, lagsOf } from './expiry-times.js';
import type { ExpirySummary, Lags } from './expiry-times.js';
import { startLedger } from './ledger-process.js';
import type { LedgerAddress } from './ledger-process.js';
import { answer, task } from './worker-process.js';

export interface ExpiryTask extends LedgerAddress {
  /** Executions that come while windows close. */
  readonly executions: number;
  /** When to give up, epoch milliseconds. */
  readonly deadlineAt: number;
}

export interface ExpiryAnswer extends ExpirySummary {
  /** When the ledger could close windows, epoch milliseconds. */
  readonly readyAt: number;
  readonly recorded: number;
  /** From an execution's being sent to its being in the log, milliseconds. */
  readonly waits: Lags;
  readonly lastRecordedAt: number;
  readonly parked: number;
  readonly appendsUnknown: number;
  readonly records: number;
  readonly cpuMs: number;
}

const LOOK_MS = 100;

const { executions, deadlineAt, ...address } = task<ExpiryTask>();
const ends = await openWindows();
const times = new ExpiryTimes(ends);
const seen = { readyAt: 0, recorded: 0, lastRecordedAt: 0, parked: 0, appendsUnknown: 0, records: 0 };
const waits: number[] = [];
const projectedTo = new Map<number, number>();
const accepted = new Map<number, number>();

const ledger = await startLedger(address, {
  onEvent: (event) => {
    const now = Date.now();
    if (event.kind === 'recovered' && seen.readyAt === 0) seen.readyAt = now;
    if (event.kind === 'append_unknown') seen.appendsUnknown += 1;
    if (event.kind === 'parked') seen.parked += 1;
    if (event.kind === 'appended') seen.records += event.records;
    if (event.kind !== 'accepted') return;
    const { type, body, seq, decidedAt } = event.record;
    accepted.set(event.partition, seq);
    if (type === 'MutationRecorded') {
      seen.recorded += 1;
      seen.lastRecordedAt = now;
      waits.push(now - (body['ref'] as { readonly committed_at: number }).committed_at);
    } // every one has a ref
    if (type !== 'RecoverabilityChanged') return;
    for (const { mutation_id, to_state } of body['members'] as RecoverabilityChanged['members'])
      // the type names the body
      if (to_state === 'reversal_expired') times.close(mutation_id, { decidedAt, loggedAt: now });
  },
  onProjected: (partition, seq) => {
    projectedTo.set(partition, seq);
  },
});
const cpuBefore = process.cpuUsage();
while (!isDone() && Date.now() < deadlineAt)
  await new Promise((resolve) => {
    setTimeout(resolve, LOOK_MS);
  });
const { user, system } = process.cpuUsage(cpuBefore);
await ledger.stop();
answer({ ...times.summary(), ...seen, waits: lagsOf(waits), cpuMs: (user + system) / 1_000 } satisfies ExpiryAnswer);

function isDone(): boolean {
  return (
    times.closed >= ends.size &&
    seen.recorded + seen.parked >= executions &&
    [...accepted].every(([partition, seq]) => (projectedTo.get(partition) ?? 0) >= seq)
  );
}

/** Ends of the windows that are open, by mutation. */
async function openWindows(): Promise<ReadonlyMap<string, number>> {
  const client = new Client({ connectionString: address.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ readonly id: string; readonly at: string }>(
    `SELECT mutation_id AS id, expires_at AS at FROM "mutations"."mutation" WHERE recoverability = 'reversal_available'`,
  );
  await client.end();
  return new Map(rows.map(({ id, at }) => [id, Number(at)]));
}
