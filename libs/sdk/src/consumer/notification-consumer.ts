// Notification consumer: hears, in order and at least once, which commits were rolled back.
//
// Boundary: reads `recourse.rollback-notifications` without a group; one consumer reads all partitions. Applies the
// acceptance rule itself, as every reader does.
//
// Invariants
//   I1. A handler sees accepted records of a partition in order, each after the one before was handled.
//   I2. The position is stored after the handler resolved, never before: at least once.
//   I3. A void record is skipped; a record of an unknown schema stops its partition until the schema is known.
//   I4. A notice that names nobody stops its partition: no writer makes one, and what it should have said is lost.
//   I5. Nothing is heard of a log in which the record that was heard last is not there any more: it goes on otherwise under the same offsets.
import { genesisHead, readRecord } from '@recourse/chain';
import type { Head, Verdict } from '@recourse/chain';
import { Failure, InvariantViolation } from '@recourse/kernel';
import type { FetchedRecord, Kafka, RawReader } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import { recordOf } from '@recourse/messages';
import type { Codecs, TopicRecords } from '@recourse/messages';
import { quietly } from '../quietly.js';
import type { PositionStore } from '../stores/position-store.port.js';
import { cutBehind, isAhead, whereIs } from './standing.js';

/** Derived log on which commits and their rollbacks are announced. */
export const NOTIFICATIONS_TOPIC = 'recourse.rollback-notifications';

/** One notification; (partition, seq) identifies it, and with the index a member of it. */
export type Notification = TopicRecords[typeof NOTIFICATIONS_TOPIC] & {
  readonly partition: number;
  readonly seq: number;
  /** Place of the record in its partition. */
  readonly offset: number;
  /** Hash of the record in its chain. */
  readonly hash: Buffer;
};

/** What a consumer of notifications needs. */
export interface NotificationConsumerOptions {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  /** Name the logs were begun with; it is part of the genesis hash. */
  readonly logId: string;
  readonly partitionCount: number;
  readonly positions: PositionStore;
  readonly clock: Clock;
  /** Handles one notification. May see one again after a crash. An error is retried, and holds its partition. */
  readonly onNotification: (notification: Notification) => Promise<void>;
  readonly onTrouble?: (partition: number, cause: unknown) => void;
  /** Hears up to where a partition is handled, once it is known that this still stands in the log; and again with each record. */
  readonly onPlace?: (partition: number, offset: number) => void;
  /** Longest time one read waits for something new, in milliseconds: what comes meanwhile is heard at once, and `stop` waits no longer. Default 200. */
  readonly pollMs?: number;
}

/** A consumer of notifications under way. */
export interface NotificationConsumer {
  /** Errors: Failure(TOPIC_MISSING, BROKER_UNAVAILABLE); Failure(PARTITION_COUNT_CHANGED). */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const POLL_MS = 200;
const RETRY_PAUSE_MS = 500;

/**
 * Makes a consumer of notifications: each in order, each commit with its rollback (P9).
 *
 * Shape:  nothing is read before `start`; what was handled is kept in the position store.
 * Errors: none; those of `start` and `stop` are theirs.
 */
export function createNotificationConsumer(options: NotificationConsumerOptions): NotificationConsumer {
  return new ChainConsumer(options);
}

/** Where one partition stands. */
interface Place {
  readonly partition: number;
  head: Head;
  offset: number;
  /** Offset of the head; null before the first, and where it was not kept. */
  record: number | null;
  /** What was heard is known to stand in the log. */
  isSure: boolean;
  /** It was told that everything is void. */
  isToldVoid: boolean;
}

class ChainConsumer implements NotificationConsumer {
  private readonly stopped = new AbortController();
  private readers: readonly RawReader[] = [];
  private loops: readonly Promise<void>[] = [];
  private readonly onTrouble: NonNullable<NotificationConsumerOptions['onTrouble']>;

