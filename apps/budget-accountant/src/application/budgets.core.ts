// The budgets log as a service core: commands and mutations in, reservations and debits out.
//
// Boundary: translates between the loop and the deciders; looks up contracts, derives ids, picks the rows.
//
// Invariants
//   B1. All debts of a tenant are decided on the tenant's partition, one after another: that is the lock (P8).
//   B2. `mutations` is read from every partition; a record of a tenant that lives elsewhere is somebody else's.
//   B3. Each effect has one reservation id; whatever is said twice changes nothing the second time.
import {
  CLASS_WEIGHTS,
  contractByDigest,
  contractByName,
  contractView,
  entryView,
  EXPOSURE,
  exposureOf,
  killVerdict,
  reservationId,
  sensitivityOf,
  weighted,
  weightOf,
} from '@recourse/contract';
import { accepted, append, NOTHING, refused } from '@recourse/event-log';
import type {
  DecideContext,
  Decision,
  Owns,
  RecordInput,
  ServiceCore,
  StateView,
  TimerInput,
} from '@recourse/event-log';
import { assertNever, InvariantViolation } from '@recourse/kernel';
import type { Money, MutationRecorded, RecoverabilityChanged } from '@recourse/messages';
import { decideEscalation, decideOpen, decideRelease, decideReserve, isUnit } from '../domain/budget/budget.decider.js';
import type { Scopes } from '../domain/budget/budget.decider.js';
import { BUDGET_REJECTIONS } from '../domain/budget/budget.messages.js';
import type {
  BudgetAnswer,
  BudgetEvent,
  Escalation,
  EscalationPolicy,
  ReleaseReservationCommand,
  Reservation,
  ReserveBudgetCommand,
} from '../domain/budget/budget.messages.js';
import { escalateReservation, passOn } from '../domain/budget/overdue.decider.js';
import { refund, release, settle } from '../domain/budget/settlement.decider.js';
import type { ExecutionEnd } from '../domain/budget/settlement.decider.js';
import { BUDGET_COMMAND_TYPES, commandOf } from './budgets.commands.js';
import {
  BUDGET_KINDS,
  evolveBudgets,
  MONEY,
  readBudget,
  readEscalation,
  readReservation,
  reservationOfMutation,
} from './budgets.rows.js';

export const BUDGETS_LOG = 'recourse.budgets';
export const BUDGET_COMMANDS = 'recourse.budget-commands';
const MUTATIONS_LOG = 'recourse.mutations';

export interface BudgetsCoreConfig {
  /** Who is asked about escalations and overruns. */
  readonly escalationOwner?: string;
  /** How long a person has to decide; milliseconds. */
  readonly escalationDeadlineMs?: number;
  /** How long a reservation may stand unused before a person is asked; milliseconds. */
  readonly settleWithinMs?: number;
}

/** A working day and a night: an escalation stops an agent, an overrun has already happened. */
const ESCALATION_DEADLINE_MS = 24 * 3_600_000;

/** A day: longer than an agent's run, shorter than anybody wants a budget held for nothing. */
const SETTLE_WITHIN_MS = 24 * 3_600_000;

/** Builds the core of the budget accountant. */
export function budgetsCore(config: BudgetsCoreConfig = {}): ServiceCore {
  const policy: EscalationPolicy = {
    owner: config.escalationOwner ?? 'role:approver',
    deadlineMs: config.escalationDeadlineMs ?? ESCALATION_DEADLINE_MS,
    settleWithinMs: config.settleWithinMs ?? SETTLE_WITHIN_MS,
  };
  return {
    log: BUDGETS_LOG,
    inputs: [
      { topic: BUDGET_COMMANDS, source: 'wire', mode: 'aligned', types: BUDGET_COMMAND_TYPES },
      {
        topic: MUTATIONS_LOG,
        source: 'log',
        mode: 'broadcast',
        types: ['MutationRecorded', 'RecoverabilityChanged'],
        concerns: (input, owns) => isOwn(owns, input) && isOfAnEnd(input),
      },
    ],
    views: [contractView, entryView],
    kinds: BUDGET_KINDS,
    keyOf: (record) => String(record.body['tenant']),
    decide: (context, input) => {
      if (input.source === 'timer') return onTimer(context, input, policy);
      if (input.source === 'wire') return onCommand(context, input, policy);
      return isOwn(context.owns, input) ? onMutation(context, input, policy) : NOTHING;
    },
    evolve: evolveBudgets,
    react: () => [],
    owed: () => false,
  };
}

