// Rows of what holds a dispatch back: breakers the ledger opened, and schedules of rates. What accepted records make, and nothing
// else does (L2).
//
// Rows: `breaker`, those that are open over a capability, in one group; `pace` by the id of what it is about.
import type { Change, StateView } from '@recourse/event-log';
import { paceIdOf } from '../rules/admission/pace.decisions.js';
import type { PaceDoc } from '../rules/admission/pace.decisions.js';
import { haltRow, put, readHalts } from './kinds.js';
import type { Fold } from './kinds.js';

/** Breakers of a partition are one group: few are open at a time. */
const OPEN = 'open';

/** Rows that breakers change; once one closes, whatever is halted is looked at again. */
export const BREAKER_FOLD = {
  BreakerNoted: ({ breaker_id, tenant, capability, is_open: isOpen }, state, { decidedAt: at }) => {
    const key = breakerKey(tenant, capability);
    if (isOpen)
      return [
        put({ kind: 'breaker', group: OPEN, key, dueAt: null, doc: { breaker_id, tenant, capability, opened_at: at } }),
      ];
    return [
      { op: 'delete', address: { kind: 'breaker', group: OPEN, key } },
      ...readHalts(state).map((halt) => put(haltRow(halt, at))),
    ];
  },
} satisfies Partial<Fold>;

/** Is the breaker over a capability open? */
export function isBroken(state: StateView, tenant: string, capability: string): boolean {
  return state.get('breaker', OPEN, breakerKey(tenant, capability)) !== undefined;
}

function breakerKey(tenant: string, capability: string): string {
  return `${tenant}/${capability}`;
}

/** Rows of the schedules a dispatch or a waiting step took a place in. */
export function evolvePaces(
  state: StateView,
  tenant: string,
  paced: readonly { readonly scope: PaceDoc['scope']; readonly name: string; readonly next_at: number }[],
  at: number,
): readonly Change[] {
  return paced.map(({ scope, name, next_at }) => {
    const id = paceIdOf(tenant, { scope, name });
    const doc: PaceDoc = {
      pace_id: id,
      tenant,
      scope,
      name,
      next_at: Math.max(next_at, readPace(state, id)?.next_at ?? 0),
      updated_at: at,
    };
    return put({ kind: 'pace', group: id, key: id, dueAt: null, doc });
  });
}

/** When the schedule of a rate is free again; 0 for one nobody used. */
export function nextPlaceAt(state: StateView, tenant: string, scope: PaceDoc['scope'], name: string): number {
  return readPace(state, paceIdOf(tenant, { scope, name }))?.next_at ?? 0;
}

function readPace(state: StateView, id: string): PaceDoc | undefined {
  return state.get('pace', id, id) as PaceDoc | undefined; // rows of this kind are written by evolvePaces alone
}
