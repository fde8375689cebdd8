// What is counted, as people read it: money in its currency, messages and commitments in wholes, bounds with what would be used.
import type { Doc } from '@recourse/sdk';
import { MINOR_PER_ONE } from '@recourse/contract';
import { instantText } from '@recourse/kernel';
import { minorUnits } from './table.js';

/** An amount in its unit, such as `5000.00 INR` or `1 comms`; null where there is none. */
export function amountIn(minor: unknown, unit: unknown): string | null {
  if (typeof minor !== 'number' || typeof unit !== 'string') return null;
  const perOne = (MINOR_PER_ONE as Readonly<Record<string, number>>)[unit];
  return perOne === undefined ? minorUnits(minor, unit) : `${String(minor / perOne)} ${unit}`;
}

/** What an action asks for, by unit: what it moves, and what of that is debt. */
export function debitsIn(debits: unknown): string | undefined {
  const told = docsIn(debits).map(
    ({ currency, value_minor, debit_minor }) =>
      `${amountIn(value_minor, currency) ?? ''} (debt ${amountIn(debit_minor, currency) ?? ''})`,
  );
  return told.length === 0 ? undefined : told.join(', ');
}

/** Whom a rung wants asked before an effect, as the accountant counts them. */
const WANTED: Readonly<Record<number, string>> = {
  1: 'a person was to be asked first',
  2: 'two people were to be asked first',
  3: 'it is not for the agent at all',
};

/** Every bound that is exceeded, with what approving would make of it. */
export function exceededIn(exceeded: unknown): string | undefined {
  const told = docsIn(exceeded).map((bound) => {
    const { scope, scope_id, measure, window, currency, used_minor, asked_minor, ceiling_minor } = bound;
    if (measure === 'rung')
      return `rung of ${String(scope)} ${String(scope_id)}: ${WANTED[Number(asked_minor)] ?? 'somebody'}`;
    if (measure === 'name' && scope === 'capability')
      return `${String(scope_id)} under what stands for something else: no cap counts it`;
    if (measure === 'name') return `${String(scope_id)} acted under what was reserved in the name of another`;
    const unit = currency === '' ? undefined : currency;
    const amount = (minor: unknown) => amountIn(minor, unit) ?? String(minor);
    const then = Number(used_minor) + Number(asked_minor);
    const per = window === 'life' ? '' : ` per ${String(window)}`;
    return `${String(measure)} of ${String(scope)} ${String(scope_id)}${per}: ${amount(used_minor)} used, would be ${amount(then)} of ${amount(ceiling_minor)}`;
  });
  return told.length === 0 ? undefined : told.join('; ');
}

/** A ceiling that would be raised. */
export function proposalIn(proposal: unknown): string | undefined {
  if (proposal === null || typeof proposal !== 'object') return undefined;
  const { scope, scope_id, measure, currency, from_minor, ceiling_minor, until } = proposal as Doc; // as the accountant says it
  const back = typeof until === 'number' ? `, until ${instantText(until)}` : '';
  return `${String(measure)} of ${String(scope)} ${String(scope_id)}: to ${amountIn(ceiling_minor, currency) ?? ''}${back}, asked for when it stood at ${amountIn(from_minor, currency) ?? ''}`;
}

function docsIn(list: unknown): readonly Doc[] {
  return Array.isArray(list) ? (list as readonly Doc[]) : []; // lists of the accountant hold objects
}
