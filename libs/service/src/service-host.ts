// Life of one service in its process: database, then loop; both tried again until they answer or a person has to act.
//
// Boundary: knows ports only; `runService` puts the real parts in, specs put others in.
//
// Invariants
//   H1. Before the loop runs nothing is ready; reads and commands answer with the failure that is in the way.
//   H2. `stop` ends in the order of dependence: loop, then database, whatever state the start had reached.
//   H3. What would sign nothing is not ready, also while it has nothing to sign.
import type { BroadcastView, PartitionStore } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import type { Logger } from '@recourse/telemetry';
import { persistently } from './persistently.js';
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
  /** What is wrong with the keys of the process now: see Signing. */
  readonly trouble?: () => Failure | null;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export class ServiceHost implements ProjectionReads {
  private database: ServiceDatabase | undefined;
  private runtime: RunningService | undefined;
  private hasStarted = false;
  private inTheWay: { readonly code: string; readonly detail: string } | null = null;
  private readonly stopping = new AbortController();

  constructor(private readonly options: ServiceHostOptions) {}

  /** Returns early when it is told to stop. Errors: a Failure that no retry helps against; anything that is a bug. */
  async start(): Promise<void> {
    try {
      const database = (this.database = await this.try('database', this.options.openDatabase));
      this.runtime = await this.try('loop', () => this.startRuntime(database));
      this.hasStarted = true;
      this.options.logger.info('started');
    } catch (error) {
      if (error !== this.stopping.signal.reason) throw error;
    }
  }

  private async startRuntime(database: ServiceDatabase): Promise<RunningService> {
    const runtime = await this.options.createRuntime(database);
    try {
      await runtime.start();
      return runtime;
    } catch (error) {
      await runtime.stop().catch(() => undefined);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.runtime?.stop();
    await this.database?.close();
  }

  health(): ServiceHealth {
    if (!this.runtime || !this.hasStarted)
      return { live: true, ready: false, started: false, detail: { in_the_way: this.inTheWay } };
    const health = withTrouble(this.runtime.health(), this.options.trouble?.() ?? null);
    return this.stopping.signal.aborted ? { ...health, ready: false } : health;
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

  private async try<T>(what: string, work: () => Promise<T>): Promise<T> {
    const result = await persistently(work, {
      signal: this.stopping.signal,
      sleep: this.options.sleep,
      onFailure: ({ code, detail }, retryMs) => {
        this.inTheWay = { code, detail };
        this.options.logger.warn({ code, detail, retry_ms: retryMs }, `${what} does not start`);
      },
    });
    this.inTheWay = null;
    return result;
  }

  private opened(): ServiceDatabase {
    if (this.database) return this.database;
    throw new Failure('DATABASE_UNAVAILABLE', 'the database was not reached yet');
  }
}

/** Health of a service with something wrong about its keys: what a keyring of before still allows goes on, and is told. */
function withTrouble(health: ServiceHealth, trouble: Failure | null): ServiceHealth {
  if (trouble === null) return health;
  const { code, detail } = trouble;
  return {
    ...health,
    ready: health.ready && code !== 'KEY_NOT_BELIEVED',
    detail: { ...health.detail, in_the_way: { code, detail } },
  };
}
