// Who asks, as their token says, and for which tenants they may ask.
import { EdgeRefusal } from './problem.js';
import { ALL_TENANTS, counts, ROLES, ROLES_OF_ALL, rolesGiven } from './roles.js';

export interface Principal {
  /** Directory subject of the person or program: one human is one subject, under however many accounts. */
  readonly subject: string;
  /** Accounts that the directory knows of them. */
  readonly accounts?: readonly string[];
  /** The tenant they speak for; `*` for administrators and auditors of all. */
  readonly tenant: string;
  /** Words of ROLES, and what they give beside (rolesGiven); others were left out. */
  readonly roles: readonly string[];
  /** Roles that the token carries and that give nothing for its tenant, or for all: refusals name them. */
  readonly idle?: readonly string[];
}

/** Two roles that nobody holds at once: who writes the rule would be who it asks, and a program decides nothing about what programs did. */
const APART = [
  ['contract_editor', 'approver'],
  ['platform_editor', 'platform_approver'],
  ['agent', 'approver'],
  ['agent', 'operator'],
  ['agent', 'budget_owner'],
  ['agent', 'administrator'],
] as const;

/**
 * The roles of a token for a tenant, or for all.
 *
 * Errors: EdgeRefusal(ROLES_CONFLICT) for an editor or a program that is approver too.
 */
export function rolesOf(words: readonly string[], tenant: string): readonly string[] {
  const roles = rolesGiven(words, tenant);
  const apart = APART.find((pair) => pair.every((role) => roles.includes(role)));
  if (apart === undefined) return roles;
  throw new EdgeRefusal(
    'ROLES_CONFLICT',
    `one token carries ${apart.join(' and ')}; ask the issuer for a token with one of the two`,
  );
}

/** Roles of a token that give nothing for its tenant, or for all, and would elsewhere; undefined for none. */
export function idleRolesOf(words: readonly string[], tenant: string): readonly string[] | undefined {
  const idle = [...new Set(words)].filter((word) => Object.hasOwn(ROLES, word) && !counts(word, tenant));
  return idle.length === 0 ? undefined : idle;
}

/** True for who may see every tenant. */
export function seesAllTenants({ tenant, roles }: Principal): boolean {
  return tenant === ALL_TENANTS && roles.some((role) => ROLES_OF_ALL.includes(role));
}

/**
 * The tenant a command is about.
 *
 * Errors: EdgeRefusal(TENANT_FOREIGN); EdgeRefusal(INPUT_INVALID) when one who speaks for all names none.
 */
export function tenantOfCommand(principal: Principal, named: string | undefined): string {
  if (!seesAllTenants(principal)) {
    return ownTenant(principal, named);
  }
  if (named !== undefined && named !== ALL_TENANTS) return named;
  throw new EdgeRefusal('INPUT_INVALID', 'name the tenant', [
    {
      code: 'TENANT_REQUIRED',
      message: 'A token for all tenants must say which one the command is about.',
      path: '/tenant',
    },
  ]);
}

/** Tenant every read is narrowed to; undefined for who sees all and names none. Errors: EdgeRefusal(TENANT_FOREIGN). */
export function tenantOfRead(principal: Principal, named?: string): string | undefined {
  if (seesAllTenants(principal)) return named === ALL_TENANTS ? undefined : named;
  return ownTenant(principal, named);
}

/** The one tenant somebody speaks for. Errors: EdgeRefusal(TENANT_FOREIGN). */
function ownTenant({ tenant }: Principal, named: string | undefined): string {
  if (tenant === ALL_TENANTS)
    throw new EdgeRefusal('TENANT_FOREIGN', `only ${ROLES_OF_ALL.join(' and ')} speak for all tenants; name one`);
  if (named !== undefined && named !== tenant)
    throw new EdgeRefusal('TENANT_FOREIGN', 'the token speaks for another tenant');
  return tenant;
}

/** A token without any role is somebody's, and gives nothing: not even to read. Errors: EdgeRefusal(ROLE_REQUIRED). */
export function requireSomeRole(principal: Principal): void {
  const known = Object.keys(ROLES);
  if (principal.roles.length === 0)
    throw roleRequired(principal, known, `the token carries none of the roles ${known.join(', ')}`);
}

/** The refusal of who carries none of some roles, or carries one only where it gives nothing. Pure. */
export function roleRequired({ tenant, idle = [] }: Principal, wanted: readonly string[], detail: string): EdgeRefusal {
  const given = idle.filter((role) => wanted.some((one) => one === role || `platform_${one}` === role));
  if (given.length === 0) return new EdgeRefusal('ROLE_REQUIRED', detail);
  if (tenant !== ALL_TENANTS)
    return ofAllTenants(`the token carries ${given.join(', ')} for ${tenant}, where that gives nothing`);
  const message = `Only ${ROLES_OF_ALL.join(', ')} count in a token for all tenants.`;
  const said = `the token carries ${given.join(', ')} for all tenants (${ALL_TENANTS}), where that gives nothing`;
  return new EdgeRefusal('ROLE_REQUIRED', said, [{ code: 'ROLE_OF_ONE_TENANT', message }]);
}

/** The refusal of who would be let in with a token for all tenants. Pure. */
export function ofAllTenants(detail: string): EdgeRefusal {
  const message = `That counts only in a token for all tenants (${ALL_TENANTS}).`;
  return new EdgeRefusal('ROLE_REQUIRED', detail, [{ code: 'ROLE_OF_ALL_TENANTS', message }]);
}
