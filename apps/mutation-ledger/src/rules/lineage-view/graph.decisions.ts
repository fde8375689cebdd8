// The graph around a commit, from rows: nodes with their fate, edges with their kind.
//
// Invariants
//   V1. A rollback shows what it reached and nothing else: what fell with its root, what was reattached because of it, what is beyond its bound.
//   V2. An edge joins two nodes that are shown.
import type { Evidence } from '@recourse/messages';
import type { Commit } from '../commit/commit.messages.js';
import { isRecorded } from '../mutation/mutation.messages.js';
import type { Mutation } from '../mutation/mutation.messages.js';
import type {
  AnnouncedOf,
  LineageEdge,
  LineageNode,
  LineageView,
  Named,
  NodeState,
  Reliance,
} from './lineage.messages.js';

/** A consumer that was waited for, as its row has it. */
export interface Heard {
  readonly mutation_id: string;
  readonly consumer: string;
  readonly phase: string;
}

/** What was read around a commit. */
export interface Surroundings {
  readonly commit: string;
  readonly rollback: string | null;
  /** In the order in which they were reached. */
  readonly reached: readonly Named[];
  readonly truncated: boolean;
  readonly mutations: readonly Mutation[];
  readonly commits: readonly Commit[];
  readonly reliances: readonly Reliance[];
  readonly heard: readonly Heard[];
  readonly announcedOf: AnnouncedOf;
}

/** A node with what its place in a rollback is judged by. */
interface Judged {
  readonly node: LineageNode;
  readonly reattached: Commit['reattached'];
  readonly beyond: readonly string[];
}

/** Draws up the graph that is answered. */
export function lineageView({
  commit,
  rollback,
  reached,
  truncated,
  mutations,
  commits,
  reliances,
  heard,
  announcedOf,
}: Surroundings): LineageView {
  const answers = answersIn(heard);
  const byId = new Map<string, Judged>([
    ...mutations.map((row) => [row.mutation_id, ofMutation(row, answers, announcedOf)] as const),
    ...commits.map((row) => [row.commit_id, ofCommit(row, answers)] as const),
  ]);
  const all = reached.map((named) => byId.get(named.id) ?? unrecorded(named));
  const shown = rollback === null ? all : reachedBy(rollback, all);
  const ids = new Set(shown.map(({ node }) => node.id));
  return { commit, rollback, nodes: shown.map(({ node }) => node), edges: edgesOf(reliances, shown, ids), truncated };
}

/** V1. Reattaching names the root of the fall where it is known, else the rollback of the parent itself. */
function reachedBy(rollback: string, all: readonly Judged[]): readonly Judged[] {
  const causes = new Set<string | null>([
    rollback,
    ...all.filter(({ node }) => node.root_rollback_id === rollback).map(({ node }) => node.rollback_id),
  ]);
  return all.filter(
    ({ node, reattached, beyond }) =>
      causes.has(node.rollback_id ?? '') ||
      beyond.includes(rollback) ||
      reattached.some(({ rollback_id: cause }) => causes.has(cause)),
  );
}

function edgesOf(
  reliances: readonly Reliance[],
  shown: readonly Judged[],
  ids: ReadonlySet<string>,
): readonly LineageEdge[] {
  const moved = shown.flatMap(({ node, reattached }) =>
    reattached.map(({ fallen, parent }) => ({
      child: node.id,
      fallen: fallen.commit_id,
      parent: parent?.commit_id ?? null,
    })),
  );
  const went = new Set(moved.map(({ child, parent }) => `${child} ${parent ?? ''}`));
  const edges: readonly LineageEdge[] = [
    ...reliances.map(({ parent, child }) => ({
      from: parent,
      to: child,
      kind: went.has(`${child} ${parent}`) ? ('reattached' as const) : ('derived' as const),
    })),
    ...moved.map(({ child, fallen }) => ({ from: fallen, to: child, kind: 'was' as const })),
  ];
  return edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
}

function ofMutation(mutation: Mutation, answers: Answers, announcedOf: AnnouncedOf): Judged {
  const {
    mutation_id: id,
    tenant,
    run_id,
    execution,
    capability,
    subject_ref,
    rollback_id,
    rollback_evidence,
  } = mutation;
  const announced = announcedOf({ tenant, run_id, id });
  const beyond =
    announced?.is_beyond === true && announced.root_rollback_id !== null ? [announced.root_rollback_id] : [];
  const state = nodeStateOf({ rollback_id, isReattached: false, isBeyond: beyond.length > 0 });
  return {
    node: {
      id,
      run_id,
      kind: 'mutation',
      agent: execution.agent_id,
      label: isRecorded(mutation) ? capability : `${capability} (planned)`,
      subject_ref,
      state,
      rollback_id,
      root_rollback_id: rootOf(rollback_id, rollback_evidence),
      ...answers(id),
    },
    reattached: [],
    beyond,
  };
}

function ofCommit(
  { commit_id: id, run_id, checkpoint, rollback_id, rollback_evidence, reattached, beyond }: Commit,
  answers: Answers,
): Judged {
  const { agent_id: agent, step_id: label, subject_ref } = checkpoint;
  const state = nodeStateOf({ rollback_id, isReattached: reattached.length > 0, isBeyond: beyond.length > 0 });
  return {
    node: {
      id,
      run_id,
      kind: 'commit',
      agent,
      label,
      subject_ref,
      state,
      rollback_id,
      root_rollback_id: rootOf(rollback_id, rollback_evidence),
      ...answers(id),
    },
    reattached,
    beyond,
  };
}

function unrecorded({ id, run_id }: Named): Judged {
  return {
    node: {
      id,
      run_id,
      kind: 'unknown',
      agent: null,
      label: null,
      subject_ref: null,
      state: 'unrecorded',
      rollback_id: null,
      root_rollback_id: null,
      told: [],
      silent: [],
    },
    reattached: [],
    beyond: [],
  };
}

/** What stands of a commit: its fall before all. */
export function nodeStateOf({
  rollback_id,
  isReattached,
  isBeyond,
}: {
  readonly rollback_id: string | null;
  readonly isReattached: boolean;
  readonly isBeyond: boolean;
}): NodeState {
  if (rollback_id !== null) return 'rolled_back';
  if (isBeyond) return 'beyond';
  return isReattached ? 'reattached' : 'stands';
}

function rootOf(rollbackId: string | null, evidence: Evidence | null): string | null {
  return rollbackId === null ? null : (evidence?.root?.rollback_id ?? rollbackId);
}

type Answers = (id: string) => Pick<LineageNode, 'told' | 'silent'>;

/** Who was waited for, by commit: those that acknowledged, and those that have not. */
export function answersIn(heard: readonly Heard[]): Answers {
  const byCommit = Map.groupBy(heard, ({ mutation_id }) => mutation_id);
  return (id) => {
    const names = (isTold: boolean): readonly string[] =>
      (byCommit.get(id) ?? [])
        .filter(({ phase }) => (phase === 'acknowledged') === isTold)
        .map(({ consumer }) => consumer)
        .sort();
    return { told: names(true), silent: names(false) };
  };
}
