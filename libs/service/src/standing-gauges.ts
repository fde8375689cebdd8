// Gauges that have to be asked for outside the loop: how far the ends of inputs are, how much is parked. Asked when somebody
// reads the metrics. What takes longer than they wait is told as it was, until the new is known; what cannot be asked, by its absence.
import type { PartitionLoop } from '@recourse/event-log';
import type { RawReader, TopicPartition } from '@recourse/kafka';
import type { Metrics } from '@recourse/telemetry';
import { patiently } from './patiently.js';

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

/** Ends that are asked for at once: many partitions are some round trips, and brokers have other work. */
const ASKED_AT_ONCE = 64;

interface Read extends TopicPartition {
  readonly log: string;
  /** Offset of the next record. */
  readonly expected: number;
}

export class StandingGauges {
  private reading: Promise<RawReader> | undefined;
  /** Sets the gauges; returns when they are set or patience ends. Never fails. */
  readonly refresh: () => Promise<void>;

  constructor(private readonly options: StandingGaugesOptions) {
    this.refresh = patiently(() => this.ask(), options.patienceMs);
  }

  async close(): Promise<void> {
    const reader = await this.reading?.catch(() => undefined);
    await reader?.close();
  }

  private async ask(): Promise<void> {
    await Promise.all([
      this.lags().catch(() => {
        this.options.metrics.clear('cursorLag');
        return this.forgetReader();
      }),
      this.parked().catch(() => {
        this.options.metrics.clear('parkedOpen');
      }),
      this.options.own?.().catch(() => undefined),
    ]);
  }

  /**
   * By the partition of the input: one that every loop of a log reads is told once, as far behind as the slowest of them. Each end is
   * asked once, however many logs read it.
   */
  private async lags(): Promise<void> {
    const read = this.slowest();
    const ends = await this.endsOf(new Map(read.map((one) => [placeOf(one), one])));
    this.options.metrics.clear('cursorLag');
    for (const { log, topic, partition, expected } of read) {
      const end = ends.get(placeOf({ topic, partition })) ?? expected;
      this.options.metrics.set('cursorLag', { log, partition, topic }, Math.max(0, end - expected));
    }
  }

  private async endsOf(places: ReadonlyMap<string, TopicPartition>): Promise<ReadonlyMap<string, number>> {
    const reader = await this.reader();
    const wanted = [...places];
    const ends = new Map<string, number>();
    for (let from = 0; from < wanted.length; from += ASKED_AT_ONCE)
      await Promise.all(
        wanted.slice(from, from + ASKED_AT_ONCE).map(async ([id, { topic, partition }]) => {
          ends.set(id, (await reader.range(topic, partition)).high);
        }),
      );
    return ends;
  }

  /** How far each log has read each partition of its inputs, by the loop that has read least of it. */
  private slowest(): readonly Read[] {
    const least = new Map<string, Read>();
    for (const loop of this.options.loops()) {
      const { log } = loop.health();
      for (const { topic, partition } of loop.inputPartitions()) {
        const expected = loop.expected(topic, partition);
        const id = `${log} ${placeOf({ topic, partition })}`;
        const other = least.get(id);
        if (expected !== undefined && (other === undefined || expected < other.expected))
          least.set(id, { log, topic, partition, expected });
      }
    }
    return [...least.values()];
  }

  private async parked(): Promise<void> {
    const { logs, metrics, parkedOpen } = this.options;
    const counts = await Promise.all(logs.map((log) => parkedOpen(log)));
    metrics.clear('parkedOpen');
    for (const [at, log] of logs.entries()) metrics.set('parkedOpen', { log }, counts[at] ?? 0);
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

function placeOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}
