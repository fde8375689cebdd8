// What one decision of a service was made from, so that its core can make it again where nothing of the service is.
//
// Invariants
//   N1. Records of logs are named by place and hash; their bytes stand in the packet, and what follows from them is folded, not told.
//   N2. What no record in the packet shows is told as it was, and whoever checks is told that it was (`isFolded` false).
//   N3. No payload of a wire and no signature is in it: nor the hash of one, by which it could be guessed.
//   N4. Of payloads that it opened it tells where they stand sealed, and nothing of what is in them.
import type { Doc } from '../service-core.js';
import type { Speaker } from '@recourse/kernel';

/** A record of a log by its place, and by its hash: 64 hex digits. */
export interface PinnedRecord {
  readonly log: string;
  readonly partition: number;
  readonly seq: number;
  readonly hash: string;
}

/** What set a decision off. */
export type PinnedInput =
  | (PinnedRecord & { readonly source: 'log' })
  | {
      readonly source: 'wire';
      readonly topic: string;
      readonly partition: number;
      readonly offset: number;
      readonly key: string;
      /** Framed, without payloads and signature. */
      readonly value: Buffer;
      /** Of `value`, 64 hex digits. */
      readonly sha256: string;
      /** Of the bytes as they lay on the wire; null where they held a payload, of which nothing is told. */
      readonly wireSha256: string | null;
      readonly speaker: Speaker | null;
    }
  | {
      readonly source: 'timer';
      readonly kind: string;
      readonly group: string;
      readonly key: string;
      readonly dueAt: number;
    };

/** A row that was read; null where there was none. */
export interface PinnedRow {
  readonly key: string;
  readonly doc: Doc | null;
  /** The records that made it are in the packet: it is folded, and compared. */
  readonly isFolded: boolean;
}

/** What was read of a group; `isWhole`: all that stood in it. */
export interface PinnedGroup {
  readonly kind: string;
  readonly group: string;
  readonly isWhole: boolean;
  readonly rows: readonly PinnedRow[];
}

/** An entry of a view that was read, by the records it follows from, in their order; none: there was no such entry. */
export interface PinnedEntry {
  readonly view: string;
  readonly key: string;
  readonly records: readonly PinnedRecord[];
}

/** A payload that was opened, by the hash of its sealed bytes, 64 hex digits; `wire`: its name in the input, where that was told in the clear. */
export interface PinnedPayload {
  readonly sha256: string;
  readonly wire: string | null;
}

/** How far a partition of a view was read, where the decision looked at that. */
export interface PinnedPosition {
  readonly view: string;
  readonly partition: number;
  readonly seq: number;
}

/** One decision: what set it off, what it read, and the records it made, which stand one after the other. */
export interface Pin {
  readonly log: string;
  readonly partition: number;
  readonly records: readonly PinnedRecord[];
  /** The Progress that names the position behind its input. */
  readonly progress: PinnedRecord;
  readonly input: PinnedInput;
  readonly groups: readonly PinnedGroup[];
  readonly entries: readonly PinnedEntry[];
  readonly payloads: readonly PinnedPayload[];
  readonly positions: readonly PinnedPosition[];
}

/** Why a decision has no pin. */
export const UNPINNED = ['payload_sealed', 'payload_erased', 'input_missing', 'not_matched'] as const;
export interface Unpinned {
  readonly record: PinnedRecord;
  readonly why: (typeof UNPINNED)[number];
}
