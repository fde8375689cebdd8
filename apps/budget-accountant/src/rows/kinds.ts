// Rows of the budgets log: what is kept of budgets, reservations and questions, and how it is found.
import { EXPOSURE } from '@recourse/contract';
import { row } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { deriveId } from '@recourse/kernel';
import type { BudgetScope } from '@recourse/messages';
import type { Budget, Escalation, Reservation } from '../rules/budget/budget.messages.js';

/** Group of the budget of a scope; its keys are currencies. */
export function budgetGroup(tenant: string, scope: BudgetScope, scopeId: string): string {
  return deriveId('bud', tenant, scope, scopeId);
}

// Groups are ids, so that texts of any length address them.
export const budgets = row<Budget>({
  kind: 'budget',
  table: 'budgets',
  group: ({ tenant, scope, scope_id }) => budgetGroup(tenant, scope, scope_id),
  key: ({ currency }) => currency,
  columns: {
    tenant: 'text',
    scope: 'text',
    scope_id: 'text',
    currency: 'text',
    ceiling_minor: 'bigint',
    used_minor: 'bigint',
    overrun: 'boolean',
  },
  indexes: [['tenant', 'scope', 'scope_id']],
});

export const reservations = row<Reservation>({
  kind: 'reservation',
  table: 'reservations',
  group: ({ reservation_id }) => reservation_id,
  key: ({ reservation_id }) => reservation_id,
  due: ({ settle_by }) => settle_by,
  columns: {
    reservation_id: 'text',
    tenant: 'text',
    run_id: 'text',
    effect_key: 'text',
    phase: 'text',
    debit_minor: 'bigint',
    currency: 'text',
    mutation_id: 'text',
  },
  indexes: [['tenant', 'run_id'], ['phase']],
});

/** An open question has a timer until it stands with its last owner. */
export const escalations = row<Escalation>({
  kind: 'escalation',
  table: 'escalations',
  group: ({ escalation_id }) => escalation_id,
  key: ({ escalation_id }) => escalation_id,
  due: ({ phase, is_overdue, deadline_at }) => (phase === 'open' && !is_overdue ? deadline_at : null),
  columns: {
    escalation_id: 'text',
    reservation_id: 'text',
    tenant: 'text',
    run_id: 'text',
    about: 'text',
    phase: 'text',
    owner: 'text',
    deadline_at: 'bigint',
  },
  indexes: [['tenant', 'phase', 'deadline_at']],
});

/** Which reservation a mutation was debited under; one row per unit. */
interface DebitedMutation {
  readonly mutation_id: string;
  readonly reservation_id: string;
}

const debitedMoney = debited((id) => id);
const debitedExposure = debited(() => EXPOSURE);
function debited(key: (mutationId: string) => string) {
  return row<DebitedMutation>({
    kind: 'debited_mutation',
    table: 'debited_mutations',
    group: ({ mutation_id }) => mutation_id,
    key: ({ mutation_id }) => key(mutation_id),
    columns: { mutation_id: 'text', reservation_id: 'text' },
  });
}

export const BUDGET_ROWS = [budgets, reservations, escalations, debitedMoney];

export type BudgetKey = Pick<Budget, 'tenant' | 'scope' | 'scope_id' | 'currency'>;

export function readBudget(state: StateView, { tenant, scope, scope_id, currency }: BudgetKey): Budget | null {
  return budgets.find(state, budgetGroup(tenant, scope, scope_id), currency);
}

/** The budget of a scope; one that nobody opened is empty. */
export function standingBudget(state: StateView, key: BudgetKey): Budget {
  return readBudget(state, key) ?? { ...key, ceiling_minor: null, used_minor: 0, overrun: false };
}

/** Unit of every reservation that is none of disclosures, whatever its currency. */
export const MONEY = 'money';

/** Reservation a mutation was debited under in a unit; null when it was not. */
export function reservationOfMutation(state: StateView, mutationId: string, unit: string): Reservation | null {
  const index =
    unit === EXPOSURE ? debitedExposure.find(state, mutationId, EXPOSURE) : debitedMoney.find(state, mutationId);
  return index === null ? null : reservations.find(state, index.reservation_id);
}

/** Which reservation a mutation was debited under. */
export function debitedUnder({ mutation_id, reservation_id, currency }: Reservation): Change {
  return (currency === EXPOSURE ? debitedExposure : debitedMoney).put({ mutation_id, reservation_id });
}
