export { registryCore } from './core.js';
export { CONTRACT_REJECTIONS } from './rules/contract/contract.messages.js';
export { CONTRACT_ENDS, CONTRACT_PHASE_AFTER } from './rules/contract/contract.transitions.js';
export { PROPOSAL_ENDS, PROPOSAL_PHASE_AFTER } from './rules/contract/proposal.transitions.js';
export { ENTRY_REJECTIONS } from './rules/entry/entry.messages.js';
