// Follows partitions from positions that their owner sets: one long poll to each broker, over all it leads that flow.
//
// Boundary: no group, no queue; what to follow is the owner's to say, and it gets each batch at once.
//
// Invariants
//   I1. A batch is handed over only when it starts where the owner stands and flows: what was asked for before a seek, a pause
//       or a clear is dropped, and asked for again from there.
//   I2. The owner is told of every move, also over records that no reader may see: its position is the next fetch.
//   I3. An error of a connection costs all of them; only a position that no partition has ends the fetcher.
//   I4. A broker that waits for records, or that cannot be reached, holds up no other broker.
//   I5. A partition whose fetch has no answer, or that nobody leads, is asked for again after a rest, and told of
//       (partition-health.kafka.ts); the others go on.
//   I7. Who was answered last is asked for last: an answer has a size, and what is behind it in one is before it in the next.
//   I8. What an owner is busy with is followed no further before it is done.
//   I6. A poll that waits long asks for everything the owner follows there; when the owner seeks, it is given up for another.
import type { Connection } from '@platformatic/kafka';
import { Failure, systemClock } from '@recourse/kernel';
import type { TopicPartition } from '../kafka.port.js';
import { ended, within } from '../time-limit.js';
import { asFailure } from './failures.kafka.js';
import type { Fetched } from './fetch.kafka.js';
import type { FetchedFrom, FetcherHandlers, FetchTerms } from './fetch-terms.kafka.js';
import { ledBy, putLast } from './leaders.kafka.js';
import { mayPass, PartitionHealth, SILENT_MS } from './partition-health.kafka.js';

const MAX_BYTES = 1 << 20;
/** Above the time-out of a request. */
const ANSWER_WITHIN_MS = 15_000;
/** Longest wait of a poll that leaves out a partition: that one is asked for with the next. */
const SHORT_WAIT_MS = 100;
/** Owners seek many partitions at once; until they have, a poll that waits long would be given up at once. */
const SETTLED_MS = 1_000;

type Cluster = ReturnType<FetchedFrom['cluster']>;

interface Position extends TopicPartition {
  /** Where the owner stands: behind what was handed over, or where it sought. */
  offset: number;
  flows: boolean;
  /** A poll that is under way asks for it. */
  isAsked: boolean;
  isLookedUp: boolean;
  /** Its last fetch had no answer, and the next waits. */
  rests: boolean;
  /** The owner is busy with what it was given. */
  isBusy: boolean;
  /** Its partition's, wherever the owner seeks. */
  readonly health: PartitionHealth;
}

