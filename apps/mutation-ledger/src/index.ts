export { assumptionsCore } from './assumptions.core.js';
export type { AssumptionsConfig } from './assumptions.core.js';
export { assumptionView, mutationIdOf, mutationsCore } from './core.js';
export type { MutationsConfig } from './core.js';
export { EDGES_COPY } from './reads/lineage-statements.js';
export { REFUSALS } from './rules/refusal.messages.js';
export { rollbackIdOf, rollbackKey } from './rules/rollback/rollback.decider.js';
export { polledOf } from './rules/rollback/rollback.messages.js';
export type { RollbackDoc } from './rules/rollback/rollback.messages.js';
