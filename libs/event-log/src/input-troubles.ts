// Partitions of inputs that a broker cannot answer for, until it does: who reads them hears of each fetch that has no answer.
import type { TopicPartition } from '@recourse/kafka';
import type { Failure } from '@recourse/kernel';
import type { LoopEvent, PartitionLoop } from './partition-loop.js';

/** Tells of an event at a loop. */
export type TellAt = (event: LoopEvent & { readonly log: string; readonly partition: number }) => void;

export class InputTroubles {
  readonly #causes = new Map<string, Failure>();

  constructor(private readonly tell: TellAt | undefined) {}

  /** Why inputs do not arrive, for readiness; null while all do. */
  get problem(): string | null {
    const [first] = this.#causes.values();
    return first?.message ?? null;
  }

  /** The others go on; null once the broker answers. */
  note({ topic, partition }: TopicPartition, cause: Failure | null, loops: readonly PartitionLoop[]): void {
    const id = `${topic}/${partition}`;
    if (cause === null) {
      this.#causes.delete(id);
      return;
    }
    this.#causes.set(id, cause);
    for (const loop of loops)
      if (loop.inputPartitions().some((one) => one.topic === topic && one.partition === partition)) {
        const { log, partition: place } = loop.health();
        this.tell?.({ kind: 'fetch_failed', log, partition: place, topic, code: cause.code, cause });
      }
  }

  /** Everything is asked for anew. */
  clear(): void {
    this.#causes.clear();
  }
}
