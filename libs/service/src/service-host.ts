// Life of one service in its process: database, then loop; both tried again until they answer or a person has to act.
//
// Boundary: knows ports only; `runService` puts the real parts in, specs put others in.
//
// Invariants
//   H1. Before the loop runs nothing is ready; reads and commands answer with the failure that is in the way.
//   H2. `stop` ends in the order of dependence: loop, then database, whatever state the start had reached.
import type { BroadcastView, PartitionStore } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import type { Logger } from '@recourse/telemetry';
import type { Page, PageQuery, PlacedRow, ProjectionReads } from './projection-reads.js';
import type { ProjectedHere, RunningService, ServiceHealth } from './running-service.js';

export interface ServiceDatabase extends ProjectionReads {
  partition(log: string, partition: number): PartitionStore;
  close(): Promise<void>;
}

export interface ServiceHostOptions {
  readonly openDatabase: () => Promise<ServiceDatabase>;
  readonly createRuntime: (database: ServiceDatabase) => Promise<RunningService> | RunningService;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly sleep?: (ms: number) => Promise<void>;
}

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 5_000;

export class ServiceHost implements ProjectionReads {
  private database: ServiceDatabase | undefined;
  private runtime: RunningService | undefined;
  private hasStarted = false;
  private isStopping = false;
  private inTheWay: { readonly code: string; readonly detail: string } | null = null;
  private readonly stopped = Promise.withResolvers<undefined>();

  constructor(private readonly options: ServiceHostOptions) {}

  /** Errors: a Failure that no retry helps against; anything that is a bug. */
  async start(): Promise<void> {
    this.database = await this.persistently('database', this.options.openDatabase);
    const { database } = this;
    if (!database) return;
    this.runtime = await this.persistently('loop', async () => {
      const runtime = await this.options.createRuntime(database);
      try {
        await runtime.start();
        return runtime;
      } catch (error) {
        await runtime.stop().catch(() => undefined);
        throw error;
      }
    });
    this.hasStarted = this.runtime !== undefined;
    if (this.hasStarted) this.options.logger.info('started');
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.stopped.resolve(undefined);
    await this.runtime?.stop();
    await this.database?.close();
  }

  health(): ServiceHealth {
    if (!this.runtime || !this.hasStarted)
      return { live: true, ready: false, started: false, detail: { in_the_way: this.inTheWay } };
    const health = this.runtime.health();
    return this.isStopping ? { ...health, ready: false } : health;
  }

  /** Null before the loop runs, too. */
  projected(log: string, partition: number): ProjectedHere | null {
    return this.runtime?.projected(log, partition) ?? null;
  }

  /** Null before the loop runs, too. */
  async view(name: string): Promise<BroadcastView | null> {
    return this.runtime?.view(name) ?? null;
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

  /** Undefined when the host is told to stop meanwhile. */
  private async persistently<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    for (let delayMs = RETRY_MIN_MS; !this.isStopping; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
      try {
        const result = await work();
        this.inTheWay = null;
        return result;
      } catch (error) {
        if (!(error instanceof Failure) || error.retry === 'never') throw error;
        this.inTheWay = { code: error.code, detail: error.message };
        this.options.logger.warn(
          { code: error.code, detail: error.message, retry_ms: delayMs },
          `${what} does not start`,
        );
      }
      await Promise.race([(this.options.sleep ?? pause)(delayMs), this.stopped.promise]);
    }
    return undefined;
  }

  private opened(): ServiceDatabase {
    if (this.database) return this.database;
    throw new Failure('DATABASE_UNAVAILABLE', 'the database was not reached yet');
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
