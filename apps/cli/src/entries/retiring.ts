// Retiring an entry, and where one of its name stands when it is not there for the tenant that was meant.
import { EdgeProblem } from '@recourse/sdk';
import { formatFields } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { entryKind } from './entry-files.js';

export interface RetireOptions {
  readonly reason: string;
  readonly idempotencyKey?: string;
}

/** Entries of one name that are looked through for their tenants. */
const TENANTS_MAX = 500;

/** Retires an entry and shows it. Errors: EdgeProblem; CliProblem(ENTRY_UNKNOWN) where the name stands for another tenant. */
export async function retire(
  session: Session,
  kind: string,
  name: string,
  { reason, idempotencyKey }: RetireOptions,
): Promise<void> {
  const body = { reason, ...tenantIn(session) };
  const answer = await session
    .service('contracts')
    .command(`${pathOf(kind, name)}/retire`, body, idempotencyKey)
    .catch(async (refusal: unknown) => {
      throw await withTenants(session, kind, name, refusal);
    });
  const now = kind === 'kill_switch' ? (['switch', 'off'] as const) : (['entry', 'retired'] as const);
  session.show(answer, () => formatFields([now, ...Object.entries(answer)]));
}

/** A refusal that no such entry is there, with the tenants for which one of its name stands; any other as it is. */
async function withTenants(session: Session, kind: string, name: string, refusal: unknown): Promise<unknown> {
  if (!(refusal instanceof EdgeProblem) || refusal.code !== 'ENTRY_UNKNOWN') return refusal;
  const tenants = await tenantsOf(session, kind, name);
  const [first] = tenants;
  if (first === undefined) return refusal;
  const also = tenants.length === 1 ? '' : ', or another of them';
  return new CliProblem(refusal.code, `${refusal.detail} there; it stands for ${tenants.join(', ')}`, 'refused', {
    remedy: `Add --tenant ${first === '*' ? "'*'" : first}${also}.`,
    problems: refusal.problems,
    cause: refusal,
  });
}

/** Tenants for which an entry of this name stands, as far as whoever asks may see; none where nobody answers. */
async function tenantsOf(session: Session, kind: string, name: string): Promise<readonly string[]> {
  try {
    const query = { name, retired: 'false', tenant: session.tenant };
    const { items } = await session.service('contracts').list(pathOf(kind), query, TENANTS_MAX);
    const standing = items.filter((one) => one['name'] === name).map(({ tenant }) => tenant);
    return [...new Set(standing.filter((tenant) => typeof tenant === 'string'))].sort();
  } catch (problem) {
    if (problem instanceof EdgeProblem) return [];
    throw problem;
  }
}

/** Where the registry has the entries of a kind, or one of them. Errors: CliProblem(ENTRY_KIND_UNKNOWN). */
export function pathOf(kind: string, name?: string): string {
  return `/v1/entries/${entryKind(kind)}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

/** The tenant of a command, where one is named. */
export function tenantIn({ tenant }: Session): { readonly tenant?: string } {
  return tenant === null ? {} : { tenant };
}
