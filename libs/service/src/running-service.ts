// The loop as the Nest side sees it.
import type { BroadcastView } from '@recourse/event-log';

/** What is in the way, and why. */
export interface Trouble {
  readonly code: string;
  readonly detail: string;
}

export interface ServiceHealth {
  /** False when only a restart helps; a halted partition is not ready, and live. */
  readonly live: boolean;
  /** Inputs were read to the end once, and nothing is halted. */
  readonly ready: boolean;
  readonly started: boolean;
  /** Per partition: owner, head, cursors, lag, what is halted and why. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A partition that this process owns and has projected. */
export interface ProjectedHere {
  /** Last record this process has projected. */
  readonly seq: number;
  /** Has the loop read its log anew, and project what the database lacks. */
  readonly readAnew: () => void;
}

/** What a program of ours does once its database is there. */
export interface RunningProgram {
  start(): Promise<void>;
  stop(): Promise<void>;
  health(): ServiceHealth;
}

/** Runs the logs of one service. `start` resolves when inputs are being read; `stop` leaves the group and finishes batches. */
export interface RunningService extends RunningProgram {
  /** Null for a partition that this process does not own, or is reading anew already. */
  projected(log: string, partition: number): ProjectedHere | null;
  /** A view of the cores, read to the end that was seen a moment ago; null for one they do not declare. */
  view(name: string): Promise<BroadcastView | null>;
}
