// Who is to act where the ledger itself cannot go on.

/** Judges triggers that are held, and reviews commits beyond a bound. */
export const OWNER_OF_APPROVALS = 'role:approver';

/** Looks into what nobody told the end of, or did in time. */
export const OWNER_OF_OVERDUE = 'role:administrator';

/** Looks at effects that took hold and that nothing automatic can take back. */
export const OWNER_OF_EXPOSED = 'role:operator';

/** Decides whether an effect is undone while it can be. */
export const OWNER_OF_CLOSING = 'role:operator';

/** Deals with runtimes that keep what fell. */
export const OWNER_OF_DIVERGENCES = 'role:operator';

/** Closes breakers. */
export const OWNER_OF_BREAKERS = 'role:operator';

/** Looks at rollbacks that come steadily faster. */
export const OWNER_OF_TRENDS = 'role:operator';

/** Marks what was admitted. */
export const OWNER_OF_MARKS = 'service:mutation-ledger';

/** Who is to act on a request that is out: the workers of its adapter. */
export function ownerOfAsk(adapter: string): string {
  return `adapter:${adapter}`;
}
