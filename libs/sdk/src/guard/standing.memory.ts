// Records of effects in memory, as the ledger would show them.
import type { ExecutionState, RecoverabilityState } from '@recourse/messages';
import type { Standing, StandingAnswer } from './standing.port.js';

/** A record in memory. For specs and first steps. */
export class MemoryStanding implements Standing {
  private readonly records = new Map<string, StandingAnswer>();

  of(mutationId: string): Promise<StandingAnswer> {
    return Promise.resolve(this.records.get(mutationId) ?? { kind: 'unrecorded' });
  }

  /** What is on record from now on. */
  record(mutationId: string, execution: ExecutionState, recoverability: RecoverabilityState, fell = false): void {
    this.records.set(mutationId, { kind: 'recorded', execution, recoverability, fell });
  }
}
