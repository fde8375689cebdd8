// A budget in memory: one ceiling per run.
import { deriveId } from '@recourse/kernel';
import type { Budget, ReservationAnswer, ReservationRequest } from './budget.port.js';

export class MemoryBudget implements Budget {
  private readonly reserved = new Map<string, ReservationRequest>();

  /** `ceilingMinor`: minor units per run, whatever the currency. */
  constructor(private readonly ceilingMinor: number) {}

  reserve(request: ReservationRequest): Promise<ReservationAnswer> {
    const reservationId = idOf(request);
    if (!this.reserved.has(reservationId)) {
      const used = [...this.reserved.values()].filter(({ tenant, runId }) => tenant === request.tenant && runId === request.runId)
        .reduce((sum, { value }) => sum + value.amount_minor, 0);
      if (used + request.value.amount_minor > this.ceilingMinor) return Promise.resolve({ kind: 'escalated', code: 'CEILING_EXCEEDED' });
      this.reserved.set(reservationId, request);
    }
    return Promise.resolve({ kind: 'reserved', reservationId });
  }

  release(request: ReservationRequest): Promise<'released' | 'unavailable'> {
    this.reserved.delete(idOf(request));
    return Promise.resolve('released');
  }
}

const idOf = ({ tenant, runId, effectKey }: ReservationRequest): string => deriveId('res', tenant, runId, effectKey);
