// What a partition loop has been handed and has not decided yet.
// Boundary: takes raw batches at once, judges them when the loop asks, foreign logs by the acceptance rule; a reset forgets all of it.
//
// Invariants
//   I1. Per input partition the queue is gap-free: a batch is taken only at the expected position.
//   I2. A position moves only when the item that carries it is taken into an accepted batch; the queue's own positions are hopes.
//   I3. A topic is in one lane, and a lane is in order. What goes first leaves a part of each batch to the others.
import { Failure } from '@recourse/kernel';
import { genesisHead, readRecord, schemaIdOf } from '@recourse/chain';
import type { Head, Verdict } from '@recourse/chain';
import { recordsOf } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import type { FetchedBatch, FetchedRecord } from '@recourse/kafka';
import { judgeDelivery, othersPart, SILENT_TYPES } from './loop.decisions.js';
import { Lane } from './input-lane.js';
import type { Waiting } from './input-lane.js';
import { patienceOf } from './patience.js';
import {
  badItem,
  inputOf,
  mismatchItem,
  NO_PLACE,
  takes,
  unexpected,
  unreadableItem,
  unvouchedItem,
} from './queue-item.js';
import type { QueueItem } from './queue-item.js';
import { decodedIn, hashIn } from './read-once.js';
import type { InputSpec, Owns } from './service-core.js';
import type { StoredCursor } from './store.port.js';

interface Position {
  offset: number;
  head: Head;
}
type WaitingRecord = Waiting & { readonly record: FetchedRecord };

export const inputId = (topic: string, partition: number): string => `${topic}/${partition}`;

export const LANES = ['first', 'others'] as const;
/** Where an input waits. */
export type LaneName = (typeof LANES)[number];

export interface InputQueueOptions {
  readonly inputs: readonly InputSpec[];
  readonly codecs: Codecs;
  readonly logId: string;
  readonly partitionCountOf: (topic: string) => number;
  readonly owns: Owns;
}

export class InputQueue {
  #specs = new Map<string, InputSpec>();
  #expected = new Map<string, number>();
  #judged = new Map<string, Position>();
  /** Answers to what the own log asked for: they wait for nothing that came before them. */
  #first = new Lane();
  #others = new Lane();
  /** Items that went first since one of the others was taken, while others waited. */
  #passedOver = 0;
  #typeOfSchema = new Map<number, string>();

  constructor(private readonly options: InputQueueOptions) {
    for (const spec of options.inputs) this.#specs.set(spec.topic, spec);
  }

  /** Records that wait, judged or not. */
  get size(): number {
    return this.sizeIn('first') + this.sizeIn('others');
  }

