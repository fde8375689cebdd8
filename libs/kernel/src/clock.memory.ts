// A clock that moves by hand, for specs.
import type { Clock } from './clock.port.js';

interface Sleeper {
  /** By the monotonic clock. */
  readonly dueAt: number;
  readonly wakeUp: () => void;
}

/** Stands still until `advance` moves it. */
export class ManualClock implements Clock {
  private sleepers: Sleeper[] = [];
  private passed = 0;

  constructor(private wall = 0) {}

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.passed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { dueAt: this.passed + ms, wakeUp: resolve };
      this.sleepers.push(sleeper);
      signal?.addEventListener(
        'abort',
        () => {
          this.drop(sleeper);
          resolve();
        },
        { once: true },
      );
    });
  }

  alarm(ms: number, ring: () => void): () => void {
    const sleeper = { dueAt: this.passed + Math.max(0, ms), wakeUp: ring };
    this.sleepers.push(sleeper);
    return () => {
      this.drop(sleeper);
    };
  }

  /** Lets time pass and wakes sleepers in the order they are due; each gets a turn of the event loop. */
  async advance(ms: number): Promise<void> {
    const until = this.passed + ms;
    for (let next = this.nextDueBy(until); next !== undefined; next = this.nextDueBy(until)) {
      this.drop(next);
      this.moveTo(next.dueAt);
      next.wakeUp();
      await turn();
    }
    this.moveTo(until);
    await turn();
  }

  /** Sets the wall clock without letting time pass, as an administrator or a time server does. */
  set(now: number): void {
    this.wall = now;
  }

  private moveTo(passed: number): void {
    this.wall += passed - this.passed;
    this.passed = passed;
  }

  private nextDueBy(until: number): Sleeper | undefined {
    return this.sleepers.filter(({ dueAt }) => dueAt <= until).sort((a, b) => a.dueAt - b.dueAt)[0];
  }

  private drop(sleeper: Sleeper): void {
    this.sleepers = this.sleepers.filter((other) => other !== sleeper);
  }
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
