// When windows closed, against when they ended. Pure but for what it remembers.
import { percentile } from './rounds.js';

/** An instant at which a window's end was recorded, in two senses. */
export interface Closing {
  /** Database time of the decision, epoch milliseconds. */
  readonly decidedAt: number;
  /** When the log had it, epoch milliseconds. */
  readonly loggedAt: number;
}

/** Milliseconds from the end of a window. */
export interface Lags {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What became of all windows. */
export interface ExpirySummary {
  readonly closed: number;
  /** Records that closed a window which was closed already, or that was none. */
  readonly stray: number;
  /** Windows that were closed before their end. */
  readonly early: number;
  readonly logged: Lags;
  readonly decided: Lags;
}

export class ExpiryTimes {
  readonly #closings = new Map<string, Closing>();
  #stray = 0;

  /** `ends` holds the end of each window, epoch milliseconds, by mutation. */
  constructor(private readonly ends: ReadonlyMap<string, number>) {}

  close(mutationId: string, closing: Closing): void {
    if (!this.ends.has(mutationId) || this.#closings.has(mutationId)) {
      this.#stray += 1;
      return;
    }
    this.#closings.set(mutationId, closing);
  }

  get closed(): number {
    return this.#closings.size;
  }

  summary(): ExpirySummary {
    const all = [...this.#closings];
    const decided = all.map(([id, { decidedAt }]) => decidedAt - (this.ends.get(id) ?? NaN));
    const logged = all.map(([id, { loggedAt }]) => loggedAt - (this.ends.get(id) ?? NaN));
    return {
      closed: this.closed,
      stray: this.#stray,
      early: decided.filter((lag) => lag < 0).length,
      logged: lagsOf(logged),
      decided: lagsOf(decided),
    };
  }
}

/** Median, 99th percentile and maximum; NaN without samples. */
export function lagsOf(samples: readonly number[]): Lags {
  return { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99), max: percentile(samples, 1) };
}
