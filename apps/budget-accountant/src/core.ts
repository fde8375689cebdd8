// The budgets log as a table: commands and mutations in, reservations and debits out.
//
// Boundary: translates between the loop and the rules; looks up contracts, derives ids, picks the rows.
//
// Invariants
//   B1. All debts of a tenant are decided on the tenant's partition, one after another: that is the lock (P8).
//   B2. `mutations` is read from every partition; a record of a tenant that lives elsewhere is somebody else's.
//   B3. Each effect has one reservation id; whatever is said twice changes nothing the second time.
import {
  contractByName,
  contractView,
  editorsOf as editorsIn,
  entryView,
  ownersEver,
  isSomeAgentStopped,
  killVerdict,
  reservationId,
  termsOf,
} from '@recourse/contract';
import type { ContractEntries } from '@recourse/contract';
import { accepted, append, command, commandsOf, core, heardOf, refused, toldOn } from '@recourse/event-log';
import type { Asked, Decision, Doc, Due, InputTable, ServiceCore, StateView } from '@recourse/event-log';
import { boundsOf, subjectIdOf } from './core/bounds.js';
import { MUTATIONS_LOG, isOurs, onCompensations, onMutation, onRecoverability } from './core/debts.js';
import { takenBackBy } from './core/compensations.js';
import { decideOpen, escalationIdOf } from './rules/budget/budget.decider.js';
import { agentOf, decideRelease, decideReserve } from './rules/budget/reservation.decider.js';
import { decayed, decideMove } from './rules/budget/ceiling.decider.js';
import { allowanceFor, isJudgedFalse, onAutonomyDue, onFreeze, onSignalled, onUnfreeze } from './core/autonomy.js';
import { afterBreach, afterUndoing, onJudged, onUndoingDue } from './core/undoings.js';
import { onApprovalUsed, onReservationDue } from './core/approvals.js';
import { onOutcome } from './core/outcomes.js';
import { FREEZE_ROLES, UNFREEZE_ROLES } from './rules/autonomy/autonomy.messages.js';
import { allowanceShown, rungRefusal, underRung } from './rules/autonomy/grant.decisions.js';
import { decideEscalation } from './rules/budget/escalation.decider.js';
import { BUDGET_REJECTIONS, BUDGET_ROLES } from './rules/budget/budget.messages.js';
import { ceilingOf } from './rules/budget/bounds.decisions.js';
import type {
  BudgetAnswer,
  BudgetCommand,
  EscalationPolicy,
  Proposal,
  Reservation,
} from './rules/budget/budget.messages.js';
import { wantedOf } from './rules/budget/approval.decisions.js';
import { passOn } from './rules/budget/overdue.decider.js';
import { EVOLVE } from './rows.js';
import { AUTONOMY_ROWS } from './rows/autonomy.rows.js';
import { OUTCOME_ROWS } from './rows/outcome.rows.js';
import { STANDING_ROWS } from './rows/standing.rows.js';
import { accountOf, budgetAt, BUDGET_ROWS, budgets, escalations, placeOf, reservations } from './rows/kinds.js';

export const BUDGETS_LOG = 'recourse.budgets';
const RECOVERIES_LOG = 'recourse.recoveries';
export const BUDGET_COMMANDS = 'recourse.budget-commands';
export const AGENT_SIGNALS = 'recourse.agent-signals';

export interface BudgetsCoreConfig {
  /** Who is asked about escalations and overruns. */
  readonly escalationOwner?: string;
  /** How long a person has to decide; milliseconds. */
  readonly escalationDeadlineMs?: number;
  /** How long a reservation may stand unused before a person is asked; milliseconds. */
  readonly settleWithinMs?: number;
  /** How long the record of an approval may take after that of its effect before a person is asked; milliseconds. */
  readonly approvalWithinMs?: number;
}

/** A working day and a night: an escalation stops an agent, an overrun has already happened. */
const ESCALATION_DEADLINE_MS = 24 * 3_600_000;

/** A day: longer than an agent's run, shorter than anybody wants a budget held for nothing. */
const SETTLE_WITHIN_MS = 24 * 3_600_000;

/** Longer than a log is read late while services run; after a start nothing is due before all was read (L10). */
const APPROVAL_WITHIN_MS = 5 * 60_000;

