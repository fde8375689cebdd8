export { CONFIG } from './config.js';
export { BUDGET_MEANINGS, RECOVERY_MEANINGS } from './domain/item/item.decider.js';
