export { assumptionsCore } from './assumptions.core.js';
export { mutationIdOf, mutationsCore } from './core.js';
export { EDGES_COPY } from './reads/lineage-statements.js';
export { REFUSALS } from './rules/refusal.messages.js';
export { polledOf } from './rules/rollback/rollback.messages.js';
export type { RollbackDoc } from './rules/rollback/rollback.messages.js';
