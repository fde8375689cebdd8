// What other runs made of the effects of a run, as a part of the orchestrator's core: notices in, dependents and waking out.
//
// Boundary: every owner reads every notice; only the owner of a parent's run answers it, the others with nothing.
import { partitionForKey } from '@recourse/kernel';
import type { InputSpec, RecordInput, StateView } from '@recourse/event-log';
import type { CommitRef, DerivationAnnounced, RollbackSettled } from '@recourse/messages';
import { dependentKey, noteDependent, settleDependent } from '../domain/lineage/dependents.decisions.js';
import type { Child } from '../domain/lineage/dependents.decisions.js';
import { childrenSettled } from '../domain/step/step.decider.js';
import type { StepContext } from '../domain/step/step-draft.decisions.js';
import { readRow, readRows } from './recoveries.kinds.js';
import type { DependentDoc } from '../domain/lineage/dependents.messages.js';
import type { RecoveryRecord } from '../domain/record.messages.js';

const NOTICES = 'recourse.rollback-notifications';

/** Reads the ledger's notices, those with parents on the own partition. */
export function noticesInput(partitionCount: number): InputSpec {
  return {
    topic: NOTICES,
    source: 'log',
    mode: 'broadcast',
    types: ['DerivationAnnounced', 'RollbackSettled'],
    concerns: (input, partition) => parentsOn(input, partition, partitionCount).length > 0,
  };
}

/** Parents a notice names whose runs live on a partition. */
export function parentsOn(
  { type, body }: Pick<RecordInput, 'type' | 'body'>,
  partition: number,
  partitionCount: number,
): readonly CommitRef[] {
  const named = body[type === 'DerivationAnnounced' ? 'parents' : 'derived_from'] as readonly CommitRef[] | undefined; // a list by its schema
  return (named ?? []).filter(({ run_id: runId }) => partitionForKey(runId, partitionCount) === partition);
}

/** Notes children of the own runs. */
export function noteChildren(
  state: StateView,
  parents: readonly CommitRef[],
  { tenant, run_id, mutation_id }: Pick<DerivationAnnounced, 'tenant' | 'run_id' | 'mutation_id'>,
): readonly RecoveryRecord[] {
  const child: Child = { tenant, run_id, mutation_id };
  return parents.flatMap(
    (parent) =>
      noteDependent(child, parent, standingOf(state, child, parent), readRows(state, 'step', parent.run_id)) ?? [],
  );
}

/** Children of the own runs came to rest: who waited for them goes on, in the same decision. */
export function settleChildren(
  state: StateView,
  parents: readonly CommitRef[],
  notice: Pick<RollbackSettled, 'tenant' | 'run_id' | 'mutation_id' | 'recoverability'>,
  contextOf: (runId: string) => StepContext,
): readonly RecoveryRecord[] {
  const { tenant, run_id, mutation_id, recoverability } = notice;
  const child: Child = { tenant, run_id, mutation_id };
  return [...new Set(parents.map((parent) => parent.run_id))].flatMap((runId) => {
    const of = parents.filter((parent) => parent.run_id === runId);
    const settled = of.flatMap(
      (parent) => settleDependent(child, parent, recoverability, standingOf(state, child, parent)) ?? [],
    );
    if (settled.length === 0) return [];
    const dependents = readRows(state, 'dependent', runId).map((one): DependentDoc =>
      one.tenant === tenant && one.child_mutation_id === mutation_id ? { ...one, settled_as: recoverability } : one,
    );
    return [
      ...settled,
      ...childrenSettled(
        of.map(({ commit_id: id }) => id),
        tenant,
        { ...contextOf(runId), dependentsIn: () => dependents },
      ),
    ];
  });
}

function standingOf(
  state: StateView,
  { tenant, mutation_id: child }: Child,
  { run_id: runId, commit_id }: CommitRef,
): DependentDoc | undefined {
  return readRow(state, 'dependent', runId, dependentKey({ tenant, mutation_id: commit_id, child_mutation_id: child }));
}
