// Rows of the mutations log: what accepted records make of state, and nothing else does (L2).
//
// Rows: `mutation` by run; `undo`, a run whose effects are being named, by run; `named`, what a rollback or a recovery is about, by its id; `trigger`, a rollback of a commit that is not recorded, by run; `binding` and `spread` by ref.
// Timers: a mutation at whatever is due next about it (agenda.decisions.ts); a trigger once its commit is recorded, a spread until it is closed.
import { deriveId } from '@recourse/kernel';
import type { AcceptedRecord, Change, Doc, KindSpec, Row, StateView } from '@recourse/event-log';
import type {
  CheckpointRolledBack,
  MutationContradicted,
  MutationReaffirmed,
  MutationRolledBack,
  ExecutionConflicted,
  ExecutionOverdue,
  MutationPlanned,
  MutationRecorded,
  RecoverabilityChanged,
  SpreadClosed,
  SpreadContinued,
  SpreadOpened,
  TriggerUnmatched,
  UndoSpread,
} from '@recourse/messages';
import { COMMIT_EVOLVE, COMMIT_KINDS } from './commit-rows.js';
import { evolveReconciliation, RECONCILIATION_KINDS } from './reconciliations.part.js';
import { evolveReevaluations, REEVALUATION_KINDS } from './reevaluations.part.js';
import { refScope } from '../domain/scope.js';
import { effectStatusOf } from '../domain/effect/effect.decisions.js';
import { dutyOf } from '../domain/mutation/agenda.decisions.js';
import { closingRefsOf } from '../domain/mutation/closing.decider.js';
import { parentsOf, standsRef } from '../domain/mutation/lineage.decider.js';
import { LINEAGE_COLUMNS } from './lineage-columns.js';
import {
  forwardAfter,
  FORWARD_RECORDS,
  forwardOfIntent,
  forwardOfRecord,
  givenToPerson,
} from '../domain/mutation/forward.fold.js';
import type {
  Awaited,
  Binding,
  Body,
  Mutation,
  Named,
  Spread,
  Trigger,
  Undo,
} from '../domain/mutation/mutation.messages.js';

export const MUTATION_KINDS: readonly KindSpec[] = [
  {
    kind: 'mutation',
    table: 'mutation',
    columns: [
      ...(
        [
          'mutation_id',
          'tenant',
          'run_id',
          'effect_key',
          'capability',
          'subject_ref',
          'execution_state',
          'recoverability',
          'reason',
          'rollback_id',
        ] as const
      ).map((name) => ({ name, type: 'text' as const, of: (row: Row) => mutationOf(row.doc)[name] })),
      ...(['expires_at', 'created_at', 'updated_at'] as const).map((name) => ({
        name,
        type: 'bigint' as const,
        of: (row: Row) => mutationOf(row.doc)[name],
      })),
      { name: 'status', type: 'text', of: (row) => effectStatusOf(mutationOf(row.doc)) },
      { name: 'value_minor', type: 'bigint', of: (row) => minorUnitsOf(mutationOf(row.doc)) },
      {
        name: 'contract_digest',
        type: 'text',
        of: (row) => mutationOf(row.doc).terms?.contract_digest.toString('hex') ?? null,
      },
      { name: 'value_currency', type: 'text', of: (row) => mutationOf(row.doc).execution.value?.currency ?? null },
    ],
    indexes: [
      ['mutation_id'],
      ['run_id', 'effect_key'],
      ['tenant', 'recoverability', 'expires_at'],
      ['tenant', 'subject_ref'],
      ['status', 'updated_at'],
    ],
  },
  {
    kind: 'named',
    table: 'named',
    columns: [textColumn('id'), textColumn('tenant'), textColumn('run_id')],
    indexes: [['id']],
  },
  {
    kind: 'binding',
    table: 'binding',
    columns: [textColumn('mutation_id'), textColumn('ref'), ...LINEAGE_COLUMNS],
    indexes: [['mutation_id'], ['parent_id']],
  },
  { kind: 'trigger', table: 'trigger_waiting', columns: [textColumn('mutation_id'), textColumn('rollback_id')] },
  { kind: 'spread', table: 'spread', columns: [textColumn('tenant'), textColumn('ref')] },
  ...COMMIT_KINDS,
  ...REEVALUATION_KINDS,
  ...RECONCILIATION_KINDS,
  { kind: 'undo', table: 'undo_spread', columns: [textColumn('tenant'), textColumn('run_id')] },
];