  sizeIn(lane: LaneName): number {
    return (lane === 'first' ? this.#first : this.#others).size;
  }

  /** What the records of a lane hold of memory, octets. */
  octetsIn(lane: LaneName): number {
    return (lane === 'first' ? this.#first : this.#others).octets;
  }

  laneOf(topic: string): LaneName {
    return this.#specs.get(topic)?.goesFirst === true ? 'first' : 'others';
  }

  reads(topic: string): boolean {
    return this.#specs.has(topic);
  }

  /** Goes back to the cursors of the own log; partitions without one begin at 0 and genesis. */
  reset(
    partitions: readonly { readonly topic: string; readonly partition: number }[],
    cursors: readonly StoredCursor[],
  ): void {
    this.#first = new Lane();
    this.#others = new Lane();
    const known = new Map(cursors.map((cursor) => [inputId(cursor.topic, cursor.partition), cursor]));
    for (const { topic, partition } of partitions) {
      const id = inputId(topic, partition);
      const cursor = known.get(id);
      this.#expected.set(id, cursor?.offset ?? 0);
      this.#judged.set(id, { offset: cursor?.offset ?? 0, head: this.#headAt(topic, partition, cursor) });
    }
  }

  /** Offset of the next record wanted; undefined for a partition that is not read. */
  expected(topic: string, partition: number): number | undefined {
    return this.#expected.get(inputId(topic, partition));
  }

  /** Takes what continues at the expected position; `seek` asks for the right one. */
  offer(batch: FetchedBatch): 'taken' | 'dropped' | 'seek' {
    const id = inputId(batch.topic, batch.partition);
    const expected = this.#expected.get(id);
    const spec = this.#specs.get(batch.topic);
    if (expected === undefined || spec === undefined) return 'dropped';
    const delivery = judgeDelivery(expected, batch);
    if (delivery.kind === 'seek') return 'seek';
    if (delivery.kind === 'drop') return 'dropped';
    const { partition, nextOffset: next } = batch;
    const taken = delivery.skip === 0 ? batch.records : batch.records.slice(delivery.skip);
    const lane = spec.goesFirst === true ? this.#first : this.#others;
    const isBehind = (taken.at(-1)?.offset ?? expected - 1) + 1 < next;
    const waiting = [
      ...taken.map((record) => ({ spec, partition, record, next: record.offset + 1 })),
      ...(isBehind ? [{ spec, partition, record: null, next }] : []),
    ];
    lane.add(waiting, batch.octets ?? 0);
    this.#expected.set(id, next);
    return 'taken';
  }

  /** Judges up to `max` waiting records of each lane. Errors: those of the registry; nothing is lost, ask again. */
  async prepare(max: number): Promise<void> {
    for (const lane of [this.#first, this.#others]) await this.#prepareLane(lane, max);
  }

  async #prepareLane(lane: Lane, max: number): Promise<void> {
    let taken = 0;
    try {
      for (const waiting of lane.waiting) {
        if (lane.items.length >= max) break;
        const judged = this.#judge(waiting);
        // Nearly every schema is known, and to wait for what is there costs as much as to judge it.
        lane.items.push(judged instanceof Promise ? await judged : judged);
        taken += 1;
      }
    } finally {
      lane.judged(taken);
    }
  }

  /** The next items, what goes first before the others; left in the queue until `drop`. */
  peek(max: number): readonly QueueItem[] {
    const [first, others] = [this.#first.items, this.#others.items];
    if (first.length === 0) return others.slice(0, max);
    const theirs = Math.min(others.length, othersPart(max, this.#passedOver));
    const taken = first.slice(0, max - theirs);
    return [...taken, ...others.slice(0, max - taken.length)];
  }

  /** Drops the first items of what `peek` gave last. */
  drop(items: readonly QueueItem[]): void {
    const firsts = items.filter(({ cursor }) => this.laneOf(cursor.topic) === 'first').length;
    const others = items.length - firsts;
    this.#first.drop(firsts);
    this.#passedOver = others > 0 || this.#others.items.length === 0 ? 0 : this.#passedOver + firsts;
    this.#others.drop(others);
  }

  /** How long all that waits may wait for more, milliseconds. */
  patienceMs(): number {
    const isMore = this.sizeIn('first') + this.#others.waiting.length > 0;
    return isMore ? 0 : patienceOf(this.#others.items, (topic) => this.#specs.get(topic)?.patienceMs ?? 0);
  }

  #judge(waiting: Waiting): QueueItem | Promise<QueueItem> {
    const { spec, record, partition, next: offset } = waiting;
    if (record !== null)
      return spec.source === 'wire' ? this.#judgeWire({ ...waiting, record }) : this.#judgeLog({ ...waiting, record });
    const { head } = this.#positionOf(spec.topic, partition);
    this.#judged.set(inputId(spec.topic, partition), { offset, head });
    const cursor: StoredCursor = { topic: spec.topic, partition, offset, seq: head.seq, hash: head.hash };
    return { cursor, isMeaningful: true, what: { kind: 'skip' } };
  }

  #positionOf(topic: string, partition: number): Position {
    const position = this.#judged.get(inputId(topic, partition));
    if (position === undefined) throw new Failure('NOT_READY', `no position for ${inputId(topic, partition)}`);
    return position;
  }

  #judgeWire(waiting: WaitingRecord): QueueItem | Promise<QueueItem> {
    const { spec, partition, record } = waiting;
    const cursor: StoredCursor = { topic: spec.topic, partition, offset: record.offset + 1, ...NO_PLACE };
    const at = { raw: record, topic: spec.topic, partition };
    if (record.unreadable !== undefined) return unreadableItem(cursor, at, record.unreadable);
    const unvouched = unvouchedItem(cursor, at);
    if (unvouched !== null) return unvouched;
    const id = schemaIdOf(record.value);
    return id === null || this.options.codecs.fingerprintOf(id) !== null
      ? this.#judgeReadable(waiting, cursor)
      : this.#judgeOnceLoaded(id, waiting, cursor);
  }

  /** Loads the schema first; one that the registry does not know is bad. Errors: those of the registry, when it is away. */
  async #judgeOnceLoaded(id: number, waiting: WaitingRecord, cursor: StoredCursor): Promise<QueueItem> {
    try {
      await this.options.codecs.load(id);
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.code !== 'UNKNOWN_SCHEMA') throw cause;
      const { record: raw, spec, partition } = waiting;
      const detail = `schema id ${id} is not in the registry`;
      return badItem(cursor, { raw, topic: spec.topic, partition }, { reason: 'UNKNOWN_SCHEMA', detail });
    }
    return this.#judgeReadable(waiting, cursor);
  }

  #judgeReadable(waiting: WaitingRecord, cursor: StoredCursor): QueueItem {
    const { spec, partition, record } = waiting;
    const at = { raw: record, topic: spec.topic, partition };
    const decoded = this.options.codecs.decodeSync(record.value);
    if (decoded.kind === 'bad') return badItem(cursor, at, decoded);
    if (decoded.kind !== 'decoded' || !recordsOf(spec.topic).includes(decoded.fullName))
      return badItem(cursor, at, unexpected(spec.topic));
    if (!takes(spec, decoded)) return { cursor, isMeaningful: true, what: { kind: 'skip' } };
    const speaker = record.voucher?.kind === 'vouched' ? record.voucher.speaker : undefined;
    const mismatch = speaker === undefined ? null : mismatchItem(cursor, at, { speaker, ...decoded });
    if (mismatch !== null) return mismatch;
    const heard = inputOf('wire', at, decoded, NO_PLACE);
    const input = speaker === undefined ? heard : { ...heard, speaker };
    if (spec.concerns?.(input, this.options.owns) === false)
      return { cursor, isMeaningful: true, what: { kind: 'skip' } };
    return { cursor, isMeaningful: true, what: { kind: 'record', input, raw: record } };
  }

  #judgeLog(waiting: WaitingRecord): QueueItem | Promise<QueueItem> {
    const { spec, partition, record } = waiting;
    const id = inputId(spec.topic, partition);
    if (record.unreadable !== undefined)
      throw new Failure('RECORD_UNREADABLE', `${id}@${record.offset}: ${record.unreadable.detail}`);
    const verdict = this.#verdictOn(waiting);
    return verdict.kind === 'unknown_schema'
      ? this.options.codecs.load(verdict.id).then(() => this.#judgedLog(waiting, this.#verdictOn(waiting)))
      : this.#judgedLog(waiting, verdict);
  }

  #verdictOn({ spec, partition, record }: WaitingRecord): Verdict {
    const [{ head }, { codecs }] = [this.#positionOf(spec.topic, partition), this.options];
    return readRecord(head, record, codecs.fingerprintOf, hashIn(spec));
  }

  #judgedLog(waiting: WaitingRecord, verdict: Verdict): QueueItem {
    const { spec, partition, record } = waiting;
    const id = inputId(spec.topic, partition);
    if (verdict.kind === 'unknown_schema') throw new Failure('UNKNOWN_SCHEMA', `schema ${verdict.id} in ${id}`);
    const position = this.#positionOf(spec.topic, partition);
    const head = verdict.kind === 'accepted' ? verdict.head : position.head;
    position.offset = record.offset + 1;
    position.head = head;
    const cursor: StoredCursor = {
      topic: spec.topic,
      partition,
      offset: record.offset + 1,
      seq: head.seq,
      hash: head.hash,
    };
    if (verdict.kind === 'void') return { cursor, isMeaningful: false, what: { kind: 'skip' } };
    return this.#acceptedItem(waiting, cursor, head);
  }

