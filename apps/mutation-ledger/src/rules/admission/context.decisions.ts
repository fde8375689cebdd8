// Whether evidence may be taken from its source at all: the source is the tenant's to use, its word is not over, and no more
// sensitive than what it was registered to carry (D56).
//
// Boundary: pure. Only sources that are registered have terms; how much a stranger weighs is admission's.
import { entryOf, evidenceVerdict, ownersOfSource, SENSITIVITIES, sensitivityOf } from '@recourse/contract';
import type { ContractEntries, EntryBody } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { Evidence } from '@recourse/messages';
import { WEIGHT_INITIAL } from './admission.messages.js';
import type { HoldReason } from './admission.messages.js';

/** What the registry says of a source, for one tenant. */
export interface DeclaredSource {
  /** The tenant's own entry, else that for all; null where there is none. */
  readonly entry: EntryBody<'context_source'> | null;
  /** It is registered, and for other tenants alone. */
  readonly isForeign: boolean;
}

export const UNDECLARED: DeclaredSource = { entry: null, isForeign: false };

/** What the registry's entries say of a source. */
export function declaredSource(entries: ContractEntries, tenant: string, source: string): DeclaredSource {
  if (ownersOfSource(entries, source).length === 0) return UNDECLARED;
  const entry = entryOf(entries, 'context_source', tenant, source) ?? null;
  return { entry, isForeign: entry === null };
}

/** Why evidence is not taken without a person. */
export interface Unfit {
  readonly reason: Extract<HoldReason, 'SOURCE_WITHOUT_ACCESS' | 'EVIDENCE_STALE' | 'EVIDENCE_TOO_SENSITIVE'>;
  readonly detail: string;
}

/** Says what speaks against taking evidence from a source; null when nothing does. A clock ahead of ours makes nothing stale. */
export function unfitEvidence(
  { source, statement, stated_at: statedAt }: Pick<Evidence, 'source' | 'statement' | 'stated_at'>,
  { entry, isForeign }: DeclaredSource,
  now: number,
): Unfit | null {
  if (entry === null)
    return isForeign
      ? { reason: 'SOURCE_WITHOUT_ACCESS', detail: `${source} is registered for other tenants, not for this one` }
      : null;
  const fresh = evidenceVerdict(entry, Math.min(statedAt, now), now);
  if (!fresh.admitted) return { reason: 'EVIDENCE_STALE', detail: fresh.reason };
  const marked = statement === null ? 'internal' : sensitivityOf(statement);
  return rank(marked) > rank(entry.sensitivity)
    ? {
        reason: 'EVIDENCE_TOO_SENSITIVE',
        detail: `it is ${marked}, and its source carries ${entry.sensitivity} at the most`,
      }
    : null;
}

/** What a source's word weighs against another's, thousandths: what it is registered with, while its word is not over by its own terms. */
export function wordWeight({ entry }: DeclaredSource, statedAt: number, now: number): number {
  const weight = entry?.trust_permille ?? WEIGHT_INITIAL;
  const isOver = entry !== null && !evidenceVerdict(entry, Math.min(statedAt, now), now).admitted;
  return isOver ? Math.min(weight, WEIGHT_INITIAL) : weight;
}

/** Unmarked statements are internal, and every source may carry those, a public one too. */
function rank(sensitivity: EntryBody<'context_source'>['sensitivity']): number {
  return Math.max(
    0,
    SENSITIVITIES.findIndex((each) => each === sensitivity),
  );
}

/** What holds unfit evidence: nothing but a person's word about the trigger itself lets it go. */
export function contextIdOf(tenant: string, { source, event_id }: Pick<Evidence, 'source' | 'event_id'>): string {
  return deriveId('ctx', tenant, source, event_id);
}
