// Partition counts of topics. They never change (docs/design/loop.md), so each is asked once; what could not be asked is asked again.
// That somebody changed one all the same is looked for now and then: what goes to a partition that was added nobody reads.
import type { ServiceCore } from '@recourse/event-log';
import type { Kafka } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { Pulse } from './pulse.js';

const LOOK_EVERY_MS = 15_000;

export class PartitionCounts {
  private readonly known = new Map<string, Promise<number>>();

  constructor(private readonly kafka: Pick<Kafka, 'admin'>) {}

  /** Errors: Failure(TOPIC_MISSING, BROKER_REFUSED, BROKER_UNAVAILABLE). */
  of(topic: string): Promise<number> {
    const asking = this.known.get(topic) ?? this.all([topic]).then((countOf) => countOf(topic));
    this.known.set(topic, asking);
    asking.catch(() => {
      this.known.delete(topic);
    });
    return asking;
  }

  /** Counts of several topics; one that is missing, or hidden from whoever asks, is an error when it is asked for. Errors: Failure(BROKER_UNAVAILABLE). */
  async all(topics: readonly string[]): Promise<(topic: string) => number> {
    const admin = await this.kafka.admin();
    try {
      const counts = new Map<string, number | Failure>();
      for (const topic of new Set(topics))
        counts.set(topic, (await admin.partitionCount(topic).catch(refused)) ?? missing(topic));
      return (topic) => {
        const count = counts.get(topic) ?? missing(topic);
        if (count instanceof Failure) throw count;
        return count;
      };
    } finally {
      await admin.close();
    }
  }
}

/** Has a service say that it is not ready where a topic that it reads or writes has another count than when it started. */
export function watchCounts(kafka: Pick<Kafka, 'admin'>, cores: readonly ServiceCore[]): Pulse {
  const topics = cores.flatMap(({ log, inputs }) => [log, ...inputs.map(({ topic }) => topic)]);
  const first = new PartitionCounts(kafka);
  const ping = async (): Promise<void> => {
    try {
      const countNow = await first.all(topics);
      for (const topic of topics) refuseOther(topic, await first.of(topic), countNow(topic));
    } catch (cause) {
      // That a broker or a topic is away those say who read from it.
      if (cause instanceof Failure && cause.code === 'PARTITION_COUNT_CHANGED') throw cause;
    }
  };
  return new Pulse({ ping, isIdle: () => true, everyMs: LOOK_EVERY_MS });
}

function refuseOther(topic: string, was: number, now: number): void {
  if (was === now) return;
  throw new Failure(
    'PARTITION_COUNT_CHANGED',
    `${topic} had ${String(was)} partitions when this service started and has ${String(now)}: nobody reads what goes to others, and producers spread keys otherwise`,
  );
}

const missing = (topic: string): Failure => new Failure('TOPIC_MISSING', topic);

function refused(error: unknown): Failure {
  if (error instanceof Failure && error.code === 'BROKER_REFUSED') return error;
  throw error;
}