  /** It was accepted, so its schema is at hand: the hash needs the fingerprint that comes with it. */
  #acceptedItem({ spec, partition, record }: WaitingRecord, cursor: StoredCursor, head: Head): QueueItem {
    const schemaId = schemaIdOf(record.value) ?? -1;
    const known = this.#typeOfSchema.get(schemaId);
    if (known !== undefined && !spec.types.includes(known))
      return { cursor, isMeaningful: !SILENT_TYPES.has(known), what: { kind: 'skip' } };
    const decoded = decodedIn(spec, this.options.codecs, record);
    if (decoded.kind !== 'decoded' && decoded.kind !== 'foreign')
      throw new Failure('CHAIN_BROKEN', `${spec.topic}/${partition}@${record.offset} is accepted and ${decoded.kind}`);
    this.#typeOfSchema.set(schemaId, decoded.type);
    if (decoded.kind === 'foreign' || !spec.types.includes(decoded.type))
      return { cursor, isMeaningful: !SILENT_TYPES.has(decoded.type), what: { kind: 'skip' } };
    const input = inputOf('log', { raw: record, topic: spec.topic, partition }, decoded, head);
    if (spec.concerns?.(input, this.options.owns) === false)
      return { cursor, isMeaningful: true, what: { kind: 'skip' } };
    return { cursor, isMeaningful: true, what: { kind: 'record', input, raw: record } };
  }

  #headAt(topic: string, partition: number, cursor: StoredCursor | undefined): Head {
    if (this.#specs.get(topic)?.source !== 'log') return NO_PLACE;
    if (cursor !== undefined) return { seq: cursor.seq, hash: cursor.hash };
    return genesisHead({
      logId: this.options.logId,
      topic,
      partition,
      partitionCount: this.options.partitionCountOf(topic),
    });
  }
}
