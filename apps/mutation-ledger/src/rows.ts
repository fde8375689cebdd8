// Folds accepted records of recourse.mutations into rows. Reads the record and rows that earlier records made, nothing else (L2).
import { together, unchanged, foldEach } from '@recourse/event-log';
import type { AcceptedRecord, Change, Folds, StateView } from '@recourse/event-log';
import type {
  Fallen,
  Moved,
  MutationPlanned,
  MutationReaffirmed,
  MutationRecorded,
  SpreadContinued,
  TriggerUnmatched,
} from '@recourse/messages';
import { fallenIn, movedIn, recoveryIdOf, rolledBackIn } from '@recourse/messages';
import { OUTCOME_UNKNOWN } from './rules/mutation/manual.decisions.js';
import { claimAfter, judgedClaim } from './rules/handle/handle.decider.js';
import { closingRefsOf } from './rules/mutation/closing.decider.js';
import { forwardAfter, forwardOfIntent, forwardOfRecord, givenToPerson } from './rules/mutation/forward.fold.js';
import type { ForwardRecord } from './rules/mutation/forward.fold.js';
import { parentsOf, standsRef } from './rules/mutation/lineage.decider.js';
import type { Awaited, Binding, Mutation } from './rules/mutation/mutation.messages.js';
import type { Body, MUTATIONS_LOG } from './rules/record.messages.js';
import { OWNER_OF_EXPOSED } from './rules/owners.js';
import { refScope } from './rules/identity.js';
import { isReliedOn } from './rules/mutation/refs.decider.js';
import { COMMIT_FOLD } from './rows/commit.rows.js';
import { CONSUMER_FOLD } from './rows/consumer.rows.js';
import type { Fold } from './rows/fold.js';
import { beginningAt, bindingIn, putBinding } from './rows/binding.rows.js';
import {
  COMPENSATION_FOLD,
  mutationIn,
  putMutation,
  putRecovered,
  putSpread,
  spreadAddress,
  spreadIn,
} from './rows/mutation.rows.js';
import { LIMIT_FOLD } from './rows/limit.rows.js';
import { RECONCILIATION_FOLD } from './rows/reconciliation.rows.js';
import { REEVALUATION_FOLD } from './rows/reevaluation.rows.js';
import { AGREEMENT_FOLD } from './rows/agreement.rows.js';
import { ADMISSION_FOLD, ROLLBACK_FOLD } from './rows/rollback.rows.js';
import { TREND_FOLD } from './rows/trend.rows.js';

