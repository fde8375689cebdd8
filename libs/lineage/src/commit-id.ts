// The id of a commit is the hash of what was committed: of its parents' ids too, so it commits to the path from the root.
//
// Grammar:
//   commit-id = "cp_" hex( SHA-256( canonical-json( checkpoint without payload bodies ) ) )
//   Hashes are lower-case hex, instants epoch milliseconds; parents and refs are sorted and each once; an absent part is null.
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Checkpoint, CheckpointState, CommitRef, Gate } from '@recourse/messages';

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

function addressed(checkpoint: Checkpoint): object {
  const { parents, assumption_refs } = checkpoint;
  return {
    ...packedCheckpoint(checkpoint),
    parents: sortedParents(parents).map(({ run_id, commit_id }) => ({ run_id, commit_id })),
    assumption_refs: [...new Set(assumption_refs)].sort(),
  };
}

/** A checkpoint with its hashes as text, and without bodies. */
export type PackedCheckpoint = Omit<Checkpoint, 'gate' | 'state'> & {
  readonly gate:
    | (Omit<Gate, 'bundle_digest' | 'inputs_sha256' | 'inputs'> & {
        readonly bundle_digest: string;
        readonly inputs_sha256: string;
      })
    | null;
  readonly state:
    (Omit<CheckpointState, 'chunk_sha256s' | 'body'> & { readonly chunk_sha256s: readonly string[] }) | null;
};

/** A checkpoint as it stands in a packet. */
export function packedCheckpoint({ gate, state, ...facts }: Checkpoint): PackedCheckpoint {
  return {
    ...facts,
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

/** The checkpoint of a packet, as its id is computed of it: without bodies. */
export function checkpointIn({ gate, state, ...facts }: PackedCheckpoint): Checkpoint {
  return {
    ...facts,
    gate:
      gate === null
        ? null
        : {
            ...gate,
            bundle_digest: Buffer.from(gate.bundle_digest, 'hex'),
            inputs_sha256: Buffer.from(gate.inputs_sha256, 'hex'),
            inputs: null,
          },
    state:
      state === null
        ? null
        : { ...state, chunk_sha256s: state.chunk_sha256s.map((sum) => Buffer.from(sum, 'hex')), body: null },
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
