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
import { Failure, InvariantViolation } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { recordsOf } from '@recourse/messages';
import type { FetchedBatch, Kafka } from '@recourse/kafka';
import { BatchRun, evolveAny } from './batch.decisions.js';
import type { BatchContext, BatchMaterial, BatchResult } from './batch.decisions.js';
import type { ViewSet } from './broadcast-view.js';
import { needsOf, uniqueGroups } from './batch.needs.js';
import { PARKED_KIND } from './common-kinds.js';
import { DerivedWriter } from './derived-writer.js';
import { holdsCursor } from './input-cut.js';
import { inputId, InputQueue } from './input-queue.js';
import type { QueueItem } from './input-queue.js';
import { backoffMs, clockAgeMs, inputsBeside, judgeClock, judgeStore, progressAloneIsDue } from './loop.decisions.js';
import { ALL_RULES } from './loop.rules.js';
import type { LoopRules } from './loop.rules.js';
import { Obligations } from './obligations.js';
import type { OwedAgain } from './obligations.js';
import { OwnLog } from './own-log.js';
import type { BatchSealer, PlacedRecord } from './own-log.js';
import type { ParkedOrigin } from './parking.decisions.js';
import { Projector } from './projector.js';
import { Reactor } from './reactor.js';
import { Overlay, RowCache } from './row-cache.js';
import { Wake } from './scheduler.js';
import type { Scheduler } from './scheduler.js';
import { sealedUnder } from './sealing/sealing.js';
import type { BatchSealing, Sealing } from './sealing/sealing.js';
import { NotLoaded } from './service-core.js';
import type {
  AcceptedRecord,
  ChangedRow,
  Doc,
  InputSpec,
  RecordInput,
  ServiceCore,
  TimerInput,
} from './service-core.js';
import type { GroupAddress, PartitionStore, ProjectedHead, StoredCursor } from './store.port.js';
import { Timers } from './timers.js';

export interface LoopSettings {
  /** Records of one batch's inputs at the most. */
  readonly itemsMax: number;
  /** Groups kept in memory beyond what is not projected yet. */
  readonly groupsMax: number;
  /** Margin of the database clock behind the chain, milliseconds (P6). */
  readonly clockMarginMs: number;
  /** A batch of Progress alone waits this long, milliseconds (L3). */
  readonly lazyProgressMs: number;
  /** A loop with nothing to do looks at the database this often: a crash of it may have taken what was projected last (L8). */
  readonly headCheckMs: number;
  /** Views are read again when older than this before wire inputs are decided, milliseconds. */
  readonly viewAgeMs: number;
  /** Batches that may wait for projection before the loop waits with them. */
  readonly projectionBacklogMax: number;
  /** Queue size that pauses an input, records. */
  readonly queueMax: number;
}

export const LOOP_SETTINGS: LoopSettings = {
  itemsMax: 500,
  groupsMax: 50_000,
  clockMarginMs: 2_000,
  lazyProgressMs: 1_000,
  headCheckMs: 2_000,
  viewAgeMs: 250,
  projectionBacklogMax: 8,
  queueMax: 20_000,
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
  readonly scheduler: Scheduler;
  readonly edgeKey: Buffer | null;
  /** Seals payloads; absent where the stack runs without. */
  readonly sealing?: Sealing;
  readonly settings?: Partial<LoopSettings>;
  readonly rules?: LoopRules;
  /** The loop knows where its inputs go on: seek there and resume. */
  readonly onPositioned: () => void;
  /** The queue is long, or short again. */
  readonly onPressure: (isHigh: boolean) => void;
  readonly onEvent?: (event: LoopEvent) => void;
}

/** What an observer may count and log; nothing depends on it. */
export type LoopEvent =
  | { readonly kind: 'appended'; readonly records: number; readonly bytes: number }
  | { readonly kind: 'append_unknown' }
  | { readonly kind: 'recovered'; readonly seq: number; readonly replayed: number; readonly voids: number }
  | { readonly kind: 'parked'; readonly reason: string }
  | { readonly kind: 'accepted'; readonly record: AcceptedRecord; readonly rows: () => readonly ChangedRow[] }
  | { readonly kind: 'halted'; readonly cause: unknown }
  | { readonly kind: 'error'; readonly where: string; readonly cause: unknown };

