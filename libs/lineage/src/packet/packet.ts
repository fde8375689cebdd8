// Replay packets: all that is needed to reproduce a commit away from its log, as one JSON document (D58).
//
// Boundary: pure. Hashes are lower-case hex, payload bytes base64; the policy is put in by who can ask the registry.
//
// Invariants
//   R1. What a packet says of a commit hashes to its id; nothing that was erased or given up is in it, and it says so.
//   R2. The state its gate saw is found anew from the parents in the packet, not taken from what the packet says of it.
import type { Checkpoint, CheckpointState, CommitRef, Gate, ReleaseTuple } from '@recourse/messages';
import type { StateCode } from '../state-path.js';

/** Names the form of a packet; another form has another name. */
export const PACKET_FORMAT = 'recourse-replay-packet/1';

/** Why gate inputs are not in a packet: there were none, or they can no longer be read. */
export const INPUTS_CODES = ['no_inputs', 'inputs_unavailable'] as const;

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

/** A commit of a packet, and where the log proves it. */
export interface PackedCommit {
  readonly commit_id: string;
  readonly checkpoint: PackedCheckpoint;
  /** Base64; null where the code says why. */
  readonly chunks: readonly string[] | null;
  readonly state_code: StateCode | null;
  /** Base64; null where the code says why. */
  readonly inputs: string | null;
  readonly inputs_code: (typeof INPUTS_CODES)[number] | null;
  readonly proof: {
    readonly log: string;
    readonly partition: number;
    readonly seq: number;
    readonly recorded_hash: string;
  };
}

/** An effect between two commits: the way to the state before leads through it. */
export interface PackedEffect {
  readonly mutation_id: string;
  readonly parents: readonly CommitRef[];
}

/** A state as the log gives it: the hash of its canonical JSON, or why there is none. */
export interface PackedState {
  readonly code: StateCode | null;
  readonly sha256: string | null;
}

/** A version of the policy bundle, as the registry gives it. */
export interface PackedPolicy {
  readonly name: string;
  readonly tenant: string;
  readonly version: number;
  readonly digest: string;
  readonly body: string;
  readonly admitted_it: boolean;
}

export interface Packet {
  readonly format: typeof PACKET_FORMAT;
  readonly commit_id: string;
  readonly release: ReleaseTuple | null;
  readonly state: PackedState;
  /** Commit whose state its gate was run over; no id for the empty state before the first; null for a commit without gate. */
  readonly before: (PackedState & { readonly commit_id: string | null; readonly is_too_far: boolean }) | null;
  readonly commits: readonly PackedCommit[];
  readonly effects: readonly PackedEffect[];
  /** Null for a commit without gate, and where the registry has no bundle under its name. */
  readonly policy: PackedPolicy | null;
}

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
            bundle_digest: gate.bundle_digest.toString('hex'),
            verdict: gate.verdict,
            inputs_sha256: gate.inputs_sha256.toString('hex'),
          },
    state:
      state === null
        ? null
        : {
            kind: state.kind,
            base_id: state.base_id,
            content_type: state.content_type,
            size_bytes: state.size_bytes,
            chunk_sha256s: state.chunk_sha256s.map((sum) => sum.toString('hex')),
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
