// Life of the auditor in its process: it answers from the beginning on, and opens what it needs until that is there.
//
// Boundary: knows ports only; run-auditor.ts puts the real parts in.
//
// Invariants
//   H1. Before it follows it is not ready, and says what is in the way.
//   H2. A stop waits for no log that is being read: reading is given up, and what was read is closed when nobody uses it.
//   H3. What a failed attempt opened is closed, and the next one begins anew: nothing half read is gone on with.
import { persistently } from '@recourse/kernel';
import type { Logger } from '@recourse/telemetry';
import type { Auditor } from './auditor.js';
import type { Standing } from './standing.js';

/** An auditor with its parts connected. */
export interface OpenedAuditor {
  readonly auditor: Pick<Auditor, 'start' | 'stop' | 'health'>;
  /** Reads what was signed. Errors: those of the cluster. */
  prepare(): Promise<void>;
  /** Gives up what it reads, and waits for, of others. */
  interrupt(): Promise<void>;
  /** Closes the rest, once it has stopped. */
  close(): Promise<void>;
}

export interface AuditorHostOptions {
  /** Errors: those of the cluster. */
  readonly open: () => Promise<OpenedAuditor>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** What it says of itself. */
export interface AuditorHealth extends Standing {
  /** Why it does not follow yet; null where nothing is in the way. */
  readonly in_the_way: { readonly code: string; readonly detail: string } | null;
}

export class AuditorHost {
  #opened: OpenedAuditor | null = null;
  #inTheWay: AuditorHealth['in_the_way'] = null;
  readonly #stopping = new AbortController();

  constructor(private readonly options: AuditorHostOptions) {}

  health(): AuditorHealth {
    const health = this.#opened?.auditor.health() ?? { ready: false, trouble: {}, alarms: 0, witnesses: {} };
    return { ...health, in_the_way: this.#inTheWay };
  }

  /** Returns once it follows, or early when it is told to stop. Errors: what no retry helps against; bugs. */
  async start(): Promise<void> {
    const { signal } = this.#stopping;
    const { sleep, logger } = this.options;
    try {
      await persistently(() => this.#open(), {
        signal,
        sleep,
        onFailure: ({ code, detail }, retryMs) => {
          this.#inTheWay = { code, detail };
          logger.warn({ code, detail, retry_ms: retryMs }, 'the auditor does not start');
        },
      });
    } catch (error) {
      if (error !== signal.reason) throw error;
    }
  }

  /** An attempt that is under way is not waited for: it closes what it opened. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const opened = this.#opened;
    if (opened === null) return;
    await Promise.all([opened.auditor.stop(), opened.interrupt()]);
    await opened.close();
  }

  async #open(): Promise<void> {
    const opened = await this.options.open();
    try {
      await opened.prepare();
      this.#stopping.signal.throwIfAborted();
    } catch (cause) {
      await Promise.allSettled([opened.interrupt(), opened.close()]);
      throw cause;
    }
    [this.#opened, this.#inTheWay] = [opened, null];
    opened.auditor.start();
  }
}