function onTimer({ state, now }: DecideContext, { address }: TimerInput, policy: EscalationPolicy): Decision {
  const event =
    address.kind === 'escalation'
      ? overdueEscalation(readEscalation(state, address.key), policy, now)
      : overdueReservation(readReservation(state, address.key), policy, now);
  return event === null ? NOTHING : append(event);
}

function overdueEscalation(escalation: Escalation | null, policy: EscalationPolicy, now: number): BudgetEvent | null {
  return escalation === null ? null : passOn(escalation, policy, now);
}

function overdueReservation(
  reservation: Reservation | null,
  policy: EscalationPolicy,
  now: number,
): BudgetEvent | null {
  return reservation === null ? null : escalateReservation(reservation, policy, now);
}

function onCommand(context: DecideContext, input: RecordInput, policy: EscalationPolicy): Decision {
  const command = commandOf(input);
  if (input.key !== command.asker.tenant)
    return refused(BUDGET_REJECTIONS.KEY_MISMATCH, 'KEY_MISMATCH', 'the record key of a budget command is its tenant');
  const { state, now } = context;
  const { tenant } = command.asker;
  switch (command.type) {
    case 'OpenBudget':
      return answered(decideOpen(command, readBudget(state, tenant, command.scope, command.scopeId, command.currency)));
    case 'ReserveBudget':
      return onReserve(context, command, policy);
    case 'ReleaseReservation':
      return answered(decideRelease(heldFor(state, tenant, command)));
    case 'DecideEscalation':
      return answered(
        decideEscalation(
          command,
          isId(command.escalationId) ? readEscalation(state, command.escalationId) : null,
          now,
          policy,
        ),
      );
    default:
      return assertNever(command);
  }
}

function onReserve(
  { state, views, now }: DecideContext,
  command: ReserveBudgetCommand,
  policy: EscalationPolicy,
): Decision {
  const {
    asker: { tenant },
    runId,
    effectKey,
    value,
    capability,
    agentId,
  } = command;
  const killed = killVerdict(views.view(entryView.name), { tenant, agent: agentId ?? '', capability });
  if (!killed.admitted) return refused(BUDGET_REJECTIONS.KILL_SWITCH, 'KILL_SWITCH', killed.reason);
  const known = contractByName(views.view(contractView.name), capability)?.contract;
  if (known === undefined) views.readToEnd();
  const usable = known !== undefined && (known.tenant === undefined || known.tenant === '*' || known.tenant === tenant);
  return answered(
    decideReserve(command, {
      reservation: readReservation(state, reservationId(tenant, runId, effectKey, value.currency)),
      scopes: scopesOf(state, tenant, runId, value.currency),
      // Nothing declared counts as irreversible.
      weight: usable ? weightOf(known) : CLASS_WEIGHTS.irreversible,
      policy,
      now,
    }),
  );
}

function onMutation(context: DecideContext, input: RecordInput, policy: EscalationPolicy): Decision {
  if (input.type === 'RecoverabilityChanged') return onRecoverability(context.state, changeOf(input));
  if (input.type !== 'MutationRecorded') throw new InvariantViolation('budget inputs', `no input ${input.type}`);
  const record = mutationOf(input);
  const end = endOf(record);
  if (end === null) return NOTHING;
  const { tenant, run_id: runId, effect_key: effectKey } = record.execution;
  const [money, exposure] = [
    reservationIn(context.state, record, MONEY),
    isMarked(record) ? reservationIn(context.state, record, EXPOSURE) : null,
  ];
  if (end !== 'succeeded') return append(...release(money, end), ...release(exposure, end));
  const owed = debtOf(context, record);
  const ended = { mutationId: record.mutation_id, tenant, runId, effectKey, end };
  return append(
    ...settle({ ...ended, debit: owed.money }, money, policy, context.now),
    ...settle({ ...ended, debit: owed.exposure }, exposure, policy, context.now),
  );
}

function onRecoverability(state: StateView, change: RecoverabilityChanged): Decision {
  if (!isOfInterest(change.event)) return NOTHING;
  const { mutation_id: id, event } = change;
  const money = reservationOfMutation(state, id, MONEY);
  if (event === 'cancelled')
    return append(...release(money, 'cancelled'), ...release(reservationOfMutation(state, id, EXPOSURE), 'cancelled'));
  // What was disclosed stays so, whatever was compensated.
  return append(...refund(id, money));
}

