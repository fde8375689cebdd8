// What whoever decides about an effect is told beside its facts (C8, C55).
import type { Brief, ContractTerms } from '@recourse/messages';

/** Ways in which no tool undoes an effect: then a person needs to know how. */
const BY_HAND: readonly string[] = ['manual_runbook', 'not_supported'];

/** The part of the terms that a brief is made of. */
export type BriefTerms = Pick<ContractTerms, 'compensation' | 'impact'>;

/** The brief of an effect; `terms` are null without a contract. */
export function briefOf(objective: string | null, terms: BriefTerms | null): Brief {
  const compensation = terms?.compensation ?? null;
  const isByHand =
    terms === null || (terms.impact !== 'read' && BY_HAND.includes(compensation?.mode ?? 'not_supported'));
  const isBlank = isUnsaid(objective);
  const lacksRunbook = isByHand && (compensation?.runbook ?? null) === null;
  return {
    objective: isBlank ? null : objective,
    compensation,
    missing: [...(isBlank ? ['objective'] : []), ...(lacksRunbook ? ['runbook'] : [])],
  };
}

/** Did nobody say what the run is for? */
export function isUnsaid(objective: string | null): boolean {
  return (objective ?? '').trim() === '';
}
