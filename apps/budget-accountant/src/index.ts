export { BUDGETS_LOG, BUDGET_COMMANDS, budgetsCore } from './application/budgets.core.js';
export type { BudgetsCoreConfig } from './application/budgets.core.js';
export { APPROVER_ROLE, BUDGET_REJECTIONS, BUDGET_ROLES } from './domain/budget/budget.messages.js';
export type { Budget, BudgetRejectionCode, Escalation, Reservation } from './domain/budget/budget.messages.js';
export { escalationIdOf } from './domain/budget/budget.decider.js';
export { RESERVATION_ENDS, RESERVATION_PHASE_AFTER, RESERVATION_PHASES } from './domain/budget/budget.transitions.js';
