// Rows of the orchestrator as tables: what people list, sort and filter by. Every open item has a deadline and an owner (P12).
import type { AcceptedRecord, Change, ColumnSpec, KindSpec, Row, StateView } from '@recourse/event-log';
import type { PaceDoc } from '../rules/admission/pace.decisions.js';
import { paceIdOf } from '../rules/admission/pace.decisions.js';
import { dependentKey } from '../rules/lineage/dependents.decisions.js';
import type { DependentDoc } from '../rules/lineage/dependents.messages.js';
import type { ByType, RecordType } from '../rules/record.messages.js';
import type { ApprovalDoc, HaltDoc, RecoveryDoc, StepDoc } from '../rules/step/step.messages.js';
import { failedAt, isUnattended } from '../rules/step/verdict.decisions.js';
import type { IncidentDoc, TaskDoc } from '../rules/task/task.messages.js';
import { forwardKind } from './forward.rows.js';
import { routineKind } from './routine.rows.js';

/** What records of some types make of rows. */
export type Fold<Type extends RecordType = RecordType> = ByType<
  Type,
  [state: StateView, record: AcceptedRecord],
  readonly Change[]
>;

/** Documents by kind. */
interface RowDocs {
  readonly step: StepDoc;
  readonly recovery: RecoveryDoc;
  readonly approval: ApprovalDoc;
  readonly task: TaskDoc;
  readonly incident: IncidentDoc;
  readonly dependent: DependentDoc;
}

type RowKind = keyof RowDocs;

/** Key of a row within its run. */
const KEY_OF: { readonly [Kind in RowKind]: (doc: RowDocs[Kind]) => string } = {
  step: (doc) => doc.step_id,
  recovery: (doc) => doc.recovery_id,
  approval: (doc) => doc.approval_id,
  task: (doc) => doc.task_id,
  incident: (doc) => doc.incident_id,
  dependent: dependentKey,
};

/** A row of the run its document names. */
export function rowOf<Kind extends RowKind>(kind: Kind, doc: RowDocs[Kind], dueAt: number | null = null): Row {
  return { kind, group: doc.run_id, key: KEY_OF[kind](doc), dueAt, doc };
}

/** Reads one row. */
export function readRow<Kind extends RowKind>(
  state: StateView,
  kind: Kind,
  runId: string,
  key: string,
): RowDocs[Kind] | undefined {
  // Rows of a kind are written by rowOf alone, so a document of the kind has its type.
  return state.get(kind, runId, key) as RowDocs[Kind] | undefined;
}

/** Reads all rows of a run, ordered by key. */
export function readRows<Kind extends RowKind>(state: StateView, kind: Kind, runId: string): readonly RowDocs[Kind][] {
  // As in readRow.
  return state.list(kind, runId) as readonly RowDocs[Kind][];
}

/** Puts a row. */
export function put(row: Row): Change {
  return { op: 'put', row };
}

/** Halted steps of a partition are one group: a change of the switches looks at all of them. */
export const HALTED = 'halted';

/** The row of a halted step; it is looked at again at `dueAt`. */
export function haltRow(halt: HaltDoc, dueAt: number | null): Row {
  return { kind: 'halt', group: HALTED, key: halt.step_id, dueAt, doc: halt };
}

/** Halted steps of the partition, ordered by step. */
export function readHalts(state: StateView): readonly HaltDoc[] {
  // Rows of this kind are written by haltRow alone.
  return state.list('halt', HALTED) as readonly HaltDoc[];
}

/** One of them. */
export function readHalt(state: StateView, stepId: string): HaltDoc | undefined {
  // As in readHalts.
  return state.get('halt', HALTED, stepId) as HaltDoc | undefined;
}

const texts = (...names: readonly string[]): readonly ColumnSpec[] =>
  names.map((name) => ({ name, type: 'text', of: (row) => textOf(row.doc[name]) }));
const longs = (...names: readonly string[]): readonly ColumnSpec[] =>
  names.map((name) => ({ name, type: 'bigint', of: (row) => longOf(row.doc[name]) }));

/** Rows of what holds a dispatch back. */
const DISPATCH_KINDS: readonly KindSpec[] = [
  {
    kind: 'breaker',
    table: 'open_breakers',
    columns: [...texts('tenant', 'capability', 'breaker_id'), ...longs('opened_at')],
  },
  {
    kind: 'pace',
    table: 'paces',
    columns: [...texts('tenant', 'pace_id', 'scope', 'name'), ...longs('next_at', 'updated_at')],
    indexes: [['tenant', 'scope', 'name']],
  },
];

