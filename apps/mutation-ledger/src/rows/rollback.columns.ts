// Tables of rollbacks and undos: what lists, polls and reports find them by.
import type { ColumnSpec, KindSpec, Row } from '@recourse/event-log';
import type { RollbackDoc, RollbackMark } from '../rules/rollback/rollback.messages.js';
import type { UndoDoc } from '../rules/undo/undo.messages.js';

const texts = (...names: readonly (keyof RollbackDoc & keyof UndoDoc)[]): readonly ColumnSpec[] =>
  names.map((name) => ({ name, type: 'text', of: ({ doc }) => textOf(doc[name]) }));
const longs: readonly ColumnSpec[] = (['deadline_at', 'opened_at', 'updated_at'] as const).map((name) => ({
  name,
  type: 'bigint',
  of: ({ doc }) => (typeof doc[name] === 'number' ? doc[name] : null),
}));
const ofRollback = (name: string, of: (rollback: RollbackDoc) => string | null): ColumnSpec => ({
  name,
  type: 'text',
  of: (row) => of(rollbackOf(row)),
});

/** Null while the commit is not marked. */
const ofMark = (name: string, of: (mark: RollbackMark) => number): ColumnSpec => ({
  name,
  type: 'bigint',
  of: (row) => {
    const { mark } = rollbackOf(row);
    return mark === null ? null : of(mark);
  },
});

export const ROLLBACK_KINDS: readonly KindSpec[] = [
  {
    kind: 'rollback',
    table: 'rollbacks',
    columns: [
      ...texts('tenant', 'run_id', 'phase', 'command_id', 'owner'),
      ofRollback('mutation_id', ({ mutation_id }) => mutation_id),
      ofRollback('rollback_id', ({ rollback_id }) => rollback_id),
      ofRollback('agent_id', ({ agent_id }) => agent_id),
      ofRollback('policy', ({ policy }) => policy),
      ofRollback('source', ({ evidence }) => evidence.source),
      ofRollback('verdict', ({ judged }) => judged?.verdict ?? null),
      ofRollback('subject_ref', ({ mark }) => mark?.subject_ref ?? null),
      ...longs,
      ofMark('seq', ({ seq }) => seq),
      ofMark('member', ({ member }) => member),
    ],
    indexes: [
      ['tenant', 'phase', 'deadline_at'],
      ['tenant', 'source', 'opened_at'],
      ['rollback_id'],
      ['log_partition', 'seq', 'member'],
    ],
  },
  {
    kind: 'undo',
    table: 'undos',
    columns: [
      ...texts('tenant', 'run_id', 'phase', 'command_id', 'owner'),
      ...(['undo_id', 'recovery_id'] as const).map((name): ColumnSpec => ({
        name,
        type: 'text',
        of: ({ doc }) => textOf(doc[name]),
      })),
      ...longs,
    ],
    indexes: [['tenant', 'phase', 'deadline_at'], ['undo_id']],
  },
];

// Rows of this kind are written by rollback.rows.ts alone.
function rollbackOf(row: Row): RollbackDoc {
  return row.doc as RollbackDoc;
}
function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