/** What a batch is made of, the time it is decided at, and whether every view was read to its end after its inputs came. */
interface Material extends BatchMaterial {
  readonly now: number;
  readonly viewsFresh: boolean;
}

export interface LoopHealth {
  readonly log: string;
  readonly partition: number;
  readonly state: 'starting' | 'catching_up' | 'ready' | 'waiting' | 'halted';
  readonly seq: number;
  readonly projectedSeq: number;
  readonly reactedSeq: number;
  /** When the oldest record was decided that still owes a message, epoch milliseconds; null when nothing is owed. */
  readonly owedSince: number | null;
  readonly waiting: number;
  readonly problem: string | null;
}

export class PartitionLoop {
  readonly #core: ServiceCore;
  readonly #settings: LoopSettings;
  readonly #rules: LoopRules;
  readonly #log: OwnLog;
  readonly #queue: InputQueue;
  readonly #cache: RowCache;
  readonly #timers = new Timers();
  readonly #projector: Projector;
  readonly #reactor: Reactor;
  readonly #obligations: Obligations;
  readonly #derived: DerivedWriter | null;
  readonly #wake: Wake;
  #running: Promise<void> | null = null;
  #stopped = false;
  #recovered = false;
  /** Grows with every reset, so that a recovery under way notices one that came meanwhile. */
  #resets = 0;
  #open = false;
  #halted: unknown = null;
  #problem: string | null = null;
  #decidedAt = 0;
  #clockOffset = 0;
  #clockAskedAt = -Infinity;
  #cursors = new Map<string, StoredCursor>();
  #ends: ReadonlyMap<string, number> | null = null;
  #passed = { meaningful: 0, sinceMs: 0 };
  #passedCursors = new Map<string, StoredCursor>();
  #wasRecovered = false;
  #highPressure = false;

