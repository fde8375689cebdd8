// The replay packet of a commit: what the rows of its run hold of it, for somebody who has no log (D58).
//
// Boundary: pure; reads rows of the run as people may see them. The policy is the registry's, and put in by who asks both.
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import { commitBefore, PACKET_FORMAT, packedCheckpoint, statePath, stepBefore } from '@recourse/lineage';
import type { Before, PackedCommit, PackedState, Packet, Restored } from '@recourse/lineage';
import type { Checkpoint, Payload } from '@recourse/messages';
import type { Commit } from '../rules/commit/commit.messages.js';
import { bytesOf, holder, stateAt } from './resume.query.js';
import type { RunRows } from './resume.query.js';

/** What goes into the packet of a commit: commits and effects by their ids, and where its gate's state is from. */
export interface PacketParts {
  readonly ids: ReadonlySet<string>;
  readonly before: Before | null;
}

/** Says which steps of a run a packet holds; chunks of others need not be read. */
export function packetParts(
  target: Commit,
  { commits, mutations }: Pick<RunRows, 'commits' | 'mutations'>,
): PacketParts {
  const commitOf = new Map(commits.map((commit) => [commit.commit_id, commit] as const));
  const effectOf = new Map(mutations.map((mutation) => [mutation.mutation_id, mutation] as const));
  const baseOf = (id: string): string | null | undefined => {
    const commit = commitOf.get(id);
    return commit === undefined ? undefined : (commit.checkpoint.state?.base_id ?? null);
  };
  const before =
    target.checkpoint.gate === null
      ? null
      : commitBefore(target.checkpoint, (id) => {
          const commit = commitOf.get(id);
          // Parents as they were committed: those the id is the hash of, whatever reattaching changed since.
          if (commit !== undefined) return stepBefore(commit, target.recorded_seq);
          const effect = effectOf.get(id);
          return effect === undefined ? undefined : { hasState: false, parents: effect.execution.derived_from, seq: 0 };
        });
  const paths = [target.commit_id, before?.commitId ?? null].flatMap((id) =>
    id === null ? [] : (statePath(id, baseOf) ?? [id]),
  );
  return { ids: new Set([...paths, ...(before?.passed ?? [])]), before };
}

/** The packet of a commit, without a policy. */
export function packetOf(
  target: Commit,
  { ids, before }: PacketParts,
  rows: RunRows,
  at: { readonly log: string; readonly partition: number },
): Packet {
  return {
    format: PACKET_FORMAT,
    commit_id: target.commit_id,
    release: target.checkpoint.release,
    state: packedState(stateAt(target.commit_id, rows)),
    before:
      before === null
        ? null
        : {
            commit_id: before.commitId,
            is_too_far: before.isTooFar,
            ...(before.commitId === null ? { code: null, sha256: null } : packedState(stateAt(before.commitId, rows))),
          },
    commits: rows.commits.filter(({ commit_id: id }) => ids.has(id)).map((commit) => packed(commit, rows, at)),
    effects: rows.mutations
      .filter(({ mutation_id: id }) => ids.has(id))
      .map(({ mutation_id, execution: { derived_from: parents } }) => ({ mutation_id, parents })),
    policy: null,
  };
}

function packedState(restored: Restored): PackedState {
  return restored.ok
    ? { code: null, sha256: sha256Hex(canonicalJson(restored.state)) }
    : { code: restored.code, sha256: null };
}

function packed(
  commit: Commit,
  { chunks }: RunRows,
  at: { readonly log: string; readonly partition: number },
): PackedCommit {
  const held = holder(
    commit,
    chunks.filter(({ commit_id: id }) => id === commit.commit_id),
  );
  const code =
    held.state === null
      ? 'no_state'
      : held.isGivenUp
        ? 'state_unavailable'
        : held.chunks === null
          ? 'state_incomplete'
          : null;
  // Inputs go with the state that is given up: none in the row is then no word on what there was.
  const told = commit.checkpoint.gate?.inputs ?? null;
  const inputs = told === null ? null : bytesOf(told);
  return {
    commit_id: commit.commit_id,
    checkpoint: packedCheckpoint(asTold(commit.checkpoint)),
    chunks: code === null ? (held.chunks?.map((chunk) => Buffer.from(chunk).toString('base64')) ?? null) : null,
    state_code: code,
    inputs: inputs?.toString('base64') ?? null,
    inputs_code:
      inputs !== null ? null : told === null && commit.hardened === null ? 'no_inputs' : 'inputs_unavailable',
    proof: { ...at, seq: commit.recorded_seq, recorded_hash: commit.recorded_hash.toString('hex') },
  };
}

/** Sealing replaces each payload's hash by that of its sealed bytes; an opened payload gets back the hash that was committed to. */
function asTold({ gate, state, ...facts }: Checkpoint): Checkpoint {
  const [inputs, body] = [toldHash(gate?.inputs ?? null), toldHash(state?.body ?? null)];
  return {
    ...facts,
    gate: gate === null || inputs === null ? gate : { ...gate, inputs_sha256: inputs },
    state: state === null || body === null ? state : { ...state, chunk_sha256s: [body] },
  };
}

function toldHash(payload: Payload | null): Buffer | null {
  const bytes = payload === null || payload.encoding === 'plain' ? null : bytesOf(payload);
  return bytes === null ? null : Buffer.from(sha256Hex(bytes), 'hex');
}
