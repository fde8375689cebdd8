// Refs: names of what an action relies on, as whoever tells of it and the ledger read them. Pure.

/** Most refs of one execution, commits it was derived from among them: with the mutation itself, their contradictions stay within one decision. */
export const REFS_MAX = 100;
/** Refs of this prefix name commits: their fate is the ledger's to state, nobody else's. */
export const RESERVED_PREFIX = 'commit/';
/** Refs of this prefix name handles of providers: whose each is, the ledger's log says and no wire. */
export const HANDLE_PREFIX = 'handle/';

/** Whether refs name what only the ledger may state. */
export function namesReserved(refs: readonly string[]): boolean {
  return refs.some((ref) => ref.startsWith(RESERVED_PREFIX));
}

/** Why nobody may state a ref, for all runs where `runId` is null; null where it may be stated. */
export function statedRefProblem(
  ref: string,
  runId: string | null,
): { readonly reason: 'REF_RESERVED' | 'REF_UNSCOPED'; readonly detail: string } | null {
  const reserved = [RESERVED_PREFIX, HANDLE_PREFIX].find((prefix) => ref.startsWith(prefix));
  if (reserved !== undefined)
    return { reason: 'REF_RESERVED', detail: `no wire states refs that begin with ${reserved}` };
  if (runId === null && isBare(ref))
    return {
      reason: 'REF_UNSCOPED',
      detail: 'a ref without a subject holds for one run: name the run, or the subject, as in order/4711#not_shipped',
    };
  return null;
}

/** A ref that names no subject may mean another thing in every run. */
function isBare(ref: string): boolean {
  return !ref.includes('/') && ref.indexOf('#') <= 0;
}