/** A mutation by run and id. */
export function mutationIn(state: StateView, runId: string, mutationId: string): Mutation | undefined {
  const doc = state.get('mutation', runId, mutationId);
  return doc === undefined ? undefined : mutationOf(doc);
}

/** Every mutation of a run. */
export function mutationsIn(state: StateView, runId: string): readonly Mutation[] {
  return state.list('mutation', runId).map(mutationOf);
}

/** A remembered trigger: by tenant too, so that naming somebody else's commit takes nothing from its owner. */
export function triggerIn(state: StateView, runId: string, tenant: string, mutationId: string): Trigger | undefined {
  return state.get('trigger', runId, triggerKey(tenant, mutationId)) as Trigger | undefined;
}

/** Key of a remembered trigger among those of its run. */
export function triggerKey(tenant: string, mutationId: string): string {
  return `${tenant}|${mutationId}`;
}

/** All bindings of a ref, in no order. */
export function bindingsIn(state: StateView, scope: string): readonly Binding[] {
  return state.all('binding', scope) as readonly Binding[];
}
/** The binding of a mutation or commit to a ref. */
export function bindingIn(state: StateView, scope: string, id: string): Binding | undefined {
  return state.get('binding', scope, id) as Binding | undefined;
}
/** An undo of a run that has not named all its effects yet. */
export function undoIn(state: StateView, runId: string, undoId: string): Undo | undefined {
  return state.get('undo', runId, undoId) as Undo | undefined;
}
export function spreadsIn(state: StateView, scope: string): readonly Spread[] {
  return state.list('spread', scope) as readonly Spread[];
}

/** Ids of others under which a rolled-back commit is known: its rollback, and the recovery of its run. */
export function namesOf({ tenant, run_id, rollback_id }: Pick<Trigger, 'tenant' | 'run_id' | 'rollback_id'>): {
  readonly rollback: string;
  readonly recovery: string;
} {
  return { rollback: rollback_id, recovery: deriveId('rec', tenant, run_id) };
}

/** Changes an accepted record of the mutations log makes. */
export function evolveMutations(state: StateView, record: AcceptedRecord): readonly Change[] {
  const evolve = EVOLVE[record.type] ?? COMMIT_EVOLVE[record.type];
  if (evolve !== undefined)
    return [...evolve(state, record), ...triggered(state, record), ...evolveReevaluations(state, record)];
  return FORWARD_RECORDS.includes(record.type)
    ? followed(state, record)
    : [...evolveReevaluations(state, record), ...evolveReconciliation(record)];
}

