// Does a topic still hold what its reader has not read? Retention, or a topic that was made anew, may have taken it. Pure.
import type { PartitionRange } from '@recourse/kafka';

/** Records that are gone unread. */
export interface InputLoss {
  /** Where the reader stood. */
  readonly readTo: number;
  /** First offset that the topic holds. */
  readonly goesOnAt: number;
}

/**
 * Compares where a reader stands with what its topic holds; null when nothing is missing.
 *
 * Source: L13: a cursor outside the topic's range halts. Behind its end, the topic was made anew: all it holds is to be read.
 */
export function judgeRange({ low, high }: PartitionRange, offset: number): InputLoss | null {
  return offset >= low && offset <= high ? null : { readTo: offset, goesOnAt: low };
}

/** Where a loop stands in one partition of a wire. */
export interface WirePlace {
  readonly log: string;
  /** Partition of the log. */
  readonly logPartition: number;
  readonly wire: string;
  readonly partition: number;
}

/** What was lost, and what a person may do about it; one sentence each. */
export function lossMessage(at: WirePlace, { low, high }: PartitionRange, { readTo, goesOnAt }: InputLoss): string {
  const { log, logPartition, wire, partition } = at;
  const gone = readTo < low ? `${low - readTo} records are gone that were never read` : 'it was cut, or made anew';
  const command = `recourse log accept-loss --log ${log} --partition ${logPartition} --wire ${wire}/${partition}`;
  return (
    `${wire}/${partition} holds offsets ${low} to ${high}, and ${log}/${logPartition} has read to ${readTo}: ${gone}. ` +
    `Have what is missing sent again if you can; then \`${command}\` records the loss and goes on at ${goesOnAt}.`
  );
}
