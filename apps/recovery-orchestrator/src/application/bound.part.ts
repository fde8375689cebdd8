// The bound of rollbacks as a part of the orchestrator's core: commits without an effect that are marked, commits beyond the
// bound, and what people make of those. Rows read, the decisions asked, records and rows out.
//
// Boundary: holds no rule; those are in domain/rollback/bound.decider.ts.
import type { AcceptedRecord, Change, DecideContext, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { CheckpointRolledBack, CommitBeyondBound, ReviewOutOfBand } from '@recourse/messages';
import { markWithoutEffect, outOfBand, reviewedFact, reviewRefusal } from '../domain/rollback/bound.decider.js';
import { isUsableId, rollbackKey, triggerOfCommand } from '../domain/rollback/rollback.decider.js';
import { rollbackPhaseAfter } from '../domain/rollback/rollback.transitions.js';
import { bodyOf } from '../domain/step/step-row.transitions.js';
import type { Fact, Refusal, RollbackDoc } from '../domain/step/step.messages.js';
import { decideTrigger } from './admission.part.js';
import type { Admitting } from './admission.part.js';
import { readRow, rollbackPut } from './recoveries.kinds.js';

/** The ledger has marked a commit without an effect. */
export function onCheckpointMarked({ state }: DecideContext, marked: CheckpointRolledBack): readonly Fact[] {
  const done = markWithoutEffect(standingOf(state, { ...marked, mutation_id: marked.commit_id }), marked);
  return done === null ? [] : [done];
}

/** A fall reached a commit that was recorded before its bound. */
export function onBeyondBound(
  { state, now }: DecideContext,
  beyond: CommitBeyondBound,
  { policy }: Admitting,
): readonly Fact[] {
  const item = outOfBand(standingOf(state, beyond), beyond, now, policy);
  return item === null ? [] : [item];
}

/** A person looked at a commit beyond the bound: that it should not stand is a trigger of its own. */
export function onReview(
  context: DecideContext,
  command: ReviewOutOfBand,
  admitting: Admitting,
): Refusal | { readonly facts: readonly Fact[]; readonly phase: RollbackDoc['phase'] } {
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
  const standing = standingOf(context.state, { tenant, run_id, mutation_id });
  const refusal = reviewRefusal(standing, command);
  if (refusal !== null || standing === undefined)
    return refusal ?? { httpStatus: 404, code: 'ROLLBACK_UNKNOWN', message: 'There is no such rollback.' };
  const reviewed = reviewedFact(standing, command);
  if (verdict === 'stands') return { facts: [reviewed], phase: 'reviewed' };
  return { facts: [reviewed, ...decideTrigger(context, triggerOfCommand(command), admitting).facts], phase: 'opened' };
}

/** Rows an accepted record of this part changes; null for other records. */
export function evolveBound(state: StateView, record: AcceptedRecord): readonly Change[] | null {
  return EVOLVE[record.type]?.(state, record) ?? null;
}

const EVOLVE: Readonly<Record<string, (state: StateView, record: AcceptedRecord) => readonly Change[]>> = {
  RollbackMarked: (state, { body, decidedAt: at }) => {
    const standing = existing(state, bodyOf('RollbackMarked', body));
    return [
      rollbackPut({
        ...standing,
        phase: rollbackPhaseAfter(standing.phase, 'Marked'),
        deadline_at: null,
        updated_at: at,
      }),
    ];
  },
  RollbackOutOfBand: (state, { body, decidedAt: at }) => {
    const { evidence, committed_at, owner, deadline_at, ...about } = bodyOf('RollbackOutOfBand', body);
    const standing = standingOf(state, about);
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
  OutOfBandReviewed: (state, { body, decidedAt: at }) => {
    const { verdict, by, reason, ...about } = bodyOf('OutOfBandReviewed', body);
    const standing = existing(state, about);
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
};

function standingOf(
  state: StateView,
  { tenant, run_id, mutation_id }: Pick<RollbackDoc, 'tenant' | 'run_id' | 'mutation_id'>,
): RollbackDoc | undefined {
  return readRow(state, 'rollback', run_id, rollbackKey(tenant, mutation_id));
}

function existing(state: StateView, about: Pick<RollbackDoc, 'tenant' | 'run_id' | 'mutation_id'>): RollbackDoc {
  const standing = standingOf(state, about);
  if (standing === undefined) throw new InvariantViolation('rollback-unknown', about.mutation_id);
  return standing;
}