// Each function reads the body of its own record type: the log holds no other under that name.
const EVOLVE: Readonly<Record<string, (state: StateView, record: AcceptedRecord) => readonly Change[]>> = {
  MutationPlanned: planned,
  MutationRecorded: recorded,
  ExecutionConflicted: (state, { body, decidedAt }) => {
    const { run_id, mutation_id, conflicting_sha256 } = body as Body<ExecutionConflicted>;
    return changed(state, run_id, mutation_id, decidedAt, { conflict_sha256: conflicting_sha256 });
  },
  ExecutionOverdue: (state, { body, decidedAt }) => {
    const { run_id, mutation_id, owner, deadline_at } = body as Body<ExecutionOverdue>;
    const forward = mutationIn(state, run_id, mutation_id)?.forward ?? null;
    return changed(state, run_id, mutation_id, decidedAt, {
      forward: forward === null ? null : givenToPerson(forward),
      awaited: { owner, deadline_at, is_overdue: true },
    });
  },
  MutationContradicted: contradicted,
  MutationReaffirmed: reaffirmed,
  MutationRolledBack: rolledBack,
  RecoverabilityChanged: (state, { body, decidedAt }) => {
    const { run_id, mutation_id, event, to_state, reason } = body as Body<RecoverabilityChanged>;
    const before = mutationIn(state, run_id, mutation_id);
    const attempts = (before?.compensation_attempts ?? 0) + (event === 'compensation_started' ? 1 : 0);
    const last_error =
      event === 'compensation_failed' || event === 'manual_required' ? reason : (before?.last_error ?? null);
    return changed(state, run_id, mutation_id, decidedAt, {
      recoverability: to_state,
      reason,
      compensation_attempts: attempts,
      last_error,
    });
  },
  TriggerUnmatched: (_state, { body }) => {
    const { mutation_id, tenant, run_id, rollback_id, evidence } = body as Body<TriggerUnmatched>;
    const { rollback } = namesOf({ tenant, run_id, rollback_id });
    return [
      put('trigger', run_id, triggerKey(tenant, mutation_id), { mutation_id, tenant, run_id, rollback_id, evidence }),
      putNamed({ id: rollback, names: 'rollback', tenant, run_id, mutation_id }),
    ];
  },
  UndoSpread: (state, { body, decidedAt }) => {
    const { undo_id, tenant, run_id, asked_ids, evidence, mutation_ids, is_last } = body as Body<UndoSpread>;
    if (is_last) return [{ op: 'delete', address: { kind: 'undo', group: run_id, key: undo_id } }];
    const standing = undoIn(state, run_id, undo_id);
    const undo: Undo = {
      undo_id,
      tenant,
      run_id,
      asked_ids,
      evidence,
      named_ids: [...(standing?.named_ids ?? []), ...mutation_ids],
      begun_at: standing?.begun_at ?? decidedAt,
    };
    return [put('undo', run_id, undo_id, undo, decidedAt)];
  },
  SpreadOpened: (_state, { body, decidedAt }) => {
    const { spread_id, tenant, ref, position, scope_run_id, evidence, reaffirms, parent_run_id } =
      body as Body<SpreadOpened>;
    return [
      putSpread(
        {
          spread_id,
          tenant,
          ref,
          position,
          scope_run_id,
          evidence,
          contradicted: 0,
          ...(reaffirms ? { reaffirms } : {}),
          ...(parent_run_id === null ? {} : { parent_run_id }),
        },
        decidedAt,
      ),
    ];
  },
  SpreadContinued: (state, { body, decidedAt }) => {
    const { tenant, ref, position, contradicted: count } = body as Body<SpreadContinued>;
    const spread = state.get('spread', refScope(tenant, ref), spreadKey(position)) as Spread | undefined;
    return spread === undefined ? [] : [putSpread({ ...spread, contradicted: count }, decidedAt)];
  },
  SpreadClosed: (_state, { body }) => {
    const { tenant, ref, position } = body as Body<SpreadClosed>;
    return [{ op: 'delete', address: { kind: 'spread', group: refScope(tenant, ref), key: spreadKey(position) } }];
  },
};

/** What waits for a commit fires once it is recorded, and is answered by its mark. */
function triggered(state: StateView, { type, body, decidedAt }: AcceptedRecord): readonly Change[] {
  if (type !== 'CheckpointRecorded' && type !== 'CheckpointRolledBack') return [];
  const { tenant, run_id, commit_id, rollback_id } = body as Body<CheckpointRolledBack>; // both types have these, but for the rollback of the first
  const waiting = triggerIn(state, run_id, tenant, commit_id);
  if (type === 'CheckpointRecorded')
    return waiting === undefined ? [] : [put('trigger', run_id, triggerKey(tenant, commit_id), waiting, decidedAt)];
  const answered: readonly Change[] =
    waiting === undefined
      ? []
      : [{ op: 'delete', address: { kind: 'trigger', group: run_id, key: triggerKey(tenant, commit_id) } }];
  return [putNamed({ id: rollback_id, names: 'rollback', tenant, run_id, mutation_id: commit_id }), ...answered];
}

/** What workers were asked and answered moves the forward part alone. */
function followed(state: StateView, record: AcceptedRecord): readonly Change[] {
  const mutation = mutationIn(state, String(record.body.run_id), String(record.body.mutation_id));
  return mutation === undefined
    ? []
    : [putMutation({ ...mutation, ...forwardAfter(mutation, record), updated_at: record.decidedAt })];
}

function planned(_state: StateView, { body, decidedAt }: AcceptedRecord): readonly Change[] {
  const intent = body as Body<MutationPlanned>;
  const { mutation_id, execution, terms, content_sha256, conclude_by, hold_until, judged } = intent;
  const { tenant, run_id } = execution;
  const isHeld = hold_until !== null;
  return [
    putMutation({
      ...UNTOUCHED,
      ...identityOf(mutation_id, execution),
      terms,
      execution_state: 'planned',
      recoverability: isHeld ? 'pending_commit' : 'planned',
      reason: null,
      expires_at: null,
      created_at: decidedAt,
      updated_at: decidedAt,
      planned_sha256: content_sha256,
      awaited: awaitedFrom(execution, hold_until ?? conclude_by),
      forward: forwardOfIntent(intent, decidedAt),
    }),
    ...(isHeld
      ? judged.map(({ ref, position }) =>
          putBinding({ mutation_id, tenant, run_id, ref, position, is_held: true, ...parentOf(execution, ref) }),
        )
      : []),
  ];
}