export const RECOVERY_KINDS: readonly KindSpec[] = [
  {
    kind: 'step',
    table: 'recovery_steps',
    columns: [
      ...texts('tenant', 'run_id', 'mutation_id', 'step_id', 'recovery_id', 'rollback_id').map(lasting),
      ...texts('phase', 'decision', 'reason', 'owner'),
      { name: 'capability', type: 'text', of: (row) => stepOf(row).execution.capability, isLasting: true },
      { name: 'agent_id', type: 'text', of: (row) => stepOf(row).execution.agent_id, isLasting: true },
      { name: 'source', type: 'text', of: (row) => stepOf(row).evidence.source, isLasting: true },
      {
        name: 'policy',
        type: 'text',
        of: (row) => stepOf(row).terms?.recovery_policy_ref ?? null,
        isLasting: true,
      },
      { name: 'unattended', type: 'boolean', of: (row) => isUnattended(stepOf(row)) },
      { name: 'failed_at', type: 'bigint', of: (row) => failedAt(stepOf(row)), isLasting: true },
      ...longs('decided_at').map(lasting),
      ...longs('attempt', 'deadline_at', 'updated_at'),
    ],
    lasting: [
      'step_id',
      'recovery_id',
      'rollback_id',
      'tenant',
      'run_id',
      'mutation_id',
      'answerable_to',
      'required_approvals',
      'in_force',
      'executed_seq',
      'action_digest',
      'call',
      'execution',
      'terms',
      'ref',
      'evidence',
      'reverses_record_hash',
      'triggered_at',
      'decided_at',
    ],
    indexes: [['tenant', 'phase', 'deadline_at'], ['tenant', 'capability', 'phase'], ['step_id']],
  },
  {
    kind: 'recovery',
    table: 'recoveries',
    columns: [
      ...texts('tenant', 'run_id', 'recovery_id', 'phase', 'outcome', 'owner'),
      ...longs('deadline_at', 'opened_at', 'updated_at'),
    ],
    indexes: [['tenant', 'phase', 'updated_at'], ['recovery_id']],
  },
  {
    kind: 'approval',
    table: 'approvals',
    columns: [
      ...texts('tenant', 'run_id', 'step_id', 'approval_id', 'by', 'command_id', 'used_by').map(renamed),
      ...longs('approved_at', 'updated_at'),
    ],
    indexes: [['tenant', 'step_id']],
  },
  {
    kind: 'task',
    table: 'tasks',
    columns: [
      ...texts('tenant', 'run_id', 'step_id', 'mutation_id', 'task_id', 'task_kind', 'phase', 'owner'),
      ...longs('deadline_at', 'opened_at', 'updated_at'),
    ],
    indexes: [['tenant', 'phase', 'deadline_at'], ['task_id'], ['step_id']],
  },
  {
    kind: 'incident',
    table: 'incidents',
    columns: [
      ...texts('tenant', 'run_id', 'step_id', 'incident_id', 'severity', 'phase', 'owner'),
      ...longs('deadline_at', 'opened_at', 'updated_at'),
    ],
    indexes: [['tenant', 'phase', 'deadline_at'], ['incident_id']],
  },
  {
    kind: 'dependent',
    table: 'dependents',
    columns: [
      ...texts('tenant', 'run_id', 'mutation_id', 'child_run_id', 'child_mutation_id', 'settled_as'),
      ...longs('noted_at', 'updated_at'),
    ],
    indexes: [['mutation_id'], ['child_mutation_id']],
  },
  {
    kind: 'halt',
    table: 'halted_steps',
    columns: [...texts('tenant', 'run_id', 'step_id', 'agent_id', 'capability'), ...longs('halted_at')],
    indexes: [['tenant', 'halted_at']],
  },
  ...DISPATCH_KINDS,
  forwardKind,
  routineKind,
];

function lasting(column: ColumnSpec): ColumnSpec {
  return { ...column, isLasting: true };
}

/** `by` is a word of SQL. */
function renamed(column: ColumnSpec): ColumnSpec {
  return column.name === 'by' ? { ...column, name: 'approved_by' } : column;
}

// Rows of this kind are written from steps alone.
function stepOf(row: Row): StepDoc {
  return row.doc as StepDoc;
}
function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
function longOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

// Rows of what holds a dispatch back: breakers the ledger opened, and schedules of rates. What accepted records make, and nothing
// else does (L2).
//
// Rows: `breaker`, those that are open over a capability, in one group; `pace` by the id of what it is about.

/** Breakers of a partition are one group: few are open at a time. */
const OPEN = 'open';

/** Rows that breakers change; once one closes, whatever is halted is looked at again. */
export const BREAKER_FOLD = {
  BreakerNoted: ({ breaker_id, tenant, capability, is_open: isOpen }, state, { decidedAt: at }) => {
    const key = breakerKey(tenant, capability);
    if (isOpen)
      return [
        put({ kind: 'breaker', group: OPEN, key, dueAt: null, doc: { breaker_id, tenant, capability, opened_at: at } }),
      ];
    return [
      { op: 'delete', address: { kind: 'breaker', group: OPEN, key } },
      ...readHalts(state).map((halt) => put(haltRow(halt, at))),
    ];
  },
} satisfies Partial<Fold>;

/** Is the breaker over a capability open? */
export function isBroken(state: StateView, tenant: string, capability: string): boolean {
  return state.get('breaker', OPEN, breakerKey(tenant, capability)) !== undefined;
}

function breakerKey(tenant: string, capability: string): string {
  return `${tenant}/${capability}`;
}

/** Rows of the schedules a dispatch or a waiting step took a place in. */
export function evolvePaces(
  state: StateView,
  tenant: string,
  paced: readonly { readonly scope: PaceDoc['scope']; readonly name: string; readonly next_at: number }[],
  at: number,
): readonly Change[] {
  return paced.map(({ scope, name, next_at }) => {
    const id = paceIdOf(tenant, { scope, name });
    const doc: PaceDoc = {
      pace_id: id,
      tenant,
      scope,
      name,
      next_at: Math.max(next_at, readPace(state, id)?.next_at ?? 0),
      updated_at: at,
    };
    return put({ kind: 'pace', group: id, key: id, dueAt: null, doc });
  });
}

/** When the schedule of a rate is free again; 0 for one nobody used. */
export function nextPlaceAt(state: StateView, tenant: string, scope: PaceDoc['scope'], name: string): number {
  return readPace(state, paceIdOf(tenant, { scope, name }))?.next_at ?? 0;
}

function readPace(state: StateView, id: string): PaceDoc | undefined {
  return state.get('pace', id, id) as PaceDoc | undefined; // rows of this kind are written by evolvePaces alone
}
