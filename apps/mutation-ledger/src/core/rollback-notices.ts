// The derived log: what downstream must hear of the mutations log, in order (L17).
//
// Invariants
//   N1. A commit is announced and rolled back in one notice, and what became of it comes in one behind that: no reader can see the second
//       without the first.
//   N2. One notice for each record, with its members in their order; only settlements that name many parents are several.
import { isRead } from '@recourse/contract';
import type { AcceptedRecord, Derived } from '@recourse/event-log';
import { announcedTogether, fallenIn, movedIn, recordIn, settledTogether } from '@recourse/messages';
import type {
  Announced,
  BoundReached,
  CheckpointRolledBack,
  CommitBeyondBound,
  CommitReattached,
  DerivationAnnounced,
  Fallen,
  Moved,
  MutationRecorded,
  NoticeOf,
  Reattached,
  Settled,
} from '@recourse/messages';
import { parentsElsewhere } from '../rules/mutation/lineage.decider.js';
import { RESTING_BEFORE_ROLLBACK, RESTING_STATES } from '../rules/mutation/mutation.transitions.js';
import { callByType, MUTATIONS_LOG } from '../rules/record.messages.js';
import type { Body, ByType } from '../rules/record.messages.js';

/** Most parents that one notice of settlements names: each is answered with a record, all in one decision (L4). */
export const PARENTS_MAX = 200;

/** Notices that follow from one record of the mutations log. */
export function noticesOf(accepted: AcceptedRecord): readonly Derived[] {
  return callByType(NOTICES, recordIn(MUTATIONS_LOG, accepted)) ?? [];
}

const NOTICES: ByType<[], readonly Derived[]> = {
  MutationsFell: (body) => noticesOfFall(fallenIn(body)),
  MutationRecorded: noticesOfNews,
  CheckpointRolledBack: (body) => announced([announcedCommit(body)]),
  CommitBeyondBound: (body) => [beyond(body)],
  Reattached: (body) => [reattached(body)],
  RecoverabilityChanged: (body) => settled(movedIn(body).flatMap(settledByMove)),
};

/** What was derived from other runs says so; what a marked commit turned out to be may leave nothing to recovery. */
function noticesOfNews({
  mutation_id,
  execution,
  execution_state,
  rollback_id,
  terms,
  ref,
  recoverability,
  reason,
}: Body<MutationRecorded>): readonly Derived[] {
  const { tenant, run_id } = execution;
  const parents = execution_state === 'failed' ? [] : parentsElsewhere(execution);
  const derivation: NoticeOf<DerivationAnnounced> = { tenant, run_id, mutation_id, parents };
  const derived: readonly Derived[] =
    parents.length === 0 ? [] : [{ key: run_id, type: 'DerivationAnnounced', body: derivation }];
  if (rollback_id === null || (recoverability !== 'manual_resolution_required' && !isRead(terms, ref))) return derived;
  const { subject_ref } = ref;
  const derived_from = parentsElsewhere(execution);
  return [
    ...derived,
    ...settled([{ tenant, run_id, mutation_id, rollback_id, subject_ref, recoverability, reason, derived_from }]),
  ];
}

/** What is found at rest is settled at once, behind the announcement of all. */
function noticesOfFall(fallen: readonly Fallen[]): readonly Derived[] {
  const resting = fallen.filter(
    ({ recoverability, terms, ref }) => RESTING_BEFORE_ROLLBACK.includes(recoverability) || isRead(terms, ref),
  );
  return [...announced(fallen.map(announcedMutation)), ...settled(resting.map(settledAtOnce))];
}

function announcedMutation(fallen: Fallen): Announced {
  const { tenant, run_id, mutation_id, rollback_id, evidence, execution, ref, consumers } = fallen;
  const { agent_id, capability, subject_ref, derived_from } = execution;
  const { assumption_refs, committed_at } = ref;
  return {
    ...{ tenant, run_id, caused_by: evidence, mutation_id, rollback_id, agent_id, subject_ref, capability },
    ...{ assumption_refs, committed_at, derived_from },
    has_effect: true,
    resume_checkpoint: null,
    consumers: consumers.map(({ consumer }) => consumer),
  };
}

/** A commit has no effect to settle: its announcement is all there is to hear. */
function announcedCommit(body: Body<CheckpointRolledBack>): Announced {
  const { tenant, run_id, commit_id, rollback_id, evidence, agent_id, subject_ref, produced_by } = body;
  const { assumption_refs, committed_at, derived_from, resume, consumers } = body;
  return {
    ...{ tenant, run_id, caused_by: evidence, mutation_id: commit_id, rollback_id, agent_id, subject_ref },
    ...{ capability: produced_by, assumption_refs, committed_at, derived_from },
    has_effect: false,
    resume_checkpoint: resume,
    consumers: consumers.map(({ consumer }) => consumer),
  };
}

function settledAtOnce({
  tenant,
  run_id,
  mutation_id,
  rollback_id,
  execution,
  recoverability,
  reason,
}: Fallen): Settled {
  const { subject_ref } = execution;
  const derived_from = parentsElsewhere(execution);
  return { tenant, run_id, mutation_id, rollback_id, subject_ref, recoverability, reason, derived_from };
}

function settledByMove(moved: Moved): readonly Settled[] {
  const { tenant, run_id, mutation_id, rollback_id, subject_ref, from_state, to_state, reason, derived_from } = moved;
  if (rollback_id === null || from_state === to_state || !RESTING_STATES.includes(to_state)) return [];
  return [{ tenant, run_id, mutation_id, rollback_id, subject_ref, recoverability: to_state, reason, derived_from }];
}

function announced([first, ...others]: readonly Announced[]): readonly Derived[] {
  if (first === undefined) return [];
  return [{ key: first.run_id, type: 'RollbackAnnounced', body: announcedTogether([first, ...others]) }];
}

function settled(all: readonly Settled[]): readonly Derived[] {
  const parts: [Settled, ...Settled[]][] = [];
  let named = 0;
  for (const one of all) {
    const part = parts.at(-1);
    const parents = one.derived_from.length;
    named += parents;
    if (part !== undefined && named <= PARENTS_MAX) {
      part.push(one);
      continue;
    }
    parts.push([one]);
    named = parents;
  }
  return parts.map((part) => ({ key: part[0].run_id, type: 'RollbackSettled', body: settledTogether(part) }));
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
  const body: NoticeOf<BoundReached> = {
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
  const body: NoticeOf<CommitReattached> = {
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
