// Partition counts of topics. They never change (docs/design/loop.md), so each is asked once; what could not be asked is asked again.
import type { Kafka } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';

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

const missing = (topic: string): Failure => new Failure('TOPIC_MISSING', topic);

function refused(error: unknown): Failure {
  if (error instanceof Failure && error.code === 'BROKER_REFUSED') return error;
  throw error;
}
