// Broadcast logs folded into maps (L13, docs/design/ledger.md): one per process and purpose, read from the start, ahead of every chain that uses them.
//
// Invariants
//   I1. Entry and position come from one fold: between two awaits the view does not move.
//   I2. Only accepted records are folded.
//   I3. Who asks for a refresh gets a read that began after it asked; all who wait get the same one.
import { Failure, InvariantViolation } from '@recourse/kernel';
import { handsOutNothing } from '@recourse/kafka';
import type { FetchedBatch, Kafka, RawReader, ReadBatch, ReadPosition } from '@recourse/kafka';
import { cutAmong, shortAt } from './log-end.js';
import { OwnLog } from './own-log.js';
import type { OwnLogOptions } from './own-log.js';
import type { AcceptedRecord, BroadcastView, Doc, Views, ViewSpec } from './service-core.js';

export class LogView implements BroadcastView {
  #entries = new Map<string, Doc>();
  /** Seq up to which each partition is folded; its log may have been read further. */
  #folded: number[] = [];
  #logs: OwnLog[];
  /** What is being taken, by partition: one is read after the other only within its own log. */
  readonly #busy = new Map<number, Promise<void>>();

  constructor(
    readonly spec: ViewSpec,
    options: Omit<OwnLogOptions, 'topic' | 'partition'>,
    private readonly partitionFor: (key: string) => number,
  ) {
    this.#logs = Array.from(
      { length: options.partitionCount },
      (_, partition) => new OwnLog({ ...options, topic: spec.topic, partition, isShared: true }),
    );
  }

  get(key: string): Doc | undefined {
    return this.#entries.get(key);
  }
  position(partition: number): number {
    return this.#folded[partition] ?? 0;
  }
  partitionOf(key: string): number {
    return this.partitionFor(key);
  }

  /** Where a partition is read on. */
  offset(partition: number): number {
    return this.#logs[partition]?.position.offset ?? 0;
  }

  /** Where each partition is read on. */
  positions(): readonly ReadPosition[] {
    return this.#logs.map(({ position: { offset } }, partition) => ({ topic: this.spec.topic, partition, offset }));
  }

  /** Takes what the service has just fetched as an input: it need not be read again. What does not continue the view is left to a refresh. */
  offer(batch: Omit<FetchedBatch, 'topic'>): void {
    if (!this.#busy.has(batch.partition)) void this.#take(batch).catch(() => undefined);
  }

  /** Takes what was read for this view. Errors: those of the registry. */
  async take(batch: Omit<FetchedBatch, 'topic'>): Promise<void> {
    const { partition } = batch;
    for (let busy = this.#busy.get(partition); busy !== undefined; busy = this.#busy.get(partition))
      await busy.catch(() => undefined);
    await this.#take(batch);
  }

  /** Resolves when nothing is being taken. */
  async settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.allSettled(this.#busy.values());
  }

  async close(): Promise<void> {
    await Promise.all(this.#logs.map((log) => log.close()));
  }

  async #take(batch: Omit<FetchedBatch, 'topic'>): Promise<void> {
    const { partition } = batch;
    const log = this.#logs[partition];
    if (log === undefined) return;
    const busy = log.take(batch).then((accepted) => {
      this.#fold(partition, accepted);
    });
    this.#busy.set(partition, busy);
    try {
      await busy;
    } finally {
      if (this.#busy.get(partition) === busy) this.#busy.delete(partition);
    }
  }

  /** Entries and position in one go: whoever asks between two awaits sees both or neither. */
  #fold(partition: number, records: readonly AcceptedRecord[]): void {
    for (const record of records)
      for (const [key, doc] of this.spec.fold(record, (name) => this.#entries.get(name))) {
        if (doc === null) this.#entries.delete(key);
        else this.#entries.set(key, doc);
      }
    this.#folded[partition] = records[records.length - 1]?.seq ?? this.position(partition);
  }
}

/** The views of one service, read together: one request brings the news of all of them. */
export class ViewSet implements Pick<Views, 'view'> {
  #views: ReadonlyMap<string, LogView>;
  #reader: Promise<RawReader> | null = null;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #refreshedAt = -Infinity;

  constructor(
    views: readonly LogView[],
    private readonly kafka: Pick<Kafka, 'rawReader'>,
    private readonly now: () => number,
  ) {
    this.#views = new Map(views.map((view) => [view.spec.name, view]));
  }

  view(name: string): LogView {
    const view = this.#views.get(name);
    if (view === undefined) throw new InvariantViolation('views', `no view ${name} was declared`);
    return view;
  }

  all(): readonly LogView[] {
    return [...this.#views.values()];
  }

  /** Reads every view to the end seen after the call. Errors: Failure(LOG_CUT) when a log ends before what was read of it, Failure(LOG_FRONT_CUT) when it begins behind that; Failure(BROKER_UNAVAILABLE), also while a broker hands out less than it holds; those of the registry. */
  refresh(): Promise<void> {
    this.#next ??= this.#refreshAfter(this.#running);
    return this.#next;
  }

  /** Refreshes unless that was begun less than `ms` ago. */
  async refreshIfOlder(ms: number): Promise<void> {
    if (this.now() - this.#refreshedAt >= ms) await this.refresh();
  }

  /** Makes sure a view is not behind a chain's cursor. Errors: Failure(LOG_CUT) when the log ends before it; those of the broker. */
  async atLeast(name: string, partition: number, seq: number): Promise<void> {
    const view = this.view(name);
    if (view.position(partition) >= seq) return;
    await view.settled();
    if (view.position(partition) >= seq) return;
    await this.refresh();
    if (view.position(partition) >= seq) return;
    const { topic } = view.spec;
    const message = `${topic}/${partition} ends at ${view.position(partition)}, a cursor says ${seq}`;
    throw await shortAt(await this.#connected(), { topic, partition }, view.offset(partition), message);
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((view) => view.close()));
    await this.#reader?.then(
      (reader) => reader.close(),
      () => undefined,
    );
  }

  async #refreshAfter(running: Promise<void> | null): Promise<void> {
    await running?.catch(() => undefined);
    const mine = this.#next;
    [this.#running, this.#next] = [mine, null];
    try {
      await this.#readToEnd();
    } finally {
      if (this.#running === mine) this.#running = null;
    }
  }

  async #readToEnd(): Promise<void> {
    const began = this.now();
    const reader = await this.#connected();
    const ends = new Map<string, number>();
    for (let behind = this.#behind(ends); behind.length > 0; behind = this.#behind(ends)) {
      const answers = await readMany(reader, behind);
      for (const { topic, partition, end } of answers)
        if (!ends.has(idOf(topic, partition))) ends.set(idOf(topic, partition), end);
      await Promise.all(
        answers.flatMap((batch) =>
          this.all()
            .filter(({ spec }) => spec.topic === batch.topic)
            .map((view) => view.take(batch)),
        ),
      );
      const [short] = this.#behind(ends);
      if (short !== undefined && answers.every(({ fetchedOffset, nextOffset }) => nextOffset <= fetchedOffset))
        throw handsOutNothing(short, short.offset);
    }
    this.#refreshedAt = began;
  }

  /** Partitions that are not known to be read to the end, each from the lowest place a view of it stands at. */
  #behind(ends: ReadonlyMap<string, number>): readonly ReadPosition[] {
    const lowest = new Map<string, ReadPosition>();
    for (const position of this.all().flatMap((view) => view.positions())) {
      const id = idOf(position.topic, position.partition);
      if (position.offset < (ends.get(id) ?? Infinity) && position.offset < (lowest.get(id)?.offset ?? Infinity))
        lowest.set(id, position);
    }
    return [...lowest.values()];
  }

  async #connected(): Promise<RawReader> {
    const reader = (this.#reader ??= this.kafka.rawReader());
    try {
      return await reader;
    } catch (cause) {
      if (this.#reader === reader) this.#reader = null;
      throw cause;
    }
  }
}

async function readMany(reader: RawReader, positions: readonly ReadPosition[]): Promise<readonly ReadBatch[]> {
  try {
    return await reader.readMany(positions);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== 'CURSOR_OUT_OF_RANGE') throw cause;
    throw await cutAmong(reader, positions, cause);
  }
}

function idOf(topic: string, partition: number): string {
  return `${topic}/${String(partition)}`;
}
