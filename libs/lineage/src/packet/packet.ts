// Replay packets: all that is needed to reproduce a commit away from its log, as one JSON document (D58).
//
// Boundary: pure. Hashes are lower-case hex, payload bytes base64; the policy is put in by who can ask the registry.
//
// Invariants
//   R1. What a packet says of a commit hashes to its id; nothing that was erased or given up is in it, and it says so.
//   R2. The state its gate saw is found anew from the parents in the packet, not taken from what the packet says of it.
import type { CommitRef, ReleaseTuple } from '@recourse/messages';
import type { PackedCheckpoint } from '../commit-id.js';
import type { StateCode } from '../state-path.js';

/** Names the form of a packet; another form has another name. */
export const PACKET_FORMAT = 'recourse-replay-packet/1';

/** Why gate inputs are not in a packet: there were none, or they can no longer be read. */
export const INPUTS_CODES = ['no_inputs', 'inputs_unavailable'] as const;

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
