// Which bounds of a question are used by what: how to find the effects that count against each. Pure.
import type { Excess } from '@recourse/messages';
import { windowAt } from '../budget/bounds.decisions.js';
import type { Escalation } from '../budget/budget.messages.js';

/** A bound whose users are looked for. */
export type UsedBound = Pick<Excess, 'scope' | 'scope_id' | 'measure' | 'currency' | 'window'>;

/** Which effects count against a bound; undefined does not narrow. */
export interface UsersOf {
  readonly run_id?: string;
  /** Under all of these spellings. */
  readonly agent_id?: readonly string[];
  readonly capability?: string;
  /** Null where the bound counts calls. */
  readonly currency: string | null;
  readonly measure: 'debt' | 'value';
  /** Counted since, epoch milliseconds; 0 for ever. */
  readonly since: number;
  /** Overruns alone that no person has let stand. */
  readonly isOverrun: boolean;
}

/** What a question is asked in. */
interface QuestionOf {
  readonly runId: string;
  /** Every spelling of the agent whose account the bound is of. */
  readonly agents: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Bounds that something is used of; what binds in law, and how far one call reaches, no other effect uses. */
export function usedBoundsOf({ exceeded, proposal }: Pick<Escalation, 'exceeded' | 'proposal'>): readonly UsedBound[] {
  const asked = exceeded.filter(({ used_minor, measure }) => used_minor > 0 && measure !== 'scope');
  return proposal === null ? asked : [...asked, proposal];
}

/** How the effects that count against a bound are found. */
export function usersOf(
  { scope, scope_id, measure, currency, window }: UsedBound,
  { runId, agents, now }: QuestionOf,
): UsersOf {
  const windowed = window === 'hour' || window === 'day' ? window : 'life';
  return {
    ...placeOf(scope, scope_id, { runId, agents }),
    currency: currency === '' ? null : currency,
    measure: measure === 'debt' ? 'debt' : 'value',
    since: windowAt(windowed, now),
    isOverrun: measure === 'overrun',
  };
}

function placeOf(
  scope: string,
  id: string,
  { runId, agents }: Pick<QuestionOf, 'runId' | 'agents'>,
): Pick<UsersOf, 'run_id' | 'agent_id' | 'capability'> {
  switch (scope) {
    case 'run':
      return { run_id: id };
    case 'agent':
      return { agent_id: agents };
    case 'capability':
      return { run_id: runId, capability: id };
    default:
      return {};
  }
}
