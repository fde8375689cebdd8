// Dependents: commits of other runs that were derived from those of a run. They are undone first, up to a deadline (docs/design/recovery.md).
//
// Boundary: pure; the rows are those of the run of the parents, and only its owner writes them.
//
// Invariants
//   C1. Whoever was noted and is not at rest is waited for, up to the deadline; whoever goes without them names them.
//   C2. One that is noted once its parent is being undone comes after it, and the record says so.
//   C3. Nothing of another tenant is waited for.
import type { CommitRef } from '@recourse/messages';
import type { StepDoc } from '../step/step.messages.js';
import type { DependentDoc } from './dependents.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';

/** How long an effect waits for those derived from it in other runs, milliseconds: some hops, and what their tools take. */
export const CHILDREN_FIRST_MS = 30_000;

/** A commit that was derived, as the ledger announces it. */
export interface Child {
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
}

/** Key of a dependent among those of its parent's run. */
export function dependentKey({
  tenant,
  mutation_id,
  child_mutation_id,
}: Pick<DependentDoc, 'tenant' | 'mutation_id' | 'child_mutation_id'>): string {
  return `${tenant}/${mutation_id}/${child_mutation_id}`;
}

/** Commits of other runs that come before a step: noted, and not at rest. */
export function dependentsOf(
  { tenant, mutation_id }: Pick<StepDoc, 'tenant' | 'mutation_id'>,
  dependents: readonly DependentDoc[],
): readonly string[] {
  return dependents
    .filter((one) => one.tenant === tenant && one.mutation_id === mutation_id && one.settled_as === null)
    .map((one) => one.child_mutation_id)
    .sort();
}

/** Notes a child of a commit; null when it is on record. */
export function noteDependent(
  child: Child,
  parent: CommitRef,
  standing: DependentDoc | undefined,
  steps: readonly StepDoc[],
): RecoveryRecord | null {
  if (standing !== undefined) return null;
  const isLate = steps.some(
    (step) => step.tenant === child.tenant && step.mutation_id === parent.commit_id && step.attempt > 0,
  );
  return record('DependentNoted', { ...aboutOf(child, parent), is_late: isLate });
}

/** Records that a child came to rest; null when nobody noted it, or it did before. */
export function settleDependent(
  child: Child,
  parent: CommitRef,
  recoverability: NonNullable<DependentDoc['settled_as']>,
  standing: DependentDoc | undefined,
): RecoveryRecord | null {
  if (standing === undefined || standing.settled_as !== null) return null;
  return record('DependentSettled', { ...aboutOf(child, parent), recoverability });
}

function aboutOf(
  { tenant, run_id, mutation_id }: Child,
  { run_id: parentRun, commit_id }: CommitRef,
): Pick<DependentDoc, 'tenant' | 'run_id' | 'mutation_id' | 'child_run_id' | 'child_mutation_id'> {
  return { tenant, run_id: parentRun, mutation_id: commit_id, child_run_id: run_id, child_mutation_id: mutation_id };
}
