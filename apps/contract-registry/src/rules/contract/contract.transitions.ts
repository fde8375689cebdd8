// The life of one version of a contract: registered once, immutable, retired once.
import { InvariantViolation } from '@recourse/kernel';
import type { ContractEventType } from './contract.messages.js';

/** Events in the life of a version that registered. */
type VersionEventType = Extract<ContractEventType, 'ContractRegistered' | 'ContractRetired'>;

export const CONTRACT_PHASES = ['absent', 'standing', 'retired'] as const;
export type ContractPhase = (typeof CONTRACT_PHASES)[number];

/** Phases a version stays in for ever. */
export const CONTRACT_ENDS: readonly ContractPhase[] = ['retired'];

/** Phase after each event; `null` is history that cannot exist. */
export const CONTRACT_PHASE_AFTER = {
  absent: { ContractRegistered: 'standing', ContractRetired: null },
  standing: { ContractRegistered: null, ContractRetired: 'retired' },
  retired: { ContractRegistered: null, ContractRetired: null },
} as const satisfies Record<ContractPhase, Record<VersionEventType, ContractPhase | null>>;

/** Moves a version on. Errors: InvariantViolation for history that cannot exist. */
export function contractPhaseAfter(phase: ContractPhase, event: VersionEventType): ContractPhase {
  const next = CONTRACT_PHASE_AFTER[phase][event];
  if (next === null) throw new InvariantViolation('contract phases', `${event} in ${phase}`);
  return next;
}
