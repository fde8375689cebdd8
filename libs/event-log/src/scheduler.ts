// Process time, for pacing only: waits, back-off and lazy writes. Nothing is decided by it (L1).

/**
 * Waits.
 *
 * Implementations MUST resolve `sleep` early when the signal fires, and MUST NOT reject.
 */
export interface Scheduler {
  /** Monotonic enough for pacing, milliseconds. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The real one. */
export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  sleep: (ms, signal) => new Promise((resolve) => {
    if (signal?.aborted === true) { resolve(); return; }
    const timer = setTimeout(done, Math.max(0, ms));
    function done(): void { clearTimeout(timer); signal?.removeEventListener('abort', done); resolve(); }
    signal?.addEventListener('abort', done, { once: true });
  }),
};

/** Reason of an abort; without one the controller makes an error with a stack, for every wake. */
const WOKEN = 'woken';

/** Wakes one waiter; a wake while nobody waits is remembered. */
export class Wake {
  #woken = false;
  #waiting: AbortController | null = null;

  constructor(private readonly scheduler: Scheduler) {}

  wake(): void {
    this.#woken = true;
    this.#waiting?.abort(WOKEN);
  }

  /** Resolves at the next wake, or after `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#woken) {
      this.#waiting = new AbortController();
      await this.scheduler.sleep(ms, this.#waiting.signal);
      this.#waiting = null;
    }
    this.#woken = false;
  }
}
