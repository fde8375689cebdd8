// What a reconcile capability answers about a forward call: one form for worker and ledger, so that both read alike.
import type { Json } from '@recourse/kernel';

/** Whether a forward call took effect. */
export type ForwardFinding =
  | { readonly kind: 'happened'; readonly result: Json; readonly externalRef: string | null }
  | { readonly kind: 'not_happened' }
  | { readonly kind: 'unknown' };

/** Answer of a reconcile tool: the call took effect, with this result and handle of the provider. */
export function happened(result: Json, externalRef: string | null = null): Json {
  return { happened: true, result, external_transaction_ref: externalRef };
}

/** Answer of a reconcile tool: it looked where the effect would be, and there is none. */
export function notHappened(): Json {
  return { happened: false };
}

/** Reads such an answer. Whatever has another form is unknown: nothing is guessed from it. */
export function forwardFinding(observed: Json): ForwardFinding {
  if (observed === null || typeof observed !== 'object' || Array.isArray(observed)) return { kind: 'unknown' };
  const {
    happened: hasHappened,
    result = null,
    external_transaction_ref: handle = null,
  } = observed as { readonly [name: string]: Json | undefined };
  if (hasHappened === false) return { kind: 'not_happened' };
  if (hasHappened !== true || (handle !== null && typeof handle !== 'string')) return { kind: 'unknown' };
  return { kind: 'happened', result, externalRef: handle };
}
