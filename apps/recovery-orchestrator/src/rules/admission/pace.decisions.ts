// Rate limits of compensations: per tenant and per capability, a schedule of places that are a fixed distance apart.
//
// Boundary: pure. A schedule is one instant: when it is free again. A step that comes too early takes the next place and waits
// for it; it is not asked again, so that a thousand waiting steps make a thousand records and no more.
//
// Invariants
//   R1. In any minute at most the limit and a tenth of it begin, however many come at once, beside the further calls of one step.
//   R2. A place that was taken is honoured once, whenever its step comes to use it.
//   R4. A step takes a place for each call that undoes it, of its own capability, and begins at the first.
//   R3. A step whose place comes after its deadline takes none: a person is told while there is time.
import { deriveId, shareOf } from '@recourse/kernel';
import type { LimitScope, Pace } from '@recourse/messages';

const MINUTE_MS = 60_000;

/** Compensations a minute that may begin, of one partition; null sets no limit. */
export interface Rates {
  readonly tenantPerMinute: number | null;
  readonly capabilityPerMinute: number | null;
}

/** No limits. */
export const NO_RATES: Rates = { tenantPerMinute: null, capabilityPerMinute: null };

/** Rates of one partition. */
export function sharedRates(
  { tenantPerMinute: tenant, capabilityPerMinute: capability }: Rates,
  partitionCount: number,
): Rates {
  return {
    tenantPerMinute: tenant === null ? null : shareOf(tenant, partitionCount),
    capabilityPerMinute: capability === null ? null : shareOf(capability, partitionCount),
  };
}

/** The schedule of a limit. */
export type PaceDoc = {
  readonly pace_id: string;
  readonly tenant: string;
  readonly scope: LimitScope;
  readonly name: string;
  /** When it is free again, epoch milliseconds. */
  readonly next_at: number;
  readonly updated_at: number;
};

export function paceIdOf(tenant: string, { scope, name }: Pick<Pace, 'scope' | 'name'>): string {
  return deriveId('pace', tenant, scope, name);
}

/** Places taken in the schedules, and when they come. */
export interface Place {
  readonly goAt: number;
  readonly paced: readonly Pace[];
}

/** A limit an action falls under, and when its schedule is free again; 0 for one nobody used. */
export interface Schedule {
  readonly scope: LimitScope;
  readonly name: string;
  readonly perMinute: number;
  /** Places that the step takes in it. */
  readonly calls: number;
  readonly nextAt: number;
}

/** The earliest place that all schedules have. */
export function placeIn(schedules: readonly Schedule[], now: number): Place {
  const goAt = schedules.reduce((latest, schedule) => Math.max(latest, freeAt(schedule)), now);
  const paced = schedules.map(({ scope, name, perMinute, calls, nextAt }) => ({
    scope,
    name,
    next_at: Math.max(now, nextAt) + calls * intervalOf(perMinute),
  }));
  return { goAt, paced };
}

/** When the next place of a schedule comes: those of a burst come at once. */
export function freeAt({ perMinute, nextAt }: Pick<Schedule, 'perMinute' | 'nextAt'>): number {
  return nextAt - (burstOf(perMinute) - 1) * intervalOf(perMinute);
}

/** How many may begin at once: a tenth of a minute's. */
export function burstOf(perMinute: number): number {
  return Math.max(1, Math.floor(perMinute / 10));
}

/** Distance of two places, milliseconds. */
export function intervalOf(perMinute: number): number {
  return Math.ceil(MINUTE_MS / perMinute);
}

/** Limits that apply to calls for a tenant, named by their capabilities. */
export function schedulesOf(
  { tenantPerMinute, capabilityPerMinute }: Rates,
  tenant: string,
  capabilities: readonly string[],
  nextAt: (scope: LimitScope, name: string) => number,
): readonly Schedule[] {
  const of = (scope: LimitScope, name: string, perMinute: number | null, calls: number): readonly Schedule[] =>
    perMinute === null ? [] : [{ scope, name, perMinute, calls, nextAt: nextAt(scope, name) }];
  const callsOf = (name: string): number => capabilities.filter((one) => one === name).length;
  return [
    ...of('tenant', tenant, tenantPerMinute, capabilities.length),
    ...[...new Set(capabilities)].flatMap((name) => of('capability', name, capabilityPerMinute, callsOf(name))),
  ];
}
