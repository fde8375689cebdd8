// A clock that stands until it is told to move.
import type { Clock } from './clock.port.js';

interface Sleeper {
  readonly dueAt: number;
  readonly wakeUp: () => void;
}

/** A clock that stands until it is told to go on. For specs. */
export class ManualClock implements Clock {
  private sleepers: Sleeper[] = [];

  constructor(private time = 0) {}

  now(): number {
    return this.time;
  }

  sleep(ms: number, wake?: AbortSignal): Promise<void> {
    if (ms <= 0 || wake?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { dueAt: this.time + ms, wakeUp: resolve };
      this.sleepers.push(sleeper);
      wake?.addEventListener(
        'abort',
        () => {
          this.sleepers = this.sleepers.filter((other) => other !== sleeper);
          resolve();
        },
        { once: true },
      );
    });
  }

  /** Moves time, waking sleepers in order of their instants; each gets a turn of the event loop. */
  async advance(ms: number): Promise<void> {
    const until = this.time + ms;
    for (;;) {
      const next = this.sleepers.filter(({ dueAt }) => dueAt <= until).sort((a, b) => a.dueAt - b.dueAt)[0];
      if (next === undefined) break;
      this.sleepers = this.sleepers.filter((other) => other !== next);
      this.time = next.dueAt;
      next.wakeUp();
      await turn();
    }
    this.time = until;
    await turn();
  }
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
