// A service in its process: what runs is the loop of its logs, and its database answers reads.
//
// Boundary: knows ports only; `runService` puts the real parts in, specs put others in.
import type { BroadcastView, KeyStore, PartitionStore } from '@recourse/event-log';
import { ProgramHost } from './program-host.js';
import type { ProgramHostOptions } from './program-host.js';
import type { Page, PageQuery, PlacedRow, ProjectionReads } from './projection-reads.js';
import type { ProjectedHere, RunningService } from './running-service.js';

export interface ServiceDatabase extends ProjectionReads {
  partition(log: string, partition: number): PartitionStore;
  /** Errors: Failure(DATABASE_UNAVAILABLE). */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface ServiceHostOptions extends Omit<ProgramHostOptions<ServiceDatabase, RunningService>, 'reach'> {
  readonly keys: Pick<KeyStore, 'find'>;
}

/** An id that no key has. */
const NO_KEY = 'reached';

export class ServiceHost extends ProgramHost<ServiceDatabase, RunningService> implements ProjectionReads {
  constructor({ keys, ...options }: ServiceHostOptions) {
    // A store that is mistyped would be met by the first record that seals, long after a release was taken for good.
    super({ ...options, reach: () => keys.find([NO_KEY]) });
  }

  /** Null before the loop runs, too. */
  projected(log: string, partition: number): ProjectedHere | null {
    return this.running?.projected(log, partition) ?? null;
  }

  /** Null before the loop runs, too. */
  async view(name: string): Promise<BroadcastView | null> {
    return this.running?.view(name) ?? null;
  }

  async page(query: PageQuery): Promise<Page> {
    return this.opened().page(query);
  }
  async count(query: Pick<PageQuery, 'log' | 'kind' | 'where'>): Promise<number> {
    return this.opened().count(query);
  }
  async commandRow(log: string, commandId: string): Promise<PlacedRow | null> {
    return this.opened().commandRow(log, commandId);
  }
  partition(log: string, partition: number): PartitionStore {
    return this.opened().partition(log, partition);
  }
}
