// Calls of one connection that are under way: closed, it lets none begin, and waits for the end of those that have.

import type { Clock } from '@recourse/kernel';
import { within } from '../within.js';

/** Longest calls are waited for unless told, milliseconds: a tool may never answer. */
const CLOSE_WAIT_MS = 30_000;

/** Counts calls from before the tool is called until the outcome is told. */
export class CallsUnderWay {
  private readonly begun = new Set<Promise<unknown>>();
  private isClosed = false;

  /** Begins a call; null once closed. */
  begin<Answer>(call: () => Promise<Answer>): Promise<Answer> | null {
    if (this.isClosed) return null;
    const answer = call();
    const ended: Promise<unknown> = answer
      .catch(() => null)
      .finally(() => {
        this.begun.delete(ended);
      });
    this.begun.add(ended);
    return answer;
  }

  /** Lets none begin from now on, and waits for the end of the last; answers how many had not ended `waitMs` later. */
  async close(clock: Clock, waitMs = CLOSE_WAIT_MS): Promise<number> {
    this.isClosed = true;
    await within(clock, waitMs, Promise.all(this.begun), []);
    return this.begun.size;
  }
}
