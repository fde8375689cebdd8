// Follows partitions from positions that their owner sets: one long poll to each broker, over all it leads that flow.
//
// Boundary: no group, no queue; what to follow is the owner's to say, and it gets each batch at once.
//
// Invariants
//   I1. A batch is handed over only when it starts where the owner stands and flows: what was asked for before a seek, a pause
//       or a clear is dropped, and asked for again from there.
//   I2. The owner is told of every move, also over records that no reader may see: its position is the next fetch.
//   I3. An error of a connection costs all of them; only a position that no partition has ends the fetcher.
//   I5. A partition whose fetch has no answer is told of and asked for again after a rest; the others go on.
//   I4. A broker that waits for records holds up no other broker.
//   I6. A poll that waits long asks for everything the owner follows there; when the owner seeks, it is given up for another.
import type { Connection } from '@platformatic/kafka';
import { Failure, systemClock } from '@recourse/kernel';
import type { FetchedBatch, TopicPartition } from '../kafka.port.js';
import { ended, within } from '../time-limit.js';
import { asFailure } from './failures.kafka.js';
import type { FetchedFrom, FetcherHandlers, FetchTerms } from './fetch-terms.kafka.js';

const MAX_BYTES = 1 << 20;
/** A broker answers a fetch within its wait; one that is silent for so long is away, or as good as that. */
const SILENT_MS = 3_000;
/** Above the time-out of a request. */
const ANSWER_WITHIN_MS = 15_000;
/** Above what a transaction of an exactly-once client takes. */
const HELD_MS = 30_000;
const FIRST_PAUSE_MS = 50;
/** Longest wait of a poll that leaves out a partition: that one is asked for with the next. */
const SHORT_WAIT_MS = 100;
/** Owners seek many partitions at once; until they have, a poll that waits long would be given up at once. */
const SETTLED_MS = 1_000;
const PAUSE_MAX_MS = 1_000;

interface Position extends TopicPartition {
  /** Where the owner stands: behind what was handed over, or where it sought. */
  offset: number;
  flows: boolean;
  /** A poll that is under way asks for it. */
  isAsked: boolean;
  /** Its last fetch had no answer, and the next waits. */
  rests: boolean;
  isTroubled: boolean;
  /** Since when an open transaction has held it, monotonic milliseconds; null when none does. */
  heldSince: number | null;
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
  private cluster: ReturnType<FetchedFrom['cluster']> | null = null;
  /** Polls under way that may wait long, by what they ask for. */
  private readonly longPolls = new Set<readonly Asking[]>();
  private soughtAt = -Infinity;
  private closed = false;
  private failures = 0;
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
    const flows = this.flowing.has(key);
    this.positions.set(key, {
      topic,
      partition,
      offset,
      flows,
      isAsked: false,
      rests: false,
      isTroubled: false,
      heldSince: null,
    });
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

  private look(): void {
    this.woken = true;
    this.wake();
  }

  private async follow(): Promise<void> {
    while (!this.closed) {
      try {
        await this.poll();
      } catch (error) {
        await this.failed(error);
      }
      if (!this.woken)
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      this.woken = false;
    }
  }

  /** Begins a poll to each broker that has none and leads something that flows. */
  private async poll(): Promise<void> {
    const followed = [...this.positions.values()].filter(({ flows }) => flows);
    if (!followed.some((position) => this.mayAsk(position))) return;
    const cluster = (this.cluster ??= this.from.cluster());
    const led = new Map<Connection, Position[]>();
    for (const position of followed) {
      const broker = await within(
        cluster.leaderOf(position.topic, position.partition),
        ANSWER_WITHIN_MS,
        keyOf(position),
      );
      led.set(broker, [...(led.get(broker) ?? []), position]);
    }
    // A poll may have ended, and an owner may have sought or paused, while the leaders were looked up.
    for (const [broker, positions] of led) {
      const asking = this.polled.has(broker) ? [] : positions.filter((position) => this.mayAsk(position));
      if (asking.length > 0) void this.ask(cluster, broker, asking);
    }
  }

  private mayAsk(position: Position): boolean {
    const { flows, isAsked, rests } = position;
    return flows && !isAsked && !rests && this.positions.get(keyOf(position)) === position;
  }

