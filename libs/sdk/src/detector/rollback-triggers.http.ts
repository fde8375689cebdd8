// Triggers over the ledger's HTTP edge.
//
// Shape: POST /v1/triggers {run_id, mutation_id, reason, tenant} → 200 taken, 202 on its way, other 4xx refused with a code. One without a code is not the ledger's answer:
// what is taken for refused is never sent again.
import { edgeClient, problemOf } from '../edge/edge.js';
import type { EdgeClient, EdgeOptions } from '../edge/edge.js';
import type { RollbackTriggers, TriggerAnswer, TriggerRequest } from './rollback-triggers.port.js';

const RETRIED: readonly number[] = [401, 403, 408, 429];

/** Sends triggers to the ledger's edge. */
export class HttpRollbackTriggers implements RollbackTriggers {
  private readonly ledger: EdgeClient;

  /** `options.url`: base address of the ledger. */
  constructor(options: EdgeOptions) {
    this.ledger = edgeClient({ name: 'the ledger', ...options });
  }

  async trigger({ tenant, runId, commitId, reason, idempotencyKey }: TriggerRequest): Promise<TriggerAnswer> {
    try {
      const answer = await this.ledger.ask({
        method: 'POST',
        path: '/v1/triggers',
        body: { run_id: runId, mutation_id: commitId, reason, tenant },
        idempotencyKey,
      });
      const { status } = answer;
      if (status < 300) return { kind: 'taken' };
      const problem = problemOf(answer);
      // A token that ran out, or too many at once, says nothing about the trigger.
      const isLedgers = status >= 400 && status < 500 && typeof answer.body['code'] === 'string';
      return isLedgers && !RETRIED.includes(status)
        ? { kind: 'refused', code: problem.code }
        : { kind: 'unavailable', cause: problem };
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }
}
