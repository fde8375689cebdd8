// Triggers over the orchestrator's HTTP edge.
//
// Shape: POST /v1/triggers {run_id, mutation_id, reason, tenant} → 200 taken, 202 on its way, other 4xx refused with a code.
import { askEdge } from '../guard/edge.js';
import type { EdgeOptions } from '../guard/edge.js';
import type { RollbackTriggers, TriggerAnswer, TriggerRequest } from './rollback-triggers.port.js';

const RETRIED: readonly number[] = [401, 403, 408, 429];

/** Sends triggers to the orchestrator's edge. */
export class HttpRollbackTriggers implements RollbackTriggers {
  /** `options.url`: base address of the orchestrator, without a slash at its end. */
  constructor(private readonly options: EdgeOptions) {}

  async trigger({ tenant, runId, commitId, reason, idempotencyKey }: TriggerRequest): Promise<TriggerAnswer> {
    try {
      const { status, body } = await askEdge(this.options, {
        method: 'POST',
        path: '/v1/triggers',
        body: { run_id: runId, mutation_id: commitId, reason, tenant },
        idempotencyKey,
      });
      const code = typeof body['code'] === 'string' ? body['code'] : `HTTP_${String(status)}`;
      if (status < 300) return { kind: 'taken' };
      // A token that ran out, or too many at once, says nothing about the trigger.
      return status < 500 && !RETRIED.includes(status)
        ? { kind: 'refused', code }
        : { kind: 'unavailable', cause: new Error(code) };
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }
}
