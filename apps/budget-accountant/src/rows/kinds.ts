// Rows of the budgets log: what is kept of budgets, reservations and questions, and how it is found.
import { row } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { deriveId, keptIds } from '@recourse/kernel';
import type { NotedApproval } from '../rules/budget/approval.decisions.js';
import { asOneAccount, ceilingOf } from '../rules/budget/bounds.decisions.js';
import { emptyBudget } from '../rules/budget/budget.decider.js';
import { decaysOf, standingAt } from '../rules/budget/ceiling.decider.js';
import type { BudgetMeasure, BudgetScope, BudgetWindow } from '@recourse/messages';
import type {
  Budget,
  BudgetKey,
  Escalation,
  Reservation,
  RunCapability,
  RunStanding,
  RunSubject,
} from '../rules/budget/budget.messages.js';
import { agentNames, namesOf } from './names.rows.js';

/** Group of the budgets of a scope; their keys are units, and windows where there are any. */
export const budgetGroup: (tenant: string, scope: BudgetScope, scopeId: string) => string = keptIds('bud');

// Groups are ids, so that texts of any length address them.
export const budgets = row<Budget>({
  kind: 'budget',
  table: 'budgets',
  group: ({ tenant, scope, scope_id }) => budgetGroup(tenant, scope, scope_id),
  key: ({ currency, window }) => budgetKey(currency, window),
  due: (budget) => decaysOf(budget)[0]?.at ?? null,
  columns: {
    tenant: 'text',
    scope: 'text',
    scope_id: 'text',
    currency: 'text',
    window: 'text',
    ceiling_minor: 'bigint',
    used_minor: 'bigint',
    value_ceiling_minor: 'bigint',
    moved_minor: 'bigint',
    overrun: 'boolean',
  },
  indexes: [['tenant', 'scope', 'scope_id']],
});

export const reservations = row<Reservation>({
  kind: 'reservation',
  table: 'reservations',
  group: ({ reservation_id }) => reservation_id,
  key: ({ reservation_id }) => reservation_id,
  due: ({ settle_by, awaited }) => settle_by ?? awaited?.wait_until ?? null,
  columns: {
    reservation_id: 'text',
    tenant: 'text',
    run_id: 'text',
    effect_key: 'text',
    agent_id: 'text',
    capability: 'text',
    phase: 'text',
    mutation_id: 'text',
    expires_at: 'bigint',
  },
  indexes: [['tenant', 'run_id'], ['tenant', 'phase', 'expires_at'], ['phase']],
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
    agent_id: 'text',
    capability: 'text',
    phase: 'text',
    owner: 'text',
    deadline_at: 'bigint',
  },
  indexes: [
    ['tenant', 'phase', 'deadline_at'],
    ['tenant', 'run_id'],
  ],
});

/** Which reservation a mutation was debited under. */
interface DebitedMutation {
  readonly mutation_id: string;
  readonly reservation_id: string;
}

const debitedMutations = row<DebitedMutation>({
  kind: 'debited_mutation',
  table: 'debited_mutations',
  group: ({ mutation_id }) => mutation_id,
  key: ({ mutation_id }) => mutation_id,
  columns: { mutation_id: 'text', reservation_id: 'text' },
});

/** What was agreed to before an effect. */
export const approvals = row<NotedApproval>({
  kind: 'noted_approval',
  table: 'noted_approvals',
  group: ({ approval_id }) => approval_id,
  key: ({ approval_id }) => approval_id,
  columns: { approval_id: 'text' },
});

/** Group of what a run made of a capability. */
function capabilityGroup({ tenant, run_id, capability }: Pick<RunCapability, 'tenant' | 'run_id' | 'capability'>) {
  return deriveId('cap', tenant, run_id, capability);
}

const capabilities = row<RunCapability>({
  kind: 'run_capability',
  table: 'run_capabilities',
  group: capabilityGroup,
  key: capabilityGroup,
  columns: { tenant: 'text', run_id: 'text', capability: 'text', calls: 'bigint', subjects: 'bigint' },
  indexes: [['tenant', 'run_id']],
});

const subjects = row<RunSubject>({
  kind: 'run_subject',
  table: 'run_subjects',
  group: (of) => deriveId('sbj', capabilityGroup(of), of.subject_id),
  key: (of) => deriveId('sbj', capabilityGroup(of), of.subject_id),
  columns: { tenant: 'text', run_id: 'text', capability: 'text', subject_id: 'text', calls: 'bigint' },
});

const runs = row<RunStanding>({
  kind: 'run_standing',
  table: 'run_standings',
  group: ({ tenant, run_id }) => deriveId('run', tenant, run_id),
  key: ({ tenant, run_id }) => deriveId('run', tenant, run_id),
  columns: { tenant: 'text', run_id: 'text', open_overruns: 'bigint' },
});

export const BUDGET_ROWS = [
  budgets,
  agentNames,
  reservations,
  escalations,
  debitedMutations,
  approvals,
  capabilities,
  subjects,
  runs,
];

function budgetKey(currency: string, window: BudgetWindow): string {
  return window === 'life' ? currency : `${currency}/${window}`;
}

export function readBudget(state: StateView, { tenant, scope, scope_id, currency, window }: BudgetKey): Budget | null {
  return budgets.find(state, budgetGroup(tenant, scope, scope_id), budgetKey(currency, window));
}

/** The same, its ceilings as they stand now. */
export function budgetAt(state: StateView, key: BudgetKey, now: number): Budget | null {
  const budget = readBudget(state, key);
  return budget === null ? null : standingAt(budget, now);
}

