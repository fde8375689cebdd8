// Life of one program in its process: database, then what runs on it; both tried again until they answer or a person has to act.
//
// Boundary: knows ports only; who starts the program puts the real parts in, specs put others in.
//
// Invariants
//   H1. Before the loop runs nothing is ready; reads and commands answer with the failure that is in the way.
//   H2. `stop` ends in the order of dependence: loop, then database, whatever state the start had reached.
//   H3. What would sign nothing is not ready, also while it has nothing to sign; so is what never reached its key store, never
//       had the keys of its token issuer, or cannot read whose an account is, by which its loop runs all the same.
import { Failure, persistently } from '@recourse/kernel';
import type { Logger } from '@recourse/telemetry';
import type { RunningProgram, ServiceHealth, Trouble } from './running-service.js';

export interface ProgramHostOptions<Database, Runtime> {
  readonly openDatabase: () => Promise<Database>;
  /** Asks, once before the loop starts, what the loop asks only when there is a need. */
  readonly reach?: () => Promise<unknown>;
  readonly createRuntime: (database: Database) => Promise<Runtime> | Runtime;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** What is wrong with the keys of the process now, or of those who ask: see Signing and TokenCheck. */
  readonly trouble?: () => Trouble | null;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export class ProgramHost<Database extends { close(): Promise<void> }, Runtime extends RunningProgram> {
  private database: Database | undefined;
  private runtime: Runtime | undefined;
  private hasStarted = false;
  private inTheWay: Trouble | null = null;
  private readonly stopping = new AbortController();

  constructor(private readonly options: ProgramHostOptions<Database, Runtime>) {}

  /** What runs; null before it does. */
  get running(): Runtime | null {
    return this.hasStarted ? (this.runtime ?? null) : null;
  }

  /** Returns early when it is told to stop. Errors: a Failure that no retry helps against; anything that is a bug. */
  async start(): Promise<void> {
    try {
      const database = await this.try('database', this.options.openDatabase);
      if (this.stopping.signal.aborted) {
        await database.close();
        return;
      }
      this.database = database;
      await this.try('loop', async () => this.options.reach?.());
      await this.try('loop', () => this.startRuntime(database));
      this.hasStarted = true;
      this.options.logger.info('started');
    } catch (error) {
      if (error !== this.stopping.signal.reason) throw error;
    }
  }

  /** What began before it was told to stop, and came after, is stopped again. */
  private async startRuntime(database: Database): Promise<void> {
    const { signal } = this.stopping;
    const runtime = (this.runtime = await this.options.createRuntime(database));
    try {
      signal.throwIfAborted();
      await runtime.start();
      signal.throwIfAborted();
    } catch (error) {
      this.runtime = undefined;
      await runtime.stop().catch(() => undefined);
      signal.throwIfAborted();
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

  /** Errors: Failure(DATABASE_UNAVAILABLE) before it was reached. */
  opened(): Database {
    if (this.database) return this.database;
    throw new Failure('DATABASE_UNAVAILABLE', 'the database was not reached yet');
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
}

/** With these nothing could be signed, or nobody let in. */
const UNREADY: ReadonlySet<string> = new Set(['KEY_NOT_BELIEVED', 'ISSUER_UNAVAILABLE', 'DIRECTORY_UNAVAILABLE']);

/** Health of a service with something wrong about its keys, or its issuer's: what a keyring of before still allows goes on, and is told. */
function withTrouble(health: ServiceHealth, trouble: Trouble | null): ServiceHealth {
  if (trouble === null) return health;
  const { code, detail } = trouble;
  return {
    ...health,
    ready: health.ready && !UNREADY.has(code),
    detail: { ...health.detail, in_the_way: { code, detail } },
  };
}
