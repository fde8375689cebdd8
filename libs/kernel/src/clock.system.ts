// The clock of this host.
import type { Clock } from './clock.port.js';

/** The host's clock. A wait that was ended early no longer keeps the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, Math.max(0, ms));
    return () => {
      clearTimeout(timer);
    };
  },
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const timer = setTimeout(done, Math.max(0, ms));
      signal?.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
    }),
};