  /** What was just sought is in none of them, and the connection takes no other request before they end. */
  private giveUpLongPolls(): void {
    if (this.longPolls.size === 0) return;
    this.longPolls.clear();
    for (const position of this.positions.values()) position.isAsked = false;
    void this.drop(this.cluster);
  }

  private async ask(
    cluster: ReturnType<FetchedFrom['cluster']>,
    broker: Connection,
    positions: readonly Position[],
  ): Promise<void> {
    this.polled.add(broker);
    const asking = positions.map((position): Asking => {
      position.isAsked = true;
      return { position, topic: position.topic, partition: position.partition, offset: position.offset };
    });
    const { isolation, silentMs = SILENT_MS } = this.terms;
    const waitMs = this.waitOf(asking);
    const listening = setTimeout(() => {
      this.tellSilence(asking, waitMs + silentMs);
    }, waitMs + silentMs);
    try {
      const limits = { isolation, waitMs, maxBytes: MAX_BYTES };
      const answers = await within(this.from.fetch(broker, asking, limits), ANSWER_WITHIN_MS, 'a fetch');
      this.failures = 0;
      for (const [asked, { failure, records, nextOffset, isHeld }] of answers) {
        const held = this.heldLong(asked, isHeld === true && nextOffset === asked.offset);
        this.tellTrouble(asked.position, failure ?? held);
        if (failure === undefined) this.take(asked, records, nextOffset);
      }
    } catch (error) {
      // Of a cluster that was given up meanwhile nothing is expected.
      if (cluster === this.cluster) await this.failed(error, asking);
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

  private take(asked: Asking, records: FetchedBatch['records'], nextOffset: number): void {
    if (!this.stands(asked) || !asked.position.flows) return;
    const { position, topic, partition, offset } = asked;
    if (nextOffset === offset) return;
    position.offset = nextOffset;
    this.handlers.onBatch({ topic, partition, fetchedOffset: offset, nextOffset, records });
  }

  /** The fetch is still waited for; its answer ends the trouble. */
  private tellSilence(asking: readonly Asking[], ms: number): void {
    const cause = new Failure('BROKER_UNAVAILABLE', `no answer to a fetch for ${String(ms)} ms`);
    for (const asked of asking)
      if (this.stands(asked)) {
        asked.position.isTroubled = true;
        this.handlers.onTrouble({ topic: asked.topic, partition: asked.partition }, cause);
      }
  }

  /** Transactions are short, mostly, and nobody is told of those. */
  private heldLong({ position, offset }: Asking, isHeld: boolean): Failure | null {
    const now = systemClock.monotonic();
    position.heldSince = isHeld ? (position.heldSince ?? now) : null;
    const { heldMs = HELD_MS } = this.terms;
    if (position.heldSince === null || now - position.heldSince < heldMs) return null;
    const at = `${keyOf(position)}@${String(offset)}`;
    return new Failure('TRANSACTION_OPEN', `${at}: a transaction has been open for ${String(heldMs)} ms or longer`);
  }

  private tellTrouble(position: Position, cause: Failure | null): void {
    const { topic, partition, isTroubled } = position;
    position.isTroubled = cause !== null;
    if (cause !== null || isTroubled) this.handlers.onTrouble({ topic, partition }, cause);
    if (cause !== null) void this.rest(position);
  }

  private async rest(position: Position): Promise<void> {
    position.rests = true;
    await systemClock.sleep(PAUSE_MAX_MS);
    position.rests = false;
    this.look();
  }

  private stands({ position, offset }: Asking): boolean {
    return !this.closed && this.positions.get(keyOf(position)) === position && position.offset === offset;
  }

  private async failed(error: unknown, asking: readonly Asking[] = []): Promise<void> {
    if (this.closed) return;
    const failure = asFailure(error, asking.map(keyOf).join(', ') || 'fetching');
    // A position that was left meanwhile may be any.
    if (failure.code === 'CURSOR_OUT_OF_RANGE' && asking.every((asked) => this.stands(asked))) {
      await this.close();
      this.handlers.onCrash(failure);
      return;
    }
    this.failures += 1;
    await this.drop(this.cluster);
    await systemClock.sleep(Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.failures, 10)));
    this.look();
  }

  private async drop(used: ReturnType<FetchedFrom['cluster']> | null): Promise<void> {
    if (this.cluster === used) this.cluster = null;
    if (used !== null) await ended(used.close());
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}
