// Work that is tried until it succeeds: at the start of a process its database and its logs may not be there yet.
import { systemClock } from './clock.system.js';
import { Failure } from './outcome.js';

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 5_000;

export interface Persistence {
  /** Aborted: nothing is tried again. */
  readonly signal: AbortSignal;
  readonly onFailure: (failure: Failure, retryMs: number) => void;
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** Tries until it works. Errors: what no retry helps against, bugs, and the signal's reason. */
export async function persistently<T>(
  work: () => Promise<T>,
  { signal, onFailure, sleep = (ms, until) => systemClock.sleep(ms, until) }: Persistence,
): Promise<T> {
  for (let delayMs = RETRY_MIN_MS; ; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure) || error.retry === 'never') throw error;
      onFailure(error, delayMs);
    }
    await sleep(delayMs, signal);
  }
}
