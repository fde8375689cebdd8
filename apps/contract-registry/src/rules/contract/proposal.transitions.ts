// The life of a proposed version: it waits for a second person, and registers, or is retired where that was asked, or is dropped.
import { InvariantViolation } from '@recourse/kernel';
import type { ContractEventType } from './contract.messages.js';

/** Events in the life of a proposal. */
type ProposalEventType = ContractEventType;

export const PROPOSAL_PHASES = ['absent', 'waiting', 'registered', 'retired', 'dropped'] as const;
export type ProposalPhase = (typeof PROPOSAL_PHASES)[number];

/** Phases a proposal stays in for ever. */
export const PROPOSAL_ENDS: readonly ProposalPhase[] = ['registered', 'retired', 'dropped'];

/** Phase after each event; `null` is history that cannot exist. */
export const PROPOSAL_PHASE_AFTER = {
  absent: {
    RegistrationProposed: 'waiting',
    ContractRegistered: null,
    ContractRetired: null,
    RegistrationDropped: null,
  },
  waiting: {
    RegistrationProposed: null,
    ContractRegistered: 'registered',
    ContractRetired: 'retired',
    RegistrationDropped: 'dropped',
  },
  registered: {
    RegistrationProposed: null,
    ContractRegistered: null,
    ContractRetired: null,
    RegistrationDropped: null,
  },
  retired: { RegistrationProposed: null, ContractRegistered: null, ContractRetired: null, RegistrationDropped: null },
  dropped: { RegistrationProposed: null, ContractRegistered: null, ContractRetired: null, RegistrationDropped: null },
} as const satisfies Record<ProposalPhase, Record<ProposalEventType, ProposalPhase | null>>;

/** Moves a proposal on. Errors: InvariantViolation for history that cannot exist. */
export function proposalPhaseAfter(phase: ProposalPhase, event: ProposalEventType): ProposalPhase {
  const next = PROPOSAL_PHASE_AFTER[phase][event];
  if (next === null) throw new InvariantViolation('proposal phases', `${event} in ${phase}`);
  return next;
}
