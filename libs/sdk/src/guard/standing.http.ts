// The record of an effect over the ledger's HTTP edge.
//
// Shape: GET /v1/mutations/<id> → 200 {execution_state, recoverability}, 404 NOT_FOUND when there is none. Any other 404 is not the ledger's answer: an
// effect that is taken for unrecorded may be called again.
import { EXECUTION_STATE_VALUES, RECOVERABILITY_STATE_VALUES } from '@recourse/messages';
import type { EdgeOptions } from './edge.js';
import { askEdge } from './edge.js';
import type { Standing, StandingAnswer } from './standing.port.js';

/** Asks the ledger's edge what is on record. */
export class HttpStanding implements Standing {
  /** `options.url`: base address of the ledger, without a slash at its end. */
  constructor(private readonly options: EdgeOptions) {}

  async of(mutationId: string): Promise<StandingAnswer> {
    try {
      const { status, body } = await askEdge(this.options, {
        method: 'GET',
        path: `/v1/mutations/${encodeURIComponent(mutationId)}`,
      });
      return standingOf(status, body);
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }
}

/** What an answer of the ledger's edge means; states that are not known here cannot be relied on. */
export function standingOf(status: number, body: Readonly<Record<string, unknown>>): StandingAnswer {
  if (status === 404 && body['code'] === 'NOT_FOUND') return { kind: 'unrecorded' };
  const execution = EXECUTION_STATE_VALUES.find((state) => state === body['execution_state']);
  const recoverability = RECOVERABILITY_STATE_VALUES.find((state) => state === body['recoverability']);
  return status === 200 && execution !== undefined && recoverability !== undefined
    ? { kind: 'recorded', execution, recoverability }
    : { kind: 'unavailable', cause: new Error(`the ledger answered ${String(status)}`) };
}
