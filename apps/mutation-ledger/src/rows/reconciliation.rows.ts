// Rows of comparisons with runtimes, by runtime.
import { row } from '@recourse/event-log';
import type { LineageReconciled } from '@recourse/messages';
import type { Body } from '../rules/record.messages.js';
import { refScope } from '../rules/scope.js';
import type { Fold } from './fold.js';

/** A comparison as its row holds it. */
export type Reconciliation = Body<LineageReconciled> & { readonly diverges: boolean; readonly reconciled_at: number };

const reconciliations = row<Reconciliation>({
  kind: 'reconciliation',
  table: 'reconciliation',
  group: ({ tenant, runtime }) => refScope(tenant, runtime),
  key: ({ reconciliation_id: id }) => id,
  columns: { reconciliation_id: 'text', tenant: 'text', runtime: 'text', diverges: 'boolean', reconciled_at: 'bigint' },
  indexes: [['tenant', 'runtime', 'reconciled_at']],
});

export const RECONCILIATION_KINDS = [reconciliations.spec];

/** The row of an accepted comparison. */
export const RECONCILIATION_FOLD = {
  LineageReconciled: (told, _state, { decidedAt }) => [
    reconciliations.put({ ...told, diverges: told.contaminated.length > 0, reconciled_at: decidedAt }),
  ],
} satisfies Fold;
