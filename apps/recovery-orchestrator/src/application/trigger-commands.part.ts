// Commands about triggers: roll back, judge, review beyond the bound, close a breaker, undo.
import { accepted } from '@recourse/event-log';
import type { Decision } from '@recourse/event-log';
import type {
  CloseBreaker,
  ConfirmTrigger,
  RejectTrigger,
  ReviewOutOfBand,
  TriggerRollback,
  UndoRun,
} from '@recourse/messages';
import type { Verdict } from '../domain/admission/judging.decisions.js';
import { isUsableId, rollbackIdOf, triggerOfCommand, triggerRefusal } from '../domain/rollback/rollback.decider.js';
import { recoveryIdOf } from '../domain/step/opening.decisions.js';
import { openUndo, undoIdOf, undoRefusal } from '../domain/undo/undo.decider.js';
import { close, decideTrigger, judge } from './admission.part.js';
import { onReview } from './bound.part.js';
import { refuse } from './recoveries.context.js';
import type { Asked } from './recoveries.context.js';

/** Somebody says that a commit should not stand. */
export function onTrigger(command: TriggerRollback, { context, policy }: Asked): Decision {
  const refusal = triggerRefusal(command);
  if (refusal !== null) return refuse(refusal);
  const { tenant } = command.envelope;
  const { records, outcome } = decideTrigger(context, triggerOfCommand(command), {
    policy,
    limits: policy.admission,
  });
  const body = {
    rollback_id: rollbackIdOf(command.mutation_id),
    recovery_id: recoveryIdOf(tenant, command.run_id),
    run_id: command.run_id,
    mutation_id: command.mutation_id,
    redundant: outcome === 'redundant',
    held: outcome === 'held',
  };
  return accepted(outcome === 'redundant' ? 200 : outcome === 'held' ? 202 : 201, body, ...records);
}

/** A person judges a trigger. */
export function onJudged(
  command: ConfirmTrigger | RejectTrigger,
  verdict: Verdict,
  { context, policy }: Asked,
): Decision {
  if (![command.envelope.tenant, command.mutation_id].every(isUsableId))
    return refuse({
      httpStatus: 422,
      code: 'COMMAND_INVALID',
      message: 'Tenant and mutation must be 1 to 200 bytes without NUL.',
    });
  const judged = judge(context, command, verdict, { policy, limits: policy.admission });
  return 'code' in judged
    ? refuse(judged)
    : accepted(
        200,
        { rollback_id: command.rollback_id, run_id: command.run_id, phase: judged.phase, verdict },
        ...judged.records,
      );
}

/** A person looked at a commit beyond its bound. */
export function onReviewed(command: ReviewOutOfBand, { context, policy }: Asked): Decision {
  const reviewed = onReview(context, command, { policy, limits: policy.admission });
  return 'code' in reviewed
    ? refuse(reviewed)
    : accepted(
        200,
        {
          rollback_id: rollbackIdOf(command.mutation_id),
          run_id: command.run_id,
          phase: reviewed.phase,
          verdict: command.verdict,
        },
        ...reviewed.records,
      );
}

/** A person closes a breaker. */
export function onCloseBreaker(command: CloseBreaker, { context }: Asked): Decision {
  const closed = close(context, command);
  return 'code' in closed ? refuse(closed) : accepted(200, { breaker_id: command.breaker_id, phase: 'closed' }, closed);
}

/** Somebody asks for a run, or some of its effects, to be undone. */
export function onUndo(command: UndoRun, { context }: Asked): Decision {
  const refusal = undoRefusal(command);
  if (refusal !== null) return refuse(refusal);
  const {
    run_id,
    envelope: { tenant, command_id },
  } = command;
  return accepted(
    201,
    { undo_id: undoIdOf(command_id), recovery_id: recoveryIdOf(tenant, run_id), run_id, phase: 'opened' },
    openUndo(command, context.now),
  );
}