  constructor(private readonly options: PartitionLoopOptions) {
    const { core, kafka, codecs, logId, partition, partitionCountOf, scheduler } = options;
    this.#core = core;
    this.#settings = { ...LOOP_SETTINGS, ...options.settings };
    this.#rules = options.rules ?? ALL_RULES;
    const logOptions = {
      kafka,
      codecs,
      partition,
      partitionCount: partitionCountOf(core.log),
      logId,
      rules: this.#rules,
    };
    this.#log = new OwnLog({ ...logOptions, topic: core.log });
    this.#queue = new InputQueue(core.inputs, codecs, logId, partitionCountOf, partition, this.#rules);
    this.#cache = new RowCache(new Set([PARKED_KIND]), this.#settings.groupsMax);
    this.#wake = new Wake(scheduler);
    this.#projector = new Projector(options.store, scheduler, {
      projected: (seq) => {
        this.#cache.evict(seq);
        this.#wake.wake();
      },
      fenced: () => {
        this.reset();
      },
      error: (cause) => {
        this.#report('project', cause);
      },
    });
    this.#reactor = new Reactor({
      kafka,
      codecs,
      scheduler,
      ...(options.sealing === undefined ? {} : { sealing: options.sealing }),
      onError: (cause) => {
        this.#report('react', cause);
      },
    });
    this.#obligations = new Obligations(core, this.#reactor, () => new OwnLog({ ...logOptions, topic: core.log }));
    this.#derived = this.#makeDerived(logOptions);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake.wake();
    await this.#running;
    await this.#reactor.stop();
    await this.#projector.stop();
    await this.#derived?.stop();
    await this.#log.close();
  }

  /** Forgets everything and reads it anew: after a join, an unknown outcome or a lost head. */
  reset(): void {
    this.#resets += 1;
    this.#recovered = false;
    this.#open = false;
    this.#obligations.close();
    this.#wake.wake();
  }

  get isPositioned(): boolean {
    return this.#recovered;
  }
  get isUnderPressure(): boolean {
    return this.#highPressure;
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

  offer(batch: FetchedBatch): 'taken' | 'dropped' | 'seek' {
    if (!this.#recovered) return 'dropped';
    const answer = this.#queue.offer(batch);
    if (answer === 'taken') {
      this.#judgePressure();
      this.#wake.wake();
    }
    return answer;
  }

  health(): LoopHealth {
    const state =
      this.#halted !== null
        ? 'halted'
        : !this.#recovered
          ? 'starting'
          : !this.#open
            ? 'catching_up'
            : this.#problem === null
              ? 'ready'
              : 'waiting';
    return {
      log: this.#core.log,
      partition: this.options.partition,
      state,
      seq: this.#log.position.head.seq,
      projectedSeq: this.#projector.projectedSeq,
      reactedSeq: this.#reactor.reactedSeq,
      owedSince: this.#obligations.owedSince(),
      waiting: this.#queue.size,
      problem: this.#problem,
    };
  }

  /** Resolves when everything accepted so far is projected. */
  async projected(): Promise<void> {
    await this.#projector.drained();
  }

  // The loop ------------------------------------------------------------------------------------------------------------

  async #run(): Promise<void> {
    this.#reactor.start();
    let failures = 0;
    while (!this.#stopped && this.#halted === null) {
      try {
        if (this.#recovered) await this.#turn();
        else await this.#recover();
        failures = 0;
        this.#problem = null;
      } catch (cause) {
        failures += 1;
        this.#problem = cause instanceof Error ? cause.message : String(cause);
        if (isFinal(cause)) {
          this.#halted = cause;
          this.options.onEvent?.({ kind: 'halted', cause });
          return;
        }
        this.#report('turn', cause);
        if (cause instanceof Failure && (cause.code === 'HEAD_MOVED' || cause.code === 'OUTCOME_UNKNOWN')) this.reset();
        await this.options.scheduler.sleep(backoffMs(failures));
      }
    }
  }

  async #turn(): Promise<void> {
    await this.#prepareInputs();
    if (this.#passSilently()) return;
    const material = await this.#material();
    if (!this.#recovered) return;
    if (material === null) {
      await this.#rest();
      return;
    }
    await this.#decideAndAppend(material);
  }

  async #prepareInputs(): Promise<void> {
    await this.#queue.prepare(this.#settings.itemsMax);
    this.#judgePressure();
    if (!this.#open && this.#recovered) await this.#tryOpen();
    if (this.#projector.backlog > this.#settings.projectionBacklogMax) await this.#projector.drained();
  }

  /** Items that no decider hears only move cursors: nothing is loaded and no time is asked for them. */
  #passSilently(): boolean {
    const items = this.#queue.peek(this.#settings.itemsMax);
    const isSilent = items.length > 0 && items.every(({ what }) => what.kind === 'skip');
    if (isSilent) this.#passOver({ items });
    return isSilent;
  }

  /** What the next batch is made of, with its rows loaded and the time asked; null when there is nothing to do. */
  async #material(): Promise<Material | null> {
    const items = this.#queue.peek(this.#settings.itemsMax);
    const mayTimersRun = this.#open;
    if (
      items.length === 0 &&
      !(mayTimersRun && this.#mayTimersBeDue()) &&
      !(mayTimersRun && this.#obligations.again().length > 0) &&
      !this.#progressIsDue()
    )
      return null;
    const { store } = this.options;
    if (mayTimersRun && this.#timers.needsLoad(this.#estimatedNow())) {
      await this.#projector.drained();
      if (!this.#recovered) return null;
      await this.#timers.load(store, this.#estimatedNow());
    }
    const guess = mayTimersRun ? this.#timers.ready(this.#estimatedNow()) : [];
    // Rows and time, views and keys depend on nothing of each other: the batch waits for the slowest of them.
    const [now, viewsFresh] = await Promise.all([
      this.#load(needsOf(this.#core, items, guess, this.options.views)),
      this.#bringViews(items),
      this.#bringKeys(items),
    ]);
    if (!this.#recovered) return null;
    const timers = mayTimersRun ? this.#timers.ready(now) : [];
    const resends = mayTimersRun ? await this.#resendsOf(now) : [];
    if (items.length === 0 && timers.length === 0 && resends.length === 0 && !this.#progressIsDue()) return null;
    return {
      items: items.slice(0, inputsBeside(timers.length, this.#settings.itemsMax)),
      passed: [...this.#passedCursors.values()],
      timers,
      resends,
      reactedSeq: this.#reactor.reactedSeq,
      now,
      viewsFresh,
    };
  }

  async #decideAndAppend(material: Material): Promise<void> {
    let { items, timers } = material;
    while (this.#recovered) {
      const part = { ...material, items, timers };
      const overlay = new Overlay(this.#cache);
      const sealer = this.#log.seal(material.now);
      const sealing = this.options.sealing?.batch(material.now) ?? null;
      const result = await this.#decide(
        new BatchRun(this.#context(material.now, sealing), part, overlay, sealer),
        material.viewsFresh,
      );
      if (result === null) return;
      if (result.kind === 'overfull') {
        if (result.timers === undefined) items = this.#shorter(items, result.take);
        else [items, timers] = [[], this.#fewer(timers, result.timers)];
        continue;
      }
      const keys = await this.#settleKeys(sealing);
      if (keys === 'reset') return;
      if (keys === 'stand') {
        await this.#settle(result, part, overlay, sealer);
        return;
      }
    }
  }

  /** Grants a batch what it wishes until it is decided; null when the loop was reset meanwhile. */
  async #decide(
    batch: BatchRun,
    areFresh: boolean,
  ): Promise<Extract<BatchResult, { kind: 'batch' | 'overfull' }> | null> {
    const resets = this.#resets;
    let result = batch.run({ areFresh });
    while (result.kind === 'load' || result.kind === 'refresh' || result.kind === 'keys') {
      if (result.kind === 'load') await this.#load(result.groups);
      else if (result.kind === 'keys') await this.options.sealing?.load(result.keyIds);
      else await this.options.views.refresh();
      if (resets !== this.#resets) return null;
      result = batch.run({ areFresh: result.kind === 'refresh' });
    }
    return result;
  }

  /** Keys of what logs brought, in one question: a batch would ask for them one by one. */
  async #bringKeys(items: readonly QueueItem[]): Promise<void> {
    const { sealing } = this.options;
    if (sealing === undefined) return;
    await sealing.load(
      sealedUnder(
        items.flatMap(({ what }) => (what.kind === 'record' && what.input.source === 'log' ? [what.input.body] : [])),
      ),
    );
  }

  /** Makes the keys of a batch durable before it is appended; `anew` when another process made one of them first. */
  async #settleKeys(sealing: BatchSealing | null): Promise<'stand' | 'anew' | 'reset'> {
    if (sealing === null) return 'stand';
    const resets = this.#resets;
    const stand = await sealing.settle();
    if (resets !== this.#resets) return 'reset';
    return stand ? 'stand' : 'anew';
  }

  /** Timers that are left wait for the next batch, and the inputs with them. */
  #fewer(timers: readonly TimerInput[], fit: number): readonly TimerInput[] {
    if (fit === 0) throw new InvariantViolation('L4', 'what one timer leads to does not fit a batch', 'partition');
    return timers.slice(0, fit);
  }

  #shorter(items: readonly QueueItem[], take: number): readonly QueueItem[] {
    if (take > 0) return items.slice(0, take);
    if (items.length > 1) return items.slice(0, 1);
    throw new InvariantViolation('L4', 'one decision does not fit a batch', 'partition');
  }

  /** Appends a decided batch, or only moves on when there is nothing worth a record. */
  async #settle(
    result: Extract<BatchResult, { kind: 'batch' }>,
    material: BatchMaterial,
    overlay: Overlay,
    sealer: BatchSealer,
  ): Promise<void> {
    const isWorthARecord = result.decided > 0 || this.#progressIsDue();
    if (!isWorthARecord) {
      this.#passOver(material);
      this.#timers.spend(result.timersWithoutEffect);
      return;
    }
    const offset = this.#log.position.offset;
    if (!this.#rules.reactAfterAcceptance) this.#obligations.owe(sealer.accepted, overlay);
    const judgement = await this.#log.append(sealer);
    if (judgement === 'log_cut')
      throw new Failure('LOG_CUT', `${this.#core.log}/${this.options.partition}: a base offset below the expected one`);
    if (judgement === 'reread') {
      this.options.onEvent?.({ kind: 'append_unknown' });
      if (!this.#rules.seekAfterUnknown) this.#queue.drop(material.items.length);
      this.reset();
      return;
    }
    this.#accept(result, material, overlay, sealer, offset);
  }

  #accept(
    result: Extract<BatchResult, { kind: 'batch' }>,
    material: BatchMaterial,
    overlay: Overlay,
    sealer: BatchSealer,
    offset: number,
  ): void {
    this.#decidedAt = sealer.decidedAt;
    this.#moveCursors(material.items);
    this.#queue.drop(material.items.length);
    this.#cache.commit(overlay.changedGroups, sealer.head.seq);
    this.#timers.apply(overlay.changes);
    this.#timers.spend(result.timersWithoutEffect);
    this.#passed = { meaningful: 0, sinceMs: this.options.scheduler.now() };
    this.#obligations.follow(sealer.accepted, offset);
    this.#projector.enqueue(this.#projectedHead(), overlay.changes);
    this.#passedCursors.clear();
    this.#obligations.sendAgain(material.resends);
    if (this.#rules.reactAfterAcceptance) this.#obligations.owe(sealer.accepted, overlay);
    this.#derived?.offer({ from: { head: sealer.from, offset }, to: this.#log.position, records: sealer.accepted });
    this.#announce(sealer, result.ends, overlay);
  }

  #announce(sealer: BatchSealer, ends: readonly number[], overlay: Overlay): void {
    const { onEvent } = this.options;
    if (onEvent === undefined) return;
    onEvent({ kind: 'appended', records: sealer.outgoing.length, bytes: 0 });
    for (const [at, record] of sealer.accepted.entries()) {
      onEvent({ kind: 'accepted', record, rows: () => overlay.changed(ends[at - 1] ?? 0, ends[at] ?? 0) });
      if (record.type === 'RecordParked') onEvent({ kind: 'parked', reason: String(record.body.reason) });
    }
  }

  /** Inputs that led to nothing: positions move in memory, and in the log when that is worth a record (L3). */
  #passOver(material: Pick<BatchMaterial, 'items'>): void {
    this.#moveCursors(material.items);
    const meaningful = material.items.filter((item) => item.isMeaningful).length;
    if (this.#passed.meaningful === 0) this.#passed.sinceMs = this.options.scheduler.now();
    this.#passed.meaningful += meaningful;
    this.#queue.drop(material.items.length);
    for (const { cursor } of material.items) this.#passedCursors.set(inputId(cursor.topic, cursor.partition), cursor);
  }

  #progressIsDue(): boolean {
    return progressAloneIsDue(
      { meaningful: this.#passed.meaningful, sinceMs: this.options.scheduler.now() - this.#passed.sinceMs },
      this.#settings.lazyProgressMs,
    );
  }

  /** Waits for something to do. */
  async #rest(): Promise<void> {
    const waits = [60_000];
    const next = this.#open ? this.#timers.next() : null;
    if (next !== null)
      waits.push(Math.min(clockAgeMs(next - this.#estimatedNow()), Math.max(1, next - this.#estimatedNow())));
    if (this.#passed.meaningful > 0)
      waits.push(Math.max(1, this.#settings.lazyProgressMs - (this.options.scheduler.now() - this.#passed.sinceMs)));
    if (!this.#open) waits.push(200);
    waits.push(Math.max(1, this.#settings.headCheckMs - this.#databaseUnseenMs()));
    await this.#wake.wait(Math.min(...waits));
    if (this.#databaseUnseenMs() >= this.#settings.headCheckMs) await this.#load([]);
  }

  #databaseUnseenMs(): number {
    return this.options.scheduler.now() - this.#clockAskedAt;
  }

  // Start, take-over, rebuild -------------------------------------------------------------------------------------------

  async #recover(): Promise<void> {
    const { store, scheduler } = this.options;
    const resets = this.#resets;
    await this.#log.prepare();
    await this.#log.dropProducer();
    await this.#projector.quiet();
    const stored = await store.head();
    const backTo = this.#cursors;
    this.#forget(stored);
    await this.#checkProjection(stored);
    this.#cache.fillWhole(await store.all(PARKED_KIND));
    await this.#load([]);
    const from =
      stored === null ? this.#log.origin() : { head: { seq: stored.seq, hash: stored.hash }, offset: stored.offset };
    const replayed = await this.#replay(from);
    await this.#projector.drained();
    await this.#checkInputs();
    await this.#obligations.collect(stored, this.#log.position.head.seq, this.#rules.resendOwed);
    if (this.#rules.seekAfterUnknown || !this.#wasRecovered)
      this.#queue.reset(this.inputPartitions(), [...this.#cursors.values()]);
    else for (const [id, cursor] of backTo) this.#cursors.set(id, cursor);
    if (resets !== this.#resets) return;
    this.#ends = null;
    this.#passed = { meaningful: 0, sinceMs: scheduler.now() };
    this.#wasRecovered = true;
    this.#recovered = true;
    this.#derived?.start();
    this.options.onEvent?.({
      kind: 'recovered',
      seq: this.#log.position.head.seq,
      replayed,
      voids: this.#log.voids.count,
    });
    this.options.onPositioned();
  }

  /** What was projected must still stand in the log, at its place (L8). */
  async #checkProjection(stored: ProjectedHead | null): Promise<void> {
    if (stored === null || stored.seq === 0) return;
    const where = `${this.#core.log}/${this.options.partition}`;
    if (judgeStore(await this.#log.end(), stored.offset) === 'log_cut')
      throw new Failure('LOG_CUT', `${where} ends before offset ${stored.offset}, which was projected`);
    if (!(await this.#log.hashAt(stored.offset - 1)).equals(stored.hash))
      throw new Failure(
        'LOG_CUT',
        `${where}@${stored.offset - 1} is not the record that was projected as seq ${stored.seq}`,
      );
  }

  /** What was read of other logs must still stand in them (L13). */
  async #checkInputs(): Promise<void> {
    const reader = await this.#log.reader();
    await Promise.all(
      [...this.#cursors.values()].map(async (cursor) => {
        if (await holdsCursor(reader, this.options.codecs, cursor)) return;
        throw new Failure(
          'LOG_CUT',
          `${cursor.topic}/${cursor.partition} no longer holds record ${cursor.seq}, which ${this.#core.log}/${this.options.partition} has read: restore this log from the same moment`,
        );
      }),
    );
  }

  #forget(stored: ProjectedHead | null): void {
    this.#cache.clear();
    this.#timers.clear();
    this.#passedCursors.clear();
    this.#cursors = new Map((stored?.cursors ?? []).map((cursor) => [inputId(cursor.topic, cursor.partition), cursor]));
    this.#decidedAt = stored?.decidedAt ?? 0;
    this.#obligations.reset(stored);
    this.#projector.reset(stored);
  }

  /** Applies the tail to rows and head: the same fold as a live batch, and nothing is sent. */
  async #replay(from: {
    readonly head: { readonly seq: number; readonly hash: Buffer };
    readonly offset: number;
  }): Promise<number> {
    let replayed = 0;
    for await (const records of this.#log.read(from)) {
      for (let at = 0; at < records.length; at += 500) await this.#replayChunk(records.slice(at, at + 500));
      replayed += records.length;
      if (this.#projector.backlog > this.#settings.projectionBacklogMax) await this.#projector.drained();
    }
    return replayed;
  }

  async #replayChunk(records: readonly PlacedRecord[]): Promise<void> {
    const overlay = new Overlay(this.#cache);
    for (const [index, record] of records.entries()) {
      while (!this.#folds(overlay, record)) await this.#load(this.#coldIn(records.slice(index), overlay));
      this.#follow(record);
    }
    const last = records[records.length - 1];
    if (last === undefined) return;
    this.#cache.commit(overlay.changedGroups, last.seq);
    this.#projector.enqueue(
      { ...this.#projectedHead(), seq: last.seq, hash: last.hash, offset: last.offset + 1 },
      overlay.changes,
    );
  }

  /** Applies a record whole; false when a group it reads is cold. */
  #folds(overlay: Overlay, record: AcceptedRecord): boolean {
    const mark = overlay.mark();
    try {
      overlay.apply(evolveAny(this.#core, overlay, record));
      return true;
    } catch (cause) {
      overlay.rollback(mark);
      if (cause instanceof NotLoaded) return false;
      throw cause;
    }
  }

  /** Cold groups that these records seem to read, the first record's for certain: one query instead of one a group. */
  #coldIn(records: readonly AcceptedRecord[], so: Overlay): readonly GroupAddress[] {
    const cold: GroupAddress[] = [];
    const probe = so.probe((kind, group) => {
      cold.push({ kind, group });
    });
    for (const record of records) {
      // A fold over rows that are not there may object; then its groups are found when its turn comes.
      try {
        probe.apply(evolveAny(this.#core, probe, record));
      } catch {
        continue;
      }
    }
    return cold;
  }

  #follow(record: PlacedRecord): void {
    this.#decidedAt = record.decidedAt;
    this.#obligations.follow([record], record.offset);
    if (record.type !== 'Progress') return;
    for (const cursor of record.body.cursors as readonly StoredCursor[])
      this.#cursors.set(inputId(cursor.topic, cursor.partition), plainCursor(cursor));
    this.#obligations.confirm(Number(record.body.reacted_seq));
  }

  /** Of what is owed again: that which still is. */
  async #resendsOf(now: number): Promise<readonly OwedAgain[]> {
    const asked = this.#obligations.again();
    if (asked.length === 0) return [];
    await this.#load(asked.flatMap(({ message }) => this.#core.owedNeeds(message)));
    const overlay = new Overlay(this.#cache);
    const owed = asked.filter(({ message }) => this.#core.owed(overlay, message, now));
    this.#obligations.drop(asked.filter((item) => !owed.includes(item)));
    return owed;
  }

  /** Opens the gate once every input was read to the end seen after the start (L10). */
  async #tryOpen(): Promise<void> {
    if (!this.#rules.quietUntilCaughtUp) {
      this.#openGate();
      return;
    }
    if (this.#ends === null) {
      const resets = this.#resets;
      const reader = await this.#log.reader();
      const ends = new Map<string, number>();
      for (const { topic, partition } of this.inputPartitions())
        ends.set(inputId(topic, partition), (await reader.range(topic, partition)).high);
      // Ends that were asked for before a reset are not those of the start after it: they would open the gate too early.
      if (resets !== this.#resets) return;
      this.#ends = ends;
    }
    for (const [id, end] of this.#ends) if ((this.#cursors.get(id)?.offset ?? 0) < end) return;
    this.#openGate();
  }

  #openGate(): void {
    this.#open = true;
    this.#obligations.open();
  }

  // Helpers -------------------------------------------------------------------------------------------------------------

  #context(now: number, sealing: BatchSealing | null): BatchContext {
    const { core, partition, partitionCountOf, views, edgeKey } = this.options;
    return {
      core,
      partition,
      partitionCountOf,
      views,
      now,
      edgeKey,
      sealing:
        sealing === null || this.options.sealing === undefined ? null : { vault: this.options.sealing, batch: sealing },
      fullNameOf: (topic, type) => recordsOf(topic).find((name) => name.endsWith(`.${type}`)) ?? type,
      reread: (origin) => this.#reread(origin),
    };
  }

  #reread(origin: ParkedOrigin): RecordInput | null {
    const spec = this.#core.inputs.find(({ topic }) => topic === origin.topic);
    const decoded = this.options.codecs.decodeSync(origin.value);
    if (spec === undefined || decoded.kind !== 'decoded' || !spec.types.includes(decoded.type)) return null;
    return {
      source: 'wire',
      topic: origin.topic,
      partition: origin.partition,
      offset: origin.offset,
      key: origin.key?.toString('utf8') ?? '',
      type: decoded.type,
      body: decoded.body as Doc,
      seq: 0,
      hash: Buffer.alloc(32),
    };
  }

  /** Loads cold groups and asks the time; fails closed when the clock is behind the chain (L1). */
  async #load(groups: readonly { readonly kind: string; readonly group: string }[]): Promise<number> {
    const cold = uniqueGroups(groups).filter(({ kind, group }) => !this.#cache.has(kind, group));
    const { projectedSeq } = this.#projector;
    const loaded = await this.options.store.load(cold);
    if ((loaded.headSeq ?? 0) < projectedSeq)
      throw new Failure(
        'HEAD_MOVED',
        `the database stands at ${loaded.headSeq ?? 0}, ${projectedSeq} was projected: it is an older copy`,
      );
    if (cold.length > 0) this.#cache.fill(cold, loaded.rows);
    this.#clockAskedAt = this.options.scheduler.now();
    this.#clockOffset = loaded.now - this.#clockAskedAt;
    const clock = judgeClock(loaded.now, this.#decidedAt, this.#settings.clockMarginMs);
    if (clock.kind === 'behind')
      throw new Failure('CLOCK_BEHIND', `database time is ${clock.byMs} ms behind the chain`);
    return clock.now;
  }

  /** Views must not be behind the cursors this batch moves to; before wire inputs they must not be old either. True when they were read to their end. */
  async #bringViews(items: readonly QueueItem[]): Promise<boolean> {
    const { views } = this.options;
    const inputs = items.flatMap(({ what }) => (what.kind === 'record' ? [what.input] : []));
    const areToBeFresh = inputs.some((input) => this.#core.readsViewsToEnd?.(input) === true);
    if (areToBeFresh) await views.refresh();
    for (const { name, topic } of this.#core.views) {
      for (const { cursor } of items)
        if (cursor.topic === topic && cursor.seq > 0) await views.atLeast(name, cursor.partition, cursor.seq);
      for (const cursor of this.#cursors.values())
        if (cursor.topic === topic) await views.atLeast(name, cursor.partition, cursor.seq);
    }
    if (this.#core.views.length > 0 && inputs.some(({ source }) => source === 'wire'))
      await views.refreshIfOlder(this.#settings.viewAgeMs);
    return areToBeFresh;
  }

  #moveCursors(items: readonly QueueItem[]): void {
    for (const { cursor } of items) this.#cursors.set(inputId(cursor.topic, cursor.partition), cursor);
  }

  #projectedHead(): ProjectedHead {
    const { head, offset } = this.#log.position;
    return {
      seq: head.seq,
      hash: head.hash,
      offset,
      decidedAt: this.#decidedAt,
      cursors: [...this.#cursors.values()],
      ...this.#obligations.mark(),
    };
  }

  #mayTimersBeDue(): boolean {
    const now = this.#estimatedNow();
    const next = this.#timers.next() ?? Infinity;
    const isClockOld = this.options.scheduler.now() - this.#clockAskedAt >= clockAgeMs(next - now);
    return this.#timers.needsLoad(now) || next <= now || (next < Infinity && isClockOld);
  }

  #estimatedNow(): number {
    return this.options.scheduler.now() + this.#clockOffset;
  }

  #judgePressure(): void {
    const size = this.#queue.size;
    const isHigh = this.#highPressure ? size > this.#settings.queueMax / 4 : size > this.#settings.queueMax;
    if (isHigh === this.#highPressure) return;
    this.#highPressure = isHigh;
    this.options.onPressure(isHigh);
  }

  #partitionsOf(input: InputSpec): readonly number[] {
    if (input.mode === 'aligned') return [this.options.partition];
    return Array.from({ length: this.options.partitionCountOf(input.topic) }, (_, partition) => partition);
  }

  #makeDerived(log: {
    readonly kafka: Kafka;
    readonly codecs: Codecs;
    readonly partition: number;
    readonly partitionCount: number;
    readonly logId: string;
  }): DerivedWriter | null {
    const { core, derivedStore, scheduler } = this.options;
    if (core.derived === undefined) return null;
    if (derivedStore === undefined)
      throw new InvariantViolation('derived', 'a derived log needs a store for its position', 'partition');
    return new DerivedWriter({
      log,
      sourceTopic: core.log,
      derivedTopic: core.derived.topic,
      derive: core.derived.derive,
      store: derivedStore,
      scheduler,
      onError: (cause) => {
        this.#report('derive', cause);
      },
    });
  }

  #report(where: string, cause: unknown): void {
    this.options.onEvent?.({ kind: 'error', where, cause });
  }
}

function plainCursor(cursor: StoredCursor): StoredCursor {
  return {
    topic: cursor.topic,
    partition: cursor.partition,
    offset: cursor.offset,
    seq: cursor.seq,
    hash: cursor.hash,
  };
}

/** What stops the partition until a person acts: a bug of chain, cursor or fence, or a failure that says never. */
function isFinal(cause: unknown): boolean {
  if (cause instanceof InvariantViolation) return cause.scope === 'partition';
  return cause instanceof Failure && cause.retry === 'never';
}
