// Log loop: turns inputs into accepted records of one partition, in order (docs/design/loop.md).
//
// Boundary: asks BatchRun what to write; owns the append, the in-memory state, the cursors and when things are sent.
// The runtime hands it batches and obeys its wishes to seek; projector, reactor and derived writer run beside it.
//
// Invariants
//   I1. Nothing is projected or sent that the log has not accepted.
//   I2. A cursor is in the log before anything that followed from it leaves.
//   I3. After every await between reading the queue and sealing the batch the loop looks whether it was reset.
//   I4. After anything unknown, memory is dropped and read anew: store, then tail, then inputs from the cursors found there.
import { Failure, InvariantViolation, partitionForKey } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import type { Codecs, RefusedCount } from '@recourse/messages';
import { recordsOf } from '@recourse/messages';
import type { FetchedBatch, Kafka, StampedOffset } from '@recourse/kafka';
import { BackgroundLoop } from './background.js';
import { BatchRun, placeName } from './batch.js';
import type { BatchContext, BatchMaterial, BatchResult, DecidedBatch, FailedTimer, OverfullBatch } from './batch.js';
import type { ViewSet } from './broadcast-view.js';
import { Cursors, DatabaseClock, Foresight, TurnPace } from './loop-memory.js';
import { DerivedWriter } from './derived-writer.js';
import { Patience } from './patience.js';
import { PARKED_KIND, foldAll, withCommonKinds } from './fold.js';
import { GroupReader } from './group-reader.js';
import { inputId, InputQueue, LANES } from './input-queue.js';
import type { LaneName } from './input-queue.js';
import { inputOf, NO_PLACE, placeOf } from './queue-item.js';
import type { QueueItem } from './queue-item.js';
import { Lacking, Lacks } from './lacks.js';
import { checkInputs, checkProjection } from './loop-start.js';
import type { InputPlace } from './loop-start.js';
import { LoopLife, clockAgeMs, inputsBeside, judgeClock } from './loop.decisions.js';
import type { ClockJudgement } from './loop.decisions.js';
import { Obligations } from './obligations.js';
import { Originals } from './originals.js';
import { smallerPart } from './overfull.decisions.js';
import { OwnLog } from './own-log.js';
import type { BatchSealer, OwnLogOptions, PlacedRecord } from './own-log.js';
import type { Landed } from './own-news.js';
import type { ParkedOrigin } from './parking.decisions.js';
import { Projector } from './projector.js';
import { Reactor } from './reactor.js';
import { Overlay, RowCache } from './row-cache.js';
import type { BatchSealing, Sealing } from './sealing/sealing.js';
import type {
  AcceptedRecord,
  ChangedRow,
  InputSpec,
  Owns,
  RecordInput,
  ServiceCore,
  TimerInput,
} from './service-core.js';
import type { PartitionStore, ProjectedHead, StoredCursor } from './store.port.js';
import { stoodIn, TIME_KIND } from './stood-time.js';
import { Timers } from './timers.js';

export interface LoopSettings {
  /** Records of one batch's inputs at the most. */
  readonly itemsMax: number;
  /** Rows kept in memory beyond what is not projected yet. */
  readonly rowsMax: number;
  /** Margin of the database clock behind the chain, milliseconds (P6). */
  readonly clockMarginMs: number;
  /** Longest lead of the database clock over the service's own, milliseconds. */
  readonly clockAheadMaxMs: number;
  /** An estimate of database time is decided at while it is younger, milliseconds; below the margin of 2 s (P6). */
  readonly timeAgeMs: number;
  /** A batch of Progress alone waits this long, milliseconds (L3). */
  readonly lazyProgressMs: number;
  /** A loop with nothing to do looks at the database this often: a crash of it may have taken what was projected last (L8). */
  readonly headCheckMs: number;
  /** Views are read again when older than this before wire inputs are decided, milliseconds. */
  readonly viewAgeMs: number;
  /** Rows that may wait for projection before the loop waits with them. */
  readonly projectionRowsMax: number;
  /** Queue size that pauses an input, records. */
  readonly queueMax: number;
  /** What the queue may hold of memory before an input pauses, octets. */
  readonly queueOctetsMax: number;
}

export const LOOP_SETTINGS: LoopSettings = {
  itemsMax: 500,
  rowsMax: 50_000,
  clockMarginMs: 2_000,
  clockAheadMaxMs: 60_000,
  timeAgeMs: 1_000,
  lazyProgressMs: 1_000,
  headCheckMs: 2_000,
  viewAgeMs: 250,
  projectionRowsMax: 20_000,
  queueMax: 20_000,
  queueOctetsMax: 64 * 1_024 * 1_024,
};

