// The detector apart: judges what agents and workers tell on the wires, on a host of its own.
//
// Boundary: reads `recourse.tool-executions` and `recourse.tool-results` without a group; one consumer reads all partitions.
//
// Invariants
//   D1. The position moves only after every trigger of a record was told: at least once, and the same trigger has the same id.
//   D2. A record that cannot be read is noted and passed over: a wire has no other remedy.
import { PayloadUnreadable } from '@recourse/contract';
import { Failure } from '@recourse/kernel';
import type { FetchedRecord, Kafka, RawReader } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import { recordOf } from '@recourse/messages';
import type { Codecs, Decoded } from '@recourse/messages';
import { EXECUTIONS_TOPIC } from '../producer/producer.js';
import type { PositionStore } from '../stores/position-store.port.js';
import { RESULTS_TOPIC } from '../worker/worker.js';
import type { Detector } from './detector.js';
import type { Detection, Sighting } from './detector.messages.js';
import { sightingsOfExecution, sightingsOfReport } from './sightings.js';

/** What a detector that reads the wires needs. */
export interface DetectorConsumerOptions {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly detector: Detector;
  readonly positions: PositionStore;
  readonly clock: Clock;
  /** Hears what each sighting meant. */
  readonly onDetection?: (sighting: Sighting, detection: Detection) => void;
  readonly onTrouble?: (topic: string, partition: number, cause: unknown) => void;
  /** Pause when nothing is new, in milliseconds. Default 200. */
  readonly pollMs?: number;
}

/** A detector that reads the wires. */
export interface DetectorConsumer {
  /** Errors: Failure(TOPIC_MISSING, BROKER_UNAVAILABLE). */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const TOPICS = [EXECUTIONS_TOPIC, RESULTS_TOPIC] as const;
type Topic = (typeof TOPICS)[number];
const POLL_MS = 200;
const RETRY_PAUSE_MS = 500;

/**
 * Makes a detector of what is told on the wires.
 *
 * Shape:  nothing is read before `start`; it begins with the oldest record the wires hold.
 * Errors: none; those of `start` and `stop` are theirs.
 */
export function createDetectorConsumer(options: DetectorConsumerOptions): DetectorConsumer {
  return new WireDetector(options);
}

/** Where one partition of a wire stands. */
interface Place {
  readonly topic: Topic;
  readonly partition: number;
  offset: number;
}

class WireDetector implements DetectorConsumer {
  private readonly stopped = new AbortController();
  private readers: readonly RawReader[] = [];
  private loops: readonly Promise<void>[] = [];

  constructor(private readonly options: DetectorConsumerOptions) {}

  async start(): Promise<void> {
    const partitions = await this.partitions();
    const opened = await Promise.all(
      partitions.map(async ({ topic, partition }) => {
        const reader = await this.options.kafka.rawReader('wires');
        return { reader, place: { topic, partition, offset: await this.startOf(reader, topic, partition) } };
      }),
    );
    this.readers = opened.map(({ reader }) => reader);
    this.loops = opened.map(({ reader, place }) => this.follow(reader, place));
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await Promise.all(this.loops);
    await Promise.all(this.readers.map((reader) => reader.close()));
  }

  private async partitions(): Promise<readonly { readonly topic: Topic; readonly partition: number }[]> {
    const admin = await this.options.kafka.admin();
    try {
      const counts = await Promise.all(
        TOPICS.map(async (topic) => [topic, await admin.partitionCount(topic)] as const),
      );
      return counts.flatMap(([topic, count]) => {
        if (count === null) throw new Failure('TOPIC_MISSING', topic);
        return Array.from({ length: count }, (_, partition) => ({ topic, partition }));
      });
    } finally {
      await admin.close();
    }
  }

  private async startOf(reader: RawReader, topic: Topic, partition: number): Promise<number> {
    const stored = await this.options.positions.load(topic, partition);
    const { low, high } = await reader.range(topic, partition);
    // A wire forgets, and may have been made anew.
    return stored === null || stored.offset > high ? low : Math.max(low, stored.offset);
  }

  private async follow(reader: RawReader, place: Place): Promise<void> {
    const { clock, onTrouble, pollMs = POLL_MS } = this.options;
    while (!this.stopped.signal.aborted) {
      try {
        if ((await this.readOn(reader, place)) === 0) await clock.sleep(pollMs, this.stopped.signal);
      } catch (cause) {
        onTrouble?.(place.topic, place.partition, cause);
        await clock.sleep(RETRY_PAUSE_MS, this.stopped.signal);
      }
    }
  }

  /** Reads one fetch and judges it; answers how many records it held. */
  private async readOn(reader: RawReader, place: Place): Promise<number> {
    const { records } = await reader.read(place.topic, place.partition, place.offset);
    for (const record of records) {
      if (this.stopped.signal.aborted) break;
      for (const sighting of await this.sightingsIn(record, place)) {
        const detection = await this.options.detector.see(sighting);
        this.options.onDetection?.(sighting, detection);
      }
      await this.options.positions.save(place.topic, place.partition, { offset: record.offset + 1, seq: 0, hash: '' });
      place.offset = record.offset + 1;
    }
    return records.length;
  }

  /** What a record shows; nothing, with a note, when it cannot be read. */
  private async sightingsIn(record: FetchedRecord, { topic, partition }: Place): Promise<readonly Sighting[]> {
    const decoded = await this.decode(record);
    try {
      if (decoded.kind === 'bad' || decoded.kind === 'unknown_schema')
        throw new Failure(
          'UNKNOWN_SCHEMA',
          `the record at ${String(record.offset)} is ${decoded.kind === 'bad' ? decoded.reason : 'of an unknown schema'}`,
        );
      return shownBy(topic, decoded);
    } catch (cause) {
      if (!(cause instanceof PayloadUnreadable) && !(cause instanceof Failure)) throw cause;
      this.options.onTrouble?.(topic, partition, cause);
      return [];
    }
  }

  /** Errors: those of the registry, but for a schema it does not have. */
  private async decode({ value }: FetchedRecord): Promise<Decoded> {
    const { codecs } = this.options;
    const decoded = codecs.decodeSync(value);
    if (decoded.kind !== 'unknown_schema') return decoded;
    try {
      await codecs.load(decoded.id);
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'UNKNOWN_SCHEMA')) throw error;
    }
    return codecs.decodeSync(value);
  }
}

function shownBy(topic: Topic, decoded: Decoded): readonly Sighting[] {
  if (topic === EXECUTIONS_TOPIC) {
    const told = recordOf(EXECUTIONS_TOPIC, decoded);
    return told?.type === 'ToolExecuted' ? sightingsOfExecution(told.body) : [];
  }
  const told = recordOf(RESULTS_TOPIC, decoded);
  return told === null ? [] : sightingsOfReport(told.body);
}
