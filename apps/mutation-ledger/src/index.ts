export { assumptionsCore } from './application/assumptions.core.js';
export type { AssumptionsConfig } from './application/assumptions.core.js';
export { assumptionView, mutationIdOf, mutationsCore } from './application/mutations.core.js';
export type { MutationsConfig } from './application/mutations.core.js';
export { EDGES_COPY } from './outbound/lineage-statements.js';
export { REFUSAL_CODES } from './domain/refusal.messages.js';
export { rollbackIdOf, rollbackKey } from './domain/rollback/rollback.decider.js';
export { polledOf } from './domain/rollback/rollback.messages.js';
export type { RollbackDoc } from './domain/rollback/rollback.messages.js';
