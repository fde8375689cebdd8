// Rows of compensations, by run: one for each mutation that something was called to undo.
//
// Boundary: a kind of its own. What lists the mutations of a run to undo them never meets one.
import { row } from '@recourse/event-log';
import type { ColumnSpec, KindSpec, StateView } from '@recourse/event-log';
import type { Compensation } from '../rules/compensation/compensation.messages.js';
import { foldEach } from './fold.js';
import type { Fold } from './fold.js';

const compensations = row<Compensation>({
  kind: 'compensation',
  table: 'compensation',
  group: ({ run_id }) => run_id,
  key: ({ compensation_id }) => compensation_id,
  columns: {
    compensation_id: 'text',
    reverses_mutation_id: 'text',
    tenant: 'text',
    run_id: 'text',
    effect_key: 'text',
    capability: 'text',
    subject_ref: 'text',
    execution_state: 'text',
    rollback_id: 'text',
    created_at: 'bigint',
    updated_at: 'bigint',
  },
  indexes: [['compensation_id'], ['reverses_mutation_id'], ['run_id']],
});

/** How it ended is its status word: nothing is done about it. */
const STATUS: ColumnSpec = { name: 'status', type: 'text', of: ({ doc }) => String(doc['execution_state']) };

export const COMPENSATION_KINDS: readonly KindSpec[] = [
  {
    ...compensations.spec,
    columns: [...compensations.spec.columns, STATUS],
    indexes: [...(compensations.spec.indexes ?? []), ['status', 'updated_at']],
  },
];

/** The compensation of that id. */
export function compensationIn(state: StateView, runId: string, compensationId: string): Compensation | undefined {
  return compensations.find(state, runId, compensationId) ?? undefined;
}

/** What records of executed compensations make of rows. */
export const COMPENSATION_FOLD = {
  CompensationsExecuted: ({ tenant, run_id, recovery_id, members }, state, { decidedAt, hash, seq }) =>
    foldEach(state, members, (member, rows) => [
      compensations.put({
        ...member,
        tenant,
        run_id,
        recovery_id,
        recorded_hash: hash,
        recorded_seq: seq,
        created_at: compensationIn(rows, run_id, member.compensation_id)?.created_at ?? decidedAt,
        updated_at: decidedAt,
      }),
    ]),
} satisfies Fold;
