// Who asks, as their token says, and for which tenants they may ask.
import { EdgeRefusal } from './problem.js';

export interface Principal {
  /** Directory subject of the person or program. */
  readonly subject: string;
  /** The tenant they speak for; `*` for administrators and auditors of all. */
  readonly tenant: string;
  readonly roles: readonly string[];
}

export const ALL_TENANTS = '*';
/** Only these may carry `*`; a token of anybody else with it speaks for no tenant. */
const ROLES_OF_ALL: readonly string[] = ['administrator', 'auditor'];

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
    if (principal.tenant === ALL_TENANTS || (named !== undefined && named !== principal.tenant)) throw foreign();
    return principal.tenant;
  }
  if (named !== undefined && named !== ALL_TENANTS) return named;
  throw new EdgeRefusal('INPUT_INVALID', 'name the tenant', [{ code: 'TENANT_REQUIRED', message: 'A token for all tenants must say which one the command is about.', path: '/tenant' }]);
}

/** Tenant every read is narrowed to; undefined for who sees all and names none. Errors: EdgeRefusal(TENANT_FOREIGN). */
export function tenantOfRead(principal: Principal, named?: string): string | undefined {
  if (seesAllTenants(principal)) return named === ALL_TENANTS ? undefined : named;
  if (principal.tenant === ALL_TENANTS || (named !== undefined && named !== principal.tenant)) throw foreign();
  return principal.tenant;
}

/** Errors: EdgeRefusal(ROLE_REQUIRED). */
export function requireRole(principal: Principal, ...roles: readonly string[]): void {
  if (roles.some((role) => principal.roles.includes(role))) return;
  throw new EdgeRefusal('ROLE_REQUIRED', `one of the roles ${roles.join(', ')} is needed`);
}

function foreign(): EdgeRefusal { return new EdgeRefusal('TENANT_FOREIGN', 'the token speaks for another tenant'); }
