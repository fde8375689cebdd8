// The accountant, as far as its loop goes: says what it has decided, and when.
import { BUDGETS_LOG, budgetsCore } from '@recourse/budget-accountant';
import { startMeasured } from './measured-service.js';
import type { MeasuredAddress } from './measured-service.js';
import { serve, sharedClockMs, task } from './worker-process.js';

/** Asks to be told once so many reservations are decided and projected. */
export interface BudgetQuestion {
  readonly decisions: number;
}

export interface BudgetAnswer {
  /** When its inputs were positioned, so the first fetch could leave. */
  readonly startedAt: number;
  /** When the last decision was in the log, and when the rows of all of them were committed. */
  readonly decidedAt: number;
  readonly projectedAt: number;
  readonly records: number;
  readonly appends: number;
  readonly appendsUnknown: number;
  readonly parked: number;
  readonly projections: number;
  readonly cpuMs: number;
  /** When each was in the log that was decided since the last answer, by the command's id. */
  readonly acceptedAt: ReadonlyMap<string, number>;
}

const POLL_MS = 2;
const DECISIONS: readonly string[] = ['BudgetReserved', 'BudgetEscalated'];

const seen = {
  startedAt: 0,
  decidedAt: 0,
  projectedAt: 0,
  records: 0,
  appends: 0,
  appendsUnknown: 0,
  parked: 0,
  projections: 0,
};
let cpuBefore = process.cpuUsage();
let decided = 0;
let acceptedAt = new Map<string, number>();
const accepted = new Map<number, number>();
const projectedTo = new Map<number, number>();

await startMeasured([budgetsCore()], task<MeasuredAddress>(), {
  log: BUDGETS_LOG,
  onEvent: (event) => {
    if (event.kind === 'recovered' && seen.startedAt === 0) {
      seen.startedAt = sharedClockMs();
      cpuBefore = process.cpuUsage();
    }
    if (event.kind === 'appended') {
      seen.appends += 1;
      seen.records += event.records;
    }
    if (event.kind === 'append_unknown') seen.appendsUnknown += 1;
    if (event.kind === 'parked') seen.parked += 1;
    if (event.kind !== 'accepted' || !DECISIONS.includes(event.record.type)) return;
    decided += 1;
    seen.decidedAt = sharedClockMs();
    acceptedAt.set(String(event.record.body['command_id']), seen.decidedAt);
    accepted.set(event.partition, event.record.seq);
  },
  onProjected: (partition, seq) => {
    seen.projections += 1;
    seen.projectedAt = sharedClockMs();
    projectedTo.set(partition, seq);
  },
});

serve<BudgetQuestion, BudgetAnswer>({}, async ({ decisions }) => {
  while (decided + seen.parked < decisions || !isProjected())
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  const { user, system } = process.cpuUsage(cpuBefore);
  const since = acceptedAt;
  acceptedAt = new Map();
  return { ...seen, cpuMs: (user + system) / 1_000, acceptedAt: since };
});

function isProjected(): boolean {
  return [...accepted].every(([partition, seq]) => (projectedTo.get(partition) ?? 0) >= seq);
}
