// A budget in memory: one ceiling on money and one on disclosures per run.
import { EXPOSURE, reservationId } from '@recourse/contract';
import type { Budget, ReservationAnswer, ReservationRequest } from './budget.port.js';

/** A budget with one ceiling, in memory. For specs and first steps; what is counted but disclosures is not bounded. */
export class MemoryBudget implements Budget {
  private readonly reserved = new Map<string, ReservationRequest>();

  /** `ceilingMinor`: minor units per run, whatever the currency; `disclosures`: calls per run that may disclose, none unless told. */
  constructor(
    private readonly ceilingMinor: number,
    private readonly disclosures = 0,
  ) {}

  reserve(request: ReservationRequest): Promise<ReservationAnswer> {
    const reservationId = idOf(request);
    const held = this.reserved.get(reservationId);
    if (held === undefined) {
      const others = [...this.reserved.values()].filter(isOfRun(request));
      const isBeyond = (isOf: (currency: string) => boolean, ceiling: number): boolean =>
        sumOf([request], isOf) > 0 && sumOf([request, ...others], isOf) > ceiling;
      if (isBeyond(isMoney, this.ceilingMinor) || isBeyond(isExposure, this.disclosures))
        return Promise.resolve({ kind: 'escalated', code: 'CEILING_EXCEEDED' });
    }
    const attempt = Math.max(attemptOf(request), attemptOf(held ?? request));
    this.reserved.set(reservationId, { ...(held ?? request), attempt });
    return Promise.resolve({ kind: 'reserved', reservationId });
  }

  release(request: ReservationRequest): Promise<'released' | 'unavailable'> {
    const held = this.reserved.get(idOf(request));
    if (held !== undefined && attemptOf(request) >= attemptOf(held)) this.reserved.delete(idOf(request));
    return Promise.resolve('released');
  }
}

const isOfRun =
  ({ tenant, runId }: ReservationRequest) =>
  (other: ReservationRequest): boolean =>
    other.tenant === tenant && other.runId === runId;

function sumOf(requests: readonly ReservationRequest[], isOf: (currency: string) => boolean): number {
  return requests
    .flatMap(({ values }) => values)
    .filter(({ currency }) => isOf(currency))
    .reduce((sum, { amount_minor }) => sum + amount_minor, 0);
}

const attemptOf = ({ attempt = 1 }: ReservationRequest): number => attempt;
const isExposure = (currency: string): boolean => currency === EXPOSURE;
const isMoney = (currency: string): boolean => /^[A-Z]{3}$/.test(currency);
const idOf = ({ tenant, runId, effectKey }: ReservationRequest): string => reservationId(tenant, runId, effectKey);
