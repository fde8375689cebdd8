// Triggers in memory, each key once.
import type { RollbackTriggers, TriggerAnswer, TriggerRequest } from './rollback-triggers.port.js';

/** Keeps the triggers it is given. For specs and first steps. */
export class MemoryRollbackTriggers implements RollbackTriggers {
  private readonly byKey = new Map<string, TriggerRequest>();
  /** Set, it answers nobody. */
  isAway = false;
  /** Runs nobody knows: their triggers are refused. */
  readonly unknownRuns = new Set<string>();

  /** What was taken, in order. */
  get taken(): readonly TriggerRequest[] {
    return [...this.byKey.values()];
  }

  trigger(request: TriggerRequest): Promise<TriggerAnswer> {
    if (this.isAway) return Promise.resolve({ kind: 'unavailable', cause: new Error('nobody takes triggers') });
    if (this.unknownRuns.has(request.runId)) return Promise.resolve({ kind: 'refused', code: 'RUN_UNKNOWN' });
    if (!this.byKey.has(request.idempotencyKey)) this.byKey.set(request.idempotencyKey, request);
    return Promise.resolve({ kind: 'taken' });
  }
}
