// Rows of comparisons with runtimes, by runtime.
import { row } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { divergenceIdOf } from '../rules/reconciliation/reconciliation.decider.js';
import type { Divergence } from '../rules/reconciliation/reconciliation.decider.js';
import type { LineageReconciled } from '@recourse/messages';
import type { Body } from '../rules/record.messages.js';
import { refScope } from '../rules/identity.js';
import type { Fold } from './fold.js';

/** A comparison as its row holds it. */
export type Reconciliation = Body<LineageReconciled> & { readonly diverges: boolean; readonly reconciled_at: number };

const reconciliations = row<Reconciliation>({
  kind: 'reconciliation',
  table: 'reconciliation',
  group: ({ tenant, runtime }) => refScope(tenant, runtime),
  key: ({ reconciliation_id: id }) => id,
  columns: { reconciliation_id: 'text', tenant: 'text', runtime: 'text', diverges: 'boolean', reconciled_at: 'bigint' },
  indexes: [
    ['tenant', 'runtime', 'reconciled_at'],
    ['tenant', 'diverges'],
  ],
});

const divergences = row<Divergence>({
  kind: 'divergence',
  table: 'divergence',
  group: ({ divergence_id }) => divergence_id,
  key: ({ divergence_id }) => divergence_id,
  columns: { divergence_id: 'text', tenant: 'text', runtime: 'text', owner: 'text', deadline_at: 'bigint' },
  indexes: [['tenant', 'deadline_at'], ['divergence_id']],
});

export const RECONCILIATION_KINDS = [reconciliations.spec, divergences.spec];

/** What a runtime keeps that waits for a person; null where nothing does. */
export function divergenceIn(state: StateView, tenant: string, runtime: string): Divergence | null {
  return divergences.find(state, divergenceIdOf(tenant, runtime));
}

/** Opens the question, or leaves it with its deadline; a comparison that finds nothing says nothing of the rest of the runtime. */
function diverging(
  state: StateView,
  { tenant, runtime, contaminated, ...told }: Body<LineageReconciled>,
): readonly Change[] {
  const { reconciliation_id, owner, deadline_at } = told;
  if (owner === null || deadline_at === null) return [];
  const id = { divergence_id: divergenceIdOf(tenant, runtime), tenant, runtime };
  const agents = [...new Set([...(divergenceIn(state, tenant, runtime)?.agents ?? []), ...told.agents])];
  return [divergences.put({ ...id, reconciliation_id, contaminated: contaminated.length, agents, owner, deadline_at })];
}

/** The row of an accepted comparison. */
export const RECONCILIATION_FOLD = {
  LineageReconciled: (told, state, { decidedAt }) => [
    reconciliations.put({ ...told, diverges: told.contaminated.length > 0, reconciled_at: decidedAt }),
    ...diverging(state, told),
  ],
  DivergenceReviewed: ({ tenant, runtime }) => {
    const id = divergenceIdOf(tenant, runtime);
    return [{ op: 'delete', address: { kind: 'divergence', group: id, key: id } }];
  },
} satisfies Fold;
