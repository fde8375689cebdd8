// Records of effects in memory, as the ledger would show them.
import type { ExecutionState, RecoverabilityState } from '@recourse/messages';
import type { Standing, StandingAnswer } from './standing.port.js';

const ENDS: readonly ExecutionState[] = ['succeeded', 'failed', 'uncertain'];

/** A record in memory. For specs and first steps. */
export class MemoryStanding implements Standing {
  private readonly records = new Map<string, StandingAnswer>();

  of(mutationId: string): Promise<StandingAnswer> {
    return Promise.resolve(this.records.get(mutationId) ?? { kind: 'unrecorded' });
  }

  /** What is on record from now on. */
  record(mutationId: string, execution: ExecutionState, recoverability: RecoverabilityState, fell = false): void {
    const before = this.records.get(mutationId);
    const ended = before?.kind === 'recorded' ? before.ends : 0;
    const ends = ended + (ENDS.includes(execution) ? 1 : 0);
    this.records.set(mutationId, { kind: 'recorded', execution, recoverability, ends, fell });
  }
}
