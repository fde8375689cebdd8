// Lineage: a commit relies on the commits it was derived from standing (docs/design/ledger.md). It is the refs mechanism over another log:
// what states that a commit fell is its RollbackAnnounced in the derived log.
//
// Invariants
//   N1. A parent is looked up by the child's tenant and the run it is named under: nothing of another tenant reaches a commit.
//   N2. A commit is contradicted once per fall of a parent: the closure is the fixpoint of that, and a cycle ends where it began.
//   N3. No wire states a ref of this kind, and nothing reaffirms one.
//   N4. Falls of one notice are one decision: what does not fit it beside the others is a spread of its own (L4).
import { RESERVED_PREFIX } from '@recourse/kernel';
import type {
  Announced,
  BoundReached,
  CommitRef,
  Evidence,
  Execution,
  LineageRoot,
  NoticeOf,
} from '@recourse/messages';
import { verdictScope } from '../identity.js';
import type { Binding, Spread, Verdict } from './mutation.messages.js';
import { invalidate, judgeRefs } from './refs.decider.js';
import type { Judgement, VerdictView } from './refs.decider.js';
import type { Finding } from '../record.messages.js';

/** Who says that a commit fell. */
const SOURCE = 'service:mutation-ledger';

/** A commit that a fall reaches and leaves to a person: what it led to is walked on. */
export type Passed = NoticeOf<BoundReached>;

/** A commit whose fall was announced, and what relies on it. */
export interface Falling {
  readonly about: Announced | Passed;
  readonly bindings: readonly Binding[];
  readonly spreads: readonly Spread[];
}

/** Name of what a derived commit relies on. */
export function standsRef(commitId: string): string {
  return `${RESERVED_PREFIX}${commitId}#stands`;
}

/** Parents each once; the first run a commit is named under counts. */
export function parentsOf(derivedFrom: readonly CommitRef[]): readonly CommitRef[] {
  return derivedFrom.length < 2
    ? derivedFrom
    : [...new Map([...derivedFrom].reverse().map((parent) => [parent.commit_id, parent] as const)).values()].reverse();
}

/** Parents in other runs: their owners do not see the commit in their own log. */
export function parentsElsewhere({
  run_id,
  derived_from,
}: Pick<Execution, 'run_id' | 'derived_from'>): readonly CommitRef[] {
  return derived_from.length === 0
    ? derived_from
    : parentsOf(derived_from).filter((parent) => parent.run_id !== run_id);
}

/** Judges the parents of a commit, from one view of the derived log. */
export function judgeParents(
  tenant: string,
  derivedFrom: readonly CommitRef[],
  view: () => VerdictView,
): readonly Judgement[] {
  if (derivedFrom.length === 0) return [];
  const { get, position, partitionOf } = viewOf(view());
  return parentsOf(derivedFrom).flatMap(({ run_id: runId, commit_id: id }) =>
    judgeRefs(tenant, runId, [standsRef(id)], { get, position, partitionOf: () => partitionOf(runId) }),
  );
}

/** Entry of the view after a commit fell, or was left to a person: under its own run alone. */
export function fallenEntry(notice: Announced | Passed, seq: number): readonly [string, Verdict] {
  const { tenant, run_id, mutation_id, caused_by } = notice;
  const { partition: _, ...evidence } = fallOf(notice, 0, seq);
  return [
    verdictScope(tenant, standsRef(mutation_id), run_id),
    {
      verdict: 'invalidated',
      evidence,
      stated_at: caused_by.stated_at,
      agent_id: notice.agent_id,
      resume: notice.resume_checkpoint,
      ...('rollback_id' in notice ? doneAs(notice) : { is_beyond: true as const }),
    },
  ];
}

/** For whom a commit was made and under which contract, as far as its notice says. */
function doneAs({ initiator, contract_digest }: Announced): Pick<Verdict, 'initiator' | 'contract'> {
  return {
    ...(initiator === null ? {} : { initiator }),
    ...(contract_digest === null ? {} : { contract: contract_digest.toString('hex') }),
  };
}

/**
 * What the falls of one notice do to those derived from them, each by itself.
 *
 * Shape: a fall takes no more than leaves one effect, the record that opens a spread, for each fall behind it.
 */
export function decideFalls(
  falling: readonly Falling[],
  { partition, seq }: { readonly partition: number; readonly seq: number },
  effectsMax: number,
): readonly (readonly Finding[])[] {
  let left = effectsMax;
  let behind = falling.filter(({ bindings }) => bindings.length > 0).length;
  return falling.map(({ about, bindings, spreads }) => {
    if (bindings.length === 0) return [];
    behind -= 1;
    const { tenant, run_id, mutation_id } = about;
    const found = invalidate(
      { tenant, ref: standsRef(mutation_id), scope_run_id: null, parent_run_id: run_id },
      fallOf(about, partition, seq),
      bindings,
      spreads,
      left - behind,
    );
    left -= found.length;
    return found;
  });
}

/** The fall as evidence against what rests on it; it names the rollback at its root, and that one's bound. */
function fallOf(
  { mutation_id, run_id, caused_by, ...notice }: Announced | Passed,
  partition: number,
  position: number,
): Evidence {
  const own: LineageRoot | null =
    'rollback_id' in notice ? { rollback_id: notice.rollback_id, run_id, mutation_id, bound_at: null } : null;
  return {
    kind: 'lineage',
    event_id: own?.rollback_id ?? caused_by.event_id,
    ref: standsRef(mutation_id),
    source: SOURCE,
    statement: null,
    stated_at: caused_by.stated_at,
    partition,
    position,
    root: caused_by.root ?? own,
  };
}

/** The commit a ref of this kind says stands. */
export function commitOf(ref: string): string {
  return ref.slice(RESERVED_PREFIX.length, ref.lastIndexOf('#'));
}

/** A view of several methods that call each other keeps its receiver. */
function viewOf(view: VerdictView): VerdictView {
  return {
    get: (key) => view.get(key),
    position: (partition) => view.position(partition),
    partitionOf: (key) => view.partitionOf(key),
  };
}