/** A position and from where it was asked for. */
interface Asking {
  readonly position: Position;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export class PartitionFetcher {
  private readonly positions = new Map<string, Position>();
  /** Partitions that flow though nobody has sought them yet. */
  private readonly flowing = new Set<string>();
  private readonly polled = new Set<Connection>();
  private cluster: Cluster | null = null;
  /** Polls under way that may wait long, by what they ask for. */
  private readonly longPolls = new Set<readonly Asking[]>();
  private soughtAt = -Infinity;
  private closed = false;
  private wake: () => void = () => undefined;
  private woken = false;

  constructor(
    private readonly from: FetchedFrom,
    private readonly terms: FetchTerms,
    private readonly handlers: FetcherHandlers,
  ) {
    void this.follow();
  }

  seek({ topic, partition }: TopicPartition, offset: number): void {
    const key = keyOf({ topic, partition });
    const health = this.positions.get(key)?.health ?? new PartitionHealth({ topic, partition }, this.terms, this.tell);
    const flows = this.flowing.has(key);
    const fresh = { isAsked: false, isLookedUp: false, rests: false, isBusy: false };
    this.positions.set(key, { topic, partition, offset, flows, health, ...fresh });
    this.soughtAt = systemClock.monotonic();
    this.giveUpLongPolls();
    this.look();
  }

  flow(partitions: readonly TopicPartition[], flows: boolean): void {
    for (const at of partitions) {
      const key = keyOf(at);
      if (flows) this.flowing.add(key);
      else this.flowing.delete(key);
      const position = this.positions.get(key);
      if (position !== undefined) position.flows = flows;
    }
    this.look();
  }

  /** Follows nothing any more. */
  clear(): void {
    this.positions.clear();
    this.flowing.clear();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.clear();
    this.look();
    await this.drop(this.cluster);
  }

  private readonly tell: FetcherHandlers['onTrouble'] = (at, cause) => {
    this.handlers.onTrouble(at, cause);
  };

  private readonly look = (): void => {
    this.woken = true;
    this.wake();
  };

  private async follow(): Promise<void> {
    while (!this.closed) {
      await this.poll();
      if (!this.woken)
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      this.woken = false;
    }
  }

  /** Begins a poll to each broker that has none and leads something that flows. */
  private async poll(): Promise<void> {
    const followed = [...this.positions.values()].filter(({ flows, isLookedUp }) => flows && !isLookedUp);
    if (!followed.some((position) => this.mayAsk(position))) return;
    const wanted = followed.filter((position) => position.isAsked || this.mayAsk(position));
    const cluster = (this.cluster ??= this.from.cluster());
    const led = await ledBy(wanted, (position) => this.leaderOf(cluster, position), this.look);
    // A poll may have ended, and an owner may have sought or paused, while the leaders were looked up.
    for (const [broker, positions] of led) {
      const asking = this.polled.has(broker) ? [] : positions.filter((position) => this.mayAsk(position));
      if (asking.length > 0) void this.ask(cluster, broker, asking);
    }
  }

  /** Null where it cannot be reached, or nobody leads the partition. */
  private async leaderOf(cluster: Cluster, position: Position): Promise<Connection | null> {
    const { topic, partition } = position;
    const askedAt = systemClock.monotonic();
    position.isLookedUp = true;
    try {
      return await within(cluster.leaderOf(topic, partition), ANSWER_WITHIN_MS, keyOf(position));
    } catch (error) {
      cluster.forget(topic);
      if (cluster === this.cluster) this.unanswered(position, asFailure(error, keyOf(position)), askedAt);
      return null;
    } finally {
      position.isLookedUp = false;
    }
  }

  private mayAsk(position: Position): boolean {
    const { flows, isAsked, rests, isLookedUp, isBusy } = position;
    if (isLookedUp || isBusy) return false;
    return flows && !isAsked && !rests && this.positions.get(keyOf(position)) === position;
  }

  /** What was just sought is in none of them, and the connection takes no other request before they end. */
  private giveUpLongPolls(): void {
    if (this.longPolls.size === 0) return;
    this.longPolls.clear();
    for (const position of this.positions.values()) position.isAsked = false;
    void this.drop(this.cluster);
  }

  private async ask(cluster: Cluster, broker: Connection, positions: readonly Position[]): Promise<void> {
    this.polled.add(broker);
    const asking = positions.map((position): Asking => {
      position.isAsked = true;
      return { position, topic: position.topic, partition: position.partition, offset: position.offset };
    });
    const { isolation, silentMs = SILENT_MS } = this.terms;
    const [waitMs, askedAt] = [this.waitOf(asking), systemClock.monotonic()];
    const listening = setTimeout(() => {
      this.tellSilence(asking, waitMs + silentMs);
    }, waitMs + silentMs);
    try {
      const limits = { isolation, waitMs, maxBytes: MAX_BYTES };
      const answers = await within(this.from.fetch(broker, asking, limits), ANSWER_WITHIN_MS, 'a fetch');
      for (const [asked, found] of answers) this.answered(cluster, asked, found, askedAt);
    } catch (error) {
      // Of a cluster that was given up meanwhile nothing is expected.
      if (cluster === this.cluster) await this.failed(error, asking, askedAt);
    } finally {
      clearTimeout(listening);
      this.longPolls.delete(asking);
      for (const { position } of asking) position.isAsked = false;
      this.polled.delete(broker);
      this.look();
    }
  }

  /** Long where nothing is left out that would have to wait for its end. */
  private waitOf(asking: readonly Asking[]): number {
    const { waitMs, settledMs = SETTLED_MS } = this.terms;
    const isWhole = [...this.positions.values()].every(({ isAsked }) => isAsked);
    if (waitMs <= SHORT_WAIT_MS || !isWhole || systemClock.monotonic() - this.soughtAt < settledMs)
      return Math.min(SHORT_WAIT_MS, waitMs);
    this.longPolls.add(asking);
    return waitMs;
  }

  private answered(cluster: Cluster, asked: Asking, found: Fetched, askedAt: number): void {
    const { position, offset } = asked;
    if (found.isUnread === true || !this.isFollowed(position)) return;
    putLast(this.positions, keyOf(position), position);
    if (found.failure === undefined) {
      const isHeld = found.isHeld === true && found.nextOffset === offset;
      void this.rest(position, position.health.answered(isHeld ? offset : null, systemClock.monotonic()));
      this.take(asked, found);
      return;
    }
    if (mayPass(found.failure)) cluster.forget(position.topic);
    this.unanswered(position, found.failure, askedAt);
  }

  private take(asked: Asking, { records, nextOffset, octets = 0 }: Fetched): void {
    if (!this.stands(asked) || !asked.position.flows) return;
    const { position, topic, partition, offset } = asked;
    if (nextOffset === offset) return;
    position.offset = nextOffset;
    const handed = this.handlers.onBatch({ topic, partition, fetchedOffset: offset, nextOffset, records, octets });
    if (handed instanceof Promise) void this.waitFor(position, handed);
  }

  private async waitFor(position: Position, handed: Promise<void>): Promise<void> {
    position.isBusy = true;
    await handed.catch(() => undefined);
    position.isBusy = false;
    this.look();
  }

  /** The fetch is still waited for; its answer ends the trouble. */
  private tellSilence(asking: readonly Asking[], ms: number): void {
    for (const asked of asking) if (this.stands(asked)) asked.position.health.silent(ms);
  }

  private unanswered(position: Position, cause: Failure, askedAt: number): void {
    if (this.isFollowed(position))
      void this.rest(position, position.health.unanswered(cause, askedAt, systemClock.monotonic()));
  }

  private async rest({ topic, partition }: Position, ms: number): Promise<void> {
    const position = this.positions.get(keyOf({ topic, partition }));
    if (position === undefined || ms === 0) return;
    position.rests = true;
    await systemClock.sleep(ms);
    position.rests = false;
    this.look();
  }

  private stands({ position, offset }: Asking): boolean {
    return !this.closed && this.positions.get(keyOf(position)) === position && position.offset === offset;
  }

  /** Is its partition followed still, from there or from where the owner has sought since? */
  private isFollowed(position: Position): boolean {
    return !this.closed && this.positions.get(keyOf(position))?.health === position.health;
  }

  private async failed(error: unknown, asking: readonly Asking[], askedAt: number): Promise<void> {
    if (this.closed) return;
    const what = asking.map(keyOf).join(', ');
    const failure = asFailure(error, what);
    const isOutOfRange = failure.code === 'CURSOR_OUT_OF_RANGE';
    if (isOutOfRange && asking.every((asked) => this.stands(asked))) {
      await this.close();
      this.handlers.onCrash(failure);
      return;
    }
    // A position that was left meanwhile may be any.
    const cause = isOutOfRange ? new Failure('BROKER_UNAVAILABLE', what, { cause: failure }) : failure;
    for (const { position } of asking) this.unanswered(position, cause, askedAt);
    await this.drop(this.cluster);
  }

  private async drop(used: Cluster | null): Promise<void> {
    if (this.cluster === used) this.cluster = null;
    if (used !== null) await ended(used.close());
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}
