// One partition of a log we own: reads the tail under the acceptance rule, seals batches into the chain, appends them.
//
// Boundary: knows records and hashes, not what they mean.
//
// Invariants
//   I1. `head` and `nextOffset` describe what was read or what a landed append at the expected offset made true, nothing hoped for.
//   I2. After an append that was not accepted the writer is useless until `reread`.
import { Failure, InvariantViolation } from '@recourse/kernel';
import { FRAME_SIZE, genesisHead, leafHash, readHead, readRecord, schemaIdOf } from '@recourse/chain';
import type { Head, Verdict } from '@recourse/chain';
import type { Codecs, Decoded } from '@recourse/messages';
import { handsOutNothing, stampOf } from '@recourse/kafka';
import type {
  FetchedBatch,
  FetchedRecord,
  Kafka,
  LogProducer,
  OutgoingRecord,
  RawReader,
  ReadsOf,
  StampedOffset,
  Unreadable,
} from '@recourse/kafka';
import { shortAt } from './log-end.js';
import { BATCH_BYTES_MAX, BATCH_RECORDS_MAX, judgeAppend, judgeDelivery } from './loop.decisions.js';
import type { AppendJudgement } from './loop.decisions.js';
import { decodedOnce, hashOnce } from './read-once.js';
import type { AcceptedRecord, Decided, Doc } from './service-core.js';

/** An accepted record with the place it has in the topic. */
export interface PlacedRecord extends AcceptedRecord {
  readonly offset: number;
  readonly key: string;
}

/** What was fetched of this partition. */
export type FetchedPart = Pick<FetchedBatch, 'fetchedOffset' | 'nextOffset' | 'records'>;

/** Where reading goes on: the head before it and its offset. */
export interface LogPosition {
  readonly head: Head;
  readonly offset: number;
}

export interface OwnLogOptions {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly topic: string;
  readonly partition: number;
  readonly partitionCount: number;
  readonly logId: string;
  /** Others of the process read the same records. */
  readonly isShared?: boolean;
}

/** Fields that the loop adds to what was decided; they are no part of a record's body. */
const HEAD_FIELDS: ReadonlySet<string> = new Set(['seq', 'prev_hash', 'decided_at']);

export class OwnLog {
  #producer: LogProducer | null = null;
  readonly #readers = new Map<ReadsOf, RawReader>();
  #position: LogPosition;
  #doubt: unknown = null;
  #voids: StampedOffset[] = [];

  constructor(readonly options: OwnLogOptions) {
    this.#position = this.origin();
  }

  get position(): LogPosition {
    return this.#position;
  }

  /** Void records of what was last read or taken. */
  get voids(): readonly StampedOffset[] {
    return this.#voids;
  }

  /** Where the log begins. */
  origin(): LogPosition {
    const { logId, topic, partition, partitionCount } = this.options;
    return { head: genesisHead({ logId, topic, partition, partitionCount }), offset: 0 };
  }

  /** Looks up the schema ids of everything this log may hold. Errors: those of the registry. */
  prepare(): Promise<void> {
    return this.options.codecs.prepareWriter(this.options.topic);
  }

  /** End of the topic partition as the broker knows it now. */
  async end(): Promise<number> {
    return (await (await this.reader()).range(this.options.topic, this.options.partition)).high;
  }

