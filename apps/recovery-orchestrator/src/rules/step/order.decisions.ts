// Which steps come first: last effects are undone first, and nothing is taken from under what was made of it (B17, docs/design/recovery.md).
//
// Boundary: pure; reads the steps of the run.
//
// Invariants
//   O1. Where no effect of the recovery says what it was derived from, later executions are at rest before earlier ones begin.
//   O2. Where one does, those derived from an effect come first, and the rest goes side by side.
//   O3. An effect whose derivative a person has is not undone before that person is done: it says so (BLOCKED_BY_STEP).
//   O4. Order is patience, not a lock: at its deadline a step goes without those outstanding, and names them.
//   O5. Whoever waits for the result of a compensation is not waited for.
//   O6. What was made of an effect in other runs comes first too, for as long as a child may take (CHILDREN).
//   O7. What was made of a commit without effect may rest on whatever the run did before: it comes before all of that, and blocks none of it.
//   O8. Steps that went out in one leg stay in its order, whatever became of it.
//   O9. Of those that come first the nearest are named, those that begin last: a run of n effects would name n² of them, and no plan
//       of it would fit a batch (L4).
import { isCommitId } from '@recourse/lineage';
import { dependentsOf } from '../lineage/dependents.decisions.js';
import { isAtRest, isSettled } from './step.transitions.js';
import type { StepDoc } from './step.messages.js';
import type { DependentDoc } from '../lineage/dependents.messages.js';

/** What a step waits for. */
export type Order =
  | { readonly kind: 'free' }
  /** `steps`: ids of those that come first. */
  | { readonly kind: 'wait'; readonly reason: 'ORDER' | 'BLOCKED_BY_STEP'; readonly steps: readonly string[] }
  /** `steps`: mutations of other runs. */
  | { readonly kind: 'wait'; readonly reason: 'CHILDREN'; readonly steps: readonly string[] };

/** Says whether a step may go, by the steps of its run and what other runs made of its effect. What was sent waits for its leg alone. */
export function orderOf(step: StepDoc, steps: readonly StepDoc[], dependents: readonly DependentDoc[]): Order {
  if (step.attempt > 0) return orderInLeg(step, steps);
  const others = steps.filter((one) => one.recovery_id === step.recovery_id && one.step_id !== step.step_id);
  const isDeclared = !isStrict([step, ...others]);
  const first = others.filter((one) =>
    isDeclared ? isDerivedFrom(one, step) || mayRestOn(one, step) : one.executed_seq > step.executed_seq,
  );
  const outstanding = first.filter((one) => !isAtRest(one.phase) && !awaitsResult(one));
  if (outstanding.length > 0) return { kind: 'wait', reason: 'ORDER', steps: nearest(outstanding) };
  const blocking = isDeclared
    ? first.filter((one) => isDerivedFrom(one, step) && isAtRest(one.phase) && !isDone(one))
    : [];
  if (blocking.length > 0) return { kind: 'wait', reason: 'BLOCKED_BY_STEP', steps: nearest(blocking) };
  const children = dependentsOf(step, dependents);
  return children.length > 0
    ? { kind: 'wait', reason: 'CHILDREN', steps: children.slice(0, NAMED_MAX) }
    : { kind: 'free' };
}

/** A step of a leg goes after those ahead of it there. */
function orderInLeg({ legs }: StepDoc, steps: readonly StepDoc[]): Order {
  const last = legs.at(-1);
  if (last === undefined || last.position === 0) return { kind: 'free' };
  const ahead = steps.filter(
    (one) =>
      !isAtRest(one.phase) &&
      one.legs.some(({ leg_id, position }) => leg_id === last.leg_id && position < last.position),
  );
  return ahead.length > 0 ? { kind: 'wait', reason: 'ORDER', steps: nearest(ahead) } : { kind: 'free' };
}

/** Do the steps of a recovery go one after the other, since none says what it was made from? (O1) */
export function isStrict(steps: readonly StepDoc[]): boolean {
  return !steps.some(declaresParents);
}

/** Says which effects of its run it was made from. */
function declaresParents({ execution, run_id }: StepDoc): boolean {
  return execution.derived_from.some((parent) => parent.run_id === run_id && !isCommitId(parent.commit_id));
}

/** Made of a commit without effect, and nobody here sees what that was made of (O7). */
function mayRestOn({ execution, run_id, executed_seq }: StepDoc, step: StepDoc): boolean {
  return (
    executed_seq > step.executed_seq &&
    execution.derived_from.some((parent) => parent.run_id === run_id && isCommitId(parent.commit_id))
  );
}

function isDerivedFrom({ execution }: StepDoc, { run_id, mutation_id }: StepDoc): boolean {
  return execution.derived_from.some((parent) => parent.run_id === run_id && parent.commit_id === mutation_id);
}

function awaitsResult({ phase, reason }: StepDoc): boolean {
  return phase === 'held' && reason === 'STEP_RESULT_PENDING';
}

/** Undone, never needed, or closed by a person who knew what stood on it. */
function isDone({ phase }: StepDoc): boolean {
  return isSettled(phase) || phase === 'resolved';
}

/** Most that a step names of those it waits for, or went without. */
export const NAMED_MAX = 20;

function nearest(steps: readonly StepDoc[]): readonly string[] {
  return steps
    .toSorted((one, other) => one.executed_seq - other.executed_seq)
    .slice(0, NAMED_MAX)
    .map(({ step_id }) => step_id)
    .sort();
}