export interface PartitionLoopOptions {
  readonly core: ServiceCore;
  readonly partition: number;
  readonly partitionCountOf: (topic: string) => number;
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly logId: string;
  readonly store: PartitionStore;
  /** Caches the position of the derived log; needed when the core has one. */
  readonly derivedStore?: PartitionStore;
  readonly views: ViewSet;
  readonly clock: Clock;
  readonly edgeKey: Buffer | null;
  /** Seals payloads; absent where the stack runs without. */
  readonly sealing?: Sealing;
  readonly settings?: Partial<LoopSettings>;
  /** The loop knows where its inputs go on: seek there and resume. */
  readonly onPositioned: () => void;
  /** A lane of the queue is long, or short again: `isUnderPressure` says whose inputs wait. */
  readonly onPressure: () => void;
  /** Records landed in the log, or in the one derived from it. */
  readonly onLanded?: (landed: Landed) => void;
  readonly onEvent?: (event: LoopEvent) => void;
}

/** What an observer may count and log; nothing depends on it. */
export type LoopEvent =
  | { readonly kind: 'appended'; readonly records: number }
  /** `cause` is null where somebody else wrote in between. */
  | { readonly kind: 'append_unknown'; readonly cause: unknown }
  /** `voids`: void records of the tail that was read, also those that it held when it was read before. */
  | {
      readonly kind: 'recovered';
      readonly seq: number;
      readonly replayed: number;
      readonly voids: readonly StampedOffset[];
    }
  /** `thrown`: by its decider, where that is why; else undefined. */
  | {
      readonly kind: 'parked';
      readonly reason: string;
      readonly topic: string;
      readonly offset: number;
      readonly thrown: unknown;
    }
  | { readonly kind: 'refused'; readonly topic: string; readonly reason: string; readonly records: number }
  | { readonly kind: 'redirected'; readonly topic: string; readonly producer: string | null }
  | { readonly kind: 'accepted'; readonly record: AcceptedRecord; readonly rows: () => readonly ChangedRow[] }
  | { readonly kind: 'fetch_failed'; readonly topic: string; readonly code: string; readonly cause: unknown }
  | { readonly kind: 'halted'; readonly cause: unknown }
  | { readonly kind: 'error'; readonly where: string; readonly cause: unknown };

/** A batch that can be decided: what it is made of, and the time it is decided at. */
interface Material extends BatchMaterial {
  readonly now: number;
  /** The views were read to their end since the items were taken. */
  readonly viewsAreFresh: boolean;
}

/** Kinds of which every row is in memory. */
const WHOLE_KINDS = [PARKED_KIND, TIME_KIND] as const;
/** Records folded between two looks at what they lack. */
const REPLAY_CHUNK = 500;
/** Longest rest of a loop that waits for nothing it knows of, milliseconds. */
const REST_MAX_MS = 60_000;
/** Rest of a loop that waits for its inputs to be read, milliseconds. */
const CATCH_UP_REST_MS = 200;

/** Time after an append in which another is expected, milliseconds. */
const ACTIVE_MS = 10_000;
/** The part of its time of life after which an estimate is made anew by a loop at rest. */
const YOUNG_PART = 0.75;

export interface LoopHealth {
  readonly log: string;
  readonly partition: number;
  readonly state: 'starting' | 'catching_up' | 'ready' | 'waiting' | 'halted';
  readonly seq: number;
  readonly projectedSeq: number;
  /** Last of them that is more than a reading of sealed payloads. */
  readonly movedSeq: number;
  readonly reactedSeq: number;
  /** When the oldest record was decided that still owes a message, epoch milliseconds; null when nothing is owed. */
  readonly owedSince: number | null;
  readonly waiting: number;
  readonly problem: string | null;
}

export class PartitionLoop {
  readonly #core: ServiceCore;
  readonly #settings: LoopSettings;
  readonly #owns: Owns;
  readonly #log: OwnLog;
  readonly #queue: InputQueue;
  readonly #cache: RowCache;
  readonly #timers = new Timers();
  readonly #projector: Projector;
  readonly #reactor: Reactor;
  readonly #obligations: Obligations;
  readonly #derived: DerivedWriter | null;
  readonly #groups: GroupReader;
  readonly #loop: BackgroundLoop;
  readonly #life = new LoopLife();
  readonly #time: DatabaseClock;
  readonly #cursors = new Cursors();
  readonly #pace = new TurnPace();
  readonly #patience = new Patience();
  readonly #foresight = new Foresight();
  /** Schemas that the registry said it does not know, of the batch under way. */
  readonly #unknownSchemas = new Set<number>();
  readonly #originals: Originals;
  #problem: string | null = null;
  /** Why the last append was not confirmed, while something still waits to be appended. */
  #unappended: string | null = null;
  #decidedAt = 0;
  /** Monotonic milliseconds. */
  #appendedAt = -Infinity;
  /** Ends of the inputs as seen at the start; null until they were asked for. */
  #ends: ReadonlyMap<string, number> | null = null;
  readonly #isLong: Record<LaneName, boolean> = { first: false, others: false };