/** Builds the core of the budget accountant. */
export function budgetsCore(config: BudgetsCoreConfig = {}): ServiceCore {
  const policy: EscalationPolicy = {
    owner: config.escalationOwner ?? 'role:approver',
    deadlineMs: config.escalationDeadlineMs ?? ESCALATION_DEADLINE_MS,
    settleWithinMs: config.settleWithinMs ?? SETTLE_WITHIN_MS,
    approvalWithinMs: config.approvalWithinMs ?? APPROVAL_WITHIN_MS,
  };
  return core<typeof BUDGETS_LOG>(BUDGETS_LOG, {
    inputs: [
      commandsOf(BUDGET_COMMANDS, {
        key: { is: ({ envelope }) => envelope.tenant, name: 'tenant' },
        commands: {
          OpenBudget: command(BUDGET_ROLES, onOpen),
          MoveCeiling: command(BUDGET_ROLES, (asked) => onMove(asked, policy)),
          ReserveBudget: command(['agent'], (asked) => onReserve(asked, policy)),
          ReleaseReservation: command(['agent', 'administrator'], onRelease),
          // Who may decide depends on how long it has waited.
          DecideEscalation: command('anyone', (asked) => onDecide(asked, policy)),
          FreezeAutonomy: command(FREEZE_ROLES, onFreeze),
          UnfreezeAutonomy: command(UNFREEZE_ROLES, onUnfreeze),
        },
      }),
      // A record under another key than its tenant is refused by its decider: parked, it would hold up that key.
      toldOn(AGENT_SIGNALS, { key: null, records: { AgentSignalled: onSignalled, OutcomeRecorded: onOutcome } }),
      ...heardLogs(policy),
    ],
    views: [contractView, entryView],
    rows: [...BUDGET_ROWS, ...STANDING_ROWS, ...AUTONOMY_ROWS, ...OUTCOME_ROWS],
    edition: 4,
    keyOf: ({ tenant }) => tenant,
    evolve: EVOLVE,
    due: dueOf(policy),
  });
}

/** What was done is booked together: who asks for a budget is a command, which takes along what came before it. */
const PATIENCE_MS = 250;

/** What the ledger recorded, and which approvals were used. */
function heardLogs(policy: EscalationPolicy): readonly InputTable[] {
  return [
    heardOf(MUTATIONS_LOG, {
      mode: 'broadcast',
      patienceMs: PATIENCE_MS,
      concerns: (record, owns) => isOurs(record, owns) || isJudgedFalse(record, owns),
      records: {
        MutationRecorded: (asked) => {
          const { mutation_id, execution } = asked.body;
          return afterBreach(onMutation(asked, policy), { mutation_id, ...execution }, asked.context);
        },
        RecoverabilityChanged: (asked) => afterUndoing(onRecoverability(asked.context.state, asked.body), asked),
        SourceJudged: onJudged,
        CompensationsExecuted: (asked) => onCompensations(asked, policy),
      },
    }),
    heardOf(RECOVERIES_LOG, {
      mode: 'broadcast',
      patienceMs: PATIENCE_MS,
      concerns: ({ type, body }, owns) => type === 'ForwardApprovalUsed' && body.tenant !== '' && owns(body.tenant),
      records: { ForwardApprovalUsed: onApprovalUsed },
    }),
  ];
}

/** What happens when somebody has let the time of an open question or reservation pass. */
function dueOf(policy: EscalationPolicy): Due {
  return {
    autonomy: onAutonomyDue,
    undone_leg: onUndoingDue,
    budget: ({ state, now }, { address }) => {
      const budget = budgets.find(state, address.group, address.key);
      return append(...oneOrNone(budget === null ? null : decayed(budget, now)));
    },
    escalation: ({ state, now }, { address }) => {
      const escalation = escalations.find(state, address.key);
      return append(...oneOrNone(escalation === null ? null : passOn(escalation, policy, now)));
    },
    reservation: (context, { address }) => onReservationDue(context, address.key, policy),
  };
}

function oneOrNone<T>(one: T | null): readonly T[] {
  return one === null ? [] : [one];
}

function onOpen({ body, context: { state, now, views } }: Asked<BudgetCommand<'OpenBudget'>>) {
  const { tenant } = body.envelope;
  const command = placeOf(state, tenant, body);
  const { scope, scope_id } = command;
  const owners = scope === 'agent' ? ownersEver(views.view(entryView.name), tenant, scope_id) : [];
  return answered(decideOpen(command, budgetAt(state, { ...command, tenant }, now), owners));
}

function onMove({ body, context }: Asked<BudgetCommand<'MoveCeiling'>>, policy: EscalationPolicy) {
  const command = placeOf(context.state, body.envelope.tenant, body);
  const budget = budgetAt(context.state, { ...command, tenant: command.envelope.tenant }, context.now);
  return answered(decideMove(command, budget, policy, context.now));
}

