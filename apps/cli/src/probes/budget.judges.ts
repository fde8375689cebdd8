// What probes conclude about ceilings: which of them count what an agent does, as the accountant counts it, and for which units. Pure.
import { personKey } from '@recourse/kernel';
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { countText } from '../output/count-text.js';
import { fail, none, partial, pass, worst } from './probe.js';
import type { Finding } from './probe.js';
import { agentOf, ALL, tenantOf, valueOf } from './scope.js';
import type { Scope } from './scope.js';

const ACCRUED: readonly unknown[] = ['settled', 'refunded', 'reserved', 'released'];

/** A ceiling that counts it for every unit that capabilities consume, and debt that was booked against it (A101). */
export function budgeted(scope: Scope): Finding {
  const { seen } = scope;
  const set = valueOf(seen.budgets).filter(isCeiling);
  const tenants = tenantsOf(scope, set);
  if (!tenants.some((tenant) => set.some((row) => counts(row, tenant, consumersIn(scope, tenant)))))
    return fail(set.length === 0 ? 'no ceiling is set' : 'no ceiling that is set counts what it does');
  const asked = tenants.map((tenant) => ({ tenant, units: [...unitsIn(scope, tenant)] }));
  return worst(
    none(
      asked.flatMap(({ tenant, units }) =>
        units
          .filter((unit) => !isBounded(scope, set, tenant, unit))
          .map((unit) => `no ceiling for ${unit}${tenants.length === 1 ? '' : ` in ${tenant}`}`),
      ),
      `${countText(new Set(asked.flatMap(({ units }) => units)).size, 'unit has', 'units have')} a ceiling`,
    ),
    tenants.some((tenant) => isBooked(scope, tenant))
      ? pass('debt was booked against it')
      : partial('no debt of it was ever booked: let it act once, in a tenant of its own'),
  );
}

/** Was anything of it counted at its own account in a tenant? What moves nothing, or is of another agent in the run, shows no ceiling at work. */
function isBooked(scope: Scope, tenant: string): boolean {
  const consumers = consumersIn(scope, tenant);
  const booked = valueOf(scope.seen.reservations).filter(
    (row) => row['tenant'] === tenant && ACCRUED.includes(row['phase']) && isOfSomething(row),
  );
  return booked.some((row) =>
    consumers.some(
      ({ agent, runs }) => runs.has(String(row['run_id'])) && agent === personKey(String(row['agent_id'])),
    ),
  );
}

function isOfSomething({ debits }: Doc): boolean {
  return (
    Array.isArray(debits) &&
    debits.map(docOf).some(({ debit_minor, value_minor }) => Number(debit_minor) > 0 || Number(value_minor) > 0)
  );
}

/** Of debt, or of value moved: either bounds its unit. */
function isCeiling(row: Doc): boolean {
  return typeof row['ceiling_minor'] === 'number' || typeof row['value_ceiling_minor'] === 'number';
}

/** Tenants it acted in; all that have a ceiling where nothing is on record. */
function tenantsOf({ effects }: Scope, set: readonly Doc[]): readonly string[] {
  const acted = effects.map(tenantOf);
  return [...new Set(acted.length > 0 ? acted : set.map((row) => String(row['tenant'])))].sort();
}

/** Who consumes, and in which runs. */
interface Consumer {
  readonly agent: string;
  readonly runs: ReadonlySet<string>;
}

/** Agents that have moved a unit in a tenant, or anything; whom is asked about may any day, whatever is on record. */
function consumersIn(scope: Scope, tenant: string, unit: string | null = null): readonly Consumer[] {
  const here = scope.effects.filter((row) => tenantOf(row) === tenant);
  const moved = here.filter((row) => unit === null || unitsMoved(scope, row).includes(unit)).map(agentOf);
  return [...new Set([...moved, ...(scope.agent === null ? [] : [personKey(scope.agent)])])].map((agent) => ({
    agent,
    runs: new Set(here.filter((row) => agentOf(row) === agent).map((row) => String(row['run_id']))),
  }));
}

/** The accountant counts an action at its run, its agent, its tenant and the platform over that: a ceiling anywhere else is not about it. */
function counts(row: Doc, tenant: string, consumers: readonly Consumer[]): boolean {
  if (row['tenant'] !== tenant) return false;
  const id = String(row['scope_id']);
  switch (row['scope']) {
    case 'run':
      return consumers.some(({ runs }) => runs.has(id));
    case 'agent':
      return consumers.some(({ agent }) => agent === personKey(id));
    default:
      return id === tenant;
  }
}

/** Each who moves a unit has a ceiling for it. One that nobody has moved yet is bounded by any. */
function isBounded(scope: Scope, set: readonly Doc[], tenant: string, unit: string): boolean {
  const named = set.filter((row) => row['currency'] === unit);
  const consumers = consumersIn(scope, tenant, unit);
  if (consumers.length === 0) return named.some((row) => counts(row, tenant, consumersIn(scope, tenant)));
  return consumers.every((one) => named.some((row) => counts(row, tenant, [one])));
}

/** Units that capabilities of a tenant consume, and that were moved in it. */
function unitsIn(scope: Scope, tenant: string): ReadonlySet<string> {
  const ofContracts = scope.acting
    .filter((one) => one.tenant === tenant || one.tenant === ALL)
    .flatMap(({ contract }) => unitsOf(contract));
  const moved = scope.effects.filter((row) => tenantOf(row) === tenant).flatMap((row) => unitsMoved(scope, row));
  return new Set([...ofContracts, ...moved]);
}

function unitsMoved({ acting }: Scope, row: Doc): readonly string[] {
  const { currency } = docOf(docOf(row['execution'])['value']);
  const declared = acting
    .filter(({ name, tenant }) => name === row['capability'] && (tenant === ALL || tenant === tenantOf(row)))
    .flatMap(({ contract }) => unitsOf(contract));
  return typeof currency === 'string' ? [...declared, currency] : declared;
}

/** What a capability consumes: a currency, or a dimension. What binds in law goes to a person whatever the ceiling (A82). */
function unitsOf({ value, consequence = {} }: Scope['acting'][number]['contract']): readonly string[] {
  const currency = value !== undefined && !value.currency.startsWith('/') ? [value.currency] : [];
  return [...currency, ...Object.keys(consequence).filter((one) => one !== 'money' && one !== 'regulatory')];
}
