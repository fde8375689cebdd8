// Writes the log derived from ours: a pure function of the source log, resumed after what its tail says (L17).
//
// A source that lost records, which a person accepted, uses their places again: what was derived of those that are gone says nothing
// of those that came in their stead, so that all behind the cut is derived, what was announced before it perhaps once more.
//
// Boundary: reads the source log under the acceptance rule, appends to the derived log under the same rule. Two writers do
// no harm: they derive the same records, and the chain takes them once.
import { Failure } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import type { Head } from '@recourse/chain';
import { BackgroundLoop } from './background.js';
import { holdsPosition } from './input-cut.js';
import type { BatchSealer, LogPosition, OwnLogOptions } from './own-log.js';
import { OwnLog } from './own-log.js';
import type { Landed } from './own-news.js';
import type { AcceptedRecord, Derived, Doc } from './service-core.js';
import type { PartitionStore, ProjectedHead } from './store.port.js';

export interface DerivedWriterOptions {
  readonly log: Omit<OwnLogOptions, 'topic'>;
  readonly sourceTopic: string;
  readonly derivedTopic: string;
  readonly derive: (record: AcceptedRecord) => readonly Derived[];
  /** Caches the position only; the derived log itself says what was written. */
  readonly store: PartitionStore;
  readonly clock: Clock;
  readonly onError: (cause: unknown) => void;
  /** Records landed in the derived log. */
  readonly onLanded?: (landed: Landed) => void;
}

/** Records that were just accepted in the source log, and where they stand. */
export interface Grown {
  readonly from: LogPosition;
  readonly to: LogPosition;
  readonly records: readonly AcceptedRecord[];
}

interface Written {
  readonly seq: number;
  readonly index: number;
}

/** A record that is to be written, and what it comes from. */
interface Owed extends Written {
  readonly derived: Derived;
}

/** Batches that may wait to be derived from memory; past it they are forgotten and read from the log. */
const GROWN_MAX = 32;
const CUT_ACCEPTED = 'CutAccepted';
/** Rest at the end of the source; what is offered ends it. */
const REST_MS = 1_000;
/** Source records passed before the cached position is refreshed. */
const CACHE_EVERY = 5_000;

export class DerivedWriter {
  #source: OwnLog;
  #derived: OwnLog;
  readonly #loop: BackgroundLoop;
  #ready = false;
  #trouble: string | null = null;
  #written: Written = { seq: 0, index: -1 };
  #cached: { readonly seq: number; readonly hash: Buffer } | null = null;
  #sinceCache = 0;
  #sourceFrom: LogPosition;
  #grown: Grown[] = [];

