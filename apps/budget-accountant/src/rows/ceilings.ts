// What records about ceilings change. Holds no rules.
import type { AcceptedRecord, Change, StateView } from '@recourse/event-log';
import type { BodyOf } from '@recourse/messages';
import { windowAt } from '../rules/budget/bounds.decisions.js';
import type { Budget, BudgetKey } from '../rules/budget/budget.messages.js';
import { withMoved } from '../rules/budget/ceiling.decider.js';
import { briefOf } from '@recourse/contract';
import { budgets, escalations, readBudget, standingBudget } from './kinds.js';
import { spelt } from './names.rows.js';

type Opened = BodyOf<'recourse.budgets', 'BudgetOpened'>;
type At = Pick<AcceptedRecord, 'decidedAt'>;

/** Sets a ceiling. */
export function opened(body: Opened, state: StateView, { decidedAt }: At): readonly Change[] {
  const { tenant, scope, scope_id, currency, window, measure, refunds, ceiling_minor } = body;
  const key = { tenant, scope, scope_id, currency, window };
  const standing = readBudget(state, key) ?? begun(state, key, decidedAt);
  const ceiling =
    measure === 'debt' ? { ceiling_minor, refunds } : { value_ceiling_minor: ceiling_minor, value_refunds: refunds };
  return [budgets.put({ ...standing, ...ceiling }), ...(scope === 'agent' ? spelt(state, tenant, scope_id) : [])];
}

/** A ceiling of the platform counts what its tenant has used before it was set; one over a window counts from then on. */
function begun(state: StateView, key: BudgetKey, at: number): Budget {
  const empty = standingBudget(state, key);
  if (key.window !== 'life') return { ...empty, window_at: windowAt(key.window, at), since: at };
  if (key.scope !== 'platform') return empty;
  const { used_minor, refunded_minor, moved_minor, moved_back_minor } = standingBudget(state, {
    ...key,
    scope: 'tenant',
  });
  return { ...empty, used_minor, refunded_minor, moved_minor, moved_back_minor };
}

type Proposed = BodyOf<'recourse.budgets', 'CeilingProposed'>;

/** Asks another person whether a ceiling may be raised. */
export function proposed(body: Proposed): readonly Change[] {
  const { escalation_id, run_id, owner, deadline_at, command_id: _command, ...proposal } = body;
  const { proposal_id, tenant, by } = proposal;
  return [
    escalations.put({
      escalation_id,
      reservation_id: proposal_id,
      tenant,
      run_id,
      effect_key: '',
      about: 'raise',
      proposal,
      agent_id: null,
      capability: null,
      brief: briefOf(proposal.reason, null),
      parties: [by],
      contract_digest: null,
      exceeded: [],
      debits: [],
      requested_by: by,
      owner,
      deadline_at,
      is_overdue: false,
      phase: 'open',
      decided_by: null,
      reason: null,
    }),
  ];
}

type Moved = BodyOf<'recourse.budgets', 'CeilingMoved'>;

/** Moves a ceiling, and remembers what it falls back to. */
export function fallen(body: Moved, state: StateView): readonly Change[] {
  const { tenant, scope, scope_id, currency, window } = body;
  const standing = standingBudget(state, { tenant, scope, scope_id, currency, window });
  return [budgets.put(withMoved(standing, body))];
}
