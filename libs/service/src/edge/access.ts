// Who may use which route: the one table of it, for every service. docs/reference/access.md is printed from it.
//
// Boundary: says who is let in. What somebody may do with one thing (their own action, a contract they edited) the core says.
//
// Invariants
//   W1. A route without a row lets nobody in.
//   W2. A role that is not in the row is refused before the request is read any further, and leaves nothing in a log.
//   W3. What sealed payloads hold is shown to nobody whom the row does not name, and each showing is put on record before it.
import { ofAllTenants, roleRequired, seesAllTenants } from './principal.js';
import { ALL_TENANTS } from './roles.js';
import type { Principal } from './principal.js';
import type { Role } from './roles.js';
import { EdgeRefusal } from './problem.js';

/** Who is let in. */
export interface Access {
  readonly roles: readonly Role[];
  /** `all`: with a token for all tenants alone. */
  readonly reach: 'tenant' | 'all';
  /** Who is shown what sealed payloads hold; nobody where it is not said. */
  readonly opens?: readonly Role[];
  /** Who is shown that of a thing which waits for their decision. */
  readonly asked?: readonly Role[];
}

/** By method and pattern of the path, e.g. `POST /v1/steps/:id/approve`. */
export type AccessTable = Readonly<Record<string, Access>>;

/** Everybody who reads what is of their tenant; who edits for the platform reads what the platform has. */
const READERS: readonly Role[] = [
  'viewer',
  'reporter',
  'requester',
  'approver',
  'contract_editor',
  'operator',
  'budget_owner',
  'agent',
  'auditor',
  'administrator',
  'payload_reader',
];
const EDITORS: readonly Role[] = ['contract_editor', 'administrator', 'platform_editor'];
const DECIDERS: readonly Role[] = ['approver', 'administrator'];
const KEEPERS: readonly Role[] = ['operator', 'administrator'];
const ON_DUTY: readonly Role[] = ['approver', 'operator', 'auditor', 'administrator'];

const READ: Access = { roles: READERS, reach: 'tenant', opens: ['payload_reader'] };
/** A thing that waits for a decision: whoever may decide is shown its payloads meanwhile. */
const item = (...asked: readonly Role[]): Access => ({ ...READ, asked });
/** What an agent goes on from. */
const STATE: Access = { ...READ, opens: ['payload_reader', 'agent'] };
const READ_CONTRACTS: Access = { roles: [...READERS, 'platform_editor'], reach: 'tenant' };
const OVERSEE: Access = { roles: ['auditor', 'administrator'], reach: 'all' };
const ADMINISTER: Access = { roles: ['administrator'], reach: 'all' };
const may = (...roles: readonly Role[]): Access => ({ roles, reach: 'tenant' });

/** Routes that every service has. */
const SHARED: AccessTable = {
  'GET /v1/commands/:ticket': READ_CONTRACTS,
  'GET /v1/status': READ_CONTRACTS,
  'GET /v1/parked': OVERSEE,
  'POST /v1/parked/:id/redrive': ADMINISTER,
  'POST /v1/parked/:id/discard': ADMINISTER,
  'GET /v1/state-hash': OVERSEE,
  'GET /v1/readings': may('auditor', 'administrator'),
};

