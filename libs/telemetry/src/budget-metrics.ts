// What the accountant tells of debt, of windows that close and of questions: sums over all tenants.

export const BUDGET_METRICS = {
  debtStanding: {
    name: 'recourse_debt_standing_minor',
    kind: 'gauge',
    help: 'Debt of all tenants by unit, minor units: reserved, open while it can be taken back, beyond once it cannot. Every instance tells the same.',
    labels: ['unit', 'standing'],
  },
  valueClosing: {
    name: 'recourse_value_closing_minor',
    kind: 'gauge',
    help: 'Value of all tenants by unit, minor units, that nothing takes back once its window has closed: within an hour, within a day.',
    labels: ['unit', 'within'],
  },
  escalationsOpen: {
    name: 'recourse_escalations_open',
    kind: 'gauge',
    help: 'Escalations that wait for a person, by what they are about.',
    labels: ['about'],
  },
} as const;
