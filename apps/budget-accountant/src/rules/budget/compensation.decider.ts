// What an executed compensation does to the debt: it is an execution, and leaves a debt of its own (A62, B9). Pure.
//
// Invariants
//   C1. Each is debited once, under the contract of the compensation, however often its outcome is told (B3).
//   C2. Whoever agreed to the recovery agreed to what it costs: people are asked again only where it exceeds a ceiling.
//   C3. Several of one leg count one after the other, as if each had been told alone.
import type { Money } from '@recourse/messages';
import { exceededBy } from './budget.decider.js';
import type { Scopes } from './budget.decider.js';
import type { BudgetRecord, EscalationPolicy, Reservation } from './budget.messages.js';
import { reservationId } from '@recourse/contract';
import { settle } from './settlement.decider.js';
import type { Ended } from './settlement.decider.js';

/** An executed compensation, and what somebody reserved for it before. */
export interface Executed {
  readonly ended: Ended & { readonly debit: Money };
  readonly reversesMutationId: string;
  readonly reservation: Reservation | null;
}

/** Debits compensations in their order. `scopesIn` are the budgets as they stood before the first of them. */
export function debitCompensations(
  executed: readonly Executed[],
  scopesIn: (currency: string) => Scopes,
  policy: EscalationPolicy,
  now: number,
): readonly BudgetRecord[] {
  const records: BudgetRecord[] = [];
  const spent = new Map<string, number>();
  for (const one of executed) {
    const { amount_minor, currency } = one.ended.debit;
    const before = spent.get(currency) ?? 0;
    const told = debitOne(one, withSpent(scopesIn(currency), before), policy, now);
    records.push(...told);
    if (told.length > 0) spent.set(currency, before + amount_minor);
  }
  return records;
}

function debitOne(
  { ended, reversesMutationId, reservation }: Executed,
  scopes: Scopes,
  policy: EscalationPolicy,
  now: number,
): readonly BudgetRecord[] {
  const { tenant, runId, effectKey, mutationId, debit } = ended;
  const isReserved = reservation?.phase === 'reserved' || isOver(reservation);
  if (isReserved || debit.amount_minor === 0 || exceededBy(debit, scopes) !== null)
    return settle(ended, reservation, policy, now);
  return [
    {
      type: 'BudgetDebited',
      body: {
        reservation_id: reservationId(tenant, runId, effectKey, debit.currency),
        tenant,
        run_id: runId,
        effect_key: effectKey,
        mutation_id: mutationId,
        reverses_mutation_id: reversesMutationId,
        debit,
      },
    },
  ];
}

function isOver(reservation: Reservation | null): boolean {
  return reservation !== null && ['settled', 'overrun', 'refunded'].includes(reservation.phase);
}

/** Budgets after what was debited since. */
function withSpent({ run, tenant }: Scopes, spentMinor: number): Scopes {
  const after = (one: Scopes['run']): Scopes['run'] =>
    one === null ? null : { ...one, used_minor: one.used_minor + spentMinor };
  return { run: after(run), tenant: after(tenant) };
}
