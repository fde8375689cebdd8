// What the ledger recorded of executions, as debts: of effects, of what was compensated, and of compensations themselves.
//
// Boundary: looks up contracts and rows, and asks the rules; holds none.
import {
  briefOf,
  CLASS_WEIGHTS,
  contractByDigest,
  contractView,
  EXPOSURE,
  exposureOf,
  reservationId,
  sensitivityOf,
  weighted,
  weightOf,
} from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type { Asked, DecideContext, Decision, Owns, StateView } from '@recourse/event-log';
import type { BodyOf, Money, RecordOf } from '@recourse/messages';
import { isUnit, partiesOf } from '../rules/budget/budget.decider.js';
import type { Scopes } from '../rules/budget/budget.decider.js';
import type { EscalationPolicy, Reservation } from '../rules/budget/budget.messages.js';
import { debitCompensations } from '../rules/budget/compensation.decider.js';
import type { Executed } from '../rules/budget/compensation.decider.js';
import { refund, release, settle } from '../rules/budget/settlement.decider.js';
import type { ExecutionEnd } from '../rules/budget/settlement.decider.js';
import { MONEY, readBudget, reservationOfMutation, reservations } from '../rows/kinds.js';

export const MUTATIONS_LOG = 'recourse.mutations';

type Recorded = BodyOf<typeof MUTATIONS_LOG, 'MutationRecorded'>;
type Changed = BodyOf<typeof MUTATIONS_LOG, 'RecoverabilityChanged'>;
type Compensations = BodyOf<typeof MUTATIONS_LOG, 'CompensationsExecuted'>;

/** Settles, overruns or gives back what an execution had reserved. */
export function onMutation({ body: record, context }: Asked<Recorded>, policy: EscalationPolicy): Decision {
  const end = endOf(record);
  if (end === null) return NOTHING;
  const { tenant, run_id: runId, effect_key: effectKey, agent_id, initiator } = record.execution;
  const parties = partiesOf(agent_id, initiator);
  const [money, exposure] = [
    reservationIn(context.state, record, MONEY),
    isMarked(record) ? reservationIn(context.state, record, EXPOSURE) : null,
  ];
  if (end !== 'succeeded') return append(...release(money, end), ...release(exposure, end));
  const { execution, terms, ref } = record;
  const owed = debtOf(context, {
    ...execution,
    digest: terms?.contract_digest ?? null,
    reversalClass: ref.reversal_class,
  });
  const brief = briefOf(execution.objective, terms);
  const ended = { mutationId: record.mutation_id, tenant, runId, effectKey, end, parties, brief };
  return append(
    ...settle({ ...ended, debit: owed.money }, money, policy, context.now),
    ...settle({ ...ended, debit: owed.exposure }, exposure, policy, context.now),
  );
}

/** Gives back the debt of what was observed to be undone, and what a cancelled effect had reserved. */
export function onRecoverability(state: StateView, { event, members }: Changed): Decision {
  if (!isOfInterest(event)) return NOTHING;
  return append(
    ...members.flatMap(({ mutation_id: id }) => {
      const money = reservationOfMutation(state, id, MONEY);
      // What was disclosed stays so, whatever was compensated.
      if (event !== 'cancelled') return refund(id, money);
      return [...release(money, 'cancelled'), ...release(reservationOfMutation(state, id, EXPOSURE), 'cancelled')];
    }),
  );
}

/** What happened counts even when it was cancelled before (P8). */
function endOf({ execution_state: state, recoverability }: Recorded): ExecutionEnd | null {
  if (state === 'succeeded') return 'succeeded';
  if (recoverability === 'cancelled') return 'cancelled';
  return state === 'failed' ? 'failed' : null;
}

/** What an execution owes for: its value and arguments, and the contract it ran under, null without one. */
interface Owing extends Pick<Recorded['execution'], 'value' | 'args'> {
  readonly digest: Buffer | null;
  /** Class its record says; what counts until the contract is read. */
  readonly reversalClass: Recorded['ref']['reversal_class'];
}

