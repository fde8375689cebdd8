// Time as a port: code that waits or stamps runs unchanged on the host's clock, by hand in a spec and in virtual time.

/**
 * Tells the time and waits.
 *
 * Implementations MUST keep `monotonic` from ever going back, also when the wall clock is set.
 * Implementations MUST settle `sleep` no earlier than `ms` later, unless `signal` is aborted, and MUST NOT reject.
 * Implementations MUST ring an alarm once, no earlier than `ms` later, never within the call that sets it, and never once it is called off.
 */
export interface Clock {
  /** Wall time, epoch milliseconds: what a record is stamped with. May jump either way. */
  now(): number;
  /** Milliseconds since an arbitrary moment: for pacing, time-outs and durations. Nothing recorded depends on it. */
  monotonic(): number;
  /** Aborting `signal` ends the wait early; implementations MAY ignore it. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `ring` later; the answer calls it off. Costs less than a sleep that is aborted. */
  alarm(ms: number, ring: () => void): () => void;
}
