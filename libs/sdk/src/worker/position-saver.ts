// Saves how far the partitions are answered: seldom, because reading again is harmless.
//
// Invariants
//   S1. What is saved was answered up to there when it was saved; it may lag behind by `everyMs`.
//   S2. Nothing is saved once `stop` has resolved.
import type { Clock } from '@recourse/kernel';
import type { PositionStore } from '../stores/position-store.port.js';

interface PositionSaverOptions {
  readonly positions: PositionStore;
  readonly topic: string;
  readonly clock: Clock;
  /** Least time between two saves, milliseconds. */
  readonly everyMs: number;
  readonly onTrouble: (cause: unknown) => void;
}

/** Positions that are saved together. */
export class PositionSaver {
  private readonly unsaved = new Map<number, PartitionProgress>();
  private isPacing = false;
  private isStopped = false;

  constructor(private readonly options: PositionSaverOptions) {}

  /** More of a partition was answered. */
  touch(partition: number, progress: PartitionProgress): void {
    if (this.isStopped) return;
    this.unsaved.set(partition, progress);
    if (!this.isPacing) void this.pace();
  }

  /** Saves what is not saved yet, once; what cannot be saved is kept for later. */
  async flush(): Promise<void> {
    const batch = [...this.unsaved];
    this.unsaved.clear();
    await Promise.all(batch.map(([partition, progress]) => this.save(partition, progress)));
  }

  /** The partitions are another's, or read anew. */
  forget(): void {
    this.unsaved.clear();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.flush();
    this.forget();
  }

  private async pace(): Promise<void> {
    this.isPacing = true;
    while (this.unsaved.size > 0) {
      await this.flush();
      await this.options.clock.sleep(this.options.everyMs);
    }
    this.isPacing = false;
  }

  private async save(partition: number, progress: PartitionProgress): Promise<void> {
    const { positions, topic, onTrouble } = this.options;
    try {
      await positions.save(topic, partition, { offset: progress.position, seq: 0, hash: '' });
    } catch (cause) {
      onTrouble(cause);
      if (!this.unsaved.has(partition)) this.unsaved.set(partition, progress);
    }
  }
}

// How far the requests of one partition are answered, when answers come in any order.

/** Offsets taken and answered; the position is the lowest offset that is not answered. */
export class PartitionProgress {
  private readonly open = new Set<number>();

  /** `next` is the offset the next batch starts at. */
  constructor(public next: number) {}

  take(offset: number): void {
    this.open.add(offset);
    this.next = offset + 1;
  }

  answer(offset: number): void {
    this.open.delete(offset);
  }

  get position(): number {
    return this.open.size === 0 ? this.next : Math.min(...this.open);
  }
}