  /**
   * Reads accepted records from a position to the end seen at the call, a fetch at a time.
   *
   * Shape:  void records are skipped, and stand in `voids`; after it `position` is the end.
   * Errors: Failure(LOG_CUT) when the log ends before `from`; Failure(LOG_FRONT_CUT) when it begins behind it; Failure(UNKNOWN_SCHEMA);
   *         Failure(BROKER_UNAVAILABLE), also while it hands out less than that end.
   */
  async *read(from: LogPosition): AsyncGenerator<readonly PlacedRecord[]> {
    const { topic, partition } = this.options;
    const end = await this.end();
    if (end < from.offset)
      throw new Failure('LOG_CUT', `${topic}/${partition} ends at ${end}, but ${from.offset} was known`);
    this.#position = from;
    this.#voids = [];
    while (this.#position.offset < end) {
      const batch = await this.#fetch(this.#position.offset);
      if (batch.nextOffset <= this.#position.offset) throw handsOutNothing(this.options, this.#position.offset);
      const accepted: PlacedRecord[] = [];
      const stopped = await this.#takeAll(batch, accepted);
      if (accepted.length > 0) yield accepted;
      if (stopped !== null) throw stopped.cause;
    }
  }

  /**
   * Takes records that somebody else fetched, as far as they continue at the position; the same rule judges them.
   *
   * Errors: those of the registry; the position is then behind what was taken, and a read goes on from there.
   */
  async take(batch: FetchedPart): Promise<readonly PlacedRecord[]> {
    if (judgeDelivery(this.#position.offset, batch).kind !== 'take') return [];
    const accepted: PlacedRecord[] = [];
    this.#voids = [];
    const stopped = await this.#takeAll(batch, accepted);
    if (stopped !== null && accepted.length === 0) throw stopped.cause;
    return accepted;
  }

  /** Errors: Failure(LOG_FRONT_CUT) below all that the log still holds; those of the reader. */
  async #fetch(offset: number, maxBytes?: number): Promise<FetchedBatch> {
    const { topic, partition } = this.options;
    const reader = await this.reader();
    try {
      return await reader.read(topic, partition, offset, maxBytes);
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.code !== 'CURSOR_OUT_OF_RANGE') throw cause;
      const { low } = await reader.range(topic, partition);
      if (offset >= low) throw cause;
      const gone = `${topic}/${partition} begins at offset ${low}: what was before it was deleted at the broker`;
      throw new Failure('LOG_FRONT_CUT', gone, { cause });
    }
  }

  async #recordAt(offset: number): Promise<FetchedRecord> {
    const { topic, partition } = this.options;
    const record = (await this.#fetch(offset, 1)).records.find((found) => found.offset === offset);
    if (record === undefined)
      throw await shortAt(
        await this.reader(),
        this.options,
        offset,
        `${topic}/${partition} has no record at ${offset}`,
      );
    return record;
  }

  /**
   * Takes records until one cannot be read; what was accepted before it is kept, since the position has moved past it. Offsets that
   * hold no record count as read: the marker of somebody's transaction.
   */
  async #takeAll(
    { records, nextOffset }: FetchedPart,
    accepted: PlacedRecord[],
  ): Promise<{ readonly cause: unknown } | null> {
    try {
      for (const record of records) {
        if (record.offset < this.#position.offset) continue;
        if (record.unreadable !== undefined) throw this.#unreadable(record.offset, record.unreadable);
        const verdict = this.#verdictOn(record);
        const placed = this.#place(
          record,
          verdict.kind === 'unknown_schema' ? await this.#judgeLoaded(verdict.id, record) : verdict,
        );
        if (placed !== null) accepted.push(placed);
      }
      this.#position = { head: this.#position.head, offset: Math.max(this.#position.offset, nextOffset) };
      return null;
    } catch (cause) {
      return { cause };
    }
  }

