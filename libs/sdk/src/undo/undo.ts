// Undo for products that offer it to whom an agent acted for: a preview first, the request, and a report that says what is true.
//
// Boundary: asks the edge of the ledger; decides nothing. What it reports is what the services recorded.
import { systemClock } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import { edgeClient, EdgeProblem } from '../edge/edge.js';
import type { EdgeOptions } from '../edge/edge.js';
import { askOfRun } from '../edge/run-place.js';

/** What an undo would do to one effect. Source: the ledger's undo preview. */
export interface PreviewItem {
  readonly mutation_id: string;
  readonly capability: string;
  readonly subject_ref: string | null;
  readonly outcome:
    'can_be_undone' | 'leaves_residue' | 'cannot_be_undone' | 'nothing_to_undo' | 'not_known_yet' | 'under_way';
  /** Code: why not; null where it can. */
  readonly reason: string | null;
  readonly residue: string | null;
  /** In minor units; null where no money moved. */
  readonly value: { readonly amount_minor: number; readonly currency: string } | null;
  /** Different people who have to agree by the contract, as it was and as it stands: more are asked by recovery policies and above the risk limit, one fewer where the agent has an owner. Null where nothing can be agreed to. */
  readonly people_needed: number | null;
  /** Milliseconds, the sooner of both versions; null without a window. */
  readonly closes_in_ms: number | null;
}
/** What an undo of a run would do. */
export interface UndoPreview {
  readonly run_id: string;
  readonly items: readonly PreviewItem[];
  readonly approvals_needed: number;
  readonly unknown_ids: readonly string[];
}

/** What became of one effect. */
export interface ReportItem {
  readonly mutation_id: string;
  readonly capability: string | null;
  readonly subject_ref: string | null;
  readonly outcome: 'undone_clean' | 'undone_with_residue' | 'not_undone' | 'still_open';
  readonly reason: string | null;
  readonly residue: string | null;
  /** Its step in the recovery, which says who has it until when; null for one that is not marked. */
  readonly step_id: string | null;
  /** What one waits for that is open, or not undone and a person's: its mark, somebody to tell how its call ended, its recovery, a worker, or a person. */
  readonly waits_for: 'mark' | 'outcome' | 'recovery' | 'worker' | 'person' | null;
  /** Who has it; null where its step says so, or it waits for nothing. */
  readonly owner: string | null;
  /** Until when, epoch milliseconds; null where its step says so, or nothing ends by itself. */
  readonly deadline_at: number | null;
}
/** What became of an undo; `undone` only if every effect is, `nothing_to_undo` where the run has none. */
export interface UndoReport {
  readonly undo_id: string;
  readonly run_id: string;
  readonly outcome: 'undone' | 'partly_undone' | 'not_undone' | 'nothing_to_undo' | 'still_open';
  readonly items: readonly ReportItem[];
}

/** Which effects of which run, and why. */
export interface UndoRequest {
  readonly runId: string;
  /** Some of its mutations, one at least; the whole run where the list is left out. */
  readonly mutationIds?: readonly string[];
  readonly reason: string;
  /** The same request has the same key: it is one undo however often it is sent. */
  readonly idempotencyKey: string;
}

/** Where the service is. */
export interface UndoOptions {
  readonly ledger: EdgeOptions;
}

/** How long an undo is waited for; milliseconds. */
export interface WaitOptions {
  /** Default 60,000: people who have to agree may take longer. */
  readonly withinMs?: number;
  /** How often it is asked about. Default 500. */
  readonly everyMs?: number;
}

/** Asks for undos. Errors of each: EdgeProblem with the service's code; OUTCOME_PENDING: the same request may be sent again; MUTATIONS_MISSING where the list of them is empty. */
export interface Undos {
  preview(runId: string, mutationIds?: readonly string[]): Promise<UndoPreview>;
  /** Returns the id of the undo. A second call with the same key returns the same. */
  request(request: UndoRequest): Promise<string>;
  report(undoId: string): Promise<UndoReport>;
  /** Waits until the undo has ended. The report says what is so: `still_open` where it has not ended in time. */
  wait(undoId: string, options?: WaitOptions): Promise<UndoReport>;
}

const WAIT_MS = 60_000;
const POLL_MS = 500;

/** Reads a report until it says that the undo has ended, or time is over; answers the last one. Errors: those of `read`. */
export async function untilEnded<Report extends { readonly outcome?: unknown }>(
  read: () => Promise<Report>,
  clock: Clock,
  { withinMs = WAIT_MS, everyMs = POLL_MS }: WaitOptions = {},
): Promise<Report> {
  const until = clock.monotonic() + withinMs;
  let report = await read();
  while (report.outcome === 'still_open' && clock.monotonic() < until) {
    await clock.sleep(everyMs);
    report = await read();
  }
  return report;
}

/** Makes a client of the edge. Errors: none; those of each call are said where it is. */
export function undos(options: UndoOptions): Undos {
  const ledger = edgeClient({ name: 'the ledger', ...options.ledger });
  const reportOf = async (undoId: string): Promise<UndoReport> => {
    const report: unknown = await ledger.get(`/v1/undos/${encodeURIComponent(undoId)}`);
    return report as UndoReport;
  };
  // The service's API says which body each path answers with.
  return {
    preview: async (runId, mutationIds) => {
      refuseEmpty(mutationIds);
      const { path, query } = askOfRun(runId, 'undo-preview', { mutation_id: mutationIds });
      const preview: unknown = await ledger.get(path, query);
      return preview as UndoPreview;
    },
    request: async ({ runId, mutationIds, reason, idempotencyKey }) => {
      refuseEmpty(mutationIds);
      const body = { run_id: runId, mutation_ids: mutationIds ?? [], reason };
      const opened = await ledger.command('/v1/undos', body, idempotencyKey);
      return opened['undo_id'] as string;
    },
    report: reportOf,
    wait: (undoId, waiting) => untilEnded(() => reportOf(undoId), options.ledger.clock ?? systemClock, waiting),
  };
}

/** To the ledger an empty list is the whole run; whoever found nothing to undo means nothing. */
function refuseEmpty(mutationIds: readonly string[] | undefined): void {
  if (mutationIds?.length === 0)
    throw new EdgeProblem(
      'MUTATIONS_MISSING',
      'the list of mutations is empty: name one at least, or leave it out where the whole run is meant',
      { from: 'the undo', status: null },
    );
}
