// The id of a commit is the hash of what was committed: of its parents' ids too, so it commits to the path from the root.
//
// Grammar:
//   commit-id = "cp_" hex( SHA-256( canonical-json( checkpoint without payload bodies ) ) )
//   Hashes are lower-case hex, instants epoch milliseconds; parents and refs are sorted and each once; an absent part is null.
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Checkpoint, CommitRef } from '@recourse/messages';

const COMMIT_ID = /^cp_[0-9a-f]{64}$/;

/** Whether an id has the form of a commit's, that of a mutation having another. */
export function isCommitId(id: string): boolean {
  return COMMIT_ID.test(id);
}

/** The id of a checkpoint. Payload bodies are in it by the hashes told, so it stays when they are sealed or erased. */
export function commitIdOf(checkpoint: Checkpoint): string {
  return `cp_${sha256Hex(canonicalJson(addressed(checkpoint)))}`;
}

/** Parents each once, by run and id. */
export function sortedParents(parents: readonly CommitRef[]): readonly CommitRef[] {
  const byName = new Map(parents.map((parent) => [`${parent.run_id}\u0000${parent.commit_id}`, parent] as const));
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, parent]) => parent);
}

function addressed({ parents, assumption_refs, gate, state, release, ...facts }: Checkpoint): object {
  return {
    ...facts,
    parents: sortedParents(parents).map(({ run_id, commit_id }) => ({ run_id, commit_id })),
    assumption_refs: [...new Set(assumption_refs)].sort(),
    gate:
      gate === null
        ? null
        : {
            bundle: gate.bundle,
            bundle_version: gate.bundle_version,
            bundle_digest: hex(gate.bundle_digest),
            verdict: gate.verdict,
            inputs_sha256: hex(gate.inputs_sha256),
          },
    release,
    state:
      state === null
        ? null
        : {
            kind: state.kind,
            base_id: state.base_id,
            content_type: state.content_type,
            size_bytes: state.size_bytes,
            chunk_sha256s: state.chunk_sha256s.map(hex),
          },
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
