// What a mutant changes: ports and cores are wrapped, production code stays as it is.
import type { LoopRules, PartitionStore, ServiceCore } from '@recourse/event-log';
import type { LogProducer } from '@recourse/kafka';
import type { WorkerRules } from '@recourse/sdk';
import type { Profile } from './profile.js';
import type { StoryWeights } from './stories.js';

export interface MutantContext {
  /** True time, epoch milliseconds. */
  readonly now: () => number;
  /** End of a log as the broker knows it. */
  readonly endOf: (topic: string, partition: number) => number;
}

export interface Mutation {
  readonly loopRules?: Partial<LoopRules>;
  readonly workerRules?: Partial<WorkerRules>;
  readonly marginMs?: number;
  readonly core?: (core: ServiceCore, context: MutantContext) => ServiceCore;
  readonly logProducer?: (producer: LogProducer, context: MutantContext) => LogProducer;
  readonly store?: (store: PartitionStore) => PartitionStore;
}

/** How the world of a mutant differs from the ordinary one; the same seeds pass in it without the mutant. */
export interface Bias {
  readonly profile?: Partial<Profile>;
  readonly stories?: Partial<StoryWeights>;
}
