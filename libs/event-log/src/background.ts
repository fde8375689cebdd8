// A loop in the background: turns, rests, back-off after failures, and a clean end. Loop, projector, reactor and derived writer
// are each one of these.
import type { Clock } from '@recourse/kernel';
import { backoffMs } from './loop.decisions.js';

export interface BackgroundWork {
  readonly clock: Pick<Clock, 'sleep'>;
  /** One turn; answers how long to rest before the next, milliseconds, unless woken. */
  readonly turn: () => Promise<number>;
  /** Hears of a turn that threw; `end` ends the loop. */
  readonly onError: (cause: unknown) => 'retry' | 'end' | Promise<'retry' | 'end'>;
}

/** Without a reason, each abort makes an exception with a stack. */
const WOKEN = 'woken';

export class BackgroundLoop {
  #running: Promise<void> | null = null;
  #stopped = false;
  /** A wake while nobody rests is remembered. */
  #woken = false;
  #resting: AbortController | null = null;
  readonly #stopping = new AbortController();

  constructor(private readonly work: BackgroundWork) {}

  start(): void {
    this.#running ??= this.#run();
  }

  wake(): void {
    this.#woken = true;
    this.#resting?.abort(WOKEN);
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Resolves when the turn under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, turn, onError } = this.work;
    let failures = 0;
    while (!this.#stopped) {
      try {
        await this.#rest(await turn());
        failures = 0;
      } catch (cause) {
        failures += 1;
        if ((await onError(cause)) === 'end') return;
        await clock.sleep(backoffMs(failures), this.#stopping.signal);
      }
    }
  }

  async #rest(ms: number): Promise<void> {
    if (ms > 0 && !this.#woken) {
      this.#resting = new AbortController();
      await this.work.clock.sleep(ms, this.#resting.signal);
      this.#resting = null;
    }
    this.#woken = false;
  }
}
