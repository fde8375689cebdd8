// One partition of a log, as far as the notifier reads it.
import type { LogPosition, PlacedRecord } from '@recourse/event-log';

/** What is read of a log: pages of accepted records up to the end seen at the call. */
export interface FollowedPartition {
  /** Where the log begins. */
  readonly origin: () => LogPosition;
  /** Where reading stands: void records move it too. */
  readonly position: () => LogPosition;
  /** Does it still hold what was read of it up to here? Errors: those of the log's reader. */
  readonly holds: (position: LogPosition) => Promise<boolean>;
  /** Errors: those of the log's reader. */
  readonly read: (from: LogPosition) => AsyncIterable<readonly PlacedRecord[]>;
}
