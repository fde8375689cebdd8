// Faults on request: the next call that mentions a word is refused, or answered by nobody, after its effect or without one. Pure.
import { canonicalJson } from '@recourse/kernel';
import type { Doc } from './world.js';

/** `refuse`: the service says no, and nothing is done. `silent`: it is done, and nobody answers. `lost`: neither. */
export const FAULT_MODES = ['refuse', 'silent', 'lost'] as const;
export type FaultMode = (typeof FAULT_MODES)[number];

export interface Fault {
  readonly operation: string;
  /** Occurs in the request it is for. */
  readonly about: string;
  readonly mode: FaultMode;
}

/** The fault a request meets, and those that are left: each is met once. */
export function takeFault(
  faults: readonly Fault[],
  operation: string,
  body: Doc,
): { readonly mode: FaultMode | null; readonly left: readonly Fault[] } {
  const text = canonicalJson(body);
  const met = faults.find((fault) => fault.operation === operation && text.includes(fault.about));
  return { mode: met?.mode ?? null, left: met === undefined ? faults : faults.filter((fault) => fault !== met) };
}
