// How a registry is asked: few requests at a time, a silent one repeated, no answer wasted.
//
// Invariants
//   A1. At most IN_FLIGHT_MAX questions are with the registry: a service asks for all its schemas at once, and one that
//       is short of time must not be given more to do the slower it is.
//   A2. A question is repeated beside the silent request, never instead of it: a kept connection may swallow a request,
//       and a slow registry still answers the first. All requests may be repeated.
//   A3. An answer that comes after its asker gave up is kept for the next.

/** Questions with the registry at a time. */
export const IN_FLIGHT_MAX = 4;
/** Times that a question is asked within its time. */
export const ASKED_TIMES = 3;

/** Nobody answered in time. */
export class NoAnswer extends Error {}

export class Asking {
  private inFlight = 0;
  private readonly waiting: (() => void)[] = [];

  /** `timeoutMs`: longest wait for an answer, from the moment the question is put. */
  constructor(private readonly timeoutMs: number) {}

  /**
   * The first answer to `act`, or the first error. `keep` gets the answer whenever it comes.
   *
   * Errors: those of `act`; NoAnswer when the time has passed.
   */
  async ask<T>(act: () => Promise<T>, keep: (answer: T) => void): Promise<T> {
    await this.enter();
    try {
      return await this.repeatedly(act, keep);
    } finally {
      this.leave();
    }
  }

  private async repeatedly<T>(act: () => Promise<T>, keep: (answer: T) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const put = (): void => {
      act().then((answer) => {
        keep(answer);
        resolve(answer);
      }, reject);
    };
    const share = this.timeoutMs / ASKED_TIMES;
    const timers = Array.from({ length: ASKED_TIMES - 1 }, (_, index) => setTimeout(put, share * (index + 1)));
    timers.push(
      setTimeout(() => {
        reject(new NoAnswer(`no answer within ${String(this.timeoutMs)} ms, asked ${String(ASKED_TIMES)} times`));
      }, this.timeoutMs),
    );
    put();
    try {
      return await promise;
    } finally {
      timers.forEach(clearTimeout);
    }
  }

  private async enter(): Promise<void> {
    if (this.inFlight >= IN_FLIGHT_MAX)
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    else this.inFlight += 1;
  }

  /** The place goes to who waits longest. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.inFlight -= 1;
  }
}
