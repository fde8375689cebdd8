// A budget in memory: one ceiling per run.
import { EXPOSURE, reservationId } from '@recourse/contract';
import type { Budget, ReservationAnswer, ReservationRequest } from './budget.port.js';

/** A budget with one ceiling, in memory. For specs and first steps. */
export class MemoryBudget implements Budget {
  private readonly reserved = new Map<string, ReservationRequest>();

  /** `ceilingMinor`: minor units per run, whatever the currency; `disclosures`: calls per run that may disclose, none unless told. */
  constructor(
    private readonly ceilingMinor: number,
    private readonly disclosures = 0,
  ) {}

  reserve(request: ReservationRequest): Promise<ReservationAnswer> {
    const reservationId = idOf(request);
    if (!this.reserved.has(reservationId)) {
      const used = [...this.reserved.values()]
        .filter(
          ({ tenant, runId, value }) =>
            tenant === request.tenant && runId === request.runId && isExposure(value) === isExposure(request.value),
        )
        .reduce((sum, { value }) => sum + value.amount_minor, 0);
      if (used + request.value.amount_minor > (isExposure(request.value) ? this.disclosures : this.ceilingMinor))
        return Promise.resolve({ kind: 'escalated', code: 'CEILING_EXCEEDED' });
      this.reserved.set(reservationId, request);
    }
    return Promise.resolve({ kind: 'reserved', reservationId });
  }

  release(request: ReservationRequest): Promise<'released' | 'unavailable'> {
    for (const [id, { tenant, runId, effectKey }] of this.reserved) {
      if (tenant === request.tenant && runId === request.runId && effectKey === request.effectKey)
        this.reserved.delete(id);
    }
    return Promise.resolve('released');
  }
}

const isExposure = ({ currency }: ReservationRequest['value']): boolean => currency === EXPOSURE;
const idOf = ({ tenant, runId, effectKey, value }: ReservationRequest): string =>
  reservationId(tenant, runId, effectKey, value.currency);
