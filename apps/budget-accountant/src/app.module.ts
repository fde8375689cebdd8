// What the budget accountant is made of.
import type { ServiceSpec } from '@recourse/service';
import { BUDGETS_LOG, BUDGET_COMMANDS, budgetsCore } from './core.js';
import type { AccountantConfig } from './config.js';
import { BudgetListsController, BudgetVerbsController } from './http/budgets.controller.js';

export function serviceSpec({ escalationOwner, escalationDeadlineMs, settleWithinMs }: AccountantConfig): ServiceSpec {
  return {
    name: 'budget-accountant',
    commandTopic: BUDGET_COMMANDS,
    commandLog: BUDGETS_LOG,
    cores: [budgetsCore({ escalationOwner, escalationDeadlineMs, settleWithinMs })],
    controllers: [BudgetVerbsController, BudgetListsController],
  };
}
