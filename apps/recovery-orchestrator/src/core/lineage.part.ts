// What other runs made of the effects of a run, as a part of the orchestrator's core: notices in, dependents and waking out.
//
// Boundary: every owner reads every notice; only the owner of a parent's run answers it, the others with nothing.
import type { Owns, StateView } from '@recourse/event-log';
import { settledIn } from '@recourse/messages';
import type { CommitRef, DerivationAnnounced, RecordOf, Settled } from '@recourse/messages';
import { dependentKey, noteDependent, settleDependent } from '../rules/lineage/dependents.decisions.js';
import type { Child } from '../rules/lineage/dependents.decisions.js';
import { childrenSettled } from '../rules/step/step.decider.js';
import type { StepContext } from '../rules/step/step-draft.decisions.js';
import { readRow, readRows } from '../rows/kinds.js';
import type { DependentDoc } from '../rules/lineage/dependents.messages.js';
import type { RecoveryRecord } from '../rules/record.messages.js';

type Notice = RecordOf<'recourse.rollback-notifications'>;

/** Does a notice name a parent on the own partition? */
export function namesOwn({ type, body }: Notice, owns: Owns): boolean {
  switch (type) {
    case 'DerivationAnnounced':
      return ownParents(body.parents, owns).length > 0;
    case 'RollbackSettled':
      return settledIn(body).some(({ derived_from }) => ownParents(derived_from, owns).length > 0);
    default:
      return false;
  }
}

/** Parents whose runs live on this partition. */
export function ownParents(named: readonly CommitRef[], owns: Owns): readonly CommitRef[] {
  return named.filter(({ run_id: runId }) => owns(runId));
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

/** Children of the own runs came to rest: who waited for them goes on, in the same decision. Shape: `derived_from` has the own parents alone. */
export function settleChildren(
  state: StateView,
  settled: readonly Settled[],
  contextOf: (runId: string) => StepContext,
): readonly RecoveryRecord[] {
  const [first] = settled;
  if (first === undefined) return [];
  const { tenant } = first;
  const pairs = settled.flatMap((child) => child.derived_from.map((parent) => ({ child, parent })));
  const states = new Map(settled.map(({ mutation_id, recoverability }) => [mutation_id, recoverability]));
  return [...new Set(pairs.map(({ parent }) => parent.run_id))].flatMap((runId) => {
    const of = pairs.filter(({ parent }) => parent.run_id === runId);
    const ended = of.flatMap(
      ({ child, parent }) =>
        settleDependent(child, parent, child.recoverability, standingOf(state, child, parent)) ?? [],
    );
    if (ended.length === 0) return [];
    const dependents = readRows(state, 'dependent', runId).map((one): DependentDoc => {
      const now = one.tenant === tenant ? states.get(one.child_mutation_id) : undefined;
      return now === undefined ? one : { ...one, settled_as: now };
    });
    return [
      ...ended,
      ...childrenSettled([...new Set(of.map(({ parent }) => parent.commit_id))], tenant, {
        ...contextOf(runId),
        dependentsIn: () => dependents,
      }),
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
