// Rows of commits without an outside effect: what accepted records make of them, and nothing else does (L2).
//
// Rows: `commit` and `state_chunk` by run. Timer: a commit when its state is given up.
import type { AcceptedRecord, Change, KindSpec, Row, StateView } from '@recourse/event-log';
import { DEPTH_MAX } from '@recourse/lineage';
import type { CheckpointHardened, CheckpointRecorded, Reattached } from '@recourse/messages';
import { rolledBackIn } from '@recourse/messages';
import { givenUpAt } from '../rules/commit/checkpoint.decisions.js';
import { stands } from '../rules/commit/ancestry.decisions.js';
import type { Chunk, Commit } from '../rules/commit/commit.messages.js';
import { standsRef } from '../rules/mutation/lineage.decider.js';
import type { Binding } from '../rules/mutation/mutation.messages.js';
import { refScope } from '../rules/identity.js';
import { beginningAt, bindingIn, putBinding } from './binding.rows.js';
import type { Fold } from './fold.js';
import type { Body } from '../rules/record.messages.js';

const text = (name: string, of: (commit: Commit) => string | null): KindSpec['columns'][number] => ({
  name,
  type: 'text',
  of: (row: Row) => of(commitOfRow(row)),
});
const long = (name: string, of: (commit: Commit) => number | null): KindSpec['columns'][number] => ({
  name,
  type: 'bigint',
  of: (row: Row) => of(commitOfRow(row)),
});

export const COMMIT_KINDS: readonly KindSpec[] = [
  {
    kind: 'commit',
    table: 'commit',
    columns: [
      text('commit_id', (commit) => commit.commit_id),
      text('tenant', (commit) => commit.tenant),
      text('run_id', (commit) => commit.run_id),
      text('agent_id', (commit) => commit.checkpoint.agent_id),
      text('step_id', (commit) => commit.checkpoint.step_id),
      text('subject_ref', (commit) => commit.checkpoint.subject_ref),
      text('bundle', (commit) => commit.checkpoint.gate?.bundle ?? null),
      text('rollback_id', (commit) => commit.rollback_id),
      text('hardened', (commit) => commit.hardened),
      text('standing', (commit) => standingOf(commit)),
      long('recorded_seq', (commit) => commit.recorded_seq),
      long('recorded_at', (commit) => commit.recorded_at),
      long('updated_at', (commit) => commit.updated_at),
    ],
    indexes: [
      ['commit_id'],
      ['tenant', 'standing', 'agent_id'],
      ['tenant', 'bundle'],
      ['hardened', 'updated_at'],
      ['tenant', 'subject_ref'],
    ],
  },
  {
    kind: 'state_chunk',
    table: 'state_chunk',
    columns: (['commit_id', 'tenant', 'run_id'] as const).map((name) => ({
      name,
      type: 'text',
      of: (row) => String(row.doc[name]),
    })),
    indexes: [['commit_id']],
  },
];

/** What became of a commit, in a word. */
export const STANDINGS = ['stands', 'rolled_back', 'beyond'] as const;

/** A word for people and lists. */
export function standingOf(commit: Commit): (typeof STANDINGS)[number] {
  if (commit.rollback_id !== null) return 'rolled_back';
  return stands(commit) ? 'stands' : 'beyond';
}

/** A commit by run and id. */
export function commitIn(state: StateView, runId: string, commitId: string): Commit | undefined {
  return state.get('commit', runId, commitId) as Commit | undefined;
}

/** The chunk of a state, by its place. */
export function chunkIn(state: StateView, runId: string, commitId: string, index: number): Chunk | undefined {
  return state.get('state_chunk', runId, chunkKey(commitId, index)) as Chunk | undefined;
}

/** Rows that records of commits change. */
export const COMMIT_FOLD = {
  CheckpointRecorded: recorded,
  StateChunkRecorded: ({ tenant, run_id, commit_id, index, chunk, chunks_missing }, state, { decidedAt }) => {
    const doc: Chunk = { tenant, run_id, commit_id, index, chunk };
    return [
      { op: 'put', row: { kind: 'state_chunk', group: run_id, key: chunkKey(commit_id, index), dueAt: null, doc } },
      ...changed(state, run_id, commit_id, decidedAt, { chunks_missing }),
    ];
  },
  CheckpointRolledBack: (body, state, { decidedAt }) =>
    rolledBackIn(body).flatMap(({ run_id, commit_id, rollback_id, evidence, resume, harden_at }) =>
      changed(state, run_id, commit_id, decidedAt, {
        rollback_id,
        rollback_evidence: evidence,
        rolled_back_at: decidedAt,
        resume,
        harden_at,
      }),
    ),
  CommitBeyondBound: ({ tenant, run_id, mutation_id, evidence }, state, { decidedAt }) => {
    const commit = commitIn(state, run_id, mutation_id);
    const beyond =
      evidence.root === null || commit === undefined || commit.beyond.includes(evidence.root.rollback_id)
        ? []
        : changed(state, run_id, mutation_id, decidedAt, { beyond: [...commit.beyond, evidence.root.rollback_id] });
    return [...beyond, ...taken(state, tenant, mutation_id, evidence)];
  },
  Reattached: reattached,
  CheckpointHardened: hardened,
} satisfies Fold;

/** What builds on the state of others keeps theirs as long as its own. */
function recorded(body: Body<CheckpointRecorded>, state: StateView, accepted: AcceptedRecord): readonly Change[] {
  const commit = commitBy(body, accepted);
  const { tenant, run_id, commit_id, checkpoint, recorded_seq, recorded_at } = commit;
  const bindings = body.judged.map((judged) =>
    putBinding({
      ...{ mutation_id: commit_id, tenant, run_id, ref: judged.ref, recorded_seq, recorded_at },
      ...beginningAt(judged),
      is_commit: true,
      ...parentOf(checkpoint.parents, judged.ref),
    }),
  );
  return [putCommit(commit), ...bindings, ...kept(state, commit)];
}

