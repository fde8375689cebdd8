// Watches at which time services decide: database time, asked at most a second before (L1), whatever steps that clock makes.
import { LOOP_SETTINGS } from '@recourse/event-log';
import type { ServiceCore } from '@recourse/event-log';

/** Longest a batch that is not frozen waits for what it lacks between its time and its decision, milliseconds. */
const GATHERING_MS = 1_500;

/** A decision at a time that the database's clock had not shown for too long. */
export interface Astray {
  readonly log: string;
  readonly partition: number;
  /** True time, epoch milliseconds. */
  readonly at: number;
  /** Milliseconds beyond what is allowed, ahead of the database or behind it. */
  readonly byMs: number;
}

export interface DecisionClockParts {
  /** True time, epoch milliseconds. */
  readonly now: () => number;
  /** Longest an actor may be frozen between its time and its decision, milliseconds. */
  readonly frozenMs: number;
}

export class DecisionClock {
  readonly astray: Astray[] = [];
  /** How far the database's clock was ahead of true time, from when on; newest last. */
  readonly #offsets: { readonly from: number; readonly ms: number }[] = [{ from: -Infinity, ms: 0 }];

  constructor(private readonly parts: DecisionClockParts) {}

  /** The database's clock was set. */
  stepped(ms: number): void {
    this.#offsets.push({ from: this.parts.now(), ms });
  }

  /** The same core; when it decides is looked at. */
  watching(core: ServiceCore): ServiceCore {
    return {
      ...core,
      decide: (context, input) => {
        this.#look(core.log, context);
        return core.decide(context, input);
      },
    };
  }

  #look(log: string, { now, partition }: { readonly now: number; readonly partition: number }): void {
    const at = this.parts.now();
    const lateMs = GATHERING_MS + this.parts.frozenMs;
    const shown = this.#shownSince(at - lateMs - LOOP_SETTINGS.timeAgeMs);
    // A chain does not go back: behind its head by the margin at the most, the head's time counts.
    const ahead = now - (at + Math.max(...shown) + LOOP_SETTINGS.clockMarginMs);
    const behind = at + Math.min(...shown) - lateMs - now;
    const byMs = Math.ceil(Math.max(ahead, behind));
    if (byMs > 0) this.astray.push({ log, partition, at, byMs });
  }

  /** What the clock was off by at any time since. */
  #shownSince(from: number): readonly number[] {
    const first = this.#offsets.findLastIndex((one) => one.from <= from);
    return this.#offsets.slice(Math.max(0, first)).map(({ ms }) => ms);
  }
}