/** What an execution owes in money and in disclosures, under the contract it ran under. */
function debtOf(
  { views }: DecideContext,
  { value, args, digest, reversalClass }: Owing,
): { readonly money: Money | null; readonly exposure: Money | null } {
  const discloses = sensitivityOf(args) !== 'internal';
  if (value === null && !discloses) return { money: null, exposure: null };
  const known = digest === null ? undefined : contractByDigest(views.view(contractView.name), digest)?.contract;
  if (digest !== null && known === undefined) views.readToEnd();
  const weight =
    known === undefined ? CLASS_WEIGHTS[digest === null ? 'irreversible' : reversalClass] : weightOf(known);
  return {
    money: value === null || !isCountable(value) ? null : weighted(value, weight),
    exposure: discloses ? { amount_minor: exposureOf(known, args), currency: EXPOSURE } : null,
  };
}

/** Debits what compensations leave behind themselves, whatever they gave back (B9). */
export function onCompensations({ body, context }: Asked<Compensations>, policy: EscalationPolicy): Decision {
  const { tenant, run_id: runId, members } = body;
  const executed = members.filter(isExecuted).flatMap((member) => {
    const { money, exposure } = debtOf(context, {
      ...member,
      digest: member.contract_digest,
      reversalClass: member.reversal_class,
    });
    return [money, exposure].flatMap((debit) => (debit === null ? [] : executedOf(context.state, body, member, debit)));
  });
  return append(
    ...debitCompensations(
      executed,
      (currency) => scopesOf(context.state, tenant, runId, currency),
      policy,
      context.now,
    ),
  );
}

function executedOf(
  state: StateView,
  { tenant, run_id: runId }: Pick<Compensations, 'tenant' | 'run_id'>,
  {
    effect_key: effectKey,
    compensation_id,
    reverses_mutation_id,
    agent_id,
    initiator,
  }: Compensations['members'][number],
  debit: Money,
): Executed {
  const ended = {
    mutationId: compensation_id,
    tenant,
    runId,
    effectKey,
    end: 'succeeded' as const,
    debit,
    parties: partiesOf(agent_id, initiator),
    // It belongs to the run whose effect it takes back.
    brief: reservationOfMutation(state, reverses_mutation_id, MONEY)?.brief ?? briefOf(null, null),
  };
  return {
    ended,
    reversesMutationId: reverses_mutation_id,
    reservation: reservations.find(state, reservationId(tenant, runId, effectKey, debit.currency)),
  };
}

function isExecuted({ execution_state }: Compensations['members'][number]): boolean {
  return execution_state === 'succeeded';
}

/** Do its arguments say that they are somebody's? */
function isMarked({ execution: { args } }: Recorded): boolean {
  return sensitivityOf(args) !== 'internal';
}

/** Does this record say how an effect ended, of a tenant that lives on the partition that reads it? (B2) */
export function isOurs(record: RecordOf<typeof MUTATIONS_LOG>, owns: Owns): boolean {
  if (record.type === 'MutationRecorded')
    return isOf(record.body.execution.tenant, owns) && endOf(record.body) !== null;
  if (record.type === 'CompensationsExecuted')
    return isOf(record.body.tenant, owns) && record.body.members.some(isExecuted);
  return record.type === 'RecoverabilityChanged' && isOf(record.body.tenant, owns) && isOfInterest(record.body.event);
}

function isOf(tenant: string, owns: Owns): boolean {
  return tenant !== '' && owns(tenant);
}

function isOfInterest(event: Changed['event']): boolean {
  return event === 'compensation_verified' || event === 'cancelled';
}

function reservationIn(
  state: StateView,
  { execution: { tenant, run_id: runId, effect_key: effectKey } }: Recorded,
  unit: string,
): Reservation | null {
  return reservations.find(state, reservationId(tenant, runId, effectKey, unit));
}

/** Budgets of a run and its tenant in a unit. */
export function scopesOf(state: StateView, tenant: string, runId: string, currency: string): Scopes {
  if (!isUnit(currency)) return { run: null, tenant: null };
  return {
    run: readBudget(state, { tenant, scope: 'run', scope_id: runId, currency }),
    tenant: readBudget(state, { tenant, scope: 'tenant', scope_id: tenant, currency }),
  };
}

function isCountable({ amount_minor, currency }: Money): boolean {
  return Number.isSafeInteger(amount_minor) && amount_minor >= 0 && /^[A-Z]{3}$/.test(currency);
}