  constructor(private readonly options: DerivedWriterOptions) {
    this.#source = new OwnLog({ ...options.log, topic: options.sourceTopic });
    this.#derived = new OwnLog({ ...options.log, topic: options.derivedTopic });
    this.#sourceFrom = this.#source.origin();
    this.#loop = new BackgroundLoop({
      clock: options.clock,
      turn: () => this.#writeNext(),
      onError: (cause) => this.#failed(cause),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** The source log grew by what its owner just saw accepted: no need to read that again. */
  offer(grown: Grown): void {
    if (this.#grown.length >= GROWN_MAX) this.#grown = [];
    this.#grown.push(grown);
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#source.close();
    await this.#derived.close();
  }

  /** Why nothing was derived at the last turn; null when it was. */
  get trouble(): string | null {
    return this.#trouble;
  }

  async #writeNext(): Promise<number> {
    if (!this.#ready) await this.#resume();
    await this.#follow();
    this.#trouble = null;
    return REST_MS;
  }

  #failed(cause: unknown): 'retry' {
    this.options.onError(cause);
    this.#trouble = `${this.options.derivedTopic} is not written: ${cause instanceof Error ? cause.message : String(cause)}`;
    this.#ready = false;
    return 'retry';
  }

  /** Reads the derived tail for what was written last, and the source from where the cache says. */
  async #resume(): Promise<void> {
    await this.#source.prepare();
    await this.#derived.prepare();
    const cached = await this.options.store.head();
    this.#cached = cached === null ? null : { seq: cached.seq, hash: cached.hash };
    const derivedFrom = cached === null ? this.#derived.origin() : { head: headOf(cached), offset: cached.offset };
    this.#written = { seq: cached?.reactedSeq ?? 0, index: cached?.reactedOffset ?? -1 };
    for await (const records of this.#derived.read(derivedFrom))
      for (const record of records) this.#written = placeOf(record.body, this.#written);
    const cursor = cached?.cursors[0];
    const position = cursor && { head: { seq: cursor.seq, hash: cursor.hash }, offset: cursor.offset };
    const isHeld = position !== undefined && (await holdsPosition(this.#source, position));
    this.#sourceFrom = isHeld ? position : this.#source.origin();
    this.#ready = true;
  }

  async #follow(): Promise<void> {
    if (await this.#followFromMemory()) return;
    for await (const records of this.#source.read(this.#sourceFrom)) await this.#derive(records, this.#source.position);
    this.#sourceFrom = this.#source.position;
  }

  /** Derives what was offered and follows on from here; false when there was nothing, or there is a gap before it. */
  async #followFromMemory(): Promise<boolean> {
    let isAtEnd = false;
    for (let next = this.#grown[0]; next !== undefined; next = this.#grown[0]) {
      if (next.from.offset > this.#sourceFrom.offset) return false;
      this.#grown.shift();
      if (next.from.offset < this.#sourceFrom.offset || !next.from.head.hash.equals(this.#sourceFrom.head.hash))
        continue;
      await this.#derive(next.records, next.to);
      isAtEnd = true;
    }
    return isAtEnd;
  }

  async #derive(records: readonly AcceptedRecord[], to: LogPosition): Promise<void> {
    await this.#passCuts(records);
    const owed = records
      .flatMap((record) =>
        this.options.derive(record).map((derived, index): Owed => ({ derived, seq: record.seq, index })),
      )
      .filter((one) => isAfter(one, this.#written));
    await this.#append(owed);
    this.#sourceFrom = to;
    this.#sinceCache += records.length;
    if (this.#sinceCache >= CACHE_EVERY) await this.#cache();
  }

  /** Behind an accepted cut the tail says what was written only where it follows from the source as it is now. */
  async #passCuts(records: readonly AcceptedRecord[]): Promise<void> {
    for (const { type, seq } of records)
      if (type === CUT_ACCEPTED && seq < this.#written.seq && !(await this.#isTailOfSource()))
        this.#written = { seq, index: -1 };
  }

  /** Does the source hold what the last derived record was made of? */
  async #isTailOfSource(): Promise<boolean> {
    const { codecs } = this.options.log;
    const { sourceTopic, derivedTopic, derive } = this.options;
    const told = await this.#find(derivedTopic, () => true);
    const { seq, index } = placeOf(told?.body ?? {}, this.#written);
    const source = await this.#find(sourceTopic, (record) => record.seq === seq);
    const made = source === null ? undefined : derive(source)[index];
    if (told === null || made === undefined) return false;
    const chained = { seq: told.seq, prev_hash: told.prevHash, decided_at: told.decidedAt };
    const encoded = (type: string, body: Doc): Buffer => codecs.encode(derivedTopic, type, { ...body, ...chained });
    const body = { ...made.body, source_seq: seq, source_index: index };
    return made.type === told.type && encoded(made.type, body).equals(encoded(told.type, told.body));
  }

  /** The last record of a log that is looked for; null where there is none. */
  async #find(topic: string, isIt: (record: AcceptedRecord) => boolean): Promise<AcceptedRecord | null> {
    const log = new OwnLog({ ...this.options.log, topic });
    let found: AcceptedRecord | null = null;
    try {
      await log.prepare();
      for await (const records of log.read(log.origin())) found = records.findLast(isIt) ?? found;
    } finally {
      await log.close();
    }
    return found;
  }

  async #append(owed: readonly Owed[]): Promise<void> {
    for (let at = 0; at < owed.length;) {
      const { batch, taken } = this.#batchOf(owed, at);
      const { offset } = this.#derived.position;
      const judgement = await this.#derived.append(batch);
      if (judgement === 'log_cut')
        throw new Failure('LOG_CUT', `${this.options.derivedTopic} is shorter than what was appended`);
      if (judgement === 'reread') throw new Failure('OUTCOME_UNKNOWN', `append to ${this.options.derivedTopic}`);
      at += taken;
      const last = owed[at - 1];
      if (last !== undefined) this.#written = { seq: last.seq, index: last.index };
      this.#tell(offset, batch);
    }
  }

  #tell(offset: number, { outgoing: records }: BatchSealer): void {
    const { derivedTopic: topic, log, onLanded } = this.options;
    onLanded?.({ topic, partition: log.partition, offset, records });
  }

  /** As many as fit one produce request (L4), one at least. */
  #batchOf(owed: readonly Owed[], from: number): { readonly batch: BatchSealer; readonly taken: number } {
    const batch = this.#derived.seal(0);
    for (const { derived, seq, index } of owed.slice(from)) {
      const mark = batch.mark();
      batch.add(derived, derived.key, { source_seq: seq, source_index: index });
      if (!batch.isOverfull || mark.count === 0) continue;
      batch.rollback(mark);
      break;
    }
    return { batch, taken: batch.outgoing.length };
  }

  async #cache(): Promise<void> {
    const { head, offset } = this.#derived.position;
    const source = this.#sourceFrom;
    const to: ProjectedHead = {
      seq: head.seq,
      hash: head.hash,
      offset,
      decidedAt: 0,
      reactedSeq: this.#written.seq,
      reactedOffset: this.#written.index,
      cursors: [
        {
          topic: this.options.sourceTopic,
          partition: this.options.log.partition,
          offset: source.offset,
          seq: source.head.seq,
          hash: source.head.hash,
        },
      ],
    };
    if ((await this.options.store.project(this.#cached, to, [])) === 'projected')
      this.#cached = { seq: to.seq, hash: to.hash };
    this.#sinceCache = 0;
  }
}

function headOf(cached: ProjectedHead): Head {
  return { seq: cached.seq, hash: cached.hash };
}

function isAfter(one: Written, other: Written): boolean {
  return one.seq > other.seq || (one.seq === other.seq && one.index > other.index);
}

function placeOf(body: Readonly<Record<string, unknown>>, before: Written): Written {
  const seq = Number(body['source_seq'] ?? before.seq);
  return { seq, index: Number(body['source_index'] ?? before.index) };
}