function recorded(state: StateView, { body, decidedAt, hash, seq }: AcceptedRecord): readonly Change[] {
  const {
    mutation_id,
    execution,
    execution_state,
    recoverability,
    reason,
    terms,
    ref,
    judged,
    content_sha256,
    conclude_by,
    reconcile_at,
    warn_at,
  } = body as Body<MutationRecorded>;
  const { tenant, run_id } = execution;
  const before = mutationIn(state, run_id, mutation_id);
  const mutation = putMutation({
    ...UNTOUCHED,
    ...before,
    ...identityOf(mutation_id, execution),
    terms,
    execution_state,
    recoverability,
    reason,
    expires_at: ref.reversal_expires_at,
    created_at: before?.created_at ?? decidedAt,
    updated_at: decidedAt,
    ref,
    recorded_hash: hash,
    recorded_seq: seq,
    executed_sha256: content_sha256,
    earlier_sha256: earlierOf(before),
    last_error: stopsAt(execution_state, recoverability) ? reason : (before?.last_error ?? null),
    awaited: awaitedFrom(execution, conclude_by),
    forward: forwardOfRecord(before?.forward ?? null, ref, reconcile_at),
    warn_at,
    warned_at: null,
  });
  const bindings =
    execution_state === 'failed'
      ? []
      : judged.map((one) =>
          putBinding({
            mutation_id,
            tenant,
            run_id,
            ref: one.ref,
            recorded_seq: seq,
            recorded_at: decidedAt,
            ...parentOf(execution, one.ref),
            position: one.position,
            ...(before === undefined ? {} : boundBefore(state, tenant, mutation_id, one)),
          }),
        );
  const closing =
    recoverability === 'reversal_available'
      ? closingRefsOf(ref.subject_ref, terms).map((event) =>
          putBinding({ mutation_id, tenant, run_id, ref: event, position: 0, closes: true }),
        )
      : [];
  const released =
    recoverability === 'cancelled'
      ? [
          ...(before?.forward?.refs ?? []),
          ...parentsOf(execution.derived_from).map(({ commit_id: id }) => standsRef(id)),
        ].map((name): Change => ({
          op: 'delete',
          address: { kind: 'binding', group: refScope(tenant, name), key: mutation_id },
        }))
      : [];
  const waiting = triggerIn(state, run_id, tenant, mutation_id);
  const fires =
    waiting === undefined ? [] : [put('trigger', run_id, triggerKey(tenant, mutation_id), waiting, decidedAt)];
  return [mutation, ...bindings, ...closing, ...released, ...fires];
}

/** The run a commit is named under, where the ref is that it stands. */
function parentOf({ derived_from }: Mutation['execution'], ref: string): Pick<Binding, 'parent_run_id'> {
  const parent = derived_from.find(({ commit_id: id }) => standsRef(id) === ref);
  return parent === undefined ? {} : { parent_run_id: parent.run_id };
}

/** An execution that is recorded again stays bound where and when it was first: statements after that may still be spreading. */
function boundBefore(
  state: StateView,
  tenant: string,
  mutationId: string,
  { ref, position }: { readonly ref: string; readonly position: number },
): Pick<Binding, 'position' | 'recorded_at'> {
  const standing = state.get('binding', refScope(tenant, ref), mutationId) as Binding | undefined;
  return {
    position: Math.min(standing?.position ?? position, position),
    ...(standing?.recorded_at === undefined ? {} : { recorded_at: standing.recorded_at }),
  };
}

/** The binding has now taken the statement into account. */
function contradicted(state: StateView, { body }: AcceptedRecord): readonly Change[] {
  const { mutation_id, tenant, evidence } = body as Body<MutationContradicted>;
  if (evidence.ref === null) return [];
  const binding = state.get('binding', refScope(tenant, evidence.ref), mutation_id) as Binding | undefined;
  return binding === undefined || evidence.position <= binding.position
    ? []
    : [putBinding({ ...binding, position: evidence.position, is_contradicted: true })];
}

