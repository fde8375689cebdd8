// Presence in one process: what the operating system would tell of processes is told by whoever kills them.
import { Failure } from '@recourse/kernel';
import type { Presence } from './presence.port.js';

/** Where instances show themselves. */
export class MemoryPlace {
  private readonly shown = new Map<object, string>();
  /** Nobody is answered. */
  isBroken = false;

  presence(): Presence & { die(): void } {
    const one = {};
    const leave = (): void => {
      this.shown.delete(one);
    };
    return {
      show: (name) => {
        this.shown.set(one, name);
        return Promise.resolve();
      },
      here: (names) => {
        if (this.isBroken) return Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'nobody is answered'));
        const all = new Set(this.shown.values());
        return Promise.resolve(new Set(names.filter((name) => all.has(name))));
      },
      close: () => {
        leave();
        return Promise.resolve();
      },
      die: leave,
    };
  }
}
