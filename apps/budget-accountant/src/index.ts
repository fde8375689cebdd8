export { BUDGETS_LOG, BUDGET_COMMANDS, budgetsCore } from './core.js';
export type { BudgetsCoreConfig } from './core.js';
export { APPROVER_ROLE, BUDGET_REJECTIONS, BUDGET_ROLES } from './rules/budget/budget.messages.js';
export type { Budget, BudgetRejectionCode, Escalation, Reservation } from './rules/budget/budget.messages.js';
export { escalationIdOf } from './rules/budget/budget.decider.js';
export { RESERVATION_ENDS, RESERVATION_PHASE_AFTER, RESERVATION_PHASES } from './rules/budget/budget.transitions.js';
