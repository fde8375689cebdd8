// What records about ceilings change. Holds no rules.
import type { AcceptedRecord, Change, StateView } from '@recourse/event-log';
import type { BodyOf } from '@recourse/messages';
import { windowAt } from '../rules/budget/bounds.decisions.js';
import { budgets, readBudget, standingBudget } from './kinds.js';

type Opened = BodyOf<'recourse.budgets', 'BudgetOpened'>;
type At = Pick<AcceptedRecord, 'decidedAt'>;

/** Sets a ceiling. */
export function opened(body: Opened, state: StateView, { decidedAt }: At): readonly Change[] {
  const { tenant, scope, scope_id, currency, window, measure, refunds, ceiling_minor } = body;
  const key = { tenant, scope, scope_id, currency, window };
  const standing = readBudget(state, key) ?? { ...begun(state, key), window_at: windowAt(window, decidedAt) };
  const ceiling =
    measure === 'debt' ? { ceiling_minor, refunds } : { value_ceiling_minor: ceiling_minor, value_refunds: refunds };
  return [budgets.put({ ...standing, ...ceiling })];
}

/** A ceiling of the platform counts what its tenant has used before it was set; one over a window counts from then on. */
function begun(state: StateView, key: Parameters<typeof standingBudget>[1]): ReturnType<typeof standingBudget> {
  const empty = standingBudget(state, key);
  if (key.scope !== 'platform' || key.window !== 'life') return empty;
  const { used_minor, refunded_minor, moved_minor, moved_back_minor } = standingBudget(state, {
    ...key,
    scope: 'tenant',
  });
  return { ...empty, used_minor, refunded_minor, moved_minor, moved_back_minor };
}
