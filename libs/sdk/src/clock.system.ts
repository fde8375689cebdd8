// The clock of this host.
import type { Clock } from './clock.port.js';

/** Wall clock; a wait that nobody needs any more does not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, wake) =>
    new Promise((resolve) => {
      if (wake?.aborted) {
        resolve();
        return;
      }
      const timer = setTimeout(done, Math.max(0, ms));
      wake?.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        wake?.removeEventListener('abort', done);
        resolve();
      }
    }),
};
