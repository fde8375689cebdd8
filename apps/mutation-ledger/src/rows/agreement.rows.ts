// Rows of agreements: what was asked and agreed to before an effect, kept for the end of its hold (L2).
import { row } from '@recourse/event-log';
import type { StateView } from '@recourse/event-log';
import type { Fold } from './fold.js';

/** What was last agreed to about an effect, until an attempt of it fails. */
export type Agreement = {
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly approval_id: string;
  readonly agreed_by: readonly string[];
};

const agreements = row<Agreement>({
  kind: 'agreement',
  table: 'agreements',
  group: ({ run_id }) => run_id,
  key: ({ mutation_id }) => mutation_id,
  columns: { mutation_id: 'text', tenant: 'text', run_id: 'text' },
  indexes: [],
});

export const AGREEMENT_KIND = agreements.spec;

/** What was agreed to about an effect; null where nobody told of it. */
export function agreementIn(state: StateView, runId: string, mutationId: string): Agreement | null {
  return agreements.find(state, runId, mutationId);
}

export const AGREEMENT_FOLD = {
  EffectAgreed: ({ mutation_id, tenant, run_id, approval_id, agreed_by }) => [
    agreements.put({ mutation_id, tenant, run_id, approval_id, agreed_by }),
  ],
  // It was agreed to one attempt: the next is asked for anew (P4).
  MutationRecorded: ({ mutation_id, execution: { run_id }, execution_state }) =>
    execution_state === 'failed'
      ? [{ op: 'delete', address: { kind: AGREEMENT_KIND.kind, group: run_id, key: mutation_id } }]
      : [],
} satisfies Fold;
