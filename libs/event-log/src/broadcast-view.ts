// A broadcast log folded into a map (L13, DESIGN 6.2): one per process, read from the start, ahead of every chain that uses it.
//
// Invariants
//   I1. Entry and position come from one fold: between two awaits the view does not move.
//   I2. Only accepted records are folded.
import { Failure, InvariantViolation } from '@recourse/kernel';
import type { FetchedBatch } from '@recourse/kafka';
import { OwnLog } from './own-log.js';
import type { OwnLogOptions } from './own-log.js';
import type { AcceptedRecord, BroadcastView, Doc, Views, ViewSpec } from './service-core.js';

export class LogView implements BroadcastView {
  #entries = new Map<string, Doc>();
  /** Seq up to which each partition is folded; its log may have been read further. */
  #folded: number[] = [];
  #logs: OwnLog[];
  #busy: Promise<void> | null = null;
  #refreshedAt = -Infinity;

  constructor(
    readonly spec: ViewSpec,
    options: Omit<OwnLogOptions, 'topic' | 'partition'>,
    private readonly partitionFor: (key: string) => number,
    private readonly now: () => number,
  ) {
    this.#logs = Array.from({ length: options.partitionCount }, (_, partition) => new OwnLog({ ...options, topic: spec.topic, partition }));
  }

  get(key: string): Doc | undefined { return this.#entries.get(key); }
  position(partition: number): number { return this.#folded[partition] ?? 0; }
  partitionOf(key: string): number { return this.partitionFor(key); }

  /** Reads every partition to the end seen at the call. One reader at a time; a caller always gets a read begun after its call. */
  async refresh(): Promise<void> {
    while (this.#busy !== null) await this.#busy.catch(() => undefined);
    const busy = this.#readAll();
    this.#busy = busy;
    try { await busy; } finally { if (this.#busy === busy) this.#busy = null; }
  }

  /** Refreshes unless that was done less than `ms` ago. */
  async refreshIfOlder(ms: number): Promise<void> {
    if (this.now() - this.#refreshedAt >= ms) await this.refresh();
  }

  /** Makes sure the view is not behind a chain's cursor. Errors: Failure(LOG_CUT) when the log ends before it. */
  async atLeast(partition: number, seq: number): Promise<void> {
    if (this.position(partition) >= seq) return;
    await this.#busy?.catch(() => undefined);
    if (this.position(partition) >= seq) return;
    await this.refresh();
    if (this.position(partition) < seq) throw new Failure('LOG_CUT', `${this.spec.topic}/${partition} ends at ${this.position(partition)}, a cursor says ${seq}`);
  }

  /** Takes what the service has just fetched as an input: it need not be read again. What does not continue the view is left to a refresh. */
  offer({ partition, records }: Pick<FetchedBatch, 'partition' | 'records'>): void {
    const log = this.#logs[partition];
    if (this.#busy !== null || log === undefined) return;
    const busy = log.take(records).then((accepted) => { this.#fold(partition, accepted); });
    this.#busy = busy;
    void busy.catch(() => undefined).then(() => { if (this.#busy === busy) this.#busy = null; });
  }

  async close(): Promise<void> { await Promise.all(this.#logs.map((log) => log.close())); }

  async #readAll(): Promise<void> {
    const began = this.now();
    await Promise.all(this.#logs.map(async (log, partition) => {
      for await (const records of log.read(log.position)) this.#fold(partition, records);
    }));
    this.#refreshedAt = began;
  }

  /** Entries and position in one go: whoever asks between two awaits sees both or neither. */
  #fold(partition: number, records: readonly AcceptedRecord[]): void {
    for (const record of records) for (const [key, doc] of this.spec.fold(record, (name) => this.#entries.get(name))) {
      if (doc === null) this.#entries.delete(key); else this.#entries.set(key, doc);
    }
    this.#folded[partition] = records[records.length - 1]?.seq ?? this.position(partition);
  }
}

/** The views of one service. */
export class ViewSet implements Views {
  #views: ReadonlyMap<string, LogView>;

  constructor(views: readonly LogView[]) { this.#views = new Map(views.map((view) => [view.spec.name, view])); }

  view(name: string): LogView {
    const view = this.#views.get(name);
    if (view === undefined) throw new InvariantViolation('views', `no view ${name} was declared`);
    return view;
  }

  all(): readonly LogView[] { return [...this.#views.values()]; }
}
