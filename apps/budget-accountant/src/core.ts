// The budgets log as a table: commands and mutations in, reservations and debits out.
//
// Boundary: translates between the loop and the rules; looks up contracts, derives ids, picks the rows.
//
// Invariants
//   B1. All debts of a tenant are decided on the tenant's partition, one after another: that is the lock (P8).
//   B2. `mutations` is read from every partition; a record of a tenant that lives elsewhere is somebody else's.
//   B3. Each effect has one reservation id; whatever is said twice changes nothing the second time.
import {
  charterFor,
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
import { accepted, append, command, commandsOf, core, heardOf, NOTHING, refused } from '@recourse/event-log';
import type { Asked, DecideContext, Decision, Due, Owns, ServiceCore, StateView } from '@recourse/event-log';
import type { BodyOf, Money, RecordOf } from '@recourse/messages';
import {
  decideEscalation,
  decideOpen,
  decideRelease,
  decideReserve,
  isUnit,
  partiesOf,
} from './rules/budget/budget.decider.js';
import type { Scopes } from './rules/budget/budget.decider.js';
import { BUDGET_REJECTIONS, BUDGET_ROLES } from './rules/budget/budget.messages.js';
import type { BudgetAnswer, BudgetCommand, EscalationPolicy, Reservation } from './rules/budget/budget.messages.js';
import { escalateReservation, passOn } from './rules/budget/overdue.decider.js';
import { refund, release, settle } from './rules/budget/settlement.decider.js';
import type { ExecutionEnd } from './rules/budget/settlement.decider.js';
import { BUDGET_ROWS, escalations, EVOLVE, MONEY, readBudget, reservationOfMutation, reservations } from './rows.js';

export const BUDGETS_LOG = 'recourse.budgets';
export const BUDGET_COMMANDS = 'recourse.budget-commands';
const MUTATIONS_LOG = 'recourse.mutations';

type Recorded = BodyOf<typeof MUTATIONS_LOG, 'MutationRecorded'>;
type Changed = BodyOf<typeof MUTATIONS_LOG, 'RecoverabilityChanged'>;

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
  return core<typeof BUDGETS_LOG>(BUDGETS_LOG, {
    inputs: [
      commandsOf(BUDGET_COMMANDS, {
        key: { is: ({ envelope }) => envelope.tenant, name: 'tenant' },
        commands: {
          OpenBudget: command(BUDGET_ROLES, onOpen),
          ReserveBudget: command('anyone', (asked) => onReserve(asked, policy)),
          ReleaseReservation: command('anyone', ({ body, context }) =>
            answered(decideRelease(heldFor(context.state, body))),
          ),
          // Who may decide depends on how long it has waited.
          DecideEscalation: command('anyone', (asked) => onDecide(asked, policy)),
        },
      }),
      heardOf(MUTATIONS_LOG, {
        mode: 'broadcast',
        concerns: isOurs,
        records: {
          MutationRecorded: (asked) => onMutation(asked, policy),
          RecoverabilityChanged: ({ body, context }) => onRecoverability(context.state, body),
        },
      }),
    ],
    views: [contractView, entryView],
    rows: BUDGET_ROWS,
    keyOf: ({ tenant }) => tenant,
    evolve: EVOLVE,
    due: dueOf(policy),
  });
}

/** What happens when somebody has let the time of an open question or reservation pass. */
function dueOf(policy: EscalationPolicy): Due {
  return {
    escalation: ({ state, now }, { address }) => {
      const escalation = escalations.find(state, address.key);
      return append(...oneOrNone(escalation === null ? null : passOn(escalation, policy, now)));
    },
    reservation: ({ state, now }, { address }) => {
      const reservation = reservations.find(state, address.key);
      return append(...oneOrNone(reservation === null ? null : escalateReservation(reservation, policy, now)));
    },
  };
}

function oneOrNone<T>(one: T | null): readonly T[] {
  return one === null ? [] : [one];
}