/** The budget of a scope; one that nobody opened is empty. */
export function standingBudget(state: StateView, key: BudgetKey): Budget {
  return readBudget(state, key) ?? emptyBudget(key);
}

/** What an action of a run counts at. */
export interface Accounts {
  readonly tenant: string;
  readonly runId: string;
  readonly agentId: string | null;
}

/** Where an action counts, whatever the unit. */
export function scopesOf({ tenant, runId, agentId }: Accounts): readonly Pick<BudgetKey, 'scope' | 'scope_id'>[] {
  return [
    { scope: 'run', scope_id: runId },
    ...(agentId === null ? [] : [{ scope: 'agent', scope_id: agentId } as const]),
    { scope: 'tenant', scope_id: tenant },
    { scope: 'platform', scope_id: tenant },
  ];
}

/** All budgets an action counts against, in every unit and window; an agent's under every spelling of its name. */
export function budgetsOf(state: StateView, accounts: Accounts, now: number): readonly Budget[] {
  const { tenant } = accounts;
  const standing = (found: readonly Budget[]): readonly Budget[] => found.map((one) => standingAt(one, now));
  return scopesOf(accounts).flatMap(({ scope, scope_id }) =>
    scope === 'agent'
      ? asOneAccount(
          standing(namesOf(state, tenant, scope_id).flatMap((name) => agentBudgets(state, tenant, name))),
          now,
        )
      : standing(budgets.list(state, budgetGroup(tenant, scope, scope_id))),
  );
}

// An agent has one account, however its name is spelt. Rows and records hold the spelling under which it stands; whoever names it
// otherwise is counted there. Ceilings that stood under several spellings before this was so each bound what counts under all.

function agentBudgets(state: StateView, tenant: string, name: string): readonly Budget[] {
  return budgets.list(state, budgetGroup(tenant, 'agent', name));
}

/** The spelling under which an agent's account stands: where a ceiling bounds it, else as it is spelt here or was at first. */
export function accountOf(state: StateView, tenant: string, agent: string): string {
  const standing = namesOf(state, tenant, agent).filter((name) => agentBudgets(state, tenant, name).length > 0);
  const bounded = standing.find((name) => agentBudgets(state, tenant, name).some(isBounding));
  return bounded ?? (standing.includes(agent) ? agent : (standing[0] ?? agent));
}

/** Where a ceiling stands, or is to stand: as it is spelt here; one that was set under another spelling alone is that one. */
export function placeOf<Place extends Omit<BudgetKey, 'tenant'> & { readonly measure: BudgetMeasure }>(
  state: StateView,
  tenant: string,
  place: Place,
): Place {
  const { scope, scope_id, currency, window, measure } = place;
  if (scope !== 'agent') return place;
  const names = [scope_id, ...namesOf(state, tenant, scope_id)];
  const among = (is: (one: Budget) => boolean): string | undefined =>
    names.find((name) => agentBudgets(state, tenant, name).some(is));
  const isIt = (one: Budget): boolean =>
    one.currency === currency && one.window === window && ceilingOf(one, measure) !== null;
  return { ...place, scope_id: among(isIt) ?? among(isBounding) ?? scope_id };
}

function isBounding({ ceiling_minor, value_ceiling_minor }: Budget): boolean {
  return ceiling_minor !== null || value_ceiling_minor !== null;
}

type OfCapability = Pick<RunCapability, 'tenant' | 'run_id' | 'capability'>;

/** What a run has made of a capability. */
export function standingCapability(state: StateView, of: OfCapability): RunCapability {
  const id = capabilityGroup(of);
  const { tenant, run_id, capability } = of;
  return capabilities.find(state, id) ?? { tenant, run_id, capability, calls: 0, subjects: 0, moved: {} };
}

/** How often a run touched a subject through a capability. */
export function standingSubject(state: StateView, of: OfCapability & Pick<RunSubject, 'subject_id'>): RunSubject {
  const { tenant, run_id, capability, subject_id } = of;
  const id = deriveId('sbj', capabilityGroup(of), subject_id);
  return subjects.find(state, id) ?? { tenant, run_id, capability, subject_id, calls: 0 };
}

export const putCapability = (of: RunCapability): Change => capabilities.put(of);
export const putSubject = (of: RunSubject): Change => subjects.put(of);

/** What is said of a run as a whole. */
export function standingRun(state: StateView, tenant: string, runId: string): RunStanding {
  return runs.find(state, deriveId('run', tenant, runId)) ?? { tenant, run_id: runId, open_overruns: 0 };
}

/** Counts an overrun of a run, or one that a person let stand. */
export function withOverruns(state: StateView, tenant: string, runId: string, count: number): Change {
  const standing = standingRun(state, tenant, runId);
  return runs.put({ ...standing, open_overruns: Math.max(0, standing.open_overruns + count) });
}

/** Reservation a mutation was debited under; null when it was not. */
export function reservationOfMutation(state: StateView, mutationId: string): Reservation | null {
  const index = debitedMutations.find(state, mutationId);
  return index === null ? null : reservations.find(state, index.reservation_id);
}

/** A recovery's calls carry the mutation they take back in their key; it was counted before. */
export function reversedBy(state: StateView, effectKey: string): Reservation | null {
  const mutationId = /^rev_(mut_[0-9a-f]+)/.exec(effectKey)?.[1];
  return mutationId === undefined ? null : reservationOfMutation(state, mutationId);
}

export function isCompensation(state: StateView, effectKey: string): boolean {
  return reversedBy(state, effectKey) !== null;
}

/** Which reservation a mutation was debited under. */
export function debitedUnder({ mutation_id, reservation_id }: Reservation): Change {
  return debitedMutations.put({ mutation_id, reservation_id });
}
