// A service in its process: what runs is the loop of its logs, and its database answers reads.
//
// Boundary: knows ports only; `runService` puts the real parts in, specs put others in.
import type { BroadcastView, PartitionStore } from '@recourse/event-log';
import { ProgramHost } from './program-host.js';
import type { Page, PageQuery, PlacedRow, ProjectionReads } from './projection-reads.js';
import type { ProjectedHere, RunningService } from './running-service.js';

export interface ServiceDatabase extends ProjectionReads {
  partition(log: string, partition: number): PartitionStore;
  /** Errors: Failure(DATABASE_UNAVAILABLE). */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export class ServiceHost extends ProgramHost<ServiceDatabase, RunningService> implements ProjectionReads {
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