function onOpen({ body, context: { state } }: Asked<BudgetCommand<'OpenBudget'>>): Decision {
  const { envelope, scope, scope_id, currency } = body;
  return answered(decideOpen(body, readBudget(state, envelope.tenant, scope, scope_id, currency)));
}

function onDecide({ body, context }: Asked<BudgetCommand<'DecideEscalation'>>, policy: EscalationPolicy): Decision {
  const escalation = isId(body.escalation_id) ? escalations.find(context.state, body.escalation_id) : null;
  const entries = context.views.view(entryView.name);
  const ownerOf = (agent: string): string | null =>
    charterFor(entries, body.envelope.tenant, agent.replace(/^agent:/u, ''))?.owner ?? null;
  return answered(decideEscalation(body, escalation, { now: context.now, policy, ownerOf }));
}

function onReserve({ body, context }: Asked<BudgetCommand<'ReserveBudget'>>, policy: EscalationPolicy): Decision {
  const { state, views, now } = context;
  const { run_id, effect_key, value, capability, agent_id } = body;
  const { tenant } = body.envelope;
  const killed = killVerdict(views.view(entryView.name), { tenant, agent: agent_id ?? '', capability });
  if (!killed.admitted) return refused(BUDGET_REJECTIONS.KILL_SWITCH, 'KILL_SWITCH', killed.reason);
  const known = contractByName(views.view(contractView.name), capability)?.contract;
  if (known === undefined) views.readToEnd();
  const usable = known !== undefined && (known.tenant === undefined || known.tenant === '*' || known.tenant === tenant);
  return answered(
    decideReserve(body, {
      reservation: reservations.find(state, reservationId(tenant, run_id, effect_key, value.currency)),
      scopes: scopesOf(state, tenant, run_id, value.currency),
      // Nothing declared counts as irreversible.
      weight: usable ? weightOf(known) : CLASS_WEIGHTS.irreversible,
      policy,
      now,
    }),
  );
}

function onMutation({ body: record, context }: Asked<Recorded>, policy: EscalationPolicy): Decision {
  const end = endOf(record);
  if (end === null) return NOTHING;
  const { tenant, run_id: runId, effect_key: effectKey, agent_id, initiator } = record.execution;
  const parties = partiesOf(agent_id, initiator);
  const [money, exposure] = [
    reservationIn(context.state, record, MONEY),
    isMarked(record) ? reservationIn(context.state, record, EXPOSURE) : null,
  ];
  if (end !== 'succeeded') return append(...release(money, end), ...release(exposure, end));
  const owed = debtOf(context, record);
  const ended = { mutationId: record.mutation_id, tenant, runId, effectKey, end, parties };
  return append(
    ...settle({ ...ended, debit: owed.money }, money, policy, context.now),
    ...settle({ ...ended, debit: owed.exposure }, exposure, policy, context.now),
  );
}

function onRecoverability(state: StateView, { event, members }: Changed): Decision {
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

/** What an execution owes in money and in disclosures, under the contract it ran under. */
function debtOf(
  { views }: DecideContext,
  record: Recorded,
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
function isMarked({ execution: { args } }: Recorded): boolean {
  return sensitivityOf(args) !== 'internal';
}

/** Does this record say how an effect ended, of a tenant that lives on the partition that reads it? (B2) */
function isOurs(record: RecordOf<typeof MUTATIONS_LOG>, owns: Owns): boolean {
  if (record.type === 'MutationRecorded')
    return isOf(record.body.execution.tenant, owns) && endOf(record.body) !== null;
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

/** What is reserved for an effect, in both units. */
function heldFor(
  state: StateView,
  { envelope: { tenant }, run_id, effect_key }: BudgetCommand<'ReleaseReservation'>,
): readonly Reservation[] {
  return [MONEY, EXPOSURE]
    .map((unit) => reservations.find(state, reservationId(tenant, run_id, effect_key, unit)))
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