  constructor(private readonly options: PartitionLoopOptions) {
    const { core, kafka, codecs, logId, partition, partitionCountOf, clock, sealing } = options;
    const partitionCount = partitionCountOf(core.log);
    const log = { kafka, codecs, partition, partitionCount, logId };
    this.#core = core;
    this.#settings = { ...LOOP_SETTINGS, ...options.settings };
    this.#owns = (key) => partitionForKey(key, partitionCount) === partition;
    this.#time = new DatabaseClock(clock);
    this.#log = new OwnLog({ ...log, topic: core.log });
    this.#originals = new Originals(() => this.#log.reader());
    this.#queue = new InputQueue({ inputs: core.inputs, codecs, logId, partitionCountOf, owns: this.#owns });
    this.#cache = new RowCache(new Set(WHOLE_KINDS), this.#settings.rowsMax, this.#core.kinds);
    this.#loop = new BackgroundLoop({ clock, turn: () => this.#turn(), onError: (cause) => this.#failed(cause) });
    this.#groups = new GroupReader({
      store: options.store,
      kinds: withCommonKinds(core.kinds).map(({ kind }) => kind),
      known: this.#cache.known,
      clock,
      projectedSeq: () => this.#projector.projectedSeq,
      onOlder: () => {
        this.reset();
      },
      onError: (cause) => {
        this.#report('read groups', cause);
      },
    });
    this.#projector = this.#makeProjector();
    const onError = (cause: unknown): void => {
      this.#report('react', cause);
    };
    this.#reactor = new Reactor({ kafka, codecs, clock, onError, ...(sealing === undefined ? {} : { sealing }) });
    this.#obligations = new Obligations(core, this.#reactor, () => new OwnLog({ ...log, topic: core.log }));
    this.#derived = this.#makeDerived(log);
  }

  start(): void {
    this.#reactor.start();
    this.#groups.start();
    this.#loop.start();
  }

  async stop(): Promise<void> {
    // A turn may wait for rows that nobody can write.
    await Promise.all([this.#loop.stop(), this.#projector.stop()]);
    await this.#reactor.stop();
    await this.#groups.stop();
    await this.#derived?.stop();
    await this.#log.close();
  }

  /** Forgets everything and reads it anew: after a join, an unknown outcome or a lost head. */
  reset(): void {
    this.#life.move('Reset');
    this.#obligations.close();
    this.#loop.wake();
  }

  get isPositioned(): boolean {
    return this.#life.isPositioned;
  }
  /** Is there more of a topic than the loop can take? What goes first waits behind no others. */
  isUnderPressure(topic: string): boolean {
    return this.#isLong[this.#queue.laneOf(topic)];
  }

  expected(topic: string, partition: number): number | undefined {
    return this.#queue.expected(topic, partition);
  }

  /** Input partitions this loop reads. */
  inputPartitions(): readonly { readonly topic: string; readonly partition: number }[] {
    return this.#core.inputs.flatMap((input) =>
      this.#partitionsOf(input).map((partition) => ({ topic: input.topic, partition })),
    );
  }

  #inputPlaces(): readonly InputPlace[] {
    const cursors = new Map(this.#cursors.all().map((cursor) => [inputId(cursor.topic, cursor.partition), cursor]));
    return this.#core.inputs.flatMap((input) =>
      this.#partitionsOf(input).map((partition) => {
        const { topic, source } = input;
        return { topic, partition, source, cursor: cursors.get(inputId(topic, partition)) ?? null };
      }),
    );
  }

  offer(batch: FetchedBatch): 'taken' | 'dropped' | 'seek' {
    if (!this.isPositioned) return 'dropped';
    const answer = this.#queue.offer(batch);
    if (answer === 'taken') {
      this.#judgePressure();
      this.#loop.wake();
    }
    return answer;
  }

  health(): LoopHealth {
    const { phase } = this.#life;
    const problem = this.#problem ?? this.#unappended ?? this.#unprojected();
    // Who waits for a timer that fails is its row alone, and for a derived log its readers: the partition is ready all the same.
    const trouble = problem ?? this.#timers.trouble ?? this.#derived?.trouble ?? null;
    return {
      log: this.#core.log,
      partition: this.options.partition,
      state: phase === 'open' ? (problem === null ? 'ready' : 'waiting') : phase,
      seq: this.#log.position.head.seq,
      projectedSeq: this.#projector.projectedSeq,
      movedSeq: this.#projector.movedSeq,
      reactedSeq: this.#reactor.reactedSeq,
      owedSince: this.#obligations.owedSince(),
      waiting: this.#queue.size,
      problem: trouble,
    };
  }

  #unprojected(): string | null {
    const { trouble } = this.#projector;
    return trouble === null ? null : messageOf(trouble);
  }

  /** Resolves when everything accepted so far is projected. */
  async projected(): Promise<void> {
    await this.#projector.drained();
  }

  // The loop ------------------------------------------------------------------------------------------------------------

  async #turn(): Promise<number> {
    const restMs = this.isPositioned ? await this.#decideNext() : await this.#recover();
    this.#problem = null;
    return restMs;
  }

  #failed(cause: unknown): 'retry' | 'end' {
    this.#problem = messageOf(cause);
    if (isFinal(cause)) {
      this.#life.move('Halted');
      this.options.onEvent?.({ kind: 'halted', cause });
      return 'end';
    }
    this.#report('turn', cause);
    if (cause instanceof Failure && (cause.code === 'HEAD_MOVED' || cause.code === 'OUTCOME_UNKNOWN')) this.reset();
    return 'retry';
  }

  /** Decides and appends what waits; answers how long to rest when nothing does. */
  async #decideNext(): Promise<number> {
    await this.#queue.prepare(this.#settings.itemsMax);
    this.#judgePressure();
    if (this.#life.phase === 'catching_up') await this.#tryOpen();
    await this.#keepUp();
    // What is decided while no rows can be written nobody could see, or stop (P14).
    if (this.#projector.trouble !== null) return REST_MAX_MS;
    if (this.#passSilently()) return 0;
    const restMs = this.#patience.left(this.#life.isOpen ? this.#queue.patienceMs() : 0, this.#hostNow());
    if (restMs > 0) return restMs;
    const material = await this.#material();
    if (!this.isPositioned) return 0;
    if (material === null) {
      // Before the inputs were read to their end, what waits may not have come back yet.
      if (this.#life.isOpen) this.#unappended = null;
      return this.#rest();
    }
    await this.#decideAndAppend(material);
    return 0;
  }

  /** Waits while too many rows wait to be written; goes on once half of them are, so that both work at a time. */
  async #keepUp(): Promise<void> {
    const { projectionRowsMax } = this.#settings;
    if (this.#projector.backlog > projectionRowsMax) await this.#projector.drained(projectionRowsMax / 2);
  }

  /** Items that no decider hears only move cursors: nothing is loaded and no time is asked for them. */
  #passSilently(): boolean {
    const items = this.#queue.peek(this.#settings.itemsMax);
    const isSilent = items.length > 0 && items.every(({ what }) => what.kind === 'skip');
    if (isSilent) this.#passOver(items);
    return isSilent;
  }

  /** What the next batch is made of, and the time; null when there is nothing to do. */
  async #material(): Promise<Material | null> {
    const inputsMax = this.#pace.inputs(this.#settings.itemsMax, this.#queue.size);
    const items = this.#queue.peek(inputsMax);
    const isOpen = this.#life.isOpen;
    const resends = isOpen ? this.#obligations.again() : [];
    const mayFire = isOpen && this.#mayTimersBeDue();
    if (items.length === 0 && !mayFire && resends.length === 0 && !this.#progressIsDue()) return null;
    if (isOpen && this.#timers.needsLoad(this.#decisionTime()))
      await this.#timers.load(this.options.store, this.#decisionTime());
    const [now, broughtAhead] = await Promise.all([this.#now(), this.#bringAhead(items)]);
    if (!this.isPositioned) return null;
    const timers = isOpen ? this.#timers.ready(now).slice(0, inputsMax) : [];
    const viewsAreFresh = broughtAhead || (await this.#bringViewsFor(timers));
    if (!this.isPositioned) return null;
    if (items.length === 0 && timers.length === 0 && resends.length === 0 && !this.#progressIsDue()) return null;
    const beside = inputsBeside(timers.length, inputsMax);
    return {
      items: items.length > beside ? this.#queue.peek(beside) : items,
      passed: this.#cursors.unsaid(),
      timers,
      resends,
      reactedSeq: this.#reactor.reactedSeq,
      partItems: this.#pace.partInputs(),
      now,
      viewsAreFresh,
    };
  }

  async #decideAndAppend(material: Material): Promise<void> {
    let { items, timers } = material;
    this.#unknownSchemas.clear();
    this.#originals.forget();
    while (this.isPositioned) {
      const part = { ...material, items, timers };
      const overlay = new Overlay(this.#cache);
      const sealer = this.#log.seal(material.now);
      const sealing = this.options.sealing?.batch(material.now) ?? null;
      const run = new BatchRun(this.#context(material.now, sealing), part, overlay, sealer);
      const result = await this.#decide(run, part, { sealer, sealing });
      if (result === null) return;
      if (result.kind === 'overfull') {
        const smaller = smallerPart(part, result);
        ({ items, timers } = smaller);
        this.#timersFailed(smaller.failed);
        continue;
      }
      const keys = await this.#settleKeys(sealing);
      if (keys === 'reset') return;
      if (keys === 'stand') {
        await this.#settle(result, { ...part, items: items.slice(0, result.taken) }, overlay, sealer);
        return;
      }
    }
  }

  /** Loads what a batch lacks until it is decided; null when the loop was reset meanwhile. */
  async #decide(
    batch: BatchRun,
    { items, timers, resends, viewsAreFresh }: Material,
    { sealer, sealing }: { readonly sealer: BatchSealer; readonly sealing: BatchSealing | null },
  ): Promise<DecidedBatch | OverfullBatch | null> {
    const { epoch } = this.#life;
    let ms = 0;
    const run = (areFresh: boolean): BatchResult => {
      const from = this.#hostNow();
      const result = batch.run({ viewsAreFresh: areFresh });
      ms += this.#hostNow() - from;
      return result;
    };
    let result = run(viewsAreFresh);
    while (result.kind === 'lacks') {
      const { lacks, input } = result;
      if (input !== null) this.#foresight.learn(input, lacks);
      await Promise.all([this.#bring(lacks), sealing?.prepare()]);
      if (epoch !== this.#life.epoch) return null;
      result = run(lacks.views);
    }
    const taken = result.kind === 'batch' ? result.taken : Math.min(items.length, result.take + 1);
    this.#pace.learn({ inputs: taken + timers.length + resends.length, ms, bytes: sealer.bytes });
    return result;
  }

  /** Rows, keys, schemas, records and views depend on nothing of each other: the batch waits for the slowest of them. */
  async #bring(lacks: Lacks): Promise<void> {
    const { sealing, views } = this.options;
    await Promise.all([
      lacks.rows.length > 0 ? this.#load(lacks) : undefined,
      lacks.keys.length > 0 ? sealing?.load(lacks.keys) : undefined,
      ...lacks.schemas.map((id) => this.#loadSchema(id)),
      ...lacks.originals.map((place) => this.#originals.load(place)),
      lacks.views ? views.refresh() : undefined,
    ]);
  }

  /** A schema that the registry does not know is not asked for again in the same batch. Errors: those of the registry otherwise. */
  async #loadSchema(id: number): Promise<void> {
    try {
      await this.options.codecs.load(id);
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.code !== 'UNKNOWN_SCHEMA') throw cause;
      this.#unknownSchemas.add(id);
    }
  }

  /** Makes the keys of a batch durable before it is appended; `anew` when another process made one of them first. */
  async #settleKeys(sealing: BatchSealing | null): Promise<'stand' | 'anew' | 'reset'> {
    if (sealing === null) return 'stand';
    const { epoch } = this.#life;
    const stand = await sealing.settle();
    if (epoch !== this.#life.epoch) return 'reset';
    return stand ? 'stand' : 'anew';
  }

  /** Appends a decided batch, or only moves on when there is nothing worth a record. */
  async #settle(result: DecidedBatch, material: BatchMaterial, overlay: Overlay, sealer: BatchSealer): Promise<void> {
    if (result.decided === 0 && !this.#progressIsDue()) {
      this.#passOver(material.items);
      this.#timersDecided(result);
      this.#obligations.drop(result.owedNoMore);
      return;
    }
    const offset = this.#log.position.offset;
    const judgement = await this.#log.append(sealer);
    if (judgement === 'log_cut')
      throw new Failure('LOG_CUT', `${this.#core.log}/${this.options.partition}: a base offset below the expected one`);
    if (judgement === 'reread') {
      this.#unconfirmed();
      return;
    }
    this.#accept(result, material, overlay, { sealer, offset });
  }

  /** What a broker refuses is refused again: it is told until an append is taken. */
  #unconfirmed(): void {
    const { doubt } = this.#log;
    this.#unappended = doubt === null ? null : messageOf(doubt);
    this.options.onEvent?.({ kind: 'append_unknown', cause: doubt });
    this.reset();
    if (doubt instanceof Failure && doubt.code === 'CLOCK_REFUSED') throw doubt;
  }

  #accept(
    result: DecidedBatch,
    { items, resends }: BatchMaterial,
    overlay: Overlay,
    { sealer, offset }: { readonly sealer: BatchSealer; readonly offset: number },
  ): void {
    this.#unappended = null;
    this.#decidedAt = sealer.decidedAt;
    this.#appendedAt = this.#hostNow();
    this.#cursors.accept(items);
    this.#queue.drop(items);
    this.#cache.commit(overlay.changedGroups, sealer.head.seq);
    this.#timers.apply(overlay.changes, sealer.head.seq);
    this.#timersDecided(result);
    this.#obligations.follow(sealer.accepted, offset);
    this.#projector.enqueue(this.#projectedHead(), overlay.changes);
    this.#obligations.drop(result.owedNoMore);
    this.#obligations.sendAgain(resends.filter((again) => !result.owedNoMore.includes(again)));
    this.#obligations.owe(sealer.accepted);
    this.#derived?.offer({ from: { head: sealer.from, offset }, to: this.#log.position, records: sealer.accepted });
    this.#announce(sealer, result, overlay);
    const { partition, onLanded } = this.options;
    onLanded?.({ topic: this.#core.log, partition, offset, records: sealer.outgoing });
  }

  #announce(sealer: BatchSealer, { ends, thrown }: DecidedBatch, overlay: Overlay): void {
    const { onEvent } = this.options;
    if (onEvent === undefined) return;
    onEvent({ kind: 'appended', records: sealer.outgoing.length });
    for (const [at, record] of sealer.accepted.entries()) {
      onEvent({ kind: 'accepted', record, rows: () => overlay.changed(ends[at - 1] ?? 0, ends[at] ?? 0) });
      if (record.type === 'RecordParked') onEvent(parkedEvent(record, thrown));
      if (record.type === 'RecordRedirected') onEvent(redirectedEvent(record));
      if (record.type === 'RecordsRefused') for (const event of refusedEvents(record)) onEvent(event);
    }
  }

  #timersDecided({ timersWithoutEffect, failedTimers }: DecidedBatch): void {
    this.#timers.spend(timersWithoutEffect);
    this.#timersFailed(failedTimers);
  }

  #timersFailed(timers: readonly FailedTimer[]): void {
    const [first] = timers;
    if (first === undefined) return;
    const failed = timers.map(({ timer, cause }) => {
      const { kind, key } = timer.address;
      return { timer, problem: `timer of ${kind}/${key} failed, and is tried again: ${messageOf(cause)}` };
    });
    this.#timers.putOff(failed, this.#decisionTime());
    const told = `${failed[0]?.problem ?? ''} (one of ${String(failed.length)})`;
    this.#report('timer', first.cause instanceof Failure ? first.cause : new Error(told, { cause: first.cause }));
  }

  /** Inputs that led to nothing (L3). */
  #passOver(items: readonly QueueItem[]): void {
    this.#cursors.pass(items, this.#hostNow());
    this.#queue.drop(items);
  }

  #progressIsDue(): boolean {
    return this.#cursors.isDue(this.#hostNow(), this.#settings.lazyProgressMs);
  }

  /** How long there is nothing to do, milliseconds. A loop at rest looks at the database now and then (L8). */
  async #rest(): Promise<number> {
    const everyMs = this.#lookEveryMs();
    if (this.#time.ageMs() >= everyMs) await this.#load(new Lacks());
    const waits = [REST_MAX_MS, Math.max(1, everyMs - this.#time.ageMs())];
    const next = this.#life.isOpen ? this.#timers.next() : null;
    if (next !== null) {
      const untilNext = next - this.#decisionTime();
      waits.push(Math.min(clockAgeMs(untilNext), Math.max(1, untilNext)));
    }
    const unsaid = this.#cursors.waitMs(this.#hostNow(), this.#settings.lazyProgressMs);
    if (unsaid !== null) waits.push(unsaid);
    if (!this.#life.isOpen) waits.push(CATCH_UP_REST_MS);
    return Math.min(...waits);
  }

  /** A loop that has just worked keeps its time young, so that what comes next need not ask for it first. */
  #lookEveryMs(): number {
    const { headCheckMs, timeAgeMs } = this.#settings;
    const isActive = this.#hostNow() - this.#appendedAt < ACTIVE_MS;
    return isActive && timeAgeMs > 0 ? Math.min(headCheckMs, timeAgeMs * YOUNG_PART) : headCheckMs;
  }

  // Start, take-over, rebuild -------------------------------------------------------------------------------------------

  async #recover(): Promise<number> {
    const { epoch } = this.#life;
    await this.#log.prepare();
    await this.#log.dropProducer();
    await this.#projector.quiet();
    const stored = await this.options.store.head();
    this.#forget(stored);
    // A store that nothing was projected into holds no rows: none need be asked for while it is filled.
    if (stored === null) this.#cache.known.complete();
    await checkProjection(this.#log, stored);
    for (const kind of WHOLE_KINDS) this.#cache.fillWhole(await this.options.store.all(kind));
    await this.#fetch(new Lacks());
    const replayed = await this.#replay(stored);
    await this.#projector.drained();
    // Whoever cannot decide is not ready, not for a moment either.
    await this.#load(new Lacks());
    await checkInputs(this.#log, this.options.codecs, this.#inputPlaces());
    await this.#obligations.collect(stored, this.#log.position.head.seq);
    this.#queue.reset(this.inputPartitions(), this.#cursors.all());
    if (epoch !== this.#life.epoch) return 0;
    this.#ends = null;
    this.#life.move('Recovered');
    this.#derived?.start();
    this.#groups.read();
    const { seq } = this.#log.position.head;
    this.options.onEvent?.({ kind: 'recovered', seq, replayed, voids: this.#log.voids });
    this.options.onPositioned();
    return 0;
  }

  #forget(stored: ProjectedHead | null): void {
    this.#groups.forget();
    this.#cache.clear();
    this.#timers.clear();
    this.#time.forget();
    this.#cursors.reset(stored?.cursors ?? []);
    this.#decidedAt = stored?.decidedAt ?? 0;
    this.#obligations.reset(stored);
    this.#projector.reset(stored);
  }

  /** Applies the tail to rows and head: the same fold as a live batch, and nothing is sent. */
  async #replay(stored: ProjectedHead | null): Promise<number> {
    let replayed = 0;
    const from =
      stored === null ? this.#log.origin() : { head: { seq: stored.seq, hash: stored.hash }, offset: stored.offset };
    for await (const records of this.#log.read(from)) {
      for (let at = 0; at < records.length; at += REPLAY_CHUNK)
        await this.#replayChunk(records.slice(at, at + REPLAY_CHUNK));
      replayed += records.length;
      await this.#keepUp();
    }
    return replayed;
  }

  async #replayChunk(records: readonly PlacedRecord[]): Promise<void> {
    const overlay = new Overlay(this.#cache);
    // The tail may tell that the time of its head was accepted: until it is read the time is not judged, and nothing is decided.
    const load = (lacks: Lacks): Promise<number> => this.#fetch(lacks);
    await foldAll(this.#core, overlay, records, {
      load,
      onFolded: (record) => {
        this.#follow(record);
      },
    });
    const last = records[records.length - 1];
    if (last === undefined) return;
    this.#cache.commit(overlay.changedGroups, last.seq);
    const head = { ...this.#projectedHead(), seq: last.seq, hash: last.hash, offset: last.offset + 1 };
    this.#projector.enqueue(head, overlay.changes);
  }

  #follow(record: PlacedRecord): void {
    this.#decidedAt = record.decidedAt;
    this.#obligations.follow([record], record.offset);
    if (record.type !== 'Progress') return;
    this.#cursors.follow(record.body.cursors as readonly StoredCursor[]);
    this.#obligations.confirm(Number(record.body.reacted_seq));
  }

  /** Opens the gate once every input was read to the end seen after the start (L10). */
  async #tryOpen(): Promise<void> {
    if (this.#ends === null) {
      const { epoch } = this.#life;
      const ends = new Map<string, number>();
      for (const { topic, partition, source } of this.#inputPlaces()) {
        const reader = await this.#log.reader(source === 'log' ? 'logs' : 'wires');
        ends.set(inputId(topic, partition), (await reader.range(topic, partition)).high);
      }
      // Ends that were asked for before a reset are not those of the start after it: they would open the gate too early.
      if (epoch !== this.#life.epoch) return;
      this.#ends = ends;
    }
    for (const { topic, partition } of this.inputPartitions())
      if (this.#cursors.offsetOf(topic, partition) < (this.#ends.get(inputId(topic, partition)) ?? 0)) return;
    this.#life.move('CaughtUp');
    this.#obligations.open();
  }

  // Helpers -------------------------------------------------------------------------------------------------------------

  #context(now: number, sealing: BatchSealing | null): BatchContext {
    const { core, partition, partitionCountOf, views, edgeKey } = this.options;
    return {
      core,
      partition,
      partitionCountOf,
      owns: this.#owns,
      views,
      now,
      edgeKey,
      sealing:
        sealing === null || this.options.sealing === undefined ? null : { vault: this.options.sealing, batch: sealing },
      fullNameOf: (topic, type) => recordsOf(topic).find((name) => name.endsWith(`.${type}`)) ?? type,
      reread: (origin) => this.#reread(origin),
      original: (place) => this.#originals.of(place),
    };
  }

  /** A parked record as it came: what was accepted in a log has its place there still. */
  #reread({ topic, partition, offset, key, value }: ParkedOrigin): RecordInput | null {
    const spec = this.#core.inputs.find((input) => input.topic === topic);
    const decoded = this.options.codecs.decodeSync(value);
    if (decoded.kind === 'unknown_schema' && !this.#unknownSchemas.has(decoded.id))
      throw new Lacking({ schemas: [decoded.id] });
    if (spec === undefined || decoded.kind !== 'decoded' || !spec.types.includes(decoded.type)) return null;
    const place = spec.source === 'wire' ? NO_PLACE : placeOf({ key, value }, this.options.codecs.fingerprintOf);
    return place === null ? null : inputOf(spec.source, { raw: { offset, key }, topic, partition }, decoded, place);
  }

  /** Time of the next decision: the young estimate, or what the database says now. Fails closed (L1, P14). */
  async #now(): Promise<number> {
    const isYoung = this.#time.ageMs() < this.#settings.timeAgeMs;
    return isYoung ? this.#judgedTime(this.#time.estimate()) : this.#load(new Lacks());
  }

  /** About when the next decision is made: timers are due by it, also where time stands. */
  #decisionTime(): number {
    return Math.max(this.#time.estimate(), this.#decidedAt);
  }

  /** Loads cold groups and asks the time to decide at. */
  async #load(lacks: Lacks): Promise<number> {
    return this.#judgedTime(await this.#fetch(lacks));
  }

  /** Loads cold groups and asks the time of the database. */
  async #fetch({ rows }: Lacks): Promise<number> {
    const cold = rows.filter(({ kind, group }) => !this.#cache.has(kind, group));
    const { projectedSeq } = this.#projector;
    const loaded = await this.options.store.load(cold);
    if ((loaded.headSeq ?? 0) < projectedSeq)
      throw new Failure(
        'HEAD_MOVED',
        `the database stands at ${loaded.headSeq ?? 0}, ${projectedSeq} was projected: it is an older copy`,
      );
    if (cold.length > 0) this.#cache.fill(cold, loaded.rows);
    this.#time.learn(loaded.now);
    return loaded.now;
  }

  #judgedTime(databaseNow: number): number {
    const judged = judgeClock(databaseNow, {
      headDecidedAt: this.#decidedAt,
      ownNow: this.options.clock.now(),
      marginMs: this.#settings.clockMarginMs,
      aheadMaxMs: this.#settings.clockAheadMaxMs,
      stood: stoodIn(new Overlay(this.#cache)),
    });
    if (judged.kind === 'decide_at') return judged.now;
    this.#time.forget();
    throw clockFailure(judged);
  }

  /** What the batch is likely to lack, and views as new as they must be. True: they were read to their end. */
  async #bringAhead(items: readonly QueueItem[]): Promise<boolean> {
    const { views, sealing } = this.options;
    const ahead = this.#foresight.of(items);
    await Promise.all([
      ahead.views ? views.refresh() : undefined,
      ahead.keys.length > 0 ? sealing?.load(ahead.keys) : undefined,
    ]);
    await this.#bringViews(items);
    return ahead.views;
  }

  /** What timers lacked before is read before they are decided. True: the views were read to their end. */
  async #bringViewsFor(timers: readonly TimerInput[]): Promise<boolean> {
    const areLacked = this.#foresight.viewsOf(timers);
    if (areLacked) await this.options.views.refresh();
    return areLacked;
  }

  /** Views must not be behind the cursors this batch moves to; before wire inputs they must not be old either. */
  async #bringViews(items: readonly QueueItem[]): Promise<void> {
    const { views } = this.options;
    const cursors = [...items.map(({ cursor }) => cursor), ...this.#cursors.all()];
    for (const { name, topic } of this.#core.views)
      for (const cursor of cursors)
        if (cursor.topic === topic && cursor.seq > 0) await views.atLeast(name, cursor.partition, cursor.seq);
    const hasWireInput = items.some(({ what }) => what.kind === 'record' && what.input.source === 'wire');
    if (this.#core.views.length > 0 && hasWireInput) await views.refreshIfOlder(this.#settings.viewAgeMs);
  }

  #projectedHead(): ProjectedHead {
    const { head, offset } = this.#log.position;
    return {
      seq: head.seq,
      hash: head.hash,
      offset,
      decidedAt: this.#decidedAt,
      cursors: this.#cursors.all(),
      ...this.#obligations.mark(),
    };
  }

  #mayTimersBeDue(): boolean {
    const now = this.#decisionTime();
    const next = this.#timers.next() ?? Infinity;
    const isClockOld = this.#time.ageMs() >= clockAgeMs(next - now);
    return this.#timers.needsLoad(now) || next <= now || (next < Infinity && isClockOld);
  }

  #hostNow(): number {
    return this.options.clock.monotonic();
  }

  #judgePressure(): void {
    const { queueMax, queueOctetsMax } = this.#settings;
    for (const lane of LANES) {
      const part = this.#isLong[lane] ? 1 / 4 : 1;
      const isLong = this.#queue.sizeIn(lane) > queueMax * part || this.#queue.octetsIn(lane) > queueOctetsMax * part;
      if (isLong === this.#isLong[lane]) continue;
      this.#isLong[lane] = isLong;
      this.options.onPressure();
    }
  }

  #partitionsOf(input: InputSpec): readonly number[] {
    if (input.mode === 'aligned') return [this.options.partition];
    return Array.from({ length: this.options.partitionCountOf(input.topic) }, (_, partition) => partition);
  }

  #makeProjector(): Projector {
    const { store, clock } = this.options;
    return new Projector(store, clock, {
      projected: (seq) => {
        this.#cache.evict(seq);
        this.#timers.written(seq);
        this.#loop.wake();
      },
      fenced: () => {
        this.reset();
      },
      error: (cause) => {
        this.#report('project', cause);
      },
    });
  }

  #makeDerived(log: Omit<OwnLogOptions, 'topic'>): DerivedWriter | null {
    const { core, derivedStore, clock, onLanded } = this.options;
    if (core.derived === undefined) return null;
    if (derivedStore === undefined)
      throw new InvariantViolation('derived', 'a derived log needs a store for its position', 'partition');
    const { topic: derivedTopic, derive } = core.derived;
    return new DerivedWriter({
      log,
      sourceTopic: core.log,
      derivedTopic,
      derive,
      store: derivedStore,
      clock,
      onError: (cause) => {
        this.#report('derive', cause);
      },
      ...(onLanded === undefined ? {} : { onLanded }),
    });
  }

  #report(where: string, cause: unknown): void {
    this.options.onEvent?.({ kind: 'error', where, cause });
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function clockFailure({ kind, byMs }: Exclude<ClockJudgement, { readonly kind: 'decide_at' }>): Failure {
  return kind === 'behind'
    ? new Failure(
        'CLOCK_BEHIND',
        `database time is ${byMs} ms behind the chain; decisions go on when it has caught up, or after recourse log accept-time`,
      )
    : new Failure(
        'CLOCK_AHEAD',
        `database time is ${byMs} ms ahead of this service's clock: correct the one that is wrong`,
      );
}

function parkedEvent({ body }: AcceptedRecord, thrown: DecidedBatch['thrown']): LoopEvent {
  const [topic, partition, offset] = [String(body['topic']), Number(body['partition']), Number(body['offset'])];
  const cause = thrown.get(placeName(topic, partition, offset));
  return { kind: 'parked', reason: String(body['reason']), topic, offset, thrown: cause };
}

function redirectedEvent({ body: { topic, producer } }: AcceptedRecord): LoopEvent {
  return { kind: 'redirected', topic: String(topic), producer: typeof producer === 'string' ? producer : null };
}

/** One of each reason. */
function refusedEvents({ body }: AcceptedRecord): readonly LoopEvent[] {
  const reasons = body['reasons'] as readonly RefusedCount[]; // by its schema
  const topic = String(body['topic']);
  return reasons.map(({ reason, count }) => ({ kind: 'refused', topic, reason, records: count }));
}

/** What stops the partition until a person acts: a bug of chain, cursor or fence, or a failure that says never. */
function isFinal(cause: unknown): boolean {
  if (cause instanceof InvariantViolation) return cause.scope === 'partition';
  return cause instanceof Failure && cause.retry === 'never';
}
