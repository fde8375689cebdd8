// What a mutant changes: ports and cores are wrapped, production code stays as it is.
import type { LoopRules, PartitionStore, Sealing, ServiceCore } from '@recourse/event-log';
import type { LogProducer } from '@recourse/kafka';
import type { RecoveryRules } from '@recourse/recovery-orchestrator';
import type { WorkerRules } from '@recourse/sdk';

export interface MutantContext {
  /** True time, epoch milliseconds. */
  readonly now: () => number;
  /** End of a log as the broker knows it. */
  readonly endOf: (topic: string, partition: number) => number;
}

export interface Mutation {
  readonly loopRules?: Partial<LoopRules>;
  readonly workerRules?: Partial<WorkerRules>;
  readonly recoveryRules?: Partial<RecoveryRules>;
  readonly marginMs?: number;
  /** Every source is trusted, whatever it weighs. */
  readonly trustsAll?: true;
  /** How long the provider keeps a key in truth, whatever its contracts say, milliseconds. */
  readonly keyKeptMs?: number;
  readonly core?: (core: ServiceCore, context: MutantContext) => ServiceCore;
  readonly logProducer?: (producer: LogProducer, context: MutantContext) => LogProducer;
  /** Null: payloads are not sealed. */
  readonly sealing?: (sealing: Sealing) => Sealing | null;
  readonly store?: (store: PartitionStore) => PartitionStore;
}
