// Consumers of rollbacks, as a part of the mutations core: who is waited for, what they answer, who stays silent.
// Their rows are in rows/consumer.rows.ts.
import { entryView, isRead } from '@recourse/contract';
import type { AcceptedRecord, DecideContext, Decision, Derived, TimerInput } from '@recourse/event-log';
import { NOTHING, accepted, append } from '@recourse/event-log';
import type {
  Announced,
  BoundReached,
  CommitBeyondBound,
  CommitReattached,
  DerivationAnnounced,
  DueConsumer,
  Fallen,
  Moved,
  MutationRecorded,
  NoticeOf,
  Reattached,
  ReviewDelivery,
  RolledBack,
  Settled,
} from '@recourse/messages';
import { announcedTogether, fallenIn, movedIn, recordIn, rolledBackIn, settledTogether } from '@recourse/messages';
import { DELIVERY, deliveryIn, deliveryOf } from '../rows/consumer.rows.js';
import { markedIn } from '../rows/rollback.rows.js';
import { decideAck, decideOverdue, decideReview } from '../rules/consumer/ack.decider.js';
import type { Ack, AckWaits, Scoped } from '../rules/consumer/consumer.messages.js';
import { dueConsumers } from '../rules/consumer/due.decider.js';
import { parentsElsewhere } from '../rules/mutation/lineage.decider.js';
import type { RecordedMutation } from '../rules/mutation/mutation.messages.js';
import { RESTING_BEFORE_ROLLBACK, RESTING_STATES } from '../rules/mutation/mutation.transitions.js';
import type { Body, ByType } from '../rules/record.messages.js';
import { MUTATIONS_LOG, callByType } from '../rules/record.messages.js';
import { endingRefusal } from './ending.part.js';
import { refuse } from './refuse.js';

/**
 * Consumers to be recorded with a mark that is decided now.
 *
 * Shape:  whoever had subscribed before the mark was decided is in it, since the view is read to its end before (E18).
 */
export function consumersDue({ views, now }: DecideContext, who: Scoped, waits: AckWaits): readonly DueConsumer[] {
  views.readToEnd();
  return dueConsumers(views.view(entryView.name), who, now, waits);
}

/** What a scope is compared with, of a mutation. */
export function scopedOf({
  tenant,
  run_id,
  subject_ref,
  execution,
}: Pick<RecordedMutation, 'tenant' | 'run_id' | 'subject_ref' | 'execution'>): Scoped {
  return { tenant, agent: execution.agent_id, run: run_id, subject: subject_ref ?? '' };
}

/** Takes an acknowledgement from the wire. */
export function onAck({ state, now }: DecideContext, ack: Ack): Decision {
  const recorded = decideAck(
    ack,
    {
      delivery: deliveryIn(state, ack.run_id, ack.mutation_id, ack.consumer),
      rolledBack: markedIn(state, ack),
    },
    now,
  );
  return recorded === null ? NOTHING : append(recorded);
}

/** A person says what was done about a silent consumer. */
export function onReviewDelivery(context: DecideContext, command: ReviewDelivery) {
  const { run_id, mutation_id, consumer, delivery_id, envelope } = command;
  const told = decideReview(deliveryIn(context.state, run_id, mutation_id, consumer), command);
  if ('code' in told) return refuse(told);
  const refusal = endingRefusal(context, { tenant: envelope.tenant, run_id, mutation_id }, envelope);
  return refusal === null ? accepted(200, { delivery_id, reviewed: true }, told) : refuse(refusal);
}

/** A deadline passed. */
export function onDeliveryDue({ state, now }: DecideContext, { address: { group, key } }: TimerInput): Decision {
  const doc = state.get(DELIVERY, group, key);
  const overdue = doc === undefined ? null : decideOverdue(deliveryOf(doc), now);
  return overdue === null ? NOTHING : append(overdue);
}

// The derived log: what downstream must hear of the mutations log, in order (L17).
//
// Invariants
//   N1. A commit is announced and rolled back in one notice, and what became of it comes in one behind that: no reader can see the second
//       without the first.
//   N2. One notice for each record, with its members in their order; only settlements that name many parents are several.

/** Most parents that one notice of settlements names: each is answered with a record, all in one decision (L4). */
export const PARENTS_MAX = 200;

/** Notices that follow from one record of the mutations log. */
export function noticesOf(accepted: AcceptedRecord): readonly Derived[] {
  return callByType(NOTICES, recordIn(MUTATIONS_LOG, accepted)) ?? [];
}

const NOTICES: ByType<[], readonly Derived[]> = {
  MutationsFell: (body) => noticesOfFall(fallenIn(body)),
  MutationRecorded: noticesOfNews,
  CheckpointRolledBack: (body) => announced(rolledBackIn(body).map(announcedCommit)),
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
  const isAtRest =
    recoverability === 'manual_resolution_required' || execution_state === 'failed' || isRead(terms, ref);
  if (rollback_id === null || !isAtRest) return derived;
  const { subject_ref } = ref;
  const derived_from = parentsElsewhere(execution);
  return [
    ...derived,
    ...settled([{ tenant, run_id, mutation_id, rollback_id, subject_ref, recoverability, reason, derived_from }]),
  ];
}

/** What is found at rest is settled at once, behind the announcement of all; what failed, or only read, has nothing to undo. */
function noticesOfFall(fallen: readonly Fallen[]): readonly Derived[] {
  const resting = fallen.filter(
    ({ execution_state, recoverability, terms, ref }) =>
      isRead(terms, ref) || execution_state === 'failed' || RESTING_BEFORE_ROLLBACK.includes(recoverability),
  );
  return [...announced(fallen.map(announcedMutation)), ...settled(resting.map(settledAtOnce))];
}

function announcedMutation(fallen: Fallen): Announced {
  const { tenant, run_id, mutation_id, rollback_id, evidence, execution, ref, terms, consumers } = fallen;
  const { agent_id, initiator, capability, subject_ref, derived_from } = execution;
  const { assumption_refs, committed_at } = ref;
  return {
    ...{ tenant, run_id, caused_by: evidence, mutation_id, rollback_id, agent_id, subject_ref, capability },
    ...{ assumption_refs, committed_at, derived_from },
    has_effect: true,
    resume_checkpoint: null,
    consumers: consumers.map(({ consumer }) => consumer),
    initiator,
    contract_digest: terms?.contract_digest ?? null,
  };
}

/** A commit has no effect to settle: its announcement is all there is to hear. */
function announcedCommit(commit: RolledBack): Announced {
  const { tenant, run_id, commit_id, rollback_id, evidence, agent_id, subject_ref, produced_by } = commit;
  const { assumption_refs, committed_at, derived_from, resume, consumers, initiator } = commit;
  return {
    ...{ tenant, run_id, caused_by: evidence, mutation_id: commit_id, rollback_id, agent_id, subject_ref },
    ...{ capability: produced_by, assumption_refs, committed_at, derived_from },
    has_effect: false,
    resume_checkpoint: resume,
    consumers: consumers.map(({ consumer }) => consumer),
    initiator,
    contract_digest: null,
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
  resume,
}: Body<CommitBeyondBound>): Derived {
  const body: NoticeOf<BoundReached> = {
    tenant,
    agent_id,
    run_id,
    mutation_id,
    subject_ref,
    caused_by: evidence,
    committed_at,
    resume_checkpoint: resume,
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