/** Who relied on its not holding is told once. */
function reaffirmed(state: StateView, { body }: AcceptedRecord): readonly Change[] {
  const { mutation_id, tenant, evidence } = body as Body<MutationReaffirmed>;
  if (evidence.ref === null) return [];
  const binding = state.get('binding', refScope(tenant, evidence.ref), mutation_id) as Binding | undefined;
  if (binding === undefined || evidence.position <= binding.position) return [];
  const { is_contradicted: _, ...standing } = binding;
  return [putBinding({ ...standing, position: evidence.position })];
}

function rolledBack(state: StateView, { body, decidedAt }: AcceptedRecord): readonly Change[] {
  const { mutation_id, tenant, run_id, rollback_id, evidence } = body as Body<MutationRolledBack>;
  const isWaiting = triggerIn(state, run_id, tenant, mutation_id) !== undefined;
  const answered: readonly Change[] = isWaiting
    ? [{ op: 'delete', address: { kind: 'trigger', group: run_id, key: triggerKey(tenant, mutation_id) } }]
    : [];
  const { rollback, recovery } = namesOf({ tenant, run_id, rollback_id });
  const named = [
    putNamed({ id: rollback, names: 'rollback', tenant, run_id, mutation_id }),
    putNamed({ id: recovery, names: 'recovery', tenant, run_id, mutation_id: null }),
  ];
  return [
    ...changed(state, run_id, mutation_id, decidedAt, { rollback_id, rollback_evidence: evidence }),
    ...named,
    ...answered,
  ];
}

function changed(
  state: StateView,
  runId: string,
  mutationId: string,
  decidedAt: number,
  changes: Partial<Mutation>,
): readonly Change[] {
  const mutation = mutationIn(state, runId, mutationId);
  return mutation === undefined ? [] : [putMutation({ ...mutation, ...changes, updated_at: decidedAt })];
}

function earlierOf(before: Mutation | undefined): readonly Buffer[] {
  return before === undefined || before.executed_sha256 === null
    ? []
    : [...before.earlier_sha256, before.executed_sha256];
}

function awaitedFrom({ agent_id }: Mutation['execution'], concludeBy: number | null): Awaited | null {
  return concludeBy === null ? null : { owner: agent_id, deadline_at: concludeBy, is_overdue: false };
}

const UNTOUCHED = {
  awaited: null,
  ref: null,
  recorded_hash: null,
  recorded_seq: null,
  compensation_attempts: 0,
  last_error: null,
  planned_sha256: null,
  executed_sha256: null,
  earlier_sha256: [],
  conflict_sha256: null,
  rollback_id: null,
  rollback_evidence: null,
  forward: null,
  warn_at: null,
  warned_at: null,
} as const;

function identityOf(
  mutationId: string,
  execution: Mutation['execution'],
): Pick<Mutation, 'mutation_id' | 'tenant' | 'run_id' | 'effect_key' | 'capability' | 'subject_ref' | 'execution'> {
  const { tenant, run_id, effect_key, capability, subject_ref } = execution;
  return { mutation_id: mutationId, tenant, run_id, effect_key, capability, subject_ref, execution };
}

function putMutation(mutation: Mutation): Change {
  return put('mutation', mutation.run_id, mutation.mutation_id, mutation, dutyOf(mutation)?.at ?? null);
}

/** By tenant too: naming somebody else's rollback takes nothing from its owner. */
function putNamed(named: Named): Change {
  return put('named', named.id, named.tenant, named);
}

/** Execution or recoverability that the reason of a report explains as trouble. */
function stopsAt(execution: Mutation['execution_state'], recoverability: Mutation['recoverability']): boolean {
  return execution === 'failed' || execution === 'uncertain' || recoverability === 'manual_resolution_required';
}

/** Null for what no column of whole numbers holds: projection is total (L7). */
function minorUnitsOf({ execution: { value } }: Mutation): number | null {
  return value !== null && Number.isSafeInteger(value.amount_minor) ? value.amount_minor : null;
}

function putBinding(binding: Binding): Change {
  return put('binding', refScope(binding.tenant, binding.ref), binding.mutation_id, binding);
}

function putSpread(spread: Spread, dueAt: number): Change {
  return put('spread', refScope(spread.tenant, spread.ref), spreadKey(spread.position), spread, dueAt);
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
