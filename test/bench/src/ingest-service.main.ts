// The ledger until a number of executions is recorded and projected.
import { startLedger } from './ledger-process.js';
import type { LedgerAddress } from './ledger-process.js';
import { countStatements } from './statement-count.js';
import { answer, sharedClockMs, task } from './worker-process.js';

export interface IngestTask extends LedgerAddress {
  readonly executions: number;
}

export interface IngestAnswer {
  /** From the moment the inputs were positioned, so the first fetch could leave, to the answer of the last commit. */
  readonly ms: number;
  readonly recorded: number;
  readonly records: number;
  readonly appends: number;
  readonly appendsUnknown: number;
  readonly parked: number;
  readonly projections: number;
  readonly statements: number;
  readonly cpuMs: number;
}

const { executions, ...address } = task<IngestTask>();
const statements = countStatements();
const seen = {
  startedAt: 0,
  recorded: 0,
  records: 0,
  appends: 0,
  appendsUnknown: 0,
  parked: 0,
  projections: 0,
  statementsBefore: 0,
  cpuBefore: process.cpuUsage(),
};
const accepted = new Map<number, number>();
const projectedTo = new Map<number, number>();
let isFinished = false;

const ledger = await startLedger(address, {
  onEvent: (event) => {
    if (event.kind === 'recovered' && seen.startedAt === 0) begin();
    if (event.kind === 'appended') {
      seen.appends += 1;
      seen.records += event.records;
    }
    if (event.kind === 'append_unknown') seen.appendsUnknown += 1;
    if (event.kind === 'parked') seen.parked += 1;
    if (event.kind === 'accepted' && event.record.type === 'MutationRecorded') {
      seen.recorded += 1;
      accepted.set(event.partition, event.record.seq);
    }
  },
  onProjected: (partition, seq) => {
    seen.projections += 1;
    projectedTo.set(partition, seq);
    if (
      seen.recorded + seen.parked >= executions &&
      [...accepted].every(([at, last]) => (projectedTo.get(at) ?? 0) >= last)
    )
      void finish(sharedClockMs());
  },
});

function begin(): void {
  seen.startedAt = sharedClockMs();
  seen.statementsBefore = statements.total;
  seen.cpuBefore = process.cpuUsage();
}

async function finish(at: number): Promise<void> {
  if (isFinished) return;
  isFinished = true;
  const { user, system } = process.cpuUsage(seen.cpuBefore);
  const statementsSent = statements.total - seen.statementsBefore;
  const { projections } = seen;
  // What is appended until the loop has ended is in the log, too.
  await ledger.stop();
  const { recorded, records, appends, appendsUnknown, parked } = seen;
  const result: IngestAnswer = {
    ms: at - seen.startedAt,
    recorded,
    records,
    appends,
    appendsUnknown,
    parked,
    projections,
    statements: statementsSent,
    cpuMs: (user + system) / 1_000,
  };
  answer(result);
}