  constructor(private readonly options: NotificationConsumerOptions) {
    this.onTrouble = quietly(options.onTrouble);
  }

  async start(): Promise<void> {
    const { kafka, partitionCount } = this.options;
    await this.checkCount();
    const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
    const places = await Promise.all(partitions.map((partition) => this.placeOf(partition)));
    this.readers = await Promise.all(partitions.map(() => kafka.rawReader()));
    this.loops = this.readers.map((reader, index) => this.follow(reader, existing(places[index])));
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await Promise.all(this.loops);
    await Promise.all(this.readers.map((reader) => reader.close()));
  }

  private async checkCount(): Promise<void> {
    const { kafka, partitionCount } = this.options;
    const admin = await kafka.admin();
    try {
      const found = await admin.partitionCount(NOTIFICATIONS_TOPIC);
      if (found === null) throw new Failure('TOPIC_MISSING', NOTIFICATIONS_TOPIC);
      if (found !== partitionCount)
        throw new Failure(
          'PARTITION_COUNT_CHANGED',
          `${NOTIFICATIONS_TOPIC} has ${String(found)} partitions, wanted ${String(partitionCount)}`,
        );
    } finally {
      await admin.close();
    }
  }

  private async placeOf(partition: number): Promise<Place> {
    const { logId, partitionCount, positions } = this.options;
    const stored = await positions.load(NOTIFICATIONS_TOPIC, partition);
    const head =
      stored === null
        ? genesisHead({ logId, topic: NOTIFICATIONS_TOPIC, partition, partitionCount })
        : { seq: stored.seq, hash: Buffer.from(stored.hash, 'hex') };
    const { offset = 0, record = null } = stored ?? {};
    return { partition, offset, record, head, isSure: false, isToldVoid: false };
  }

  private async follow(reader: RawReader, place: Place): Promise<void> {
    const { clock, pollMs = POLL_MS } = this.options;
    while (!this.stopped.signal.aborted) {
      const began = clock.now();
      try {
        if (!place.isSure) await this.assure(reader, place);
        const isEmpty = (await this.readOn(reader, place, pollMs)) === 0;
        // The broker held the answer that long already, as a rule. A clock that was set back makes nobody wait longer.
        const rest = Math.min(pollMs, pollMs - (clock.now() - began));
        if (isEmpty && rest > 0) await clock.sleep(rest, this.stopped.signal);
      } catch (cause) {
        // Whatever went wrong, the log may be another by now.
        place.isSure = false;
        this.onTrouble(place.partition, cause);
        await clock.sleep(RETRY_PAUSE_MS, this.stopped.signal);
      }
    }
  }

  /** Looks whether what was heard stands in the log. Errors: Failure(LOG_CUT); those of broker and registry. */
  private async assure(reader: RawReader, place: Place): Promise<void> {
    const heard = { topic: NOTIFICATIONS_TOPIC, ...place };
    const { high } = await reader.range(NOTIFICATIONS_TOPIC, place.partition);
    if (place.head.seq > 0) {
      const record = await whereIs(reader, this.options.codecs, heard);
      if (record === null) throw cutBehind(heard);
      place.record = record;
    }
    // Void records behind it may be gone: nobody heard those.
    if (place.offset > high) place.offset = (place.record ?? -1) + 1;
    place.isSure = true;
    this.options.onPlace?.(place.partition, place.offset);
  }

  /** Reads one fetch and handles it; answers how many records it held. */
  private async readOn(reader: RawReader, place: Place, waitMs: number): Promise<number> {
    const { partition, offset } = place;
    const [batch] = await reader.readMany([{ topic: NOTIFICATIONS_TOPIC, partition, offset }], { waitMs });
    const { records, nextOffset } = batch ?? { records: [], nextOffset: offset };
    for (const record of records) {
      if (this.stopped.signal.aborted) break;
      if (place.head.seq > 0 && isAhead(record, place.head)) await this.assure(reader, place);
      await this.take(record, place);
    }
    if (!this.stopped.signal.aborted) this.passOver(place, nextOffset);
    if (records.length === 0) this.tellVoid(place);
    return records.length;
  }

