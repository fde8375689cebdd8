// Compensations as executions of their own (A62): what a row holds.
import type { ExecutedCompensation } from '@recourse/messages';

/** A compensation as its row holds it: what was last recorded of it. */
export type Compensation = ExecutedCompensation & {
  readonly tenant: string;
  readonly run_id: string;
  readonly recovery_id: string;
  /** Hash of the record that told how it stands. */
  readonly recorded_hash: Buffer;
  /** Place of that record in its partition of the log. */
  readonly recorded_seq: number;
  /** Epoch milliseconds. */
  readonly created_at: number;
  /** Epoch milliseconds. */
  readonly updated_at: number;
};
