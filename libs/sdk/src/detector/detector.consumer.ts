// The detector apart: judges what agents and workers tell on the wires, on a host of its own.
//
// Boundary: reads `recourse.tool-executions` and `recourse.tool-results` without a group; one consumer reads all partitions.
//
// Invariants
//   D1. The position moves only after every trigger of a record was told: at least once, and the same trigger has the same id.
//   D2. A record that cannot be read is noted and passed over: a wire has no other remedy.
//   D3. Where wires are signed, so is what nobody may have said, or not to this detector: it would go on under the detector's own name.
import { PayloadUnreadable } from '@recourse/contract';
import { Failure } from '@recourse/kernel';
import type { FetchedRecord, Kafka, RawReader } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import { recordOf, speakerProblem } from '@recourse/messages';
import type { Codecs, Decoded, LegReported, ToolExecuted } from '@recourse/messages';
import { EXECUTIONS_TOPIC } from '../producer/producer.js';
import { quietly } from '../quietly.js';
import type { PositionStore } from '../stores/position-store.port.js';
import { tenantRefusal } from '../worker/asked-by.js';
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

/** Why a record on a signed wire is passed over. */
class WordRefused extends Error {
  override readonly name = 'WordRefused';
  constructor(
    readonly code: string,
    detail: string,
  ) {
    super(`${code}: ${detail}`);
  }
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
  private readonly onTrouble: NonNullable<DetectorConsumerOptions['onTrouble']>;

  constructor(private readonly options: DetectorConsumerOptions) {
    this.onTrouble = quietly(options.onTrouble);
  }

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
    const { clock, pollMs = POLL_MS } = this.options;
    while (!this.stopped.signal.aborted) {
      try {
        if ((await this.readOn(reader, place)) === 0) await clock.sleep(pollMs, this.stopped.signal);
      } catch (cause) {
        this.onTrouble(place.topic, place.partition, cause);
        await clock.sleep(RETRY_PAUSE_MS, this.stopped.signal);
      }
    }
  }

  /** Reads one fetch and judges it; answers how many records it held. */
  private async readOn(reader: RawReader, place: Place): Promise<number> {
    const { records } = await reader.read(place.topic, place.partition, place.offset);
    const onDetection = quietly(this.options.onDetection, (cause) => {
      this.onTrouble(place.topic, place.partition, cause);
    });
    for (const record of records) {
      if (this.stopped.signal.aborted) break;
      for (const sighting of await this.sightingsIn(record, place)) {
        const detection = await this.options.detector.see(sighting);
        onDetection(sighting, detection);
      }
      await this.options.positions.save(place.topic, place.partition, { offset: record.offset + 1, seq: 0, hash: '' });
      place.offset = record.offset + 1;
    }
    return records.length;
  }

  /** What a record shows; nothing, with a note, when it cannot be read or nobody may have said it. */
  private async sightingsIn(record: FetchedRecord, { topic, partition }: Place): Promise<readonly Sighting[]> {
    try {
      if (record.voucher?.kind === 'refused') throw refused(record.voucher.reason, record);
      const decoded = await this.decode(record);
      if (decoded.kind === 'bad' || decoded.kind === 'unknown_schema')
        throw new Failure(
          'UNKNOWN_SCHEMA',
          `the record at ${String(record.offset)} is ${decoded.kind === 'bad' ? decoded.reason : 'of an unknown schema'}`,
        );
      const shown = shownBy(topic, decoded);
      if (shown === null) return [];
      const why = wordProblem(record, shown);
      if (why !== null) throw refused(why, record);
      return shown.type === 'ToolExecuted' ? sightingsOfExecution(shown.body) : sightingsOfReport(shown.body);
    } catch (cause) {
      if (!isOfTheRecord(cause)) throw cause;
      this.onTrouble(topic, partition, cause);
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

/** What a detector reads of the wires. */
type Shown =
  | { readonly type: 'ToolExecuted'; readonly body: ToolExecuted }
  | { readonly type: 'LegReported'; readonly body: LegReported };

function shownBy(topic: Topic, decoded: Decoded): Shown | null {
  const told = topic === EXECUTIONS_TOPIC ? recordOf(EXECUTIONS_TOPIC, decoded) : recordOf(RESULTS_TOPIC, decoded);
  return told?.type === 'ToolExecuted' || told?.type === 'LegReported' ? told : null;
}

/** Why what a record shows is not heard; null where it is, and where nothing is signed. */
function wordProblem(record: FetchedRecord, { type, body }: Shown): string | null {
  const { voucher } = record;
  if (voucher?.kind !== 'vouched') return null;
  return speakerProblem(voucher.speaker, type, { ...body }) === null
    ? tenantRefusal(record, body.tenant)
    : 'SPEAKER_MISMATCH';
}

function refused(code: string, { offset }: FetchedRecord): WordRefused {
  return new WordRefused(code, `the record at ${String(offset)} is passed over`);
}

/** The registry may answer the next time; a record stays what it is. */
function isOfTheRecord(cause: unknown): boolean {
  return (
    cause instanceof PayloadUnreadable ||
    cause instanceof WordRefused ||
    (cause instanceof Failure && cause.code === 'UNKNOWN_SCHEMA')
  );
}
