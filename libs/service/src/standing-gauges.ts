// Gauges that have to be asked for outside the loop: how far the ends of inputs are, how much is parked. Asked when somebody
// reads the metrics; what cannot be asked in time is told by its absence.
import type { PartitionLoop } from '@recourse/event-log';
import type { RawReader } from '@recourse/kafka';
import type { Metrics } from '@recourse/telemetry';

/** What is looked at of a loop: which inputs it reads, and how far it has. */
export type ReadingLoop = Pick<PartitionLoop, 'inputPartitions' | 'expected'> & {
  readonly health: () => Pick<ReturnType<PartitionLoop['health']>, 'log' | 'partition'>;
};

export interface StandingGaugesOptions {
  readonly metrics: Pick<Metrics, 'set' | 'clear'>;
  readonly logs: readonly string[];
  readonly loops: () => readonly ReadingLoop[];
  /** Errors: Failure(BROKER_UNAVAILABLE). */
  readonly reader: () => Promise<RawReader>;
  /** Open parked records of a log. Errors: Failure(DATABASE_UNAVAILABLE). */
  readonly parkedOpen: (log: string) => Promise<number>;
  /** Sets gauges of the service's own. Errors: Failure(DATABASE_UNAVAILABLE). */
  readonly own?: () => Promise<void>;
  /** Longest a reader of the metrics is kept waiting, milliseconds. Default 1,000. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 1_000;

export class StandingGauges {
  private asking: Promise<void> | null = null;
  private reading: Promise<RawReader> | undefined;

  constructor(private readonly options: StandingGaugesOptions) {}

  /** Sets the gauges; returns when they are set or patience ends. Never fails. */
  async refresh(): Promise<void> {
    this.asking ??= this.ask().finally(() => {
      this.asking = null;
    });
    const { promise: patience, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => {
      resolve(undefined);
    }, this.options.patienceMs ?? PATIENCE_MS);
    await Promise.race([this.asking, patience]);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    const reader = await this.reading?.catch(() => undefined);
    await reader?.close();
  }

  private async ask(): Promise<void> {
    this.options.metrics.clear('cursorLag');
    this.options.metrics.clear('parkedOpen');
    await Promise.all([
      this.lags().catch(() => this.forgetReader()),
      this.parked().catch(() => undefined),
      this.options.own?.().catch(() => undefined),
    ]);
  }

  /** Each end is asked once, however many loops read it. */
  private async lags(): Promise<void> {
    const reader = await this.reader();
    const ends = new Map<string, number>();
    for (const loop of this.options.loops()) {
      const { log, partition } = loop.health();
      const lags = new Map<string, number>();
      for (const at of loop.inputPartitions()) {
        const expected = loop.expected(at.topic, at.partition);
        if (expected === undefined) continue;
        const id = `${at.topic}/${String(at.partition)}`;
        const end = ends.get(id) ?? (await reader.range(at.topic, at.partition)).high;
        ends.set(id, end);
        lags.set(at.topic, (lags.get(at.topic) ?? 0) + Math.max(0, end - expected));
      }
      for (const [topic, records] of lags) this.options.metrics.set('cursorLag', { log, partition, topic }, records);
    }
  }

  private async parked(): Promise<void> {
    for (const log of this.options.logs)
      this.options.metrics.set('parkedOpen', { log }, await this.options.parkedOpen(log));
  }

  private reader(): Promise<RawReader> {
    this.reading ??= this.options.reader();
    return this.reading;
  }

  private async forgetReader(): Promise<void> {
    const { reading } = this;
    this.reading = undefined;
    await (await reading?.catch(() => undefined))?.close().catch(() => undefined);
  }
}
