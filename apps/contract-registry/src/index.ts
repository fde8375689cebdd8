export { CONTRACT_KIND, CONTRACTS_LOG, registryCore, REGISTRY_COMMANDS } from './application/contracts.core.js';
export { CONTRACT_REJECTIONS, EDITOR_ROLES, EVERY_TENANT } from './domain/contract/contract.messages.js';
export type { ContractRejectionCode, ContractVersion } from './domain/contract/contract.messages.js';
export { CONTRACT_ENDS, CONTRACT_PHASE_AFTER, CONTRACT_PHASES } from './domain/contract/contract.transitions.js';
