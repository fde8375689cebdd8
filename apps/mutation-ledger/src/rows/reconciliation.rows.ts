// Rows of comparisons with runtimes, by runtime.
import { row } from '@recourse/event-log';
import type { Change, StateView } from '@recourse/event-log';
import { divergenceIdOf, eachOnce } from '../rules/reconciliation/reconciliation.decider.js';
import type { Divergence } from '../rules/reconciliation/reconciliation.decider.js';
import type { LineageReconciled } from '@recourse/messages';
import type { Body } from '../rules/record.messages.js';
import { refScope } from '../rules/identity.js';
import type { Fold } from './fold.js';

/** A comparison as its row holds it: for whom what is kept was done is asked of the divergence alone. */
export type Reconciliation = Omit<Body<LineageReconciled>, 'initiators' | 'contract_digests'> & {
  readonly diverges: boolean;
  readonly reconciled_at: number;
};

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
  const before = divergenceIn(state, tenant, runtime);
  const agents = [...new Set([...(before?.agents ?? []), ...told.agents])];
  const initiators = [...new Set([...(before?.initiators ?? []), ...told.initiators])];
  const contract_digests = eachOnce([...(before?.contract_digests ?? []), ...told.contract_digests]);
  return [
    divergences.put({
      ...id,
      reconciliation_id,
      contaminated: contaminated.length,
      agents,
      ...(initiators.length === 0 ? {} : { initiators }),
      ...(contract_digests.length === 0 ? {} : { contract_digests }),
      owner,
      deadline_at,
    }),
  ];
}

/** The row of an accepted comparison. */
export const RECONCILIATION_FOLD = {
  LineageReconciled: (told, state, { decidedAt }) => {
    const { initiators: _initiators, contract_digests: _digests, ...compared } = told;
    return [
      reconciliations.put({ ...compared, diverges: told.contaminated.length > 0, reconciled_at: decidedAt }),
      ...diverging(state, told),
    ];
  },
  DivergenceReviewed: ({ tenant, runtime }) => {
    const id = divergenceIdOf(tenant, runtime);
    return [{ op: 'delete', address: { kind: 'divergence', group: id, key: id } }];
  },
} satisfies Fold;
