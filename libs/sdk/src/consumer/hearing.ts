// Whether a consumer hears what falls: not before each partition was begun to be heard, not where its log was cut behind what it heard, nor once
// it is stopped. Before it is started at all it may be told what was made: all that fell is heard behind that.
import { Failure } from '@recourse/kernel';

export class Hearing {
  private readonly cut = new Map<number, Failure>();
  /** Partitions of which nothing is heard yet. */
  private readonly unheard = new Set<number>();
  /** Partitions at which nobody has looked yet. */
  private readonly unseen = new Set<number>();
  private readonly waiting: (() => void)[] = [];
  private isStopped = false;

  /** It is being started: until what was heard of each partition is known to stand, nobody knows what stands. */
  begin(partitions: readonly number[]): void {
    for (const partition of partitions) {
      this.unheard.add(partition);
      this.unseen.add(partition);
    }
  }

  /** What was heard of a partition stands in its log. */
  stands(partition: number): void {
    this.cut.delete(partition);
    this.unheard.delete(partition);
    this.saw(partition);
  }

  /** Answers whether it is gone, by what reading the partition failed with. */
  isLost(partition: number, cause: unknown): boolean {
    const isCut = cause instanceof Failure && cause.code === 'LOG_CUT';
    if (isCut) this.cut.set(partition, cause);
    this.saw(partition);
    return isCut;
  }

  /** Resolves once each partition was looked at, whatever was found there, or it is stopped. */
  async looked(): Promise<void> {
    if (this.unseen.size > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  stop(): void {
    this.isStopped = true;
    for (const partition of this.unseen) this.saw(partition);
  }

  /** Errors: Failure(LOG_CUT, NOT_READY) while something may fall unheard. */
  refuseDeaf(): void {
    if (this.isStopped)
      throw new Failure('NOT_READY', 'the consumer was stopped: whether the commit stands is not known here');
    const [cut] = this.cut.values();
    if (cut !== undefined)
      throw new Failure('LOG_CUT', `whether the commit stands is not known: ${cut.detail}`, { cause: cut });
    if (this.unheard.size > 0)
      throw new Failure(
        'NOT_READY',
        'the consumer does not hear yet, or its start failed: whether the commit stands is not known here',
      );
  }

  private saw(partition: number): void {
    this.unseen.delete(partition);
    if (this.unseen.size === 0) for (const resolve of this.waiting.splice(0)) resolve();
  }
}
