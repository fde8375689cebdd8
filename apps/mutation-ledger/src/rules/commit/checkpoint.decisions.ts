// Commits without an outside effect: what is taken, what is not and why, marks, and the end of their states.
//
// Invariants
//   K1. The id is the hash of what was committed, over the path from the root; a state that is not the one told of is not taken.
//   K2. A commit is recorded once, and rolled back once.
//   K3. A delta builds on the state of a parent in its run, at most DEPTH_MAX deltas from a whole one (E22).
//   K4. A state is kept in full for a while, and for as long as a kept delta builds on it (E35); of a rolled-back commit at most
//       for the soft interval (E27).
import { commitIdOf, CHUNKS_MAX, DEPTH_MAX, isChunk } from '@recourse/lineage';
import { hash } from 'node:crypto';
import type {
  Checkpoint,
  CheckpointTaken,
  CommitRef,
  DueConsumer,
  Gate,
  HardenCause,
  JudgedRef,
  RolledBack,
  StateChunk,
} from '@recourse/messages';
import { contentHash } from '../identity.js';
import type { Admitted } from '../rollback/rollback.messages.js';
import type { Commit, CommitParkCode } from './commit.messages.js';
import type { MutationRecord } from '../record.messages.js';

/** How long states are kept. */
export interface Keeping {
  /** From the record of a commit until its state is given up, milliseconds. */
  readonly fullFidelityMs: number;
  /** From a rollback until the state of the commit is given up, milliseconds. */
  readonly softRollbackMs: number;
}

/** A week in full; what fell is kept a day, for people to look into. */
export const KEEPING: Keeping = { fullFidelityMs: 7 * 86_400_000, softRollbackMs: 86_400_000 };

/** Why a commit is not taken, and what to do. */
export interface CommitProblem {
  readonly code: CommitParkCode;
  readonly detail: string;
}

/** What is wrong with a commit, or with the state it builds on; null when it can be recorded. */
export function commitProblem(
  { commit_id, tenant, run_id, checkpoint }: CheckpointTaken,
  baseOf: (id: string) => Commit | undefined,
): CommitProblem | null {
  if (checkpoint.tenant !== tenant || checkpoint.run_id !== run_id)
    return problem(
      'COMMIT_MISPLACED',
      'tenant and run of the event are not those of its checkpoint: tell it under its own run',
    );
  const id = commitIdOf(checkpoint);
  if (id !== commit_id)
    return problem(
      'COMMIT_ID_MISMATCH',
      `what was committed hashes to ${id}: a commit is named by its content and by its parents' ids`,
    );
  return gateProblem(checkpoint) ?? stateProblem(checkpoint, baseOf);
}

function gateProblem({ gate }: Checkpoint): CommitProblem | null {
  if (gate === null) return null;
  if (gate.verdict !== 'admitted')
    return problem(
      'GATE_REFUSED',
      `the gate of ${gate.bundle} did not admit it: only what passed its gate is committed`,
    );
  const { inputs, inputs_sha256 } = gate;
  const isSame =
    inputs === null ||
    (inputs.encoding === 'plain' &&
      inputs.sha256.equals(inputs_sha256) &&
      Buffer.from(hash('sha256', inputs.body, 'hex'), 'hex').equals(inputs_sha256));
  return isSame
    ? null
    : problem('GATE_INPUTS_MISMATCH', 'the inputs of the gate are not those the commit was hashed over');
}

/** What is wrong with the bundle a gate names, by the digests the registry has of that version: nobody's word but its own counts (E3). */
export function bundleProblem(
  { bundle, bundle_version: version, bundle_digest: digest }: Pick<Gate, 'bundle' | 'bundle_version' | 'bundle_digest'>,
  registered: readonly string[],
): CommitProblem | null {
  if (registered.length === 0)
    return problem(
      'GATE_BUNDLE_UNKNOWN',
      `no version ${String(version)} of ${bundle} is registered: register the bundle, or gate by a version that is`,
    );
  return registered.includes(digest.toString('hex'))
    ? null
    : problem(
        'GATE_BUNDLE_MISMATCH',
        `version ${String(version)} of ${bundle} has another digest: gate by the version as the registry gives it`,
      );
}

