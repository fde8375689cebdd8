// Partition counts of topics. They never change (DESIGN 3.2), so each is asked once; what could not be asked is asked again.
import type { Kafka } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';

export class PartitionCounts {
  private readonly known = new Map<string, Promise<number>>();

  constructor(private readonly kafka: Pick<Kafka, 'admin'>) {}

  /** Errors: Failure(TOPIC_MISSING, BROKER_UNAVAILABLE). */
  of(topic: string): Promise<number> {
    const asking = this.known.get(topic) ?? this.all([topic]).then((countOf) => countOf(topic));
    this.known.set(topic, asking);
    asking.catch(() => {
      this.known.delete(topic);
    });
    return asking;
  }

  /** Counts of several topics; one that is missing is an error when it is asked for. Errors: Failure(BROKER_UNAVAILABLE). */
  async all(topics: readonly string[]): Promise<(topic: string) => number> {
    const admin = await this.kafka.admin();
    try {
      const counts = new Map<string, number | null>();
      for (const topic of new Set(topics)) counts.set(topic, await admin.partitionCount(topic));
      return (topic) => {
        const count = counts.get(topic) ?? null;
        if (count === null) throw new Failure('TOPIC_MISSING', topic);
        return count;
      };
    } finally {
      await admin.close();
    }
  }
}
