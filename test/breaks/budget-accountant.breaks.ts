import type { Break } from './break.js';

export const BREAKS: readonly Break[] = [
  {
    id: 'a89-ceiling-not-held',
    requirement: 'A89',
    spec: 'apps/budget-accountant/src/budgets.core.unit.spec.ts',
    test: 'the budget accountant, straight a reservation passes at exact equality and escalates one minor unit above (A75)',
    file: 'apps/budget-accountant/src/rules/budget/budget.decider.ts',
    find: 'if (budget.used_minor + debitMinor > budget.ceiling_minor)',
    replace: 'if (budget.used_minor > budget.ceiling_minor)',
  },
  {
    id: 'd61-disclosure-not-debited',
    requirement: 'D61/exposure',
    spec: 'apps/budget-accountant/src/budgets.exposure.unit.spec.ts',
    test: 'a disclosure at the accountant, straight (D61) that nobody reserved is debited all the same, and a person is asked',
    file: 'apps/budget-accountant/src/core.ts',
    find: 'exposure: isMarked(record) ? { amount_minor: exposureOf(known, args), currency: EXPOSURE } : null,',
    replace: 'exposure: null,',
  },
  {
    id: 'd61-disclosure-unbounded',
    requirement: 'D61/exposure',
    spec: 'apps/budget-accountant/src/budgets.exposure.unit.spec.ts',
    test: 'a disclosure at the accountant, straight (D61) is a question to a person from the first on, where nobody set a ceiling (A81)',
    file: 'apps/budget-accountant/src/rules/budget/budget.decider.ts',
    find: 'if (unit === EXPOSURE && isUnbounded && debitMinor > 0)',
    replace: 'if (unit === EXPOSURE && isUnbounded && debitMinor > 1)',
  },
  {
    id: 'd64-reserves-under-a-switch',
    requirement: 'D64/obeyed',
    spec: 'apps/budget-accountant/src/budgets.core.unit.spec.ts',
    test: 'the budget accountant, straight a kill switch over {"over":"tenant"} reserves nothing while it stands, and gives back all the same',
    file: 'apps/budget-accountant/src/core.ts',
    find: "if (!killed.admitted) return refused(BUDGET_REJECTIONS.KILL_SWITCH, 'KILL_SWITCH', killed.reason);",
    replace:
      "if (!killed.admitted && tenant === '') return refused(BUDGET_REJECTIONS.KILL_SWITCH, 'KILL_SWITCH', killed.reason);",
  },
  {
    id: 'p12-escalation-without-timer',
    requirement: 'P12',
    spec: 'apps/budget-accountant/src/budgets.overdue.unit.spec.ts',
    test: 'what is open about a budget, straight an escalation nobody decided goes to the administrators at its deadline, once',
    file: 'apps/budget-accountant/src/rows.ts',
    find: "due: ({ phase, is_overdue, deadline_at }) => (phase === 'open' && !is_overdue ? deadline_at : null),",
    replace:
      "due: ({ phase, is_overdue, deadline_at }) => (phase === 'withdrawn' && !is_overdue ? deadline_at : null),",
  },
  {
    id: 'p12-reservation-without-timer',
    requirement: 'P12',
    spec: 'apps/budget-accountant/src/budgets.overdue.unit.spec.ts',
    test: 'what is open about a budget, straight a reservation nobody used is asked about at its deadline, and not before',
    file: 'apps/budget-accountant/src/rows.ts',
    find: 'due: ({ settle_by }) => settle_by,',
    replace: '',
  },
  {
    id: 'p5-second-spelling-decides-debit',
    requirement: 'P5/no-person',
    spec: 'apps/budget-accountant/src/budgets.core.unit.spec.ts',
    test: 'the budget accountant, straight an escalation is not decided by AGENT-7',
    file: 'apps/budget-accountant/src/rules/budget/budget.decider.ts',
    find: "if (escalation.requested_by !== null && isSamePerson(escalation.requested_by, asker.principal)) return rejected('SELF_APPROVAL', 'nobody decides their own request');",
    replace:
      "if (escalation.requested_by === asker.principal) return rejected('SELF_APPROVAL', 'nobody decides their own request');",
  },
];
