// Decides commands about ceilings. Amounts are minor units.
import { EXPOSURE, isUnit } from '@recourse/contract';
import { deriveId, isAmong, isPerson } from '@recourse/kernel';
import type { Money } from '@recourse/messages';
import { ceilingOf } from './bounds.decisions.js';
import { PLATFORM_ROLE, rolesSaid } from './budget.messages.js';
import type {
  Budget,
  BudgetAnswer,
  BudgetCommand,
  BudgetKey,
  BudgetRejectionCode,
  BudgetTold,
} from './budget.messages.js';

/** Id of the question about a reservation, or about a ceiling. */
export function escalationIdOf(of: string): string {
  return deriveId('esc', of);
}

/** A budget that nobody opened, of which nothing is used. */
export function emptyBudget(key: BudgetKey): Budget {
  return {
    ...key,
    window_at: 0,
    ceiling_minor: null,
    used_minor: 0,
    refunded_minor: 0,
    refunds: 'net',
    value_ceiling_minor: null,
    moved_minor: 0,
    moved_back_minor: 0,
    value_refunds: 'net',
    decay: null,
    overrun: false,
  };
}

/** Sets the ceiling of a scope; a ceiling once set is not set otherwise by asking again. `owners`: who answers for the agent whose it is. */
export function decideOpen(
  command: BudgetCommand<'OpenBudget'>,
  budget: Budget | null,
  owners: readonly string[],
): BudgetAnswer<BudgetTold> {
  const { envelope, scope, scope_id, currency, measure, window, refunds, ceiling_minor } = command;
  const { tenant, principal: by, command_id } = envelope;
  const unfit = unfitScope(command) ?? unfitAmounts([{ amount_minor: ceiling_minor, currency }]);
  if (unfit !== null) return unfit;
  const outcome = { tenant, scope, scope_id, currency, measure, window, refunds, ceiling_minor };
  const standing = budget === null ? null : ceilingOf(budget, measure);
  if (budget !== null && standing !== null) {
    const freed = measure === 'debt' ? budget.refunds : budget.value_refunds;
    return standing === ceiling_minor && freed === refunds
      ? { kind: 'unchanged', phase: null, outcome }
      : rejected('BUDGET_CONFLICT', `its ceiling is ${standing}, and ${freed} for good: raise or lower it`);
  }
  const event = { type: 'BudgetOpened', body: { ...outcome, by, command_id } } as const;
  return unfitDisclosures(command, owners) ?? { kind: 'recorded', outcome, event };
}

/** Set above 0, the ceiling of disclosures is raised: by a person, and by nobody for their own agent. Of every other unit it is lowered. */
function unfitDisclosures(
  { envelope: asker, scope, scope_id, currency, ceiling_minor }: BudgetCommand<'OpenBudget'>,
  owners: readonly string[],
): BudgetAnswer | null {
  if (currency !== EXPOSURE || ceiling_minor === 0) return null;
  if (!isPerson(asker.principal))
    return rejected('APPROVER_NOT_A_PERSON', 'only a person lets more than nothing be disclosed');
  return scope === 'agent' && isAmong([scope_id, ...owners], asker)
    ? rejected('SELF_APPROVAL', 'nobody lets an agent disclose anything that they are, or answer for')
    : null;
}

/** Whose ceiling may be set by whom. */
export function unfitScope({
  envelope: { tenant, roles },
  scope,
  scope_id,
}: Pick<BudgetCommand<'OpenBudget'>, 'envelope' | 'scope' | 'scope_id'>): BudgetAnswer | null {
  if ((scope === 'tenant' || scope === 'platform') && scope_id !== tenant)
    return rejected('SCOPE_MISMATCH', `the scope of a ceiling of the ${scope} is the tenant of the command`);
  return scope === 'platform' && !roles.includes(PLATFORM_ROLE)
    ? rejected('ROLE_REQUIRED', `a ceiling of the platform is set by: ${rolesSaid([PLATFORM_ROLE])}`)
    : null;
}

/** Different people and agents of a debit. */
export function partiesOf(...parties: readonly (string | null)[]): readonly string[] {
  return [...new Set(parties.filter((one) => one !== null))];
}

/** Refuses amounts that cannot be said. */
export function unfitAmounts(amounts: readonly Money[]): BudgetAnswer | null {
  if (amounts.some(({ amount_minor }) => !Number.isSafeInteger(amount_minor) || amount_minor < 0))
    return rejected('AMOUNT_INVALID', 'amounts are whole numbers of minor units from 0');
  const units = amounts.map(({ currency }) => currency);
  if (new Set(units).size < units.length) return rejected('AMOUNT_INVALID', 'each unit is named once');
  return units.every(isUnit)
    ? null
    : rejected(
        'CURRENCY_INVALID',
        'a unit is a currency of three capital letters, or comms, commitments, exposure, regulatory',
      );
}

/** Refuses a command. */
export function rejected(
  code: BudgetRejectionCode,
  message: string,
  facts?: Readonly<Record<string, string>>,
): BudgetAnswer {
  return { kind: 'rejected', rejection: facts === undefined ? { code, message } : { code, message, facts } };
}
