// Process time, for pacing only: waits, back-off and lazy writes. Nothing is decided by it (L1).

/**
 * Waits.
 *
 * Implementations MUST resolve `sleep` early when `wake` resolves, and MUST NOT reject.
 */
export interface Scheduler {
  /** Monotonic enough for pacing, milliseconds. */
  now(): number;
  sleep(ms: number, wake?: Promise<void>): Promise<void>;
}

/** The real one. */
export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  sleep: (ms, wake) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, ms));
      void wake?.then(() => {
        clearTimeout(timer);
        resolve();
      });
    }),
};

/** Wakes one waiter; a wake while nobody waits is remembered. */
export class Wake {
  #woken = false;
  #end: (() => void) | null = null;

  constructor(private readonly scheduler: Scheduler) {}

  wake(): void {
    this.#woken = true;
    this.#end?.();
  }

  /** Resolves at the next wake, or after `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#woken) {
      await this.scheduler.sleep(
        ms,
        new Promise((resolve) => {
          this.#end = resolve;
        }),
      );
      this.#end = null;
    }
    this.#woken = false;
  }
}