function commitBy(
  {
    run_id,
    tenant,
    commit_id,
    checkpoint,
    event_id,
    content_sha256,
    depth,
    chunks_missing,
    full_until,
  }: Body<CheckpointRecorded>,
  { decidedAt, hash, seq }: AcceptedRecord,
): Commit {
  return {
    commit_id,
    tenant,
    run_id,
    checkpoint,
    parents: checkpoint.parents,
    event_id,
    content_sha256,
    recorded_hash: hash,
    recorded_seq: seq,
    recorded_at: decidedAt,
    depth,
    chunks_missing,
    full_until,
    hardened: null,
    rollback_id: null,
    rollback_evidence: null,
    rolled_back_at: null,
    resume: null,
    harden_at: null,
    beyond: [],
    reattached: [],
    updated_at: decidedAt,
  };
}

function kept(state: StateView, { run_id, checkpoint, full_until }: Commit): readonly Change[] {
  const changes: Change[] = [];
  let base = checkpoint.state?.base_id ?? null;
  for (let steps = 0; base !== null && steps <= DEPTH_MAX; steps += 1) {
    const commit = commitIn(state, run_id, base);
    if (commit === undefined || full_until === null) break;
    if (commit.full_until !== null && commit.full_until < full_until)
      changes.push(putCommit({ ...commit, full_until }));
    base = commit.checkpoint.state?.base_id ?? null;
  }
  return changes;
}

/** The binding to what fell goes, and one to the new parent comes; one that stands already keeps its place. */
function reattached(
  { tenant, run_id, mutation_id, fallen, parent, judged, evidence }: Body<Reattached>,
  state: StateView,
  { decidedAt }: AcceptedRecord,
): readonly Change[] {
  const commit = commitIn(state, run_id, mutation_id);
  if (commit === undefined) return [];
  const rest = commit.parents.filter(({ commit_id: id }) => id !== fallen.commit_id);
  const isNew = parent !== null && !rest.some(({ commit_id: id }) => id === parent.commit_id);
  const next = {
    ...commit,
    parents: isNew ? [...rest, parent] : rest,
    reattached: [
      ...commit.reattached,
      { fallen, parent, rollback_id: evidence.root?.rollback_id ?? evidence.event_id },
    ],
    updated_at: decidedAt,
  };
  const bound =
    isNew && judged !== null
      ? [
          putBinding({
            mutation_id,
            tenant,
            run_id,
            ref: judged.ref,
            position: judged.position,
            recorded_seq: commit.recorded_seq,
            recorded_at: commit.recorded_at,
            is_commit: true,
            parent_run_id: parent.run_id,
          }),
        ]
      : [];
  return [
    putCommit(next),
    {
      op: 'delete',
      address: { kind: 'binding', group: refScope(tenant, standsRef(fallen.commit_id)), key: mutation_id },
    },
    ...bound,
  ];
}

/** Rows let go of the sealed bytes too; their key is destroyed by the janitor. */
function hardened(
  { run_id, commit_id, cause }: Body<CheckpointHardened>,
  state: StateView,
  { decidedAt }: AcceptedRecord,
): readonly Change[] {
  const commit = commitIn(state, run_id, commit_id);
  if (commit === undefined) return [];
  const { gate, state: told } = commit.checkpoint;
  const checkpoint = {
    ...commit.checkpoint,
    gate: gate === null ? null : { ...gate, inputs: null },
    state: told === null ? null : { ...told, body: null },
  };
  const chunks =
    told === null || told.body !== null
      ? []
      : told.chunk_sha256s.flatMap((_, index): readonly Change[] =>
          chunkIn(state, run_id, commit_id, index) === undefined
            ? []
            : [{ op: 'delete', address: { kind: 'state_chunk', group: run_id, key: chunkKey(commit_id, index) } }],
        );
  return [putCommit({ ...commit, checkpoint, hardened: cause, updated_at: decidedAt }), ...chunks];
}

/** The binding has now taken the fall into account. */
function taken(
  state: StateView,
  tenant: string,
  mutationId: string,
  { ref, position }: { readonly ref: string | null; readonly position: number },
): readonly Change[] {
  const binding = ref === null ? undefined : bindingIn(state, refScope(tenant, ref), mutationId);
  return binding === undefined || position <= binding.position ? [] : [putBinding({ ...binding, position })];
}

function changed(
  state: StateView,
  runId: string,
  commitId: string,
  decidedAt: number,
  changes: Partial<Commit>,
): readonly Change[] {
  const commit = commitIn(state, runId, commitId);
  return commit === undefined ? [] : [putCommit({ ...commit, ...changes, updated_at: decidedAt })];
}

function parentOf(parents: Commit['parents'], ref: string): Pick<Binding, 'parent_run_id'> {
  const parent = parents.find(({ commit_id: id }) => standsRef(id) === ref);
  return parent === undefined ? {} : { parent_run_id: parent.run_id };
}

function putCommit(commit: Commit): Change {
  return {
    op: 'put',
    row: { kind: 'commit', group: commit.run_id, key: commit.commit_id, dueAt: givenUpAt(commit), doc: commit },
  };
}
function chunkKey(commitId: string, index: number): string {
  return `${commitId}/${String(index).padStart(4, '0')}`;
}
// Rows of this kind are written by putCommit alone.
function commitOfRow(row: Row): Commit {
  return row.doc as Commit;
}
