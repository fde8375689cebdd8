// HTTP edge of the budget accountant: its verbs and its lists. Every command of a tenant has the tenant as its key.
import { idText, runText, listsController, verbsController } from '@recourse/service';
import { z } from 'zod';
import { BUDGET_COMMANDS, BUDGETS_LOG } from '../core.js';
import { spellingsOf } from '../reads/spellings.query.js';
import { questionDigest } from '../rules/budget/escalation.decider.js';
import type { Budget, Escalation, Reservation } from '../rules/budget/budget.messages.js';

const tag = 'budgets';
const phase = idText.optional();

export const BudgetVerbsController = verbsController({
  tag,
  wire: BUDGET_COMMANDS,
  about: {
    // Each row is the group of its id, which the primary key finds.
    reservation_id: { log: BUDGETS_LOG, kind: 'reservation', column: 'group_key' },
    autonomy_id: { log: BUDGETS_LOG, kind: 'autonomy', column: 'group_key' },
  },
  fields: {
    currency: z
      .string()
      .regex(
        /^(?:[A-Z]{3}|comms|commitments|exposure|regulatory)$/,
        'must be an ISO 4217 code, or one of comms, commitments, exposure, regulatory',
      ),
  },
});

export const BudgetListsController = listsController<{
  readonly budgets: Budget;
  readonly reservations: Reservation;
  readonly escalations: Escalation & { readonly action_digest: string };
}>({
  tag,
  log: BUDGETS_LOG,
  lists: {
    budgets: {
      kind: 'budget',
      summary: 'Budgets and what is used of them.',
      where: { scope: z.enum(['run', 'agent', 'tenant', 'platform']).optional(), scope_id: runText.optional() },
      // Other scopes have one spelling.
      named: {
        scope_id: async (reads, caller, id, { tenant, asked }) =>
          asked['scope'] === 'agent' ? spellingsOf(reads, caller, id, tenant) : [id],
      },
    },
    reservations: {
      kind: 'reservation',
      summary: 'Reservations and what became of them.',
      where: { run_id: runText.optional(), phase },
    },
    escalations: {
      kind: 'escalation',
      summary: 'Questions for a person: what would exceed a ceiling, and what has.',
      where: { run_id: runText.optional(), phase },
      adds: (doc) => ({ action_digest: questionDigest(doc) }),
    },
  },
});