/** What happened counts even when it was cancelled before (P8). */
function endOf({ execution_state: state, recoverability }: MutationRecorded): ExecutionEnd | null {
  if (state === 'succeeded') return 'succeeded';
  if (recoverability === 'cancelled') return 'cancelled';
  return state === 'failed' ? 'failed' : null;
}

/** What an execution owes in money and in disclosures, under the contract it ran under. */
function debtOf(
  { views }: DecideContext,
  record: MutationRecorded,
): { readonly money: Money | null; readonly exposure: Money | null } {
  const {
    execution: { value, args },
    terms,
    ref,
  } = record;
  if (value === null && !isMarked(record)) return { money: null, exposure: null };
  const known =
    terms === null ? undefined : contractByDigest(views.view(contractView.name), terms.contract_digest)?.contract;
  if (terms !== null && known === undefined) views.readToEnd();
  const weight =
    known === undefined ? CLASS_WEIGHTS[terms === null ? 'irreversible' : ref.reversal_class] : weightOf(known);
  return {
    money: value === null || !isCountable(value) ? null : weighted(value, weight),
    exposure: isMarked(record) ? { amount_minor: exposureOf(known, args), currency: EXPOSURE } : null,
  };
}

/** Do its arguments say that they are somebody's? */
function isMarked({ execution: { args } }: MutationRecorded): boolean {
  return sensitivityOf(args) !== 'internal';
}

/** Is this a record of a tenant that lives on the partition that reads it? (B2) */
function isOwn(owns: Owns, input: RecordInput): boolean {
  const tenant = tenantOf(input);
  return tenant !== '' && owns(tenant);
}

/** Does this record say how an effect ended? */
function isOfAnEnd(input: RecordInput): boolean {
  return input.type === 'MutationRecorded' ? endOf(mutationOf(input)) !== null : isOfInterest(changeOf(input).event);
}

function isOfInterest(event: RecoverabilityChanged['event']): boolean {
  return event === 'compensation_verified' || event === 'cancelled';
}

function tenantOf(input: RecordInput): string {
  return input.type === 'MutationRecorded' ? mutationOf(input).execution.tenant : changeOf(input).tenant;
}

function reservationIn(
  state: StateView,
  { execution: { tenant, run_id: runId, effect_key: effectKey } }: MutationRecorded,
  unit: string,
): Reservation | null {
  return readReservation(state, reservationId(tenant, runId, effectKey, unit));
}

/** What is reserved for an effect, in both units. */
function heldFor(
  state: StateView,
  tenant: string,
  { runId, effectKey }: ReleaseReservationCommand,
): readonly Reservation[] {
  return [MONEY, EXPOSURE]
    .map((unit) => readReservation(state, reservationId(tenant, runId, effectKey, unit)))
    .filter((each) => each !== null);
}

function scopesOf(state: StateView, tenant: string, runId: string, currency: string): Scopes {
  if (!isUnit(currency)) return { run: null, tenant: null };
  return {
    run: readBudget(state, tenant, 'run', runId, currency),
    tenant: readBudget(state, tenant, 'tenant', tenant, currency),
  };
}

function answered(answer: BudgetAnswer): Decision {
  switch (answer.kind) {
    case 'recorded':
      return accepted(
        STATUS_OF_EVENT[answer.event.type] ?? 200,
        answer.outcome,
        answer.event,
        ...(answer.also === undefined ? [] : [answer.also]),
      );
    case 'unchanged':
      return accepted(answer.phase === 'escalated' ? 202 : 200, answer.outcome);
    case 'rejected': {
      const { code, message, ...more } = answer.rejection;
      return refused(BUDGET_REJECTIONS[code], code, message, more);
    }
  }
}

/** HTTP status of what a command made; 200 for the rest. */
const STATUS_OF_EVENT: Readonly<Record<string, number>> = {
  BudgetOpened: 201,
  BudgetReserved: 201,
  BudgetEscalated: 202,
};

/** Anything else is no id of ours, and may be no address at all. */
function isId(id: string): boolean {
  return /^esc_[0-9a-f]{32}$/.test(id);
}

function isCountable({ amount_minor, currency }: Money): boolean {
  return Number.isSafeInteger(amount_minor) && amount_minor >= 0 && /^[A-Z]{3}$/.test(currency);
}

// The log's codec made both bodies from the schemas of these types.
function mutationOf(input: RecordInput): MutationRecorded {
  return input.body as unknown as MutationRecorded;
}
function changeOf(input: RecordInput): RecoverabilityChanged {
  return input.body as unknown as RecoverabilityChanged;
}
