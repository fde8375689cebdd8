// The record of an effect over the ledger's HTTP edge.
//
// Shape: GET /v1/mutations/<id>?run_id=<run> → 200 {execution_state, ends, recoverability, rollback_id}, 404 NOT_FOUND when there is none, 503 PROJECTION_BEHIND while the ledger has not read all that was told of the run. Any other 404 is not the ledger's answer: an
// effect that is taken for unrecorded may be called again.
import { EXECUTION_STATE_VALUES, RECOVERABILITY_STATE_VALUES } from '@recourse/messages';
import { edgeClient, problemOf } from '../edge/edge.js';
import type { EdgeAnswer, EdgeClient, EdgeOptions } from '../edge/edge.js';
import type { Standing, StandingAnswer } from './standing.port.js';

/** Asks the ledger's edge what is on record. */
export class HttpStanding implements Standing {
  private readonly ledger: EdgeClient;

  /** `options.url`: base address of the ledger. */
  constructor(options: EdgeOptions) {
    this.ledger = edgeClient({ name: 'the ledger', ...options });
  }

  async of(mutationId: string, runId: string): Promise<StandingAnswer> {
    const path = `/v1/mutations/${encodeURIComponent(mutationId)}?run_id=${encodeURIComponent(runId)}`;
    try {
      return standingOf(await this.ledger.ask({ method: 'GET', path }));
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }
}

/** What an answer of the ledger's edge means; states that are not known here cannot be relied on. */
export function standingOf(answer: EdgeAnswer): StandingAnswer {
  const { status, body } = answer;
  if (status === 404 && body['code'] === 'NOT_FOUND') return { kind: 'unrecorded' };
  const execution = EXECUTION_STATE_VALUES.find((state) => state === body['execution_state']);
  const recoverability = RECOVERABILITY_STATE_VALUES.find((state) => state === body['recoverability']);
  const { rollback_id: rollback, ends } = body;
  const isTold = rollback === null || typeof rollback === 'string';
  return status === 200 && execution !== undefined && recoverability !== undefined && isTold && isCount(ends)
    ? { kind: 'recorded', execution, recoverability, ends, fell: rollback !== null }
    : { kind: 'unavailable', cause: problemOf(answer) };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
