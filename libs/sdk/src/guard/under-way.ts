// Calls of one connection that are under way: closed, it lets none begin, and waits for the end of those that have.

import type { Clock } from '@recourse/kernel';
import { within } from '../within.js';

/** Longest calls are waited for unless told, milliseconds: a tool may never answer. */
const CLOSE_WAIT_MS = 30_000;

/** Counts calls from before the tool is called until the outcome is told; of one that was given up, until its tool comes back. */
export class CallsUnderWay {
  private readonly begun = new Set<Promise<unknown>>();
  private isClosed = false;

  /** Begins a call; null once closed. */
  begin<Answer>(call: () => Promise<Answer>): Promise<Answer> | null {
    if (this.isClosed) return null;
    const answer = call();
    this.goesOn(answer);
    return answer;
  }

  /** Counts what is left of a call that was begun, also once closed. */
  goesOn(rest: Promise<unknown>): void {
    const ended: Promise<unknown> = rest
      .catch(() => null)
      .finally(() => {
        this.begun.delete(ended);
      });
    this.begun.add(ended);
  }

  /** Lets none begin from now on, and waits for the end of the last; answers how many had not ended `waitMs` later. */
  async close(clock: Clock, waitMs = CLOSE_WAIT_MS): Promise<number> {
    this.isClosed = true;
    await within(clock, waitMs, this.ended(), undefined);
    return this.begun.size;
  }

  /** One that ends may leave something of it that goes on. */
  private async ended(): Promise<void> {
    while (this.begun.size > 0) await Promise.all(this.begun);
  }
}