/** Rows of mutations that records change. */
const MUTATION_FOLD = {
  MutationPlanned: planned,
  MutationRecorded: recorded,
  ExecutionConflicted: ({ run_id, mutation_id, conflicting_sha256 }, state, { decidedAt }) => {
    return changed(state, run_id, mutation_id, decidedAt, { conflict_sha256: conflicting_sha256 });
  },
  ExecutionOverdue: ({ run_id, mutation_id, owner, deadline_at }, state, { decidedAt }) => {
    const forward = mutationIn(state, run_id, mutation_id)?.forward ?? null;
    return changed(state, run_id, mutation_id, decidedAt, {
      forward: forward === null ? null : givenToPerson(forward),
      awaited: { owner, deadline_at, is_overdue: true },
      asked_because: OUTCOME_UNKNOWN,
    });
  },
  MutationSettled: ({ run_id, mutation_id, settled_as, by, reason }, state, { decidedAt }) =>
    changed(state, run_id, mutation_id, decidedAt, {
      awaited: null,
      settled: { settled_as, by, reason, at: decidedAt },
    }),
  HandleJudged: ({ run_id, mutation_id, ...judged }, state, { decidedAt }) =>
    changed(state, run_id, mutation_id, decidedAt, judgedClaim(judged)),
  MutationReaffirmed: reaffirmed,
  MutationsFell: (body, state, { decidedAt }) =>
    foldEach(state, fallenIn(body), (fallen, rows) => fell(fallen, rows, decidedAt)),
  RecoverabilityChanged: (body, state, { decidedAt }) =>
    movedIn(body).flatMap((moved) => movedTo(moved, state, decidedAt)),
  TriggerUnmatched: contradicted,
  TriggerHeld: contradicted,
  TriggerRedundant: contradicted,
  SpreadOpened: (
    { spread_id, tenant, ref, position, scope_run_id, evidence, reaffirms, parent_run_id },
    _state,
    { decidedAt },
  ) => {
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
  SpreadContinued: (body, state, { decidedAt }) => continued(body, state, decidedAt),
  SpreadClosed: ({ tenant, ref, position }, _state) => {
    return [{ op: 'delete', address: spreadAddress(tenant, ref, position) }];
  },
  HoldElapsed: (body, state, { decidedAt }) => forwarded(state, { type: 'HoldElapsed', body }, decidedAt),
  WorkerAsked: (body, state, { decidedAt }) => forwarded(state, { type: 'WorkerAsked', body }, decidedAt),
  WorkerAnswered: (body, state, { decidedAt }) => forwarded(state, { type: 'WorkerAnswered', body }, decidedAt),
  WindowClosing: (body, state, { decidedAt }) => forwarded(state, { type: 'WindowClosing', body }, decidedAt),
} satisfies Fold;

/** Its bindings have taken the fall into account. */
const COMMIT_MARK_FOLD = {
  CheckpointRolledBack: (body, state) =>
    foldEach(state, rolledBackIn(body), ({ commit_id: mutation_id, ...about }, rows) =>
      contradicted({ ...about, mutation_id }, rows),
    ),
} satisfies Fold;

/** What workers were asked and answered moves the forward part alone. */
function forwarded(state: StateView, told: ForwardRecord, decidedAt: number): readonly Change[] {
  const mutation = mutationIn(state, told.body.run_id, told.body.mutation_id);
  return mutation === undefined
    ? []
    : [putMutation({ ...mutation, ...forwardAfter(mutation, told, decidedAt), updated_at: decidedAt })];
}

/** An intent, or that of another attempt: what was told of those before stays on record. */
function planned(intent: Body<MutationPlanned>, state: StateView, { decidedAt }: AcceptedRecord): readonly Change[] {
  const { mutation_id, execution, terms, content_sha256, conclude_by, hold_until, judged, action_digest } = intent;
  const { tenant, run_id } = execution;
  const isHeld = hold_until !== null;
  const before = mutationIn(state, run_id, mutation_id);
  return [
    putMutation({
      ...UNTOUCHED,
      ...toldBefore(before),
      ...identityOf(mutation_id, execution),
      terms,
      execution_state: 'planned',
      recoverability: isHeld ? 'pending_commit' : 'planned',
      reason: null,
      expires_at: null,
      created_at: before?.created_at ?? decidedAt,
      updated_at: decidedAt,
      planned_sha256: content_sha256,
      awaited: awaitedFrom(execution, hold_until ?? conclude_by),
      forward: forwardOfIntent(intent, decidedAt, before?.forward ?? null),
      claim: claimAfter(intent, before),
      ...(action_digest === null ? {} : { action_digest }),
    }),
    ...(isHeld
      ? judged.map(({ ref, position }) =>
          putBinding({ mutation_id, tenant, run_id, ref, position, is_held: true, ...parentOf(execution, ref) }),
        )
      : []),
  ];
}

/** An execution is recorded: the row, what it is bound to, and the trigger that waited for it. */
function recorded(
  body: Body<MutationRecorded>,
  state: StateView,
  { decidedAt, hash, seq }: AcceptedRecord,
): readonly Change[] {
  const { mutation_id, execution, ref, conclude_by, reconcile_at } = body;
  const { run_id } = execution;
  const before = mutationIn(state, run_id, mutation_id);
  const mutation = putMutation({
    ...UNTOUCHED,
    ...withDigest(body, before),
    ...identityOf(mutation_id, execution),
    terms: body.terms,
    execution_state: body.execution_state,
    recoverability: body.recoverability,
    reason: body.reason,
    expires_at: ref.reversal_expires_at,
    created_at: before?.created_at ?? decidedAt,
    updated_at: decidedAt,
    ref,
    recorded_hash: hash,
    recorded_seq: seq,
    executed_sha256: body.content_sha256,
    earlier_sha256: earlierOf(before),
    last_error: stopsAt(body) ? body.reason : (before?.last_error ?? null),
    awaited: reviewFrom(body) ?? awaitedFrom(execution, conclude_by),
    asked_because: body.review_by === null ? (before?.asked_because ?? null) : body.reason,
    forward: forwardOfRecord(before?.forward ?? null, ref, reconcile_at),
    warn_at: body.warn_at,
    warned_at: null,
    found_out: body.found_out,
    claim: claimAfter(body, before),
  });
  const bound = boundBy(state, body, before !== undefined, { recorded_seq: seq, recorded_at: decidedAt });
  return [mutation, ...bound.map(putBinding), ...closingOf(body, seq, bound), ...releasedBy(body, before)];
}

/** What an execution is bound to; one that failed to nothing. */
function boundBy(
  state: StateView,
  { mutation_id, execution, execution_state, judged }: Body<MutationRecorded>,
  isAgain: boolean,
  at: Pick<Binding, 'recorded_seq' | 'recorded_at'>,
): readonly Binding[] {
  if (execution_state === 'failed') return [];
  const { tenant, run_id } = execution;
  return judged.map((one) => ({
    ...{ mutation_id, tenant, run_id, ref: one.ref, ...at },
    ...parentOf(execution, one.ref),
    ...beginningAt(one),
    ...(isAgain ? boundBefore(state, tenant, mutation_id, one) : {}),
  }));
}

/** Events that close the window of its reversal. */
function closingOf(
  { mutation_id, execution, recoverability, ref, terms }: Body<MutationRecorded>,
  recorded_seq: number,
  bound: readonly Binding[],
): readonly Change[] {
  const { tenant, run_id } = execution;
  return recoverability === 'reversal_available'
    ? closingBy({ mutation_id, tenant, run_id, ref, terms, recorded_seq }, (event) =>
        bound.find((one) => one.ref === event),
      )
    : [];
}

/** Bindings to the events that close a window; `boundTo`: what binds the effect to one already. It may rely on it, too. */
function closingBy(
  {
    mutation_id,
    tenant,
    run_id,
    ref,
    terms,
    recorded_seq,
  }: Pick<Mutation, 'mutation_id' | 'tenant' | 'run_id' | 'ref' | 'terms' | 'recorded_seq'>,
  boundTo: (event: string) => Binding | undefined,
): readonly Change[] {
  const at = recorded_seq === null ? {} : { recorded_seq };
  return closingRefsOf(ref?.subject_ref ?? null, terms).map((event) => {
    const bound = boundTo(event);
    return putBinding(
      bound !== undefined && isReliedOn(bound)
        ? { ...bound, closes: true, relies: true }
        : { mutation_id, tenant, run_id, ref: event, ...at, position: 0, closes: true },
    );
  });
}

/** A held effect that is cancelled relies on nothing any more. */
function releasedBy(
  { mutation_id, execution, recoverability }: Body<MutationRecorded>,
  before: Mutation | undefined,
): readonly Change[] {
  if (recoverability !== 'cancelled') return [];
  const parents = parentsOf(execution.derived_from).map(({ commit_id: id }) => standsRef(id));
  return [...(before?.forward?.refs ?? []), ...parents].map((name): Change => ({
    op: 'delete',
    address: { kind: 'binding', group: refScope(execution.tenant, name), key: mutation_id },
  }));
}

/** The run a commit is named under, where the ref is that it stands. */
function parentOf({ derived_from }: Mutation['execution'], ref: string): Pick<Binding, 'parent_run_id'> {
  const parent = derived_from.find(({ commit_id: id }) => standsRef(id) === ref);
  return parent === undefined ? {} : { parent_run_id: parent.run_id };
}

/** An execution that is recorded again stays bound where and when it was first, and contradicted where it is: statements after that may still be spreading. */
function boundBefore(
  state: StateView,
  tenant: string,
  mutationId: string,
  { ref, position }: { readonly ref: string; readonly position: number },
): Pick<Binding, 'position' | 'recorded_at' | 'is_contradicted'> {
  const found = bindingIn(state, refScope(tenant, ref), mutationId);
  const standing = found !== undefined && isReliedOn(found) ? found : undefined;
  return {
    position: Math.min(standing?.position ?? position, position),
    ...(standing?.recorded_at === undefined ? {} : { recorded_at: standing.recorded_at }),
    ...(standing?.is_contradicted === true ? { is_contradicted: true } : {}),
  };
}

/** The binding has now taken the statement into account, whatever became of the trigger. */
function contradicted(
  { mutation_id, tenant, evidence }: Pick<Body<TriggerUnmatched>, 'mutation_id' | 'tenant' | 'evidence'>,
  state: StateView,
): readonly Change[] {
  if (evidence.ref === null) return [];
  const binding = bindingIn(state, refScope(tenant, evidence.ref), mutation_id);
  return binding === undefined || evidence.position <= binding.position
    ? []
    : [putBinding({ ...binding, position: evidence.position, is_contradicted: true })];
}

/** The next part begins behind the commit this one ended with. */
function continued(
  { tenant, ref, position, through_mutation_id, contradicted: count }: Body<SpreadContinued>,
  state: StateView,
  decidedAt: number,
): readonly Change[] {
  const spread = spreadIn(state, tenant, ref, position);
  if (spread === undefined) return [];
  const through = bindingIn(state, refScope(tenant, ref), through_mutation_id)?.recorded_seq ?? 0;
  return [putSpread({ ...spread, contradicted: count, through_seq: through }, decidedAt)];
}

/** Tells whoever relied on its not holding, once. */
function reaffirmed({ mutation_id, tenant, evidence }: Body<MutationReaffirmed>, state: StateView): readonly Change[] {
  if (evidence.ref === null) return [];
  const binding = bindingIn(state, refScope(tenant, evidence.ref), mutation_id);
  if (binding === undefined || evidence.position <= binding.position) return [];
  const { is_contradicted: _, ...standing } = binding;
  return [putBinding({ ...standing, position: evidence.position })];
}

/** Where an effect that is under way or a person's stays, and why, is not changed by what is heard of its window. */
function noted({ run_id, mutation_id, event }: Moved, state: StateView, decidedAt: number): readonly Change[] {
  const before = mutationIn(state, run_id, mutation_id);
  if (before === undefined) return [];
  if (event === 'handle_bound')
    return closingBy(before, (ref) => bindingIn(state, refScope(before.tenant, ref), mutation_id));
  const expires_at = before.expires_at === null ? null : Math.min(before.expires_at, decidedAt);
  return changed(state, run_id, mutation_id, decidedAt, { expires_at });
}

const NOTED: readonly Moved['event'][] = ['window_closed', 'handle_bound'];

function movedTo(moved: Moved, state: StateView, decidedAt: number): readonly Change[] {
  const { run_id, mutation_id, event, from_state, to_state, reason, verified } = moved;
  if (from_state === to_state && NOTED.includes(event)) return noted(moved, state, decidedAt);
  const before = mutationIn(state, run_id, mutation_id);
  const attempts = (before?.compensation_attempts ?? 0) + (event === 'compensation_started' ? 1 : 0);
  const last_error =
    event === 'compensation_failed' || event === 'manual_required' ? reason : (before?.last_error ?? null);
  return changed(state, run_id, mutation_id, decidedAt, {
    recoverability: to_state,
    reason,
    is_seen_undone: verified,
    compensation_attempts: attempts,
    last_error,
  });
}

function fell(body: Fallen, state: StateView, decidedAt: number): readonly Change[] {
  const { mutation_id, tenant, run_id, rollback_id, evidence } = body;
  return [
    ...changed(state, run_id, mutation_id, decidedAt, {
      rollback_id,
      rollback_evidence: evidence,
      // What becomes of it is its recovery's to ask from now on; how it ended is still to be told.
      ...(body.execution_state === 'succeeded' ? { awaited: null } : {}),
    }),
    putRecovered({ id: recoveryIdOf(tenant, run_id), tenant, run_id }),
    ...contradicted(body, state),
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

/** What a row keeps of attempts that failed, when the call is planned anew. */
function toldBefore(before: Mutation | undefined): Partial<Mutation> {
  if (before === undefined) return {};
  const { executed_sha256, earlier_sha256, conflict_sha256, last_error, asked_because } = before;
  return { executed_sha256, earlier_sha256, conflict_sha256, last_error, asked_because };
}

/** The digest of the action stays as long as somebody may have to tell its end from the row. */
function withDigest(
  { execution_state, action_digest }: Body<MutationRecorded>,
  before: Mutation | undefined,
): Partial<Mutation> {
  const { action_digest: known, ...rest } = before ?? {};
  const digest = execution_state === 'uncertain' ? (action_digest ?? known) : undefined;
  return digest === undefined ? rest : { ...rest, action_digest: digest };
}

function earlierOf(before: Mutation | undefined): readonly Buffer[] {
  return before === undefined || before.executed_sha256 === null
    ? []
    : [...before.earlier_sha256, before.executed_sha256];
}

function awaitedFrom({ agent_id }: Mutation['execution'], concludeBy: number | null): Awaited | null {
  return concludeBy === null ? null : { owner: agent_id, deadline_at: concludeBy, is_overdue: false };
}

/** Nothing automatic takes it back: a person is to look. */
function reviewFrom({ review_by }: Pick<Body<MutationRecorded>, 'review_by'>): Awaited | null {
  return review_by === null ? null : { owner: OWNER_OF_EXPOSED, deadline_at: review_by, is_overdue: true };
}

function identityOf(
  mutationId: string,
  execution: Mutation['execution'],
): Pick<Mutation, 'mutation_id' | 'tenant' | 'run_id' | 'effect_key' | 'capability' | 'subject_ref' | 'execution'> {
  const { tenant, run_id, effect_key, capability, subject_ref } = execution;
  return { mutation_id: mutationId, tenant, run_id, effect_key, capability, subject_ref, execution };
}

/** Execution or recoverability that the reason of a report explains as trouble. */
function stopsAt({
  execution_state: execution,
  recoverability,
}: Pick<Body<MutationRecorded>, 'execution_state' | 'recoverability'>): boolean {
  return execution === 'failed' || execution === 'uncertain' || recoverability === 'manual_resolution_required';
}

const UNTOUCHED = {
  found_out: null,
  awaited: null,
  asked_because: null,
  ref: null,
  recorded_hash: null,
  recorded_seq: null,
  compensation_attempts: 0,
  is_seen_undone: false,
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
  settled: null,
  claim: null,
} as const;

/** What each record of the log makes of rows. */
export const EVOLVE: Folds<typeof MUTATIONS_LOG> = {
  ...AGREEMENT_FOLD,
  ...MUTATION_FOLD,
  ...COMMIT_FOLD,
  ...COMPENSATION_FOLD,
  ...CONSUMER_FOLD,
  ...LIMIT_FOLD,
  ...RECONCILIATION_FOLD,
  ...REEVALUATION_FOLD,
  ...ADMISSION_FOLD,
  ...ROLLBACK_FOLD,
  ...TREND_FOLD,
  MutationRecorded: together(
    MUTATION_FOLD.MutationRecorded,
    ROLLBACK_FOLD.MutationRecorded,
    AGREEMENT_FOLD.MutationRecorded,
  ),
  HandleJudged: together(MUTATION_FOLD.HandleJudged, ROLLBACK_FOLD.HandleJudged),
  MutationsFell: together(
    MUTATION_FOLD.MutationsFell,
    ADMISSION_FOLD.MutationsFell,
    CONSUMER_FOLD.MutationsFell,
    TREND_FOLD.MutationsFell,
  ),
  TriggerUnmatched: together(MUTATION_FOLD.TriggerUnmatched, ADMISSION_FOLD.TriggerUnmatched),
  TriggerHeld: together(MUTATION_FOLD.TriggerHeld, ADMISSION_FOLD.TriggerHeld),
  TriggerRedundant: together(MUTATION_FOLD.TriggerRedundant, ADMISSION_FOLD.TriggerRedundant),
  SourceJudged: together(LIMIT_FOLD.SourceJudged, ROLLBACK_FOLD.SourceJudged),
  CheckpointRecorded: together(
    COMMIT_FOLD.CheckpointRecorded,
    ROLLBACK_FOLD.CheckpointRecorded,
    REEVALUATION_FOLD.CheckpointRecorded,
  ),
  CommitBeyondBound: together(COMMIT_FOLD.CommitBeyondBound, ADMISSION_FOLD.CommitBeyondBound),
  CheckpointRolledBack: together(
    COMMIT_FOLD.CheckpointRolledBack,
    COMMIT_MARK_FOLD.CheckpointRolledBack,
    ADMISSION_FOLD.CheckpointRolledBack,
    REEVALUATION_FOLD.CheckpointRolledBack,
    CONSUMER_FOLD.CheckpointRolledBack,
    TREND_FOLD.CheckpointRolledBack,
  ),
  CheckpointHardened: together(COMMIT_FOLD.CheckpointHardened, REEVALUATION_FOLD.CheckpointHardened),
  AnswerRefused: unchanged,
  ErasureOrdered: unchanged,
};
