// Undo for products that offer it to whom an agent acted for: a preview first, the request, and a report that says what is true.
//
// Boundary: asks the edges of ledger and orchestrator; decides nothing. What it reports is what the services recorded.
import { askEdge } from '../guard/edge.js';
import type { EdgeAnswer, EdgeOptions } from '../guard/edge.js';

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
  /** Different people who have to agree; null where nothing can be agreed to. */
  readonly people_needed: number | null;
  /** Milliseconds; null without a window. */
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
  readonly owner: string | null;
  /** Epoch milliseconds; null where nothing is awaited. */
  readonly deadline_at: number | null;
}
/** What became of an undo; `undone` only if every effect is. */
export interface UndoReport {
  readonly undo_id: string;
  readonly run_id: string;
  readonly outcome: 'undone' | 'partly_undone' | 'not_undone' | 'still_open';
  readonly items: readonly ReportItem[];
}

/** Which effects of which run, and why. */
export interface UndoRequest {
  readonly runId: string;
  /** Some of its mutations; the whole run unless told. */
  readonly mutationIds?: readonly string[];
  readonly reason: string;
  /** The same request has the same key: it is one undo however often it is sent. */
  readonly idempotencyKey: string;
}

/** Where the services are. */
export interface UndoOptions {
  readonly ledger: EdgeOptions;
  readonly recoveries: EdgeOptions;
}

/** A service refused, or had no outcome in time (OUTCOME_PENDING: the same request may be sent again). */
export class UndoRefused extends Error {
  override readonly name = 'UndoRefused';
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
  ) {
    super(`${code}: ${message}`);
  }
}

/** Asks for undos. Errors of each: UndoRefused with the service's code; whatever fetch throws. */
export interface Undos {
  preview(runId: string, mutationIds?: readonly string[]): Promise<UndoPreview>;
  /** Returns the id of the undo. A second call with the same key returns the same. */
  request(request: UndoRequest): Promise<string>;
  report(undoId: string): Promise<UndoReport>;
}

const OK = 200;
const CREATED = 201;
/** The outcome was not recorded within the service's patience: the same request is asked again. */
const TAKEN = 202;
const ASKED_MAX = 10;

/** Makes a client of the two edges. */
export function undos({ ledger, recoveries }: UndoOptions): Undos {
  return {
    async preview(runId, mutationIds = []) {
      const query = mutationIds.map((id) => `mutation_id=${encodeURIComponent(id)}`).join('&');
      const path = `/v1/runs/${encodeURIComponent(runId)}/undo-preview${query === '' ? '' : `?${query}`}`;
      return bodyOf<UndoPreview>(await askEdge(ledger, { method: 'GET', path }), path);
    },
    async request({ runId, mutationIds = [], reason, idempotencyKey }) {
      for (let asked = 1; ; asked += 1) {
        const answer = await askEdge(recoveries, {
          method: 'POST',
          path: '/v1/undos',
          body: { run_id: runId, mutation_ids: mutationIds, reason },
          idempotencyKey,
        });
        if (answer.status !== TAKEN || asked >= ASKED_MAX)
          return bodyOf<{ readonly undo_id: string }>(answer, '/v1/undos').undo_id;
      }
    },
    async report(undoId) {
      const path = `/v1/undos/${encodeURIComponent(undoId)}`;
      return bodyOf<UndoReport>(await askEdge(recoveries, { method: 'GET', path }), path);
    },
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the answer its path gives
function bodyOf<Body>({ status, body }: EdgeAnswer, path: string): Body {
  if (status === TAKEN) throw new UndoRefused('OUTCOME_PENDING', status, `${path} has no outcome yet`);
  if (status !== OK && status !== CREATED)
    throw new UndoRefused(textOf(body['code']) ?? `HTTP_${String(status)}`, status, textOf(body['detail']) ?? path);
  return body as Body; // the services' API says which body it is
}
