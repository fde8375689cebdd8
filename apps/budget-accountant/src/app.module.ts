// What the budget accountant is made of.
import { createPool, databaseUrlOf, LISTS, SUMS } from '@recourse/service';
import type { ServiceSpec } from '@recourse/service';
import { BUDGETS_LOG, BUDGET_COMMANDS, budgetsCore } from './core.js';
import type { AccountantConfig } from './config.js';
import { AutonomyListsController } from './http/autonomy.controller.js';
import { BudgetListsController, BudgetVerbsController } from './http/budgets.controller.js';
import { EscalationsController } from './http/escalations.controller.js';
import { HarmController } from './http/harm.controller.js';
import { OutcomesController } from './http/outcomes.controller.js';
import { HarmQueries } from './reads/harm-queries.js';
import { OutcomeQueries } from './reads/outcome-queries.js';
import { ANSWERS } from './generated/answers.js';

export function serviceSpec(config: AccountantConfig): ServiceSpec {
  const { escalationOwner, escalationDeadlineMs, settleWithinMs, approvalWithinMs } = config;
  const url = databaseUrlOf(config);
  const harm = new HarmQueries(createPool({ url, ...LISTS }), createPool({ url, ...SUMS }));
  return {
    name: 'budget-accountant',
    commandTopic: BUDGET_COMMANDS,
    commandLog: BUDGETS_LOG,
    cores: [budgetsCore({ escalationOwner, escalationDeadlineMs, settleWithinMs, approvalWithinMs })],
    answers: ANSWERS,
    controllers: [
      BudgetVerbsController,
      BudgetListsController,
      EscalationsController,
      AutonomyListsController,
      HarmController,
      OutcomesController,
    ],
    gauges: (metrics) => harm.gauge(metrics),
    providers: [
      { provide: HarmQueries, useValue: harm },
      {
        provide: OutcomeQueries,
        useFactory: () => new OutcomeQueries(createPool({ url, ...SUMS })),
      },
    ],
  };
}