  /** Offsets that hold no record are read with those before them: the marker of somebody's transaction. Nothing is kept of it. */
  private passOver(place: Place, nextOffset: number): void {
    if (nextOffset <= place.offset) return;
    place.offset = nextOffset;
    this.options.onPlace?.(place.partition, nextOffset);
  }

  /** A log begins with a record that is accepted: whoever finds none there reads it wrong, and would never hear of anything. */
  private tellVoid(place: Place): void {
    if (place.isToldVoid || place.head.seq > 0 || place.offset === 0) return;
    place.isToldVoid = true;
    const where = `${NOTIFICATIONS_TOPIC}/${String(place.partition)}`;
    const why = 'is the log id that of the installation, and the partition count that of the topic?';
    this.onTrouble(
      place.partition,
      new Failure('CHAIN_BROKEN', `all ${String(place.offset)} records of ${where} are void: ${why}`),
    );
  }

  private async take(record: FetchedRecord, place: Place): Promise<void> {
    const { positions } = this.options;
    const handled = await this.handleOnce(record, place);
    const head = handled.kind === 'accepted' ? handled.head : place.head;
    const offset = record.offset + 1;
    const headOffset = handled.kind === 'accepted' ? record.offset : place.record;
    await positions.save(NOTIFICATIONS_TOPIC, place.partition, {
      offset,
      seq: head.seq,
      hash: head.hash.toString('hex'),
      ...(headOffset === null ? {} : { record: headOffset }),
    });
    // Only now: until the position is kept, an error anywhere above leads back to this record and this head.
    place.head = head;
    place.offset = offset;
    place.record = headOffset;
    this.options.onPlace?.(place.partition, offset);
  }

  private async handleOnce(record: FetchedRecord, place: Place): Promise<Exclude<Verdict, { kind: 'unknown_schema' }>> {
    const { codecs, onNotification } = this.options;
    const verdict = await this.judge(record, place);
    if (verdict.kind === 'void') return verdict;
    const decoded = codecs.decodeSync(record.value);
    if (decoded.kind === 'bad')
      throw new InvariantViolation('notifications', `an accepted record is ${decoded.reason}`, 'partition');
    const notification = recordOf(NOTIFICATIONS_TOPIC, decoded);
    // A record of a kind that is newer than this build is part of the chain, and nothing this consumer knows to handle.
    if (notification !== null && 'members' in notification.body && notification.body.members.length === 0)
      throw new InvariantViolation(
        'notifications',
        `the ${notification.type} at ${record.offset} names nobody`,
        'partition',
      );
    if (notification !== null)
      await onNotification({
        ...notification,
        partition: place.partition,
        seq: verdict.head.seq,
        offset: record.offset,
        hash: verdict.head.hash,
      });
    return verdict;
  }

  /** Errors: those of the registry; the record is judged again then. */
  private async judge(record: FetchedRecord, place: Place): Promise<Exclude<Verdict, { kind: 'unknown_schema' }>> {
    const { codecs } = this.options;
    const peek = (): Verdict => readRecord(place.head, record, (id) => codecs.fingerprintOf(id));
    const first = peek();
    if (first.kind === 'void') return first;
    const decoded = codecs.decodeSync(record.value);
    if (first.kind === 'unknown_schema') await codecs.load(first.id);
    else if (decoded.kind === 'unknown_schema') await codecs.load(decoded.id);
    else return first;
    const second = peek();
    if (second.kind === 'unknown_schema') throw new Failure('UNKNOWN_SCHEMA', `schema ${String(second.id)}`);
    return second;
  }
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new InvariantViolation('notifications', 'as many places as readers');
  return value;
}