/** Every service, and who may use its routes. */
export const ACCESS = {
  'contract-registry': {
    ...SHARED,
    'GET /v1/contracts': READ_CONTRACTS,
    'GET /v1/contracts/:name': READ_CONTRACTS,
    'GET /v1/contract-proposals': READ_CONTRACTS,
    'GET /v1/entries/:kind': READ_CONTRACTS,
    'GET /v1/entries/:kind/:name': READ_CONTRACTS,
    'POST /v1/contract-drafts': READ_CONTRACTS,
    'POST /v1/contracts': may(...EDITORS),
    'POST /v1/contracts/together': may(...EDITORS),
    'POST /v1/contracts/:name/retire': may(...EDITORS),
    'POST /v1/contracts/:name/confirm': may(...EDITORS),
    'POST /v1/contracts/:name/withdraw': may(...EDITORS),
    // Which of them depends on the kind: the registry says so.
    'POST /v1/entries/:kind': may(...EDITORS, 'operator'),
    'POST /v1/entries/:kind/:name/retire': may(...EDITORS, 'operator'),
  },
  'mutation-ledger': {
    ...SHARED,
    'GET /v1/agent-effects': READ,
    'GET /v1/assumptions': READ,
    'GET /v1/breakers': READ,
    'GET /v1/commits': READ,
    'GET /v1/commits/:id': STATE,
    'GET /v1/commits/:id/packet': READ,
    'GET /v1/compensations': READ,
    'GET /v1/compensations/:id': READ,
    'GET /v1/deliveries': READ,
    'GET /v1/effects': READ,
    'GET /v1/horizon': READ,
    'GET /v1/limits': READ,
    'GET /v1/lineage/:commit': READ,
    'GET /v1/lineage/:commit/boxes': READ,
    'GET /v1/lineage/:commit/preview': READ,
    'GET /v1/lineage/:commit/settled': READ,
    'GET /v1/mutations': READ,
    'GET /v1/mutations/:id': item('operator', ...DECIDERS),
    'GET /v1/reconciliations': READ,
    'GET /v1/reconciliations/divergences': READ,
    'GET /v1/reevaluations': READ,
    'GET /v1/reports/consumers': READ,
    'GET /v1/reports/exposure': READ,
    'GET /v1/reports/manual-reasons': READ,
    'GET /v1/reports/rollbacks': READ,
    'GET /v1/resolve/:any_id': READ,
    'GET /v1/rollbacks': READ,
    'GET /v1/rollbacks/:id': item(...DECIDERS),
    'GET /v1/rolled-back': READ,
    'GET /v1/runs/:run_id/resume': STATE,
    'GET /v1/runs/:run_id/undo-preview': READ,
    'GET /v1/sources': READ,
    'GET /v1/sources/drill': READ,
    'GET /v1/trends': READ,
    'GET /v1/undos': READ,
    'GET /v1/undos/:id': READ,
    'POST /v1/breakers/:run_id/:id/close': may(...KEEPERS),
    'POST /v1/deliveries/:id/review': may('operator', ...DECIDERS),
    'POST /v1/erasures': may('administrator'),
    'POST /v1/mutations/:id/cancel': may('agent', 'operator', ...DECIDERS),
    'POST /v1/mutations/:id/reconcile': may('operator', ...DECIDERS),
    'POST /v1/mutations/:id/settle': may('operator', ...DECIDERS),
    'POST /v1/reconciliations': may('agent', 'operator', 'administrator', 'auditor'),
    'POST /v1/reconciliations/divergences/:id/review': may('operator', ...DECIDERS),
    'POST /v1/rollbacks/:id/confirm': may(...DECIDERS),
    'POST /v1/rollbacks/:id/reject': may(...DECIDERS),
    'POST /v1/rollbacks/:id/review': may(...DECIDERS),
    'POST /v1/trends/:id/review': may('operator', ...DECIDERS),
    'POST /v1/triggers': may('reporter', 'requester', ...DECIDERS),
    'POST /v1/undos': may('reporter', 'requester', ...DECIDERS),
  },
  'recovery-orchestrator': {
    ...SHARED,
    'GET /v1/forward-approvals': READ,
    'GET /v1/forward-approvals/:id': item('approver'),
    'GET /v1/incidents': READ,
    'GET /v1/incidents/:id': item(...DECIDERS),
    'GET /v1/rates': READ,
    'GET /v1/recoveries': READ,
    'GET /v1/reports/manual-reasons': READ,
    'GET /v1/reports/recoveries': READ,
    'GET /v1/reviews': READ,
    'GET /v1/reviews/:step_id': item('operator', ...DECIDERS),
    'GET /v1/steps': READ,
    'GET /v1/steps/:id': item('operator', ...DECIDERS),
    'GET /v1/tasks': READ,
    'GET /v1/tasks/:id': item('requester', 'auditor', ...DECIDERS),
    'GET /v1/workers': READ,
    'POST /v1/forward-approvals': may('agent'),
    'POST /v1/forward-approvals/:id/approve': may('approver'),
    'POST /v1/forward-approvals/:id/deny': may('approver'),
    'POST /v1/forward-approvals/:id/use': may('agent'),
    'POST /v1/incidents/:id/close': may(...DECIDERS),
    'POST /v1/steps/:id/abandon': may(...DECIDERS),
    'POST /v1/steps/:id/approve': may('approver'),
    'POST /v1/steps/:id/break-glass': may(...KEEPERS),
    'POST /v1/steps/:id/check': may(...DECIDERS),
    'POST /v1/steps/:id/deny': may('approver'),
    'POST /v1/steps/:id/escalate': may('reporter', 'operator', ...DECIDERS),
    'POST /v1/steps/:id/resolve': may(...DECIDERS),
    'POST /v1/steps/:id/retry': may(...DECIDERS),
    // Which of them depends on the task: the orchestrator says so.
    'POST /v1/tasks/:id/close': may('requester', 'auditor', ...DECIDERS),
  },
  'budget-accountant': {
    ...SHARED,
    'GET /v1/autonomy': READ,
    'GET /v1/autonomy/:id': READ,
    'GET /v1/autonomy-changes': READ,
    'GET /v1/budgets': READ,
    'GET /v1/escalations': READ,
    'GET /v1/escalations/:id': READ,
    'GET /v1/escalations/:id/uses': READ,
    'GET /v1/outcomes': READ,
    'GET /v1/reports/forecast': READ,
    'GET /v1/reports/harm': READ,
    'GET /v1/reports/outcomes': READ,
    'GET /v1/reservations': READ,
    'POST /v1/autonomy/:id/freeze': may('operator', 'approver', 'administrator'),
    'POST /v1/autonomy/:id/unfreeze': may(...DECIDERS),
    'POST /v1/budgets': may('budget_owner', 'administrator'),
    'POST /v1/budgets/move': may('budget_owner', 'administrator'),
    'POST /v1/escalations/:id/decide': may(...DECIDERS),
    'POST /v1/reservations': may('agent'),
    'POST /v1/reservations/:id/release': may('agent', 'administrator'),
    'DELETE /v1/reservations/:id': may('agent', 'administrator'),
  },
  notifier: {
    'GET /v1/deliveries': may(...ON_DUTY),
    'GET /v1/deliveries/:id': may(...ON_DUTY),
    'GET /v1/endpoints': may(...ON_DUTY),
    'GET /v1/items': may(...ON_DUTY),
    'GET /v1/status': READ_CONTRACTS,
    'POST /v1/deliveries/:id/retry': may(...KEEPERS),
    'POST /v1/endpoints/:name/on': may(...KEEPERS),
    'POST /v1/endpoints/:name/test': may(...KEEPERS),
  },
} as const satisfies Record<string, AccessTable>;

/** Services that have a table. */
export type ServiceName = keyof typeof ACCESS;

/** Rows of a service's routes. */
export function accessOf(service: ServiceName): (route: string) => Access | undefined {
  const table: AccessTable = ACCESS[service];
  return (route) => (Object.hasOwn(table, route) ? table[route] : undefined);
}

/** Lets somebody in, or not. Errors: EdgeRefusal(ROLE_REQUIRED). */
export function requireAccess(access: Access | undefined, principal: Principal): void {
  const refusal = accessRefusal(access, principal);
  if (refusal !== null) throw refusal;
}

/** Why somebody is not let in: EdgeRefusal(ROLE_REQUIRED); null where they are. */
export function accessRefusal(access: Access | undefined, principal: Principal): EdgeRefusal | null {
  if (access === undefined) return new EdgeRefusal('ROLE_REQUIRED', 'nobody is let in here: the route has no row');
  if (!access.roles.some((role) => principal.roles.includes(role)))
    return roleRequired(principal, access.roles, `one of the roles ${access.roles.join(', ')} is needed`);
  return access.reach === 'all' && !seesAllTenants(principal)
    ? ofAllTenants(`${access.roles.join(' or ')} of all tenants (${ALL_TENANTS}) is needed`)
    : null;
}
