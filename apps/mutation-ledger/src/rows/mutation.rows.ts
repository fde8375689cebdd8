// Rows of the mutations log: tables, readers and writers. What records make of them is in rows.ts.
//
// Rows: `mutation` by run; `recovered`, the run a recovery is about, by its id; `binding` and `spread` by ref.
// Timers: a mutation at whatever is due next about it (agenda.decisions.ts); a spread until it is closed.
import type { Change, ColumnSpec, Doc, KindSpec, RowAddress, StateView } from '@recourse/event-log';
import { row, foldEach } from '@recourse/event-log';
import type { Compensation } from '../rules/compensation/compensation.messages.js';
import { effectStatusOf } from '../rules/effect/effect.decisions.js';
import { dutyOf } from '../rules/mutation/agenda.decisions.js';
import type { Mutation, RecoveredRun, Spread } from '../rules/mutation/mutation.messages.js';
import { refScope } from '../rules/identity.js';
import { placeOfBinding } from './binding.rows.js';
import { COMMIT_KINDS } from './commit.rows.js';
import type { Fold } from './fold.js';
import { LINEAGE_COLUMNS } from './lineage.columns.js';
import { RECONCILIATION_KINDS } from './reconciliation.rows.js';
import { REEVALUATION_KINDS } from './reevaluation.rows.js';

// Rows of compensations, by run: one for each mutation that something was called to undo.
//
// Boundary: a kind of its own. What lists the mutations of a run to undo them never meets one.

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
  indexes: [['compensation_id'], ['reverses_mutation_id'], ['tenant', 'execution_state', 'capability']],
});

/** How it ended is its status word: nothing is done about it. */
const STATUS: ColumnSpec = { name: 'status', type: 'text', of: ({ doc }) => String(doc['execution_state']) };

const COMPENSATION_KINDS: readonly KindSpec[] = [
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

// Rows of mutations.

export const MUTATION_KINDS: readonly KindSpec[] = [
  {
    kind: 'mutation',
    table: 'mutation',
    columns: [
      ...(['mutation_id', 'tenant', 'run_id', 'effect_key', 'capability', 'subject_ref'] as const).map(
        (name): ColumnSpec => ({ name, type: 'text', of: (row) => mutationOf(row.doc)[name], isLasting: true }),
      ),
      ...(['execution_state', 'recoverability', 'reason', 'rollback_id', 'asked_because'] as const).map(
        (name): ColumnSpec => ({
          name,
          type: 'text',
          of: (row) => mutationOf(row.doc)[name],
        }),
      ),
      ...(['expires_at', 'created_at', 'updated_at'] as const).map((name): ColumnSpec => ({
        name,
        type: 'bigint',
        of: (row) => mutationOf(row.doc)[name],
      })),
      { name: 'status', type: 'text', of: (row) => effectStatusOf(mutationOf(row.doc)) },
      { name: 'value_minor', type: 'bigint', of: (row) => minorUnitsOf(mutationOf(row.doc)), isLasting: true },
      {
        name: 'contract_digest',
        type: 'text',
        of: (row) => mutationOf(row.doc).terms?.contract_digest.toString('hex') ?? null,
        isLasting: true,
      },
      {
        name: 'value_currency',
        type: 'text',
        of: (row) => mutationOf(row.doc).execution.value?.currency ?? null,
        isLasting: true,
      },
    ],
    lasting: [
      'mutation_id',
      'tenant',
      'run_id',
      'effect_key',
      'capability',
      'subject_ref',
      'execution',
      'terms',
      'ref',
      'recorded_hash',
      'recorded_seq',
      'planned_sha256',
      'executed_sha256',
    ],
    indexes: [
      ['mutation_id'],
      ['tenant', 'recoverability', 'expires_at'],
      ['tenant', 'subject_ref'],
      ['tenant', 'created_at'],
      ['tenant', 'execution_state', 'capability'],
      ['status', 'updated_at'],
    ],
  },
  {
    kind: 'recovered',
    table: 'recovered',
    columns: [textColumn('id'), textColumn('tenant'), textColumn('run_id')],
    indexes: [['id']],
  },
  {
    kind: 'binding',
    table: 'binding',
    columns: [textColumn('mutation_id'), textColumn('ref'), ...LINEAGE_COLUMNS],
    place: placeOfBinding,
    indexes: [['mutation_id'], ['parent_id']],
  },
  { kind: 'spread', table: 'spread', columns: [textColumn('tenant'), textColumn('ref')] },
  ...COMPENSATION_KINDS,
  ...COMMIT_KINDS,
  ...REEVALUATION_KINDS,
  ...RECONCILIATION_KINDS,
];

/** A mutation by run and id. */
export function mutationIn(state: StateView, runId: string, mutationId: string): Mutation | undefined {
  const doc = state.get('mutation', runId, mutationId);
  return doc === undefined ? undefined : mutationOf(doc);
}

/** The same with its payloads as they are stored: for whoever records them on, and looks into none. */
export function storedMutationIn(state: StateView, runId: string, mutationId: string): Mutation | undefined {
  const doc = state.stored('mutation', runId, mutationId);
  return doc === undefined ? undefined : mutationOf(doc);
}

/** Every mutation of a run. */
export function mutationsIn(state: StateView, runId: string): readonly Mutation[] {
  return state.list('mutation', runId).map(mutationOf);
}

/** Spreads of a ref that go on. */
export function spreadsIn(state: StateView, scope: string): readonly Spread[] {
  return state.list('spread', scope) as readonly Spread[];
}

/** One of them. */
export function spreadIn(state: StateView, tenant: string, ref: string, position: number): Spread | undefined {
  return state.get('spread', refScope(tenant, ref), spreadKey(position)) as Spread | undefined;
}

/** Its timer goes off at whatever is due next about it. */
export function putMutation(mutation: Mutation): Change {
  return put('mutation', mutation.run_id, mutation.mutation_id, mutation, dutyOf(mutation)?.at ?? null);
}

export function putRecovered(run: RecoveredRun): Change {
  return put('recovered', run.id, run.tenant, run);
}

/** Null for what no column of whole numbers holds: projection is total (L7). */
function minorUnitsOf({ execution: { value } }: Mutation): number | null {
  return value !== null && Number.isSafeInteger(value.amount_minor) ? value.amount_minor : null;
}

/** A spread goes on at `dueAt`. */
export function putSpread(spread: Spread, dueAt: number): Change {
  return put('spread', refScope(spread.tenant, spread.ref), spreadKey(spread.position), spread, dueAt);
}

/** Where a spread stands. */
export function spreadAddress(tenant: string, ref: string, position: number): RowAddress {
  return { kind: 'spread', group: refScope(tenant, ref), key: spreadKey(position) };
}

/** Ordered by position as text; a safe integer has at most 16 digits. */
function spreadKey(position: number): string {
  return String(position).padStart(16, '0');
}

function put(kind: string, group: string, key: string, doc: Doc, dueAt: number | null = null): Change {
  return { op: 'put', row: { kind, group, key, dueAt, doc } };
}

function textColumn(name: string): KindSpec['columns'][number] {
  return { name, type: 'text', of: (row) => String(row.doc[name]) };
}

// Rows of this kind are written by putMutation alone.
function mutationOf(doc: Doc): Mutation {
  return doc as Mutation;
}
