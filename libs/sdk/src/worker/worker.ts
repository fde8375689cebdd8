// Worker: answers the legs asked of one adapter.
//
// Boundary: reads `recourse.tool-requests.<adapter>`, runs legs through runLeg, answers on `recourse.tool-results`. Knows
// time, disk and network through ports only, so the simulation runs it unchanged.
//
// Invariants
//   I1. A request is behind the stored position only after its answer was acknowledged, or when it is no request at all. The
//       position lags behind by up to POSITION_EVERY_MS.
//   I2. The same (leg, attempt, lease) runs once at a time in this process; answered again, it gets the same answer.
//   I3. Legs of one run go in order; a slow tool stops only its own run (P13).
//   I4. Reading again is harmless: a request past its `not_after` is refused, one that ran is deduplicated by the
//       tool's key or by the claim.
//   I5. What a slow leg tells on its way, its last report tells again. Once the worker stops no further step is begun.
//   I6. Where wires are signed, nothing is done that none of our services asked for, nor for a tenant that the worker's own key does
//       not speak for, nor while that key would not be believed.
import { Failure, placeInTrace, TRACEPARENT } from '@recourse/kernel';
import type { TracePlace } from '@recourse/kernel';
import { recordOf } from '@recourse/messages';
import type { LegReported, LegRequested, StepReport } from '@recourse/messages';
import type { Assignment, FetchedBatch, FetchedRecord, RawReader, WireProducer } from '@recourse/kafka';
import { quietly } from '../quietly.js';
import { KeyedQueue } from './one-at-a-time.js';
import { LegAnswers } from './leg-answers.js';
import { Membership } from './membership.js';
import { flawOf } from './leg.decisions.js';
import { refusalOf, refuseUnheard, tenantRefusal } from './asked-by.js';
import { PartitionProgress, PositionSaver } from './position-saver.js';
import type { AnsweredStep, Worker, WorkerOptions, WorkerNote } from './worker.messages.js';

/** Wire on which the workers of an adapter are asked. */
export function requestsTopic(adapter: string): string {
  return `recourse.tool-requests.${adapter}`;
}

/** Wire on which workers report. */
export const RESULTS_TOPIC = 'recourse.tool-results';

const CONCURRENCY_MAX = 32;
/** Requests waiting at which reading pauses, and at which it goes on. */
const HIGH_WATER = 1_000;
const LOW_WATER = 500;
const RETRY_PAUSE_MS = 500;
/** Least time between two saves of positions: what is read again after a crash is at most what was answered in this time. */
const POSITION_EVERY_MS = 100;

/**
 * Makes a worker of one adapter: takes requests, runs their legs, reports.
 *
 * Shape:  nothing is read before `start`.
 * Errors: none; those of `start` and `stop` are theirs.
 */
