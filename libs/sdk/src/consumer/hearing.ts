// Whether a consumer hears what falls: not where its log was cut behind what it heard, nor once it is stopped.
import { Failure } from '@recourse/kernel';

export class Hearing {
  private readonly cut = new Map<number, Failure>();
  private isStopped = false;

  /** What was heard of a partition stands in its log. */
  stands(partition: number): void {
    this.cut.delete(partition);
  }

  /** Answers whether it is gone, by what reading the partition failed with. */
  isLost(partition: number, cause: unknown): boolean {
    const isCut = cause instanceof Failure && cause.code === 'LOG_CUT';
    if (isCut) this.cut.set(partition, cause);
    return isCut;
  }

  stop(): void {
    this.isStopped = true;
  }

  /** Errors: Failure(LOG_CUT, NOT_READY) while something may fall unheard. */
  refuseDeaf(): void {
    if (this.isStopped)
      throw new Failure('NOT_READY', 'the consumer was stopped: whether the commit stands is not known here');
    const [cut] = this.cut.values();
    if (cut !== undefined)
      throw new Failure('LOG_CUT', `whether the commit stands is not known: ${cut.detail}`, { cause: cut });
  }
}