  #unreadable(offset: number, { detail }: Unreadable): Failure {
    const { topic, partition } = this.options;
    return new Failure('RECORD_UNREADABLE', `${topic}/${partition}@${offset}: ${detail}`);
  }

  /** Position before the accepted record at an offset, as that record itself states it. Errors: Failure(LOG_CUT) when there is none. */
  async positionBefore(offset: number): Promise<LogPosition> {
    const head = readHead((await this.#recordAt(offset)).value);
    if (head === null)
      throw new Failure(
        'CHAIN_BROKEN',
        `${this.options.topic}/${this.options.partition}@${offset} has no readable head, or is not signed by the log's owner`,
      );
    return { head: { seq: head.seq - 1, hash: head.prevHash }, offset };
  }

  /** Hash of the record at an offset, whatever the chain says of it. Errors: Failure(LOG_CUT) when there is none. */
  async hashAt(offset: number): Promise<Buffer> {
    const { codecs } = this.options;
    const record = await this.#recordAt(offset);
    const id = schemaIdOf(record.value);
    if (id === null || record.value === null)
      throw new Failure(
        'CHAIN_BROKEN',
        `${this.options.topic}/${this.options.partition}@${offset} is not framed, or not signed by the log's owner`,
      );
    await codecs.load(id);
    const fingerprint = codecs.fingerprintOf(id);
    if (fingerprint === null) throw new Failure('UNKNOWN_SCHEMA', `schema ${id} in ${this.options.topic}`);
    return leafHash(fingerprint, record.key ?? Buffer.alloc(0), record.value.subarray(FRAME_SIZE));
  }

  /** Begins a batch at the head. */
  seal(decidedAt: number): BatchSealer {
    return new BatchSealer(this.options, this.#position.head, decidedAt);
  }

  /** One produce request. After anything but `accepted` the caller re-reads. */
  async append(batch: BatchSealer): Promise<AppendJudgement> {
    const { topic, partition, kafka } = this.options;
    this.#producer ??= await kafka.logProducer();
    const outcome = await this.#producer.send(topic, partition, batch.outgoing);
    const judgement = judgeAppend(this.#position.offset, outcome);
    this.#doubt = outcome.kind === 'unknown' ? outcome.cause : null;
    if (judgement === 'accepted')
      this.#position = { head: batch.head, offset: this.#position.offset + batch.outgoing.length };
    else await this.dropProducer();
    return judgement;
  }

  /** Why the last append was not confirmed; null where it was, or where somebody else wrote in between. */
  get doubt(): unknown {
    return this.#doubt;
  }

  async dropProducer(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    await producer?.close();
  }

  async close(): Promise<void> {
    await this.dropProducer();
    const readers = [...this.#readers.values()];
    this.#readers.clear();
    await Promise.all(readers.map((reader) => reader.close()));
  }

  /** Reads logs, this one and others; or wires, as far as they can be read now. */
  async reader(of: ReadsOf = 'logs'): Promise<RawReader> {
    const known = this.#readers.get(of);
    if (known !== undefined) return known;
    const reader = await this.options.kafka.rawReader(of);
    this.#readers.set(of, reader);
    return reader;
  }

  async #judgeLoaded(id: number, record: FetchedRecord): Promise<Verdict> {
    const { codecs } = this.options;
    await codecs.load(id);
    return this.#verdictOn(record);
  }

  #verdictOn(record: FetchedRecord): Verdict {
    const { codecs, isShared } = this.options;
    return isShared === true
      ? readRecord(this.#position.head, record, codecs.fingerprintOf, hashOnce)
      : readRecord(this.#position.head, record, codecs.fingerprintOf);
  }

  #place(record: FetchedRecord, verdict: Verdict): PlacedRecord | null {
    const offset = record.offset + 1;
    if (verdict.kind === 'unknown_schema')
      throw new Failure('UNKNOWN_SCHEMA', `schema ${verdict.id} in ${this.options.topic}`);
    if (verdict.kind === 'void') {
      this.#voids.push(stampOf(record));
      this.#position = { head: this.#position.head, offset };
      return null;
    }
    const placed = this.#decode(record, verdict.head);
    this.#position = { head: verdict.head, offset };
    return placed;
  }

  /** It was judged, so its schema is at hand: the hash needs the fingerprint that comes with it. */
  #decode(record: FetchedRecord, head: Head): PlacedRecord {
    const { codecs, topic, isShared } = this.options;
    const decoded = isShared === true ? decodedOnce(codecs, record) : codecs.decodeSync(record.value);
    if (decoded.kind !== 'decoded')
      throw new Failure('UNKNOWN_SCHEMA', `${topic}: accepted record ${head.seq} is ${unreadAs(decoded)}`);
    return {
      ...acceptedOf(decoded.type, decoded.body as Doc, head),
      offset: record.offset,
      key: record.key?.toString('utf8') ?? '',
    };
  }
}

/** What a record is that no version up to this one reads. */
function unreadAs(decoded: Exclude<Decoded, { readonly kind: 'decoded' }>): string {
  return decoded.kind === 'foreign' ? `a ${decoded.type}, which a newer version than this one wrote` : decoded.kind;
}

/** Splits a decoded log record into its place in the chain and its body. */
export function acceptedOf(type: string, decoded: Doc, head: Head): AcceptedRecord {
  // Taken apart in one go: what is put together by names in variables is a dictionary, and slow for whoever reads it.
  const { seq: _seq, prev_hash, decided_at, ...body } = decoded;
  return {
    type,
    body,
    seq: head.seq,
    hash: head.hash,
    prevHash: prev_hash as Buffer, // every log record has it
    decidedAt: Number(decided_at ?? 0),
  };
}

/** What a sealer writes with. */
export interface SealerOptions {
  readonly codecs: Pick<Codecs, 'encode' | 'asRead' | 'fingerprintOf' | 'decodeSync'>;
  readonly topic: string;
}

/** Chains records one after the other; a batch is what it holds at the end. */
export class BatchSealer {
  readonly outgoing: OutgoingRecord[] = [];
  readonly accepted: AcceptedRecord[] = [];
  #bytes = 0;
  #head: Head;

  constructor(
    private readonly options: SealerOptions,
    private readonly start: Head,
    readonly decidedAt: number,
  ) {
    this.#head = start;
  }

  get head(): Head {
    return this.#head;
  }
  get from(): Head {
    return this.start;
  }

  /** As they go into a request, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True when the batch is over a limit of L4. */
  get isOverfull(): boolean {
    return this.outgoing.length > BATCH_RECORDS_MAX || this.#bytes > BATCH_BYTES_MAX;
  }

  /** Does one more record of so many bytes fit? */
  hasRoomFor(bytes: number): boolean {
    return this.outgoing.length < BATCH_RECORDS_MAX && this.#bytes + bytes <= BATCH_BYTES_MAX;
  }

  mark(): { readonly count: number; readonly bytes: number; readonly head: Head } {
    return { count: this.outgoing.length, bytes: this.#bytes, head: this.#head };
  }

  rollback(mark: { readonly count: number; readonly bytes: number; readonly head: Head }): void {
    this.outgoing.length = mark.count;
    this.accepted.length = mark.count;
    this.#bytes = mark.bytes;
    this.#head = mark.head;
  }

  /**
   * Adds a record at the end of the batch and says what readers will read.
   *
   * Shape:  the body is what a decoder makes of the very bytes, so that evolve sees what a replay will see.
   * Errors: InvariantViolation when the body does not fit its schema.
   */
  add(decided: Decided, key: string, extra?: Doc): AcceptedRecord {
    const { codecs, topic } = this.options;
    const { seq: before, hash: prevHash } = this.#head;
    const seq = before + 1;
    const stated = extra === undefined ? decided.body : { ...decided.body, ...extra };
    const body = { ...stated, seq, prev_hash: prevHash, decided_at: this.decidedAt };
    const value = codecs.encode(topic, decided.type, body);
    const fingerprint = codecs.fingerprintOf(schemaIdOf(value) ?? -1);
    if (fingerprint === null) throw new InvariantViolation('own-log', `${decided.type} has no fingerprint`);
    const keyBytes = Buffer.from(key, 'utf8');
    this.#head = { seq, hash: leafHash(fingerprint, keyBytes, value.subarray(FRAME_SIZE)) };
    const read = codecs.asRead(topic, decided.type, body, HEAD_FIELDS) ?? this.#readBack(decided.type, value);
    const accepted: AcceptedRecord = {
      type: decided.type,
      body: read,
      seq,
      hash: this.#head.hash,
      prevHash,
      decidedAt: this.decidedAt,
    };
    this.outgoing.push({ key: keyBytes, value });
    this.accepted.push(accepted);
    this.#bytes += value.length + keyBytes.length + 40;
    return accepted;
  }
  #readBack(type: string, value: Buffer): Doc {
    const decoded = this.options.codecs.decodeSync(value);
    if (decoded.kind !== 'decoded')
      throw new InvariantViolation('own-log', `${type} cannot be read back: ${decoded.kind}`);
    return acceptedOf(type, decoded.body as Doc, this.#head).body;
  }
}
