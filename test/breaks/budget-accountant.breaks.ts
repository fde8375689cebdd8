import type { Break } from './break.js';

export const BREAKS: readonly Break[] = [
  {
    id: 'a89-ceiling-not-held',
    requirement: 'A89',
    spec: 'apps/budget-accountant/src/application/budgets.core.unit.spec.ts',
    test: null,
    file: 'apps/budget-accountant/src/domain/budget/budget.decider.ts',
    find: 'if (budget.used_minor + debitMinor > budget.ceiling_minor)',
    replace: 'if (budget.used_minor > budget.ceiling_minor)',
  },
  {
    id: 'd61-disclosure-not-debited',
    requirement: 'D61',
    spec: 'apps/budget-accountant/src/application/budgets.exposure.unit.spec.ts',
    test: null,
    file: 'apps/budget-accountant/src/application/budgets.core.ts',
    find: 'exposure: isMarked(record) ? { amount_minor: exposureOf(known, args), currency: EXPOSURE } : null,',
    replace: 'exposure: null,',
  },
  {
    id: 'd61-disclosure-unbounded',
    requirement: 'D61',
    spec: 'apps/budget-accountant/src/application/budgets.exposure.unit.spec.ts',
    test: null,
    file: 'apps/budget-accountant/src/domain/budget/budget.decider.ts',
    find: 'if (unit === EXPOSURE && isUnbounded && debitMinor > 0)',
    replace: 'if (unit === EXPOSURE && isUnbounded && debitMinor > 1)',
  },
  {
    id: 'd64-reserves-under-a-switch',
    requirement: 'D64',
    spec: 'apps/budget-accountant/src/application/budgets.core.unit.spec.ts',
    test: null,
    file: 'apps/budget-accountant/src/application/budgets.core.ts',
    find: "if (!killed.admitted) return refused(BUDGET_REJECTIONS.KILL_SWITCH, 'KILL_SWITCH', killed.reason);",
    replace:
      "if (!killed.admitted && tenant === '') return refused(BUDGET_REJECTIONS.KILL_SWITCH, 'KILL_SWITCH', killed.reason);",
  },
  {
    id: 'p12-escalation-without-timer',
    requirement: 'P12',
    spec: 'apps/budget-accountant/src/application/budgets.overdue.unit.spec.ts',
    test: null,
    file: 'apps/budget-accountant/src/application/budgets.rows.ts',
    find: "const dueAt = escalation.phase === 'open' && !escalation.is_overdue ? escalation.deadline_at : null;",
    replace:
      "const dueAt = escalation.phase === 'withdrawn' && !escalation.is_overdue ? escalation.deadline_at : null;",
  },
  {
    id: 'p12-reservation-without-timer',
    requirement: 'P12',
    spec: 'apps/budget-accountant/src/application/budgets.overdue.unit.spec.ts',
    test: null,
    file: 'apps/budget-accountant/src/application/budgets.rows.ts',
    find: "return put('reservation', reservation.reservation_id, reservation, reservation.reservation_id, reservation.settle_by);",
    replace: "return put('reservation', reservation.reservation_id, reservation, reservation.reservation_id);",
  },
  {
    id: 'p5-second-spelling-decides-debit',
    requirement: 'P5',
    spec: 'apps/budget-accountant/src/application/budgets.core.unit.spec.ts',
    test: null,
    file: 'apps/budget-accountant/src/domain/budget/budget.decider.ts',
    find: "if (escalation.requested_by !== null && isSamePerson(escalation.requested_by, asker.principal)) return rejected('SELF_APPROVAL', 'nobody decides their own request');",
    replace:
      "if (escalation.requested_by === asker.principal) return rejected('SELF_APPROVAL', 'nobody decides their own request');",
  },
];