function onDecide({ body, context }: Asked<BudgetCommand<'DecideEscalation'>>, policy: EscalationPolicy) {
  const escalation = isId(body.escalation_id) ? escalations.find(context.state, body.escalation_id) : null;
  const entries = context.views.view(entryView.name);
  const ownersOf = (agent: string): readonly string[] => ownersEver(entries, body.envelope.tenant, agent);
  const editorsOf = (digest: string): readonly string[] => {
    // An edit of a moment ago counts too.
    context.views.readToEnd();
    return editorsIn(context.views.view(contractView.name), body.envelope.tenant, Buffer.from(digest, 'hex'));
  };
  const ceilingNow = (proposal: Proposal): number | null => {
    const budget = budgetAt(context.state, proposal, context.now);
    return budget === null ? null : ceilingOf(budget, proposal.measure);
  };
  const facts = { now: context.now, policy, ceilingOf: ceilingNow, ownersOf, editorsOf };
  return answered(decideEscalation(body, escalation, facts));
}

function onRelease({ body, context }: Asked<BudgetCommand<'ReleaseReservation'>>) {
  return answered(decideRelease(body, heldFor(context.state, body)));
}

function onReserve({ body, context }: Asked<BudgetCommand<'ReserveBudget'>>, policy: EscalationPolicy) {
  const { state, views } = context;
  const { run_id: runId, effect_key, capability, subject_ref, reach } = body;
  const { tenant } = body.envelope;
  const stopped = stoppedBy(views.view(entryView.name), body);
  if (stopped !== null) return stopped;
  const allowance = allowanceFor(context, body.envelope, body);
  const id = reservationId(tenant, runId, effect_key);
  const reservation = reservations.find(state, id);
  if (allowance.forward_approval === 'refused')
    return refused(BUDGET_REJECTIONS.RUNG_TOO_LOW, 'RUNG_TOO_LOW', rungRefusal(allowance), allowanceShown(allowance));
  const wanted = wantedOf(allowance.forward_approval, reservation);
  const found = contractByName(views.view(contractView.name), tenant, capability);
  if (found === undefined) views.readToEnd();
  const contract = found?.contract;
  const accounts = { tenant, runId, agentId: accountOf(state, tenant, agentOf(body)) };
  const call = { capability, subjectId: subjectIdOf(tenant, subject_ref), reach, isSubjectless: subject_ref === null };
  const bounds = boundsOf(context, accounts, contract, call);
  const decision = answered(
    decideReserve(body, {
      reservation,
      askedAbout: escalations.find(state, escalationIdOf(id))?.exceeded ?? [],
      forwardApproval: wanted,
      bounds: underRung(bounds, allowance, body.values, tenant),
      contract,
      terms: found === undefined ? null : termsOf(found.contract, found.digest),
      ...takenBackBy(context, { ...body, tenant }),
      subjectId: call.subjectId,
      agentId: accounts.agentId,
      policy,
    }),
  );
  // A switch, a policy or a contract of a moment ago counts too.
  if (decision.records.length > 0) views.readToEnd();
  return told(decision, allowanceShown({ ...allowance, forward_approval: wanted ?? 'policy' }));
}

/** What a kill switch says of a reservation: who acts, its token says; and which agent, it has to say while some agent is stopped. */
function stoppedBy(entries: ContractEntries, command: BudgetCommand<'ReserveBudget'>): Decision<never> | null {
  const { envelope: asker, agent_id, capability } = command;
  const { tenant } = asker;
  const verdict = killVerdict(entries, { tenant, agent: agentOf(command), capability, asker });
  if (!verdict.admitted) return refused(BUDGET_REJECTIONS.KILL_SWITCH, 'KILL_SWITCH', verdict.reason);
  if (agent_id !== null || !isSomeAgentStopped(entries, tenant)) return null;
  const why = 'a kill switch stops an agent of this tenant: say as agent_id which agent is about to act';
  return refused(BUDGET_REJECTIONS.AGENT_UNNAMED, 'AGENT_UNNAMED', why);
}

/** The answer with more in it. */
function told<Told extends Doc, More extends Doc>(decision: Decision<Told>, more: More): Decision<Told & More> {
  const { records, answer } = decision;
  return answer === undefined ? { records } : { records, answer: { ...answer, body: { ...answer.body, ...more } } };
}

/** What is reserved for an effect. */
function heldFor(
  state: StateView,
  { envelope: { tenant }, run_id, effect_key }: BudgetCommand<'ReleaseReservation'>,
): Reservation | null {
  return reservations.find(state, reservationId(tenant, run_id, effect_key));
}

function answered<Told extends Doc>(answer: BudgetAnswer<Told>): Decision<Told> {
  switch (answer.kind) {
    case 'recorded':
      return accepted(
        answer.outcome['phase'] === 'escalated' ? 202 : (STATUS_OF_EVENT[answer.event.type] ?? 200),
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
  CeilingProposed: 202,
};

/** Anything else is no id of ours, and may be no address at all. */
function isId(id: string): boolean {
  return /^esc_[0-9a-f]{32}$/.test(id);
}
