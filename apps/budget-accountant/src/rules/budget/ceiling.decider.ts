// Decides how a ceiling moves: down or for less long at once, up or for longer by two people, and back when its time is over. Pure.
import { deriveId, isPerson } from '@recourse/kernel';
import type { BodyOf } from '@recourse/messages';
import { ceilingOf } from './bounds.decisions.js';
import { escalationIdOf, rejected, unfitAmounts, unfitScope } from './budget.decider.js';
import { PLATFORM_ROLE } from './budget.messages.js';
import type {
  Budget,
  BudgetAnswer,
  MoveTold,
  BudgetCommand,
  BudgetRecord,
  Decay,
  EscalationPolicy,
  Proposal,
} from './budget.messages.js';

type Move = BudgetCommand<'MoveCeiling'>;

/** Lowers a ceiling, or asks another person whether it may be raised. */
export function decideMove(
  command: Move,
  budget: Budget | null,
  policy: EscalationPolicy,
  now: number,
): BudgetAnswer<MoveTold> {
  const { currency, ceiling_minor, measure, until } = command;
  const unfit = unfitScope(command) ?? unfitAmounts([{ amount_minor: ceiling_minor, currency }]);
  if (unfit !== null) return unfit;
  if (until !== null && until <= now) return rejected('UNTIL_PAST', 'the time it falls back at has passed');
  const from = budget === null ? null : ceilingOf(budget, measure);
  if (budget === null || from === null) return rejected('BUDGET_UNKNOWN', 'nobody set this ceiling: open it');
  const fall = decaysOf(budget).find((one) => one.measure === measure) ?? null;
  const way = wayOf(command, from, fall);
  if (way === 'nowhere') {
    const outcome = { ...placeOf(command), ceiling_minor, until: fall?.at ?? null };
    return { kind: 'unchanged', phase: null, outcome };
  }
  return way === 'down' ? lowered(command, from) : proposed(command, from, policy, now);
}

/** Which way a ceiling moves: by as much as it stands at, it is higher for longer or for less long. */
function wayOf({ ceiling_minor, until }: Move, from: number, fall: Decay | null): 'up' | 'down' | 'nowhere' {
  if (ceiling_minor !== from) return ceiling_minor > from ? 'up' : 'down';
  // What falls back to nothing else stands as long as anybody says.
  if (fall === null || fall.to_minor === from || fall.at === until) return 'nowhere';
  const isLonger = until === null || until > fall.at;
  return isLonger === fall.to_minor < from ? 'up' : 'down';
}

function lowered(command: Move, from: number): BudgetAnswer<MoveTold> {
  const { envelope, ceiling_minor, until, reason } = command;
  const outcome = { ...placeOf(command), ceiling_minor, from_minor: from };
  const by = [envelope.principal];
  const body = { ...outcome, until, cause: 'lowered' as const, by, reason, command_id: envelope.command_id };
  return { kind: 'recorded', outcome, event: { type: 'CeilingMoved', body } };
}

function proposed(
  command: Move,
  from: number,
  { owner, deadlineMs }: EscalationPolicy,
  now: number,
): BudgetAnswer<MoveTold> {
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
        // Whoever is asked is who may agree.
        owner: place.scope === 'platform' ? `role:${PLATFORM_ROLE}` : owner,
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

/** Ceilings of a budget that fall back, the soonest first. */
export function decaysOf({ decay, decay_too }: Pick<Budget, 'decay' | 'decay_too'>): readonly Decay[] {
  return [decay, decay_too ?? null].filter((one) => one !== null).sort((one, other) => one.at - other.at);
}

type Moved = Pick<
  BodyOf<'recourse.budgets', 'CeilingMoved'>,
  'measure' | 'ceiling_minor' | 'from_minor' | 'until' | 'cause'
>;

/**
 * A budget whose ceiling moved, and what its ceilings fall back to.
 *
 * What was granted for a while is no higher for longer: it falls back to the lowest that it was before, also where it was raised
 * further or lowered a little meanwhile. Only what is lowered below that, or raised for good, falls back no more.
 */
export function withMoved({ decay, decay_too, ...budget }: Budget, moved: Moved): Budget {
  const { measure, ceiling_minor } = moved;
  const pending = decaysOf({ decay, ...(decay_too === undefined ? {} : { decay_too }) });
  const others = pending.filter((one) => one.measure !== measure);
  const own = pending.find((one) => one.measure === measure) ?? null;
  const next = fallOf(moved, own, ceilingOf({ ...budget, decay: null }, measure));
  const [first = null, second] = [...(next === null ? [] : [next]), ...others].sort((one, other) => one.at - other.at);
  const ceiling = measure === 'debt' ? { ceiling_minor } : { value_ceiling_minor: ceiling_minor };
  return { ...budget, ...ceiling, decay: first, ...(second === undefined ? {} : { decay_too: second }) };
}

/** What a ceiling falls back to after it moved; `own` is what it would have fallen back to. */
function fallOf(
  { measure, ceiling_minor, from_minor, until, cause }: Moved,
  own: Decay | null,
  standing: number | null,
): Decay | null {
  const isLowered = cause === 'lowered' && own !== null && own.to_minor < ceiling_minor;
  if (until === null) return isLowered ? own : null;
  const isSame = own !== null && ceiling_minor === from_minor;
  const to_minor = isSame ? own.to_minor : Math.min(from_minor, standing ?? from_minor, own?.to_minor ?? from_minor);
  return { measure, at: isLowered ? Math.min(until, own.at) : until, to_minor };
}

/** A budget as it stands now: a ceiling whose time is over has fallen back, also before a record says so. */
export function standingAt(budget: Budget, now: number): Budget {
  return decaysOf(budget)
    .filter(({ at }) => at <= now)
    .reduce((so, { measure, to_minor }) => {
      const fall = { measure, ceiling_minor: to_minor, from_minor: to_minor, until: null, cause: 'decayed' } as const;
      return withMoved(so, fall);
    }, budget);
}

/** Falls back to what it was; null while there is time. */
export function decayed(budget: Budget, now: number): BudgetRecord | null {
  const { tenant, scope, scope_id, currency, window } = budget;
  const [decay] = decaysOf(budget);
  if (decay === undefined || now < decay.at) return null;
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
