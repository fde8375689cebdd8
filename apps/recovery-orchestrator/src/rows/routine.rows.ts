// Rows of what routine rules let go: one for each rule and agent, and one for each rule and tenant; each a group of its own.
import { row } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { countedAfter, routineCountId } from '../rules/forward/routine.decisions.js';
import type { RoutineCap } from '../rules/forward/routine.decisions.js';
import type { RoutineCountDoc } from '../rules/forward/routine.messages.js';
import type { ForwardRecord } from '../rules/forward/forward.messages.js';

const counts = row<RoutineCountDoc>({
  kind: 'routine',
  table: 'routine_counts',
  group: ({ count_id }) => count_id,
  key: ({ count_id }) => count_id,
  columns: {
    tenant: 'text',
    count_id: 'text',
    bundle: 'text',
    rule: 'text',
    scope: 'text',
    name: 'text',
    updated_at: 'bigint',
  },
  indexes: [['tenant', 'bundle', 'rule']],
});

export const routineKind = counts.spec;

/** When actions were let go that count against a cap. */
export function readLetGo(state: StateView, tenant: string, cap: RoutineCap): readonly number[] {
  const id = routineCountId(tenant, cap);
  return counts.find(state, id, id)?.let_go_at ?? [];
}

/** Rows that a record of a decision adds one to; none where people decided. */
export function evolveRoutine(state: StateView, told: ForwardRecord, at: number): readonly Change[] {
  if (told.type !== 'ForwardApprovalDecided' || told.body.routine === null) return [];
  const {
    tenant,
    routine: { bundle, rule, counted },
  } = told.body;
  return counted.map(({ scope, name }) => {
    const count_id = routineCountId(tenant, { bundle, rule, scope, name });
    const standing = counts.find(state, count_id, count_id) ?? undefined;
    return counts.put(countedAfter(standing, { count_id, tenant, bundle, rule, scope, name }, at));
  });
}
