// Worker: answers the legs asked of one adapter.
//
// Boundary: reads `recourse.tool-requests.<adapter>`, runs legs through runLeg, answers on `recourse.tool-results`. Knows
// time, disk and network through ports only, so the simulation runs it unchanged.
//
// Invariants
//   I1. A request is behind the stored position only after its answer was acknowledged, or when it is no request at all.
//   I2. The same (leg, attempt, lease) runs once at a time in this process; answered again, it gets the same answer.
//   I3. Legs of one run go in order; a slow tool stops only its own run (P13).
//   I4. Reading again is harmless: a request past its `not_after` is refused, one that ran is deduplicated by the
//       tool's key or by the claim.
import { Failure, placeInTrace, TRACEPARENT } from '@recourse/kernel';
import type { TracePlace } from '@recourse/kernel';
import { recordOf } from '@recourse/messages';
import type { LegReported, LegRequested } from '@recourse/messages';
import type { Assignment, FetchedBatch, FetchedRecord, InputConsumer, RawReader, WireProducer } from '@recourse/kafka';
import { KeyedQueue } from './keyed-queue.js';
import { runLeg } from './leg-runner.js';
import type { CalledTool } from './leg-runner.js';
import { PartitionProgress } from './partition-progress.js';
import { spanOf } from './spans.js';
import type { Worker, WorkerOptions, WorkerNote } from './worker.messages.js';

/** Wire on which workers report. */
export const RESULTS_TOPIC = 'recourse.tool-results';

const CONCURRENCY_MAX = 32;
/** Requests waiting at which reading pauses, and at which it goes on. */
const HIGH_WATER = 1_000;
const LOW_WATER = 500;
/** Answers kept to answer a duplicate alike; older duplicates run again, which is harmless (I4). */
const ANSWERS_KEPT_MAX = 1_000;
const RETRY_PAUSE_MS = 500;

/**
 * Makes a worker of one adapter: takes requests, runs their legs, reports.
 *
 * Shape:  nothing is read before `start`.
 * Errors: none; those of `start` and `stop` are theirs.
 */
export function createWorker(options: WorkerOptions): Worker {
  return new LegWorker(options);
}

/** What is open while the worker runs. */
interface Connections {
  readonly producer: WireProducer;
  readonly reader: RawReader;
}

async function close({ producer, reader }: Connections): Promise<void> {
  await producer.close();
  await reader.close();
}

class LegWorker implements Worker {
  private readonly topic: string;
  private readonly queue: KeyedQueue;
  private readonly answers = new Map<string, LegReported>();
  private readonly running = new Map<string, Promise<LegReported>>();
  private partitions = new Map<number, PartitionProgress>();
  private connections: Connections | null = null;
  private consumer: InputConsumer | null = null;
  private generation = 0;
  private isPaused = false;
  private isStopped = false;
  private isAssigned = false;

  constructor(private readonly options: WorkerOptions) {
    this.topic = `recourse.tool-requests.${options.adapter}`;
    this.queue = new KeyedQueue(options.concurrencyMax ?? CONCURRENCY_MAX);
  }

  isReady(): boolean {
    return this.isAssigned && !this.isStopped;
  }

