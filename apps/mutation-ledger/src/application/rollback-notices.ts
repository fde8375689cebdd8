// The derived log: what downstream must hear of the mutations log, in order (L17).
import type { AcceptedRecord, Derived } from '@recourse/event-log';
import { fallenIn, movedIn, recordIn } from '@recourse/messages';
import type {
  BoundReached,
  CheckpointRolledBack,
  CommitAnnounced,
  CommitBeyondBound,
  CommitReattached,
  Fallen,
  DerivationAnnounced,
  MutationRecorded,
  Reattached,
  Moved,
  RollbackAnnounced,
  RollbackSettled,
} from '@recourse/messages';
import { parentsElsewhere } from '../domain/mutation/lineage.decider.js';
import { RESTING_BEFORE_ROLLBACK, RESTING_STATES } from '../domain/mutation/mutation.transitions.js';
import { callByType, MUTATIONS_LOG } from '../domain/record.messages.js';
import type { Body, ByType } from '../domain/record.messages.js';

type NoticeBody<T> = Omit<T, 'seq' | 'prev_hash' | 'source_seq' | 'source_index'>;

/** Notices that follow from one record of the mutations log. */
export function noticesOf(accepted: AcceptedRecord): readonly Derived[] {
  return callByType(NOTICES, recordIn(MUTATIONS_LOG, accepted)) ?? [];
}

const NOTICES: ByType<[], readonly Derived[]> = {
  MutationsFell: (body) => fallenIn(body).flatMap(noticesOfFall),
  MutationRecorded: noticesOfNews,
  CheckpointRolledBack: noticesOfCheckpoint,
  CommitBeyondBound: (body) => [beyond(body)],
  Reattached: (body) => [reattached(body)],
  RecoverabilityChanged: (body) => movedIn(body).flatMap(noticesOfMove),
};

/** What was derived from other runs says so; what a marked commit turned out to be may leave nothing to recovery. */
function noticesOfNews({
  mutation_id,
  execution,
  execution_state,
  rollback_id,
  ref,
  recoverability,
  reason,
}: Body<MutationRecorded>): readonly Derived[] {
  const { tenant, run_id } = execution;
  const parents = execution_state === 'failed' ? [] : parentsElsewhere(execution);
  const derivation: NoticeBody<DerivationAnnounced> = { tenant, run_id, mutation_id, parents };
  const announced: readonly Derived[] =
    parents.length === 0 ? [] : [{ key: run_id, type: 'DerivationAnnounced', body: derivation }];
  if (rollback_id === null || recoverability !== 'manual_resolution_required') return announced;
  return [
    ...announced,
    settled({
      tenant,
      run_id,
      mutation_id,
      rollback_id,
      subject_ref: ref.subject_ref,
      recoverability,
      reason,
      derived_from: parentsElsewhere(execution),
    }),
  ];
}

/** CommitAnnounced directly precedes the RollbackAnnounced; a commit found at rest is settled at once. */
function noticesOfFall({
  tenant,
  run_id,
  mutation_id,
  rollback_id,
  evidence,
  execution,
  ref,
  recoverability,
  reason,
  consumers,
}: Fallen): readonly Derived[] {
  const { agent_id, capability, subject_ref } = execution;
  const who = { tenant, agent_id, run_id, mutation_id, subject_ref };
  const commit: NoticeBody<CommitAnnounced> = {
    ...who,
    capability,
    assumption_refs: ref.assumption_refs,
    committed_at: ref.committed_at,
    derived_from: execution.derived_from,
  };
  const rollback: NoticeBody<RollbackAnnounced> = {
    ...who,
    rollback_id,
    caused_by: evidence,
    has_effect: true,
    resume_checkpoint: null,
    consumers: consumers.map(({ consumer }) => consumer),
  };
  const atRest = RESTING_BEFORE_ROLLBACK.includes(recoverability);
  return [
    { key: run_id, type: 'CommitAnnounced', body: commit },
    { key: run_id, type: 'RollbackAnnounced', body: rollback },
    ...(atRest
      ? [
          settled({
            tenant,
            run_id,
            mutation_id,
            rollback_id,
            subject_ref,
            recoverability,
            reason,
            derived_from: parentsElsewhere(execution),
          }),
        ]
      : []),
  ];
}

/** A commit has no effect to settle: its announcement is all there is to hear. */
function noticesOfCheckpoint({
  tenant,
  run_id,
  commit_id: mutation_id,
  rollback_id,
  evidence,
  agent_id,
  produced_by,
  subject_ref,
  assumption_refs,
  derived_from,
  committed_at,
  resume,
  consumers,
}: Body<CheckpointRolledBack>): readonly Derived[] {
  const who = { tenant, agent_id, run_id, mutation_id, subject_ref };
  const commit: NoticeBody<CommitAnnounced> = {
    ...who,
    capability: produced_by,
    assumption_refs,
    committed_at,
    derived_from,
  };
  const rollback: NoticeBody<RollbackAnnounced> = {
    ...who,
    rollback_id,
    caused_by: evidence,
    has_effect: false,
    resume_checkpoint: resume,
    consumers: consumers.map(({ consumer }) => consumer),
  };
  return [
    { key: run_id, type: 'CommitAnnounced', body: commit },
    { key: run_id, type: 'RollbackAnnounced', body: rollback },
  ];
}

function beyond({
  tenant,
  run_id,
  mutation_id,
  agent_id,
  subject_ref,
  evidence,
  committed_at,
}: Body<CommitBeyondBound>): Derived {
  const body: NoticeBody<BoundReached> = {
    tenant,
    agent_id,
    run_id,
    mutation_id,
    subject_ref,
    caused_by: evidence,
    committed_at,
  };
  return { key: run_id, type: 'BoundReached', body };
}

function reattached({
  tenant,
  run_id,
  mutation_id,
  agent_id,
  subject_ref,
  fallen,
  parent,
  evidence,
}: Body<Reattached>): Derived {
  const body: NoticeBody<CommitReattached> = {
    tenant,
    agent_id,
    run_id,
    mutation_id,
    subject_ref,
    fallen,
    parent,
    caused_by: evidence,
  };
  return { key: run_id, type: 'CommitReattached', body };
}

function noticesOfMove({
  tenant,
  run_id,
  mutation_id,
  rollback_id,
  subject_ref,
  from_state,
  to_state,
  reason,
  derived_from,
}: Moved): readonly Derived[] {
  if (rollback_id === null || from_state === to_state || !RESTING_STATES.includes(to_state)) return [];
  return [
    settled({
      tenant,
      run_id,
      mutation_id,
      rollback_id,
      subject_ref,
      recoverability: to_state,
      reason,
      derived_from,
    }),
  ];
}

function settled(body: NoticeBody<RollbackSettled>): Derived {
  return { key: body.run_id, type: 'RollbackSettled', body };
}
