export { BUDGETS_LOG, BUDGET_COMMANDS, budgetsCore } from './core.js';
export { BUDGET_REJECTIONS } from './rules/budget/budget.messages.js';
export { RESERVATION_ENDS, RESERVATION_PHASE_AFTER } from './rules/budget/budget.transitions.js';
