// The loop as the Nest side sees it.

export interface ServiceHealth {
  /** False when only a restart helps. */
  readonly live: boolean;
  /** Inputs were read to the end once, and nothing is halted. */
  readonly ready: boolean;
  readonly started: boolean;
  /** Per partition: owner, head, cursors, lag, what is halted and why. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Runs the logs of one service. `start` resolves when inputs are being read; `stop` leaves the group and finishes batches. */
export interface RunningService {
  start(): Promise<void>;
  stop(): Promise<void>;
  health(): ServiceHealth;
}
