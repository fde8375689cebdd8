// What a mutant changes: ports and cores are wrapped, production code stays as it is.
import type { LoopSettings, PartitionStore, Sealing, ServiceCore } from '@recourse/event-log';
import type { Kafka, LogProducer } from '@recourse/kafka';
import type { LegRequested } from '@recourse/messages';
import type { ClaimStore, Inbox, MemoryRows, Position, WorkerOptions } from '@recourse/sdk';

export interface MutantContext {
  /** True time, epoch milliseconds. */
  readonly now: () => number;
  /** End of a log as the broker knows it. */
  readonly endOf: (topic: string, partition: number) => number;
  /** Where a reader of a chain stands that takes all of it but its newest record of a type; null where there is none. */
  readonly beforeNewest: (topic: string, partition: number, type: string) => Position | null;
}

export interface Mutation {
  /** A request as a worker reads it. */
  readonly leg?: (leg: LegRequested) => LegRequested;
  /** What a worker is made of. */
  readonly worker?: (options: WorkerOptions) => WorkerOptions;
  /** The claim store, as a worker reaches it. */
  readonly claims?: (kept: ClaimStore) => ClaimStore;
  readonly marginMs?: number;
  /** How the loops of services are set. */
  readonly loop?: Partial<LoopSettings>;
  /** Every source is trusted, whatever it weighs. */
  readonly trustsAll?: true;
  /** How long the provider keeps a key in truth, whatever its contracts say, milliseconds. */
  readonly keyKeptMs?: number;
  readonly core?: (core: ServiceCore, context: MutantContext) => ServiceCore;
  readonly logProducer?: (producer: LogProducer, context: MutantContext) => LogProducer;
  /** Null: payloads are not sealed. */
  readonly sealing?: (sealing: Sealing) => Sealing | null;
  /** How long a process believes in a key without asking whether it was destroyed, milliseconds. */
  readonly believedMs?: number;
  readonly store?: (store: PartitionStore) => PartitionStore;
  /** The inbox of a consumer, as a process of its finds it. */
  readonly inbox?: (kept: Inbox<MemoryRows>, context: MutantContext) => Inbox<MemoryRows>;
  /** The broker, as a consumer reaches it. */
  readonly consumerKafka?: (kafka: Kafka) => Kafka;
}
