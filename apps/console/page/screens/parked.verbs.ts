// What may be done about a record that could not be taken, and who may.
import { budgets, commanded, contracts, ledger, recoveries } from '../api/clients.js';
import type { Verb } from '../parts/verb.js';
import { at, forRoles } from './verbs.js';

export const PARKING = ['contracts', 'ledger', 'recoveries', 'budgets'] as const;
export type ParkingEdge = (typeof PARKING)[number];

/** Who may, as the services let in (libs/service/src/edge/access.ts): an auditor only reads. */
const MENDS = ['administrator'] as const;

export function parkedVerbs(edge: ParkingEdge, id: string, roles: readonly string[]): readonly Verb[] {
  const client = { contracts, ledger, recoveries, budgets }[edge] as typeof ledger; // the routes of administration are the same at each
  const verbs: readonly Verb[] = [
    {
      name: 'Redrive',
      happens: ['The record is taken again, and those of its key behind it. If nothing was mended it is parked again.'],
      send: ({ reason, key }) =>
        commanded(client.POST('/v1/parked/{id}/redrive', { ...at(id, key), body: { reason } })),
    },
    {
      name: 'Discard',
      isGrave: true,
      typed: 'discard',
      happens: ['The record counts for nothing, for ever. Its bytes stay in the log.'],
      send: ({ reason, key }) =>
        commanded(client.POST('/v1/parked/{id}/discard', { ...at(id, key), body: { reason } })),
    },
  ];
  return forRoles(verbs, MENDS, roles);
}
