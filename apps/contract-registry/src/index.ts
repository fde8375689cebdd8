export {
  CONTRACT_KIND,
  CONTRACTS_LOG,
  PROPOSAL_KIND,
  registryCore,
  REGISTRY_COMMANDS,
} from './application/contracts.core.js';
export { CONTRACT_REJECTIONS, EDITOR_ROLES, EVERY_TENANT } from './domain/contract/contract.messages.js';
export type { ContractRejectionCode, ContractVersion } from './domain/contract/contract.messages.js';
export { CONTRACT_ENDS, CONTRACT_PHASE_AFTER, CONTRACT_PHASES } from './domain/contract/contract.transitions.js';
export { PROPOSAL_ENDS, PROPOSAL_PHASE_AFTER, PROPOSAL_PHASES } from './domain/contract/proposal.transitions.js';
export { ENTRY_KIND } from './application/entries.part.js';
export { ENTRY_REJECTIONS, ENTRY_ROLES } from './domain/entry/entry.messages.js';
export type { EntryVersion } from './domain/entry/entry.messages.js';
