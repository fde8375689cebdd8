// A barrier: waits until everything that was announced by now has been applied, so that what reaches users rests on nothing that fell.
//
// Boundary: counts offsets; what was applied is the consumer's to say. It knows what was announced, not what is still on its way to be.
import type { Clock } from '@recourse/kernel';
import type { CommitRef } from '@recourse/messages';

/** Offsets of the partitions of the announcements: the next record of each. */
export type Offsets = ReadonlyMap<number, number>;

/** How a barrier ended. Only `clear` lets the caller go on. */
export type BarrierOutcome =
  /** All that was announced when it was asked for is applied, and the commit, where one was named, stands. */
  | { readonly kind: 'clear' }
  | { readonly kind: 'fallen'; readonly commit: CommitRef }
  /** The deadline passed first. Let nothing out: hold it back and ask again, or show that it is not known. */
  | {
      readonly kind: 'timeout';
      readonly code: 'BARRIER_TIMEOUT';
      readonly behind: readonly { readonly partition: number; readonly applied: number; readonly end: number }[];
      readonly cause?: unknown;
    };

/** Offsets that were applied, and who waits for them. */
export class Barrier {
  private readonly applied = new Map<number, number>();
  private waiting: readonly (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  /** What was applied of a partition is not what is in its log any more. */
  lost(partition: number): void {
    this.applied.delete(partition);
  }

  /** Everything below `offset` of a partition is applied, and stands in its log. */
  passed(partition: number, offset: number): void {
    this.applied.set(partition, offset);
    const waiting = this.waiting;
    this.waiting = [];
    for (const look of waiting) look();
  }

  /** Waits until the ends that `endsOf` reads are applied and `look` has looked, at most so long; null once it has. */
  async through(
    { endsOf, look }: { readonly endsOf: () => Promise<Offsets>; readonly look: () => Promise<void> },
    withinMs: number,
  ): Promise<Extract<BarrierOutcome, { kind: 'timeout' }> | null> {
    const over = new AbortController();
    const before: Offsets = new Map(this.applied);
    let ends: Offsets = new Map();
    let cause: unknown;
    const reached = endsOf()
      .then(async (read) => {
        ends = read;
        // A log that ends before what was applied of it was set back.
        for (const [partition, end] of read) if (end < (before.get(partition) ?? 0)) this.lost(partition);
        const isReached = await this.reached(read, over.signal);
        if (isReached) await look();
        return isReached;
      })
      .catch((thrown: unknown) => {
        cause = thrown;
        return false;
      });
    const isClear = await Promise.race([reached, this.clock.sleep(withinMs, over.signal).then(() => false)]);
    over.abort();
    return isClear
      ? null
      : {
          kind: 'timeout',
          code: 'BARRIER_TIMEOUT',
          behind: this.behind(ends),
          ...(cause === undefined ? {} : { cause }),
        };
  }

  private async reached(ends: Offsets, over: AbortSignal): Promise<boolean> {
    while (this.behind(ends).length > 0) {
      if (over.aborted) return false;
      await new Promise<void>((resolve) => {
        this.waiting = [...this.waiting, resolve];
        over.addEventListener(
          'abort',
          () => {
            resolve();
          },
          { once: true },
        );
      });
    }
    return true;
  }

  private behind(ends: Offsets): Extract<BarrierOutcome, { kind: 'timeout' }>['behind'] {
    return [...ends]
      .map(([partition, end]) => ({ partition, end, applied: this.applied.get(partition) }))
      .filter(({ applied, end }) => applied === undefined || applied < end)
      .map(({ applied = 0, ...rest }) => ({ ...rest, applied }));
  }
}