export function createWorker(options: WorkerOptions): Worker {
  return new LegWorker({ ...options, onNote: quietly(options.onNote) });
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
  private readonly saver: PositionSaver;
  private readonly answers: LegAnswers;
  private partitions = new Map<number, PartitionProgress>();
  private connections: Connections | null = null;
  private member: Membership | null = null;
  private generation = 0;
  private isPaused = false;
  private isStopped = false;
  private isAssigned = false;

  constructor(private readonly options: WorkerOptions) {
    this.topic = requestsTopic(options.adapter);
    this.queue = new KeyedQueue(options.concurrencyMax ?? CONCURRENCY_MAX);
    this.saver = new PositionSaver({
      positions: options.positions,
      topic: this.topic,
      clock: options.clock,
      everyMs: POSITION_EVERY_MS,
      onTrouble: (cause) => {
        this.note({ type: 'trouble', doing: 'store position', cause });
      },
    });
    this.answers = new LegAnswers(options, {
      tell: (report) => this.send(report),
      isStopped: () => this.isStopped,
      refuseUnbelieved: () => {
        refuseUnheard(this.connections?.producer.speaker?.(), options);
      },
      note: (note) => {
        this.note(note);
      },
    });
  }

  isReady(): boolean {
    return this.isAssigned && !this.isStopped;
  }

  async start(): Promise<void> {
    const { kafka, codecs, registerSchemas = false } = this.options;
    await codecs.prepareWriter(RESULTS_TOPIC, { register: registerSchemas });
    const connections = { producer: await kafka.wireProducer(), reader: await kafka.rawReader('wires') };
    // Stopped meanwhile.
    if (this.isStopped) return close(connections);
    this.connections = connections;
    this.member = this.membership(this.options);
    try {
      await this.member.join();
    } catch (error) {
      await this.member.stop();
      await close(connections);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.member?.stop();
    await this.saver.stop();
    if (this.connections !== null) await close(this.connections);
  }

  private membership({ kafka, groupId, clock }: WorkerOptions): Membership {
    return new Membership({
      make: () => kafka.inputConsumer({ groupId, aligned: [this.topic], broadcast: [] }),
      handlers: {
        onAssigned: (assignment) => {
          void this.takeOver(assignment);
        },
        onBatch: (batch) => {
          this.take(batch);
        },
        onTrouble: (_, cause) => {
          if (cause !== null) this.note({ type: 'trouble', doing: 'fetch', cause });
        },
      },
      clock,
      onLost: (cause) => {
        this.isAssigned = false;
        this.note({ type: 'trouble', doing: 'consume', cause });
      },
      onUnjoined: (cause) => {
        this.tellTrouble('join', cause);
      },
    });
  }

  /** Sets out from the stored positions; overtaken by the next assignment, it gives up. */
  private async takeOver({ partitions }: Assignment): Promise<void> {
    this.generation += 1;
    const { generation } = this;
    this.isAssigned = false;
    await this.saver.flush();
    this.saver.forget();
    const found = await this.untilDone('find positions', generation, () =>
      Promise.all(partitions.map(async (partition) => [partition, await this.startOf(partition)] as const)),
    );
    if (found === null) return;
    this.partitions = new Map(found.map(([partition, offset]) => [partition, new PartitionProgress(offset)]));
    for (const [partition, offset] of found) this.member?.consumer?.seek(this.topic, partition, offset);
    this.isPaused = false;
    this.isAssigned = true;
    this.member?.consumer?.resume(this.held());
    this.note({ type: 'assigned', partitions });
  }

  private async startOf(partition: number): Promise<number> {
    const stored = await this.options.positions.load(this.topic, partition);
    if (this.connections === null) throw new Failure('NOT_READY', 'the worker has no reader');
    const { low, high } = await this.connections.reader.range(this.topic, partition);
    // A wire forgets, and may have been made anew: what it no longer holds cannot be answered.
    return stored === null || stored.offset > high ? low : Math.max(low, stored.offset);
  }

  private take({ partition, fetchedOffset, nextOffset, records }: FetchedBatch): void {
    const progress = this.partitions.get(partition);
    if (!this.isAssigned || progress?.next !== fetchedOffset) return;
    const { generation } = this;
    for (const record of records) {
      progress.take(record.offset);
      const key = record.key?.toString('utf8') ?? '';
      this.queue.push(key, () => this.handle({ partition, record, progress, generation }));
    }
    progress.next = nextOffset;
    if (this.queue.size >= HIGH_WATER && !this.isPaused) {
      this.isPaused = true;
      this.member?.consumer?.pause(this.held());
    }
  }

  private async handle({ partition, record, progress, generation }: Taken): Promise<void> {
    const isDone = await this.untilDone('answer', generation, async () => {
      const leg = await this.read(partition, record);
      if (leg?.for_observer === (this.options.isObserver ?? false))
        await this.answer(leg, placeInTrace(record.headers[TRACEPARENT]?.toString('latin1')));
      return true;
    });
    if (isDone !== null) {
      progress.answer(record.offset);
      this.saver.touch(partition, progress);
    }
    if (this.isPaused && this.queue.size <= LOW_WATER && this.isAssigned) {
      this.isPaused = false;
      this.member?.consumer?.resume(this.held());
    }
  }

  /** The request a record holds; null when it is none, which is noted and passed over: a wire has no other remedy. */
  private async read(partition: number, record: FetchedRecord): Promise<LegRequested | null> {
    const { codecs } = this.options;
    const passOver = (type: 'refused' | 'unreadable', reason: string): null => {
      this.note({ type, partition, offset: record.offset, reason });
      return null;
    };
    const refusal = refusalOf(record);
    if (refusal !== null) return passOver('refused', refusal);
    if (record.unreadable !== undefined) return passOver('unreadable', record.unreadable.detail);
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
    const flaw = request === null ? (decoded.kind === 'bad' ? decoded.reason : decoded.kind) : flawOf(request.body);
    if (request === null || flaw !== null) return passOver('unreadable', flaw ?? decoded.kind);
    const foreign = tenantRefusal(record, request.body.tenant);
    return foreign === null ? request.body : passOver('refused', foreign);
  }

  private async answer(leg: LegRequested, place: TracePlace | null): Promise<void> {
    const report = await this.answers.of(leg, place);
    await this.send(report);
    const { leg_id: legId, run_id: runId } = report;
    this.note({ type: 'answered', legId, runId, steps: report.steps.map(answeredStep) });
  }

  private async send(report: LegReported): Promise<void> {
    if (this.connections === null) throw new Failure('NOT_READY', 'the worker has no producer');
    const value = this.options.codecs.encode(RESULTS_TOPIC, 'LegReported', report);
    await this.connections.producer.send(RESULTS_TOPIC, [{ key: Buffer.from(report.run_id, 'utf8'), value }]);
  }

  /** Repeats until it works; null once the worker is stopped or the assignment is another's. */
  private async untilDone<T>(doing: string, generation: number, act: () => Promise<T>): Promise<T | null> {
    while (!this.isStopped && generation === this.generation) {
      try {
        const done = await act();
        return generation === this.generation ? done : null;
      } catch (cause) {
        this.tellTrouble(doing, cause);
        await this.options.clock.sleep(RETRY_PAUSE_MS);
      }
    }
    return null;
  }

  /** What goes wrong while the worker stops is no trouble. */
  private tellTrouble(doing: string, cause: unknown): void {
    if (!this.isStopped) this.note({ type: 'trouble', doing, cause });
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

function answeredStep({ step_id: stepId, outcome, error_kind: errorKind, detail }: StepReport): AnsweredStep {
  return { stepId, outcome, errorKind, detail };
}
