// Time as a port: the worker runs unchanged on the wall clock and in virtual time.

/**
 * Tells time and waits.
 *
 * Implementations MUST settle `sleep` no earlier than `ms` later by their own `now`, unless `wake` was aborted; they
 * MAY ignore `wake`.
 * Implementations MUST NOT reject.
 */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** `wake` ends the wait early. */
  sleep(ms: number, wake?: AbortSignal): Promise<void>;
}
