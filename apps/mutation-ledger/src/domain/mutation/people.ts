// Who is to act where the ledger itself cannot go on.

/** Who looks into executions nobody told the end of. */
export const OWNER_OF_OVERDUE = 'role:administrator';

/** Who is to act on a request that is out: the workers of its adapter. */
export function ownerOfAsk(adapter: string): string {
  return `adapter:${adapter}`;
}
