// A partition of a log or of a wire, as the auditor follows it.
import type { HashTree, TreeHead } from '@recourse/audit';
import type { Found } from '../rules/alarm/alarm.messages.js';

/** MUST NOT offer a head that does not extend the last one that was signed. */
export interface FollowedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly tree: HashTree;
  /** Where the next read begins. */
  readonly offset: number;
  /** Takes up where the signed heads end, or reads anew where the stored tree does not fit them. Errors: those of the cluster. */
  resume(): Promise<void>;
  /** Reads to the end seen at the call; answers how many records came. Errors: those of the cluster. */
  readOn(): Promise<number>;
  /** Looks whether what was read last still stands where it stood. Errors: those of the cluster. */
  lookBack(): Promise<void>;
  /** What may be signed; null where nothing was read or the log contradicts a head. */
  head(now: number): TreeHead | null;
  readonly found: readonly Found[];
}