function stateProblem(
  { state, parents, run_id }: Checkpoint,
  baseOf: (id: string) => Commit | undefined,
): CommitProblem | null {
  if (state === null) return null;
  const { kind, base_id, chunk_sha256s: sums, body, size_bytes } = state;
  if ((kind === 'delta') !== (base_id !== null))
    return problem('STATE_INVALID', 'a delta names the commit it builds on, and a whole state none');
  if (sums.length === 0 || sums.length > CHUNKS_MAX || size_bytes < 0)
    return problem('STATE_INVALID', `a state has 1 to ${String(CHUNKS_MAX)} chunks`);
  if ((body !== null) !== (sums.length === 1))
    return problem('STATE_INVALID', 'a single chunk comes with its commit, several come after it');
  if (body !== null && !isChunk(body, sums[0]))
    return problem('STATE_MISMATCH', 'the state is not the one the commit was hashed over');
  if (base_id === null) return null;
  const base = baseOf(base_id);
  if (
    base === undefined ||
    base.checkpoint.state === null ||
    !parents.some((parent) => parent.run_id === run_id && parent.commit_id === base_id)
  ) {
    return problem(
      'STATE_BASE_UNKNOWN',
      `a delta builds on the state of a parent in its run, and ${base_id} is none that is recorded: tell the whole state`,
    );
  }
  // A base that was given up meanwhile stops no run: the commit counts, its state is answered as unavailable.
  return base.depth + 1 > DEPTH_MAX
    ? problem('STATE_TOO_DEEP', `more than ${String(DEPTH_MAX)} deltas on one whole state: tell the whole state`)
    : null;
}

/** Records a commit. */
export function recordCheckpoint(
  { commit_id, event_id, ...event }: CheckpointTaken,
  judged: readonly JudgedRef[],
  base: Commit | undefined,
  now: number,
  { fullFidelityMs }: Keeping,
): Extract<MutationRecord, { type: 'CheckpointRecorded' }> {
  const { checkpoint, tenant, run_id } = event;
  const { state } = checkpoint;
  return {
    type: 'CheckpointRecorded',
    body: {
      tenant,
      run_id,
      commit_id,
      checkpoint,
      judged,
      event_id,
      content_sha256: contentHash('CheckpointTaken', { commit_id }),
      depth: base === undefined ? 0 : base.depth + 1,
      chunks_missing: state === null || state.body !== null ? 0 : state.chunk_sha256s.length,
      full_until: state === null ? null : now + fullFidelityMs,
    },
  };
}

/** Records a chunk of a state; null when it is on record, a problem when it belongs to none. */
export function recordChunk(
  { commit_id, tenant, run_id, index, chunk }: StateChunk,
  commit: Commit | undefined,
  isKnown: boolean,
): MutationRecord | CommitProblem | null {
  const state = commit?.tenant === tenant ? commit.checkpoint.state : null;
  if (commit === undefined || state === null || state.body !== null)
    return problem('CHUNK_UNKNOWN', `no commit ${commit_id} of this run waits for chunks: tell the commit first`);
  if (!isChunk(chunk, state.chunk_sha256s[index]))
    return problem('CHUNK_MISMATCH', `chunk ${String(index)} is not the one its commit told of`);
  if (isKnown || commit.hardened !== null) return null;
  return {
    type: 'StateChunkRecorded',
    body: { tenant, run_id, commit_id, index, chunk, chunks_missing: commit.chunks_missing - 1 },
  };
}

/** Marks a commit rolled back that is not. `resume`: where its run goes on; `consumers`: who has to hear of it. */
export function rollBackCommit(
  commit: Commit,
  { rollback_id, evidence, admission }: Pick<Admitted, 'rollback_id' | 'evidence' | 'admission'>,
  resume: CommitRef | null,
  consumers: readonly DueConsumer[],
  now: number,
  { softRollbackMs }: Keeping,
): RolledBack {
  const { commit_id, tenant, run_id, checkpoint, recorded_hash, recorded_seq, hardened, full_until } = commit;
  const { agent_id, step_id, produced_by, subject_ref, assumption_refs, initiator } = checkpoint;
  const hardenAt = full_until === null || hardened !== null ? null : Math.min(full_until, now + softRollbackMs);
  return {
    tenant,
    run_id,
    commit_id,
    rollback_id,
    evidence,
    admission,
    agent_id,
    step_id,
    produced_by,
    subject_ref,
    assumption_refs,
    derived_from: commit.parents,
    committed_at: Math.min(checkpoint.committed_at, commit.recorded_at),
    recorded_hash,
    recorded_seq,
    resume,
    harden_at: hardenAt,
    consumers,
    initiator,
  };
}

/** When the state of a commit is given up, epoch milliseconds; null when none is kept. */
export function givenUpAt({
  hardened,
  full_until,
  harden_at,
}: Pick<Commit, 'hardened' | 'full_until' | 'harden_at'>): number | null {
  return hardened !== null || full_until === null ? null : Math.min(full_until, harden_at ?? full_until);
}

/** Gives up the state of a commit; null when its time has not come. */
export function harden(commit: Commit, now: number): MutationRecord | null {
  const at = givenUpAt(commit);
  if (at === null || now < at) return null;
  const cause: HardenCause = commit.harden_at !== null && commit.harden_at <= now ? 'rolled_back' : 'retention';
  return {
    type: 'CheckpointHardened',
    body: { tenant: commit.tenant, run_id: commit.run_id, commit_id: commit.commit_id, cause },
  };
}

function problem(code: CommitParkCode, detail: string): CommitProblem {
  return { code, detail };
}
