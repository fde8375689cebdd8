// Where the agent of a run goes on: the newest commit that stands with all it rests on, its state, and what speaks against the rest.
//
// Boundary: pure; reads rows of the run as people may see them. State and evidence come from the log alone (E11, E30).
import type { Json } from '@recourse/kernel';
import { restoredState, statePath } from '@recourse/lineage';
import type { Restored, StateHolder } from '@recourse/lineage';
import type { Evidence, Payload } from '@recourse/messages';
import { resumable, isClean } from '../rules/commit/ancestry.decisions.js';
import type { StepOf } from '../rules/commit/ancestry.decisions.js';
import type { Chunk, Commit } from '../rules/commit/commit.messages.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { judgeRefs } from '../rules/mutation/refs.decider.js';
import type { VerdictView } from '../rules/mutation/refs.decider.js';

/** A payload as it is shown: what sealed bytes hold stands beside them. */
export type Shown = Payload & { readonly content?: Buffer };

/** What a run holds, as read. */
export interface RunRows {
  readonly commits: readonly Commit[];
  readonly mutations: readonly Mutation[];
  readonly chunks: readonly Chunk[];
}

export interface Resume {
  readonly checkpoint: { readonly run_id: string; readonly commit_id: string } | null;
  /** Null with a code that says why. */
  readonly state: Json | null;
  readonly state_code: string | null;
  /** Oldest first. */
  readonly evidence: readonly {
    readonly commit_id: string;
    readonly rollback_id: string;
    readonly evidence: Evidence;
    /** Whether the ref that was contradicted holds for the run now; false also for that of a commit that fell. Null without a ref, or where nobody can say. */
    readonly ref_stands: boolean | null;
  }[];
  readonly rolled_back: readonly string[];
  /** Commits that the bound left to a person: no run continues from them. */
  readonly beyond: readonly string[];
}

/** Steps of a run, without the chunks of their states. */
export type RunSteps = Omit<RunRows, 'chunks'>;

/** What is told of a fallen step, of all that its row holds. */
export type FallenPart = Pick<Commit, 'commit_id' | 'tenant' | 'run_id'> & {
  readonly rollback_id: string;
  readonly rollback_evidence: Evidence;
};

/** What an answer of where a run goes on holds, which is all that is read further and opened for it. */
export interface ResumeParts {
  /** Commits that the state is restored from, the oldest first. */
  readonly path: readonly Commit[];
  /** What speaks against the steps that fell. */
  readonly fallen: readonly FallenPart[];
}

/** Says what is needed of a run: states of other commits may be many, and large. */
export function resumeParts(steps: RunSteps): ResumeParts {
  const at = resumable(steps.commits, stepsIn(steps));
  return {
    path: at === null ? [] : pathTo(at.commit_id, steps.commits),
    fallen: fallenIn(steps),
  };
}

/** Commits that the state at one is restored from, the oldest first; it alone where one of them is not there. */
export function pathTo(commitId: string, commits: readonly Commit[]): readonly Commit[] {
  const byId = new Map(commits.map((commit) => [commit.commit_id, commit] as const));
  const baseOf = (id: string): string | null | undefined => {
    const commit = byId.get(id);
    return commit === undefined ? undefined : (commit.checkpoint.state?.base_id ?? null);
  };
  return (statePath(commitId, baseOf) ?? [commitId]).flatMap((id) => byId.get(id) ?? []);
}

/** The steps of a run with those parts of them in place that were opened. */
export function withOpened({ commits, mutations }: RunSteps, { path, fallen }: ResumeParts): RunSteps {
  const whole = new Map(path.map((commit) => [commit.commit_id, commit] as const));
  const evidenceOf = new Map(fallen.map(({ commit_id, rollback_evidence }) => [commit_id, rollback_evidence] as const));
  return {
    commits: commits.map((commit) => {
      const { commit_id: id } = commit;
      return {
        ...(whole.get(id) ?? commit),
        rollback_evidence: evidenceOf.get(id) ?? commit.rollback_evidence,
      };
    }),
    mutations: mutations.map((mutation) => ({
      ...mutation,
      rollback_evidence: evidenceOf.get(mutation.mutation_id) ?? mutation.rollback_evidence,
    })),
  };
}