  async start(): Promise<void> {
    const { kafka, codecs, registerSchemas = false } = this.options;
    await codecs.prepareWriter(RESULTS_TOPIC, { register: registerSchemas });
    const connections = { producer: await kafka.wireProducer(), reader: await kafka.rawReader() };
    this.connections = connections;
    try {
      await this.join();
    } catch (error) {
      await close(connections);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.consumer?.stop();
    if (this.connections !== null) await close(this.connections);
  }

  private async join(): Promise<void> {
    const { kafka, groupId } = this.options;
    const consumer = kafka.inputConsumer({ groupId, aligned: [this.topic], broadcast: [] });
    this.consumer = consumer;
    await consumer.start({
      onAssigned: (assignment) => {
        void this.takeOver(assignment);
      },
      onBatch: (batch) => {
        this.take(batch);
      },
      onCrash: (cause) => {
        void this.rejoin(cause);
      },
    });
  }

  /** A dead consumer does not come back: makes new ones until one joins. */
  private async rejoin(cause: unknown): Promise<void> {
    this.note({ type: 'trouble', doing: 'consume', cause });
    this.isAssigned = false;
    await this.consumer?.stop();
    while (!this.isStopped) {
      await this.options.clock.sleep(RETRY_PAUSE_MS);
      try {
        await this.join();
        return;
      } catch (error) {
        this.note({ type: 'trouble', doing: 'join', cause: error });
      }
    }
  }

  /** Sets out from the stored positions; overtaken by the next assignment, it gives up. */
  private async takeOver({ partitions }: Assignment): Promise<void> {
    this.generation += 1;
    const { generation } = this;
    this.isAssigned = false;
    const found = await this.untilDone('find positions', generation, () =>
      Promise.all(partitions.map(async (partition) => [partition, await this.startOf(partition)] as const)),
    );
    if (found === null) return;
    this.partitions = new Map(found.map(([partition, offset]) => [partition, new PartitionProgress(offset)]));
    for (const [partition, offset] of found) this.consumer?.seek(this.topic, partition, offset);
    this.isPaused = false;
    this.isAssigned = true;
    this.consumer?.resume(this.held());
    this.note({ type: 'assigned', partitions });
  }

  private async startOf(partition: number): Promise<number> {
    const stored = await this.options.positions.load(this.topic, partition);
    if (this.connections === null) throw new Failure('NOT_READY', 'the worker has no reader');
    const { low, high } = await this.connections.reader.range(this.topic, partition);
    // A wire forgets, and may have been made anew: what it no longer holds cannot be answered.
    return stored === null || stored.offset > high ? low : Math.max(low, stored.offset);
  }

  private take({ partition, fetchedOffset, records }: FetchedBatch): void {
    const progress = this.partitions.get(partition);
    if (!this.isAssigned || progress?.next !== fetchedOffset) return;
    const { generation } = this;
    for (const record of records) {
      progress.take(record.offset);
      const key = record.key?.toString('utf8') ?? '';
      this.queue.push(key, () => this.handle({ partition, record, progress, generation }));
    }
    if (this.queue.size >= HIGH_WATER && !this.isPaused) {
      this.isPaused = true;
      this.consumer?.pause(this.held());
    }
  }

  private async handle({ partition, record, progress, generation }: Taken): Promise<void> {
    if (generation === this.generation) {
      const isDone = await this.untilDone('answer', generation, async () => {
        const leg = await this.read(partition, record);
        if (leg !== null) await this.answer(leg, placeInTrace(record.headers[TRACEPARENT]?.toString('latin1')));
        return true;
      });
      progress.answer(record.offset);
      if (isDone !== null)
        await this.untilDone('store position', generation, () => this.savePosition(partition, progress));
    }
    if (this.isPaused && this.queue.size <= LOW_WATER && this.isAssigned) {
      this.isPaused = false;
      this.consumer?.resume(this.held());
    }
  }

  private async savePosition(partition: number, progress: PartitionProgress): Promise<true> {
    await this.options.positions.save(this.topic, partition, { offset: progress.position, seq: 0, hash: '' });
    return true;
  }

  /** The request a record holds; null when it is none, which is noted and passed over: a wire has no other remedy. */
  private async read(partition: number, record: FetchedRecord): Promise<LegRequested | null> {
    const { codecs } = this.options;
    let decoded = codecs.decodeSync(record.value);
    if (decoded.kind === 'unknown_schema') {
      try {
        await codecs.load(decoded.id);
      } catch (error) {
        if (!(error instanceof Failure && error.code === 'UNKNOWN_SCHEMA')) throw error;
      }
      decoded = codecs.decodeSync(record.value);
    }
    const request = recordOf('recourse.tool-requests.payments', decoded);
    if (request !== null) return request.body;
    this.note({
      type: 'unreadable',
      partition,
      offset: record.offset,
      reason: decoded.kind === 'bad' ? decoded.reason : decoded.kind,
    });
    return null;
  }

  private async answer(leg: LegRequested, place: TracePlace | null): Promise<void> {
    const key = JSON.stringify([leg.leg_id, leg.attempt, leg.lease_id]);
    await this.report(this.answers.get(key) ?? (await (this.running.get(key) ?? this.run(key, leg, place))));
  }

  private async run(key: string, leg: LegRequested, place: TracePlace | null): Promise<LegReported> {
    const run = runLeg(leg, { ...this.options, onCall: this.traced(place) });
    this.running.set(key, run);
    try {
      const report = await run;
      this.keep(key, report);
      return report;
    } finally {
      this.running.delete(key);
    }
  }

  /** Tells each call of one leg as a span; undefined where nobody wants it, or the request names no trace. */
  private traced(place: TracePlace | null): ((called: CalledTool) => void) | undefined {
    const { onSpan, workerId } = this.options;
    if (onSpan === undefined || place === null) return undefined;
    let index = 0;
    return (called) => {
      index += 1;
      try {
        onSpan(spanOf(called, { place, workerId, index }));
      } catch (cause) {
        this.note({ type: 'trouble', doing: 'trace', cause });
      }
    };
  }

  private keep(key: string, report: LegReported): void {
    this.answers.set(key, report);
    const [oldest] = this.answers.keys();
    if (this.answers.size > ANSWERS_KEPT_MAX && oldest !== undefined) this.answers.delete(oldest);
  }

  private async report(report: LegReported): Promise<void> {
    if (this.connections === null) throw new Failure('NOT_READY', 'the worker has no producer');
    const value = this.options.codecs.encode(RESULTS_TOPIC, 'LegReported', report);
    await this.connections.producer.send(RESULTS_TOPIC, [{ key: Buffer.from(report.run_id, 'utf8'), value }]);
    this.note({ type: 'answered', legId: report.leg_id, outcomes: report.steps.map(({ outcome }) => outcome) });
  }

  /** Repeats until it works; null once the worker is stopped or the assignment is another's. */
  private async untilDone<T>(doing: string, generation: number, act: () => Promise<T>): Promise<T | null> {
    while (!this.isStopped && generation === this.generation) {
      try {
        const done = await act();
        return generation === this.generation ? done : null;
      } catch (cause) {
        this.note({ type: 'trouble', doing, cause });
        await this.options.clock.sleep(RETRY_PAUSE_MS);
      }
    }
    return null;
  }

  private held(): readonly { readonly topic: string; readonly partition: number }[] {
    return [...this.partitions.keys()].map((partition) => ({ topic: this.topic, partition }));
  }

  private note(note: WorkerNote): void {
    this.options.onNote?.(note);
  }
}

/** A record on its way to its answer. */
interface Taken {
  readonly partition: number;
  readonly record: FetchedRecord;
  readonly progress: PartitionProgress;
  readonly generation: number;
}
