// The bound of rollbacks as a part of the orchestrator's core: commits without an effect that are marked, commits beyond the
// bound, and what people make of those. Rows read, the decisions asked, records and rows out.
//
// Boundary: holds no rule; those are in domain/rollback/bound.decider.ts.
import type { DecideContext } from '@recourse/event-log';
import type { BodyOf, ReviewOutOfBand } from '@recourse/messages';
import { markWithoutEffect, outOfBand, reviewedFact, reviewRefusal } from '../domain/rollback/bound.decider.js';
import { isUsableId, triggerOfCommand } from '../domain/rollback/rollback.decider.js';
import { rollbackPhaseAfter } from '../domain/rollback/rollback.transitions.js';
import { decideTrigger } from './admission.part.js';
import type { Admitting } from './admission.part.js';
import { existingRollback, rollbackIn, rollbackPut } from './recoveries.kinds.js';
import type { Fold } from './recoveries.kinds.js';
import type { RecoveryRecord } from '../domain/record.messages.js';
import type { Refusal } from '../domain/refusal.messages.js';
import type { RollbackDoc } from '../domain/rollback/rollback.messages.js';

/** The ledger has marked a commit without an effect. */
export function onCheckpointMarked(
  { state }: DecideContext,
  marked: BodyOf<'recourse.mutations', 'CheckpointRolledBack'>,
): readonly RecoveryRecord[] {
  const done = markWithoutEffect(rollbackIn(state, { ...marked, mutation_id: marked.commit_id }), marked);
  return done === null ? [] : [done];
}

/** A fall reached a commit that was recorded before its bound. */
export function onBeyondBound(
  { state, now }: DecideContext,
  beyond: BodyOf<'recourse.mutations', 'CommitBeyondBound'>,
  { policy }: Admitting,
): readonly RecoveryRecord[] {
  const item = outOfBand(rollbackIn(state, beyond), beyond, now, policy);
  return item === null ? [] : [item];
}

/** A person looked at a commit beyond the bound: that it should not stand is a trigger of its own. */
export function onReview(
  context: DecideContext,
  command: ReviewOutOfBand,
  admitting: Admitting,
): Refusal | { readonly records: readonly RecoveryRecord[]; readonly phase: RollbackDoc['phase'] } {
  const {
    envelope: { tenant },
    run_id,
    mutation_id,
    verdict,
  } = command;
  if (![tenant, run_id, mutation_id].every(isUsableId))
    return {
      httpStatus: 422,
      code: 'COMMAND_INVALID',
      message: 'Tenant, run and mutation must be 1 to 200 bytes without NUL.',
    };
  const standing = rollbackIn(context.state, { tenant, run_id, mutation_id });
  const refusal = reviewRefusal(standing, command);
  if (refusal !== null || standing === undefined)
    return refusal ?? { httpStatus: 404, code: 'ROLLBACK_UNKNOWN', message: 'There is no such rollback.' };
  const reviewed = reviewedFact(standing, command);
  if (verdict === 'stands') return { records: [reviewed], phase: 'reviewed' };
  return {
    records: [reviewed, ...decideTrigger(context, triggerOfCommand(command), admitting).records],
    phase: 'opened',
  };
}

/** Rows that records of this part change. */
export const BOUND_FOLD = {
  RollbackMarked: (about, state, { decidedAt: at }) => {
    const standing = existingRollback(state, about);
    return [
      rollbackPut({
        ...standing,
        phase: rollbackPhaseAfter(standing.phase, 'Marked'),
        deadline_at: null,
        updated_at: at,
      }),
    ];
  },
  RollbackOutOfBand: ({ evidence, committed_at, owner, deadline_at, ...about }, state, { decidedAt: at }) => {
    const standing = rollbackIn(state, about);
    const beyond = { evidence, committed_at };
    const phase = standing === undefined ? 'beyond' : rollbackPhaseAfter(standing.phase, 'Beyond');
    // What is held waits for its own word first; the fall is told when a person has said no.
    if (standing !== undefined && phase === 'held') return [rollbackPut({ ...standing, beyond, updated_at: at })];
    return [
      rollbackPut({
        ...about,
        phase,
        evidence,
        command_id: null,
        held: null,
        confirmed_by: null,
        judged: null,
        bound_at: null,
        beyond,
        reviewed: null,
        owner,
        deadline_at,
        opened_at: at,
        updated_at: at,
      }),
    ];
  },
  OutOfBandReviewed: ({ verdict, by, reason, ...about }, state, { decidedAt: at }) => {
    const standing = existingRollback(state, about);
    return [
      rollbackPut({
        ...standing,
        phase: rollbackPhaseAfter(standing.phase, 'Reviewed'),
        reviewed: { verdict, by, reason, at },
        deadline_at: null,
        updated_at: at,
      }),
    ];
  },
} satisfies Partial<Fold>;
