export { registryCore, REGISTRY_COMMANDS } from './core.js';
export { CONTRACT_KIND, CONTRACTS_LOG, PROPOSAL_KIND, ENTRY_KIND } from './rows.js';
export { CONTRACT_REJECTIONS, EDITOR_ROLES, PLATFORM_EDITOR_ROLES } from './rules/contract/contract.messages.js';
export type { ContractRejectionCode, ContractVersion } from './rules/contract/contract.messages.js';
export { CONTRACT_ENDS, CONTRACT_PHASE_AFTER, CONTRACT_PHASES } from './rules/contract/contract.transitions.js';
export { PROPOSAL_ENDS, PROPOSAL_PHASE_AFTER, PROPOSAL_PHASES } from './rules/contract/proposal.transitions.js';
export { ENTRY_REJECTIONS, ENTRY_ROLES } from './rules/entry/entry.messages.js';
export type { EntryVersion } from './rules/entry/entry.messages.js';
