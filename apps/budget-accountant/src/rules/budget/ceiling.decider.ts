// Decides how a ceiling moves: down at once, up by two people, and back when its time is over. Pure.
import { deriveId, isPerson } from '@recourse/kernel';
import type { BodyOf } from '@recourse/messages';
import { ceilingOf } from './bounds.decisions.js';
import { escalationIdOf, rejected, unfitAmounts, unfitScope } from './budget.decider.js';
import type {
  Budget,
  BudgetAnswer,
  BudgetCommand,
  BudgetRecord,
  EscalationPolicy,
  Proposal,
} from './budget.messages.js';

type Move = BudgetCommand<'MoveCeiling'>;

/** Lowers a ceiling, or asks another person whether it may be raised. */
export function decideMove(command: Move, budget: Budget | null, policy: EscalationPolicy, now: number): BudgetAnswer {
  const { currency, ceiling_minor, measure, until } = command;
  const unfit = unfitScope(command) ?? unfitAmounts([{ amount_minor: ceiling_minor, currency }]);
  if (unfit !== null) return unfit;
  if (until !== null && until <= now) return rejected('UNTIL_PAST', 'the time it falls back at has passed');
  const from = budget === null ? null : ceilingOf(budget, measure);
  if (from === null) return rejected('BUDGET_UNKNOWN', 'nobody set this ceiling: open it');
  if (from === ceiling_minor) return { kind: 'unchanged', phase: null, outcome: placeOf(command) };
  return ceiling_minor < from ? lowered(command, from) : proposed(command, from, policy, now);
}

function lowered(command: Move, from: number): BudgetAnswer {
  const { envelope, ceiling_minor, until, reason } = command;
  const outcome = { ...placeOf(command), ceiling_minor, from_minor: from };
  const by = [envelope.principal];
  const body = { ...outcome, until, cause: 'lowered' as const, by, reason, command_id: envelope.command_id };
  return { kind: 'recorded', outcome, event: { type: 'CeilingMoved', body } };
}

function proposed(command: Move, from: number, { owner, deadlineMs }: EscalationPolicy, now: number): BudgetAnswer {
  const { envelope, ceiling_minor, until, reason } = command;
  const { tenant, principal, command_id } = envelope;
  if (!isPerson(principal))
    return rejected(
      'APPROVER_NOT_A_PERSON',
      'a ceiling is raised by two people: no agent, no service account, no role',
    );
  const id = deriveId('cei', tenant, command_id);
  const place = placeOf(command);
  const outcome = { ...place, ceiling_minor, from_minor: from, escalation_id: escalationIdOf(id) };
  return {
    kind: 'recorded',
    outcome,
    event: {
      type: 'CeilingProposed',
      body: {
        ...outcome,
        proposal_id: id,
        run_id: place.scope === 'run' ? place.scope_id : '',
        until,
        by: principal,
        reason,
        owner,
        deadline_at: now + deadlineMs,
        command_id,
      },
    },
  };
}

/** What follows from another person's yes. */
export function raised(proposal: Proposal, by: string, commandId: string): BudgetRecord {
  const { proposal_id: _id, by: proposer, ...rest } = proposal;
  const body = { ...rest, cause: 'raised' as const, by: [proposer, by], command_id: commandId };
  return { type: 'CeilingMoved', body };
}

/** Falls back to what it was; null while there is time. */
export function decayed(budget: Budget, now: number): BudgetRecord | null {
  const { decay, tenant, scope, scope_id, currency, window } = budget;
  if (decay === null || now < decay.at) return null;
  return {
    type: 'CeilingMoved',
    body: {
      tenant,
      scope,
      scope_id,
      currency,
      window,
      measure: decay.measure,
      from_minor: ceilingOf(budget, decay.measure) ?? decay.to_minor,
      ceiling_minor: decay.to_minor,
      until: null,
      cause: 'decayed',
      by: [],
      reason: 'UNTIL_REACHED',
      command_id: '',
    },
  };
}

function placeOf({
  envelope,
  scope,
  scope_id,
  currency,
  measure,
  window,
}: Move): Pick<
  BodyOf<'recourse.budgets', 'CeilingMoved'>,
  'tenant' | 'scope' | 'scope_id' | 'currency' | 'measure' | 'window'
> {
  return { tenant: envelope.tenant, scope, scope_id, currency, measure, window };
}