/** Says from which commit a run continues. `verdicts` are those that stand now; null where nobody can say. */
export function resumeOf(rows: RunRows, verdicts: VerdictView | null): Resume {
  const at = resumable(rows.commits, stepsIn(rows));
  const restored: Restored = at === null ? { ok: false, code: 'no_state' } : stateAt(at.commit_id, rows);
  const fallen = fallenIn(rows).map(({ commit_id, tenant, run_id, rollback_id, rollback_evidence: evidence }) => ({
    commit_id,
    rollback_id,
    evidence,
    ref_stands: standsNow(evidence, { tenant, run_id }, verdicts),
  }));
  return {
    checkpoint: at === null ? null : { run_id: at.run_id, commit_id: at.commit_id },
    state: restored.ok ? restored.state : null,
    state_code: restored.ok ? null : restored.code,
    evidence: [...fallen].sort((a, b) => a.evidence.stated_at - b.evidence.stated_at),
    rolled_back: fallen.map(({ commit_id: id }) => id),
    beyond: rows.commits
      .filter(({ beyond, rollback_id }) => rollback_id === null && beyond.length > 0)
      .map(({ commit_id: id }) => id),
  };
}

/** Only what a source said last counts: nothing reaffirms a commit that fell, and no source is asked about one. */
function standsNow(
  { ref }: Evidence,
  { tenant, run_id }: { readonly tenant: string; readonly run_id: string },
  verdicts: VerdictView | null,
): boolean | null {
  if (ref === null || verdicts === null) return null;
  return judgeRefs(tenant, run_id, [ref], verdicts).every(({ judged }) => judged.verdict === 'holds');
}

/** The state at a commit of a run. */
export function stateAt(commitId: string, { commits, chunks }: Pick<RunRows, 'commits' | 'chunks'>): Restored {
  const byId = new Map(commits.map((commit) => [commit.commit_id, commit] as const));
  return restoredState(commitId, (id) => {
    const commit = byId.get(id);
    return commit === undefined
      ? undefined
      : holder(
          commit,
          chunks.filter((chunk) => chunk.commit_id === id),
        );
  });
}

/** A commit as the one who restores its state sees it. */
export function holder({ checkpoint: { state }, hardened }: Commit, chunks: readonly Chunk[]): StateHolder {
  const told =
    state?.body === null
      ? [...chunks].sort((a, b) => a.index - b.index).map(({ chunk }) => chunk)
      : state === null
        ? []
        : [state.body];
  const bytes = told.flatMap((chunk) => bytesOf(chunk) ?? []);
  const isErased = told.length > 0 && bytes.length < told.length;
  return {
    state,
    isGivenUp: hardened !== null || isErased,
    chunks: bytes.length === (state?.chunk_sha256s.length ?? 0) ? bytes : null,
  };
}

/** The bytes of a payload as people may see them; null for what was erased. */
export function bytesOf(payload: Shown): Buffer | null {
  if (payload.encoding === 'plain') return payload.body;
  return payload.content ?? null;
}

function fallenIn({ commits, mutations }: RunSteps): readonly FallenPart[] {
  return [...commits, ...mutations.map(({ mutation_id, ...row }) => ({ commit_id: mutation_id, ...row }))].flatMap(
    ({ commit_id, tenant, run_id, rollback_id, rollback_evidence }) =>
      rollback_id === null || rollback_evidence === null
        ? []
        : [{ commit_id, tenant, run_id, rollback_id, rollback_evidence }],
  );
}

function stepsIn({ commits, mutations }: RunSteps): StepOf {
  const commitOf = new Map(commits.map((commit) => [commit.commit_id, commit] as const));
  const mutationOf = new Map(mutations.map((mutation) => [mutation.mutation_id, mutation] as const));
  return (id) => {
    const commit = commitOf.get(id);
    if (commit !== undefined) return { commit, hasFallen: !isClean(commit), parents: commit.parents };
    const mutation = mutationOf.get(id);
    return mutation === undefined
      ? undefined
      : { commit: null, hasFallen: mutation.rollback_id !== null, parents: mutation.execution.derived_from };
  };
}
