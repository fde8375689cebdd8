// A step that failed for good takes back what its run did before it, where the run says so (`on_failure`, A53).
//
// Boundary: finds that a step failed, and what there is to undo; what falls is admitted like every other finding.
import type { DecideContext } from '@recourse/event-log';
import { deriveId, REFS_MAX } from '@recourse/kernel';
import type { ExecutionState, ToolExecuted } from '@recourse/messages';
import { EFFECTS_MAX } from '../rules/mutation/refs.decider.js';
import type { CancelReason } from '../rules/mutation/mutation.messages.js';
import { isTriedAgain } from '../rules/mutation/reported.decisions.js';
import type { Finding, MutationRecord } from '../rules/record.messages.js';
import { reachOf, undoAfterFailure, undoPart } from '../rules/undo/undo.decider.js';
import type { FailedStep } from '../rules/undo/undo.decider.js';
import type { Undo } from '../rules/undo/undo.messages.js';
import { mutationsIn } from '../rows/mutation.rows.js';
import { undoIn } from '../rows/rollback.rows.js';
import { fall } from './falls.part.js';
import type { FallPolicy } from './falls.part.js';

/** What falls with an execution; `id` is its mutation. */
export function takenAlong(
  context: DecideContext,
  id: string,
  event: ToolExecuted,
  state: ExecutionState,
): readonly Finding[] {
  return state !== 'failed' || isTriedAgain(event) ? [] : undone(context, id, event);
}

/** Records about a hold that ended, and what falls where they say that the effect does not go. */
export function withTakenAlong(
  context: DecideContext,
  records: readonly MutationRecord[],
  policy: FallPolicy,
): readonly MutationRecord[] {
  const found = records.flatMap((one) => {
    if (one.type !== 'MutationRecorded' || !NOT_LET_GO.has(one.body.reason ?? '')) return [];
    const { mutation_id: id, event_id, execution, reason: error_kind } = one.body;
    return undone(context, id, { ...execution, event_id, error_kind, committed_at: context.now });
  });
  return found.length === 0 ? records : [...records, ...fall(context, found, policy)];
}

/** What a hold ends with and nobody asked for: a person's word, or evidence, is about that effect alone. */
const NOT_LET_GO: ReadonlySet<string> = new Set<CancelReason>([
  'PRECONDITION_FAILED',
  'PRECONDITION_UNKNOWN',
  'KILL_SWITCH',
  'CHARTER_REFUSED',
  'APPROVAL_MISSING',
]);

function undone(
  context: DecideContext,
  id: string,
  step: FailedStep & Pick<ToolExecuted, 'on_failure'>,
): readonly Finding[] {
  if (step.on_failure === 'keep') return [];
  const undo = begun(context, undoAfterFailure(id, step));
  const before = reachOf(undo, mutationsIn(context.state, step.run_id));
  return before.length === 0 ? [] : undoPart(undo, before, EFFECTS_MAX - REFS_MAX);
}

/** A producer may tell of the next failure under the event of an earlier one: that begins an undo of its own. */
function begun({ state }: DecideContext, undo: Undo): Undo {
  let { undo_id } = undo;
  for (let nth = 2; undoIn(state, undo.run_id, undo_id) !== undefined; nth += 1)
    undo_id = deriveId('undo', undo.undo_id, String(nth));
  return { ...undo, undo_id };
}
