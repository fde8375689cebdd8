// Columns by which bindings are read as lineage: who relies on which commit, over all partitions. Null for other refs.
import type { KindSpec, Row } from '@recourse/event-log';
import { commitOf } from '../rules/mutation/lineage.decider.js';
import type { Binding } from '../rules/mutation/mutation.messages.js';

export const LINEAGE_COLUMNS: KindSpec['columns'] = [
  lineage('parent_id', ({ ref }) => commitOf(ref)),
  lineage('parent_run_id', ({ parent_run_id: run }) => run ?? null),
  lineage('tenant', ({ tenant }) => tenant),
  lineage('run_id', ({ run_id }) => run_id),
];

function lineage(name: string, of: (binding: Binding) => string | null): KindSpec['columns'][number] {
  return {
    name,
    type: 'text',
    of: ({ doc }: Row) => {
      const binding = doc as Binding; // rows of this kind are bindings
      return binding.parent_run_id === undefined ? null : of(binding);
    },
  };
}
