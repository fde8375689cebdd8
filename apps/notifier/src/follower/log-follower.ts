// Reads one partition of a log and keeps what it means for what waits: cursor, things and deliveries in one step.
//
// Boundary: asks the decider what a record means and the store to keep it; sends nothing.
//
// Invariants
//   F1. Only accepted records count, in order, and each once: the step is kept where the cursor stands as it was read, or not at all.
//   F2. A kill between two records loses nothing and queues nothing twice.
//   F3. Nothing is read on from a record that the log does not hold: it would be void from there on, in silence. Where a person has accepted
//       that very loss it is read anew from its beginning; until then it fails with LOG_CUT.
//   F4. How far it is read a second time is kept with the cursor: a kill meanwhile has nobody told again of what is over.
//   F5. Which accepted losses an earlier version read is looked up once, while the log still holds the record that it read last.
//   F6. Who began to hear of what waits already is queued for at the cursor it waits by: a thing that is over behind it takes that back.
//   F7. How far it is read for the first time is kept likewise: of what was over by then nobody is told, also after a kill meanwhile.
import type { LogPosition, PlacedRecord } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import type { Delivery } from '../rules/delivery/delivery.messages.js';
import { newsOf, tellingOf, toldAgain, toldFirst } from '../rules/delivery/occasion.decisions.js';
import type { News, Superseding } from '../rules/delivery/occasion.decisions.js';
import { afterFirstReading, isFirstReading, knownAfter, readBefore, UNREAD } from '../rules/cut/cut.decisions.js';
import type { KnownCut } from '../rules/cut/cut.decisions.js';
import { AcceptedCuts } from './accepted-cuts.js';
import type { CatchUp } from './catch-up.js';
import type { FollowedPartition } from './followed-partition.js';
import { hear } from '../core.js';
import type { FollowedLog } from '../core.js';
import { keyOf } from '../rules/item/item.messages.js';
import type { Thing, KnownChange } from '../rules/item/item.messages.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import type { NotifierStore, ReadPosition, Taken } from '../store/notifier-store.port.js';

export interface FollowerOptions {
  readonly topic: FollowedLog;
  readonly partition: number;
  readonly log: FollowedPartition;
  readonly store: Pick<NotifierStore, 'position' | 'things' | 'take' | 'beginAnew'>;
  readonly endpoints: readonly Endpoint[];
  /** Of all partitions. */
  readonly catchUp: Pick<CatchUp, 'of'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What a page means, and the accepted losses that are known behind it. */
interface Judged extends Pick<Taken, 'changes' | 'superseded' | 'queued'> {
  readonly known: readonly KnownCut[];
}

/** What a reading of sealed payloads leaves in a log: who looks again at what moved would make another by looking. */
const READS: ReadonlySet<string> = new Set(['PayloadsRead', 'CommandAnswered']);

export class LogFollower {
  #position: LogPosition | null = null;
  /** Accepted losses that were read, or by which it is read anew. */
  #known: readonly KnownCut[] = [];
  readonly #accepted: AcceptedCuts;
  #movedSeq = 0;
  #hasCaughtUp = false;

  constructor(private readonly options: FollowerOptions) {
    this.#accepted = new AcceptedCuts(options.log);
  }

  /** Last record whose meaning is kept, as far as this process has read; 0 before the first. */
  get keptSeq(): number {
    return this.#position?.head.seq ?? 0;
  }

  /** Last of them that is more than a reading of sealed payloads, or the answer to a command. */
  get movedSeq(): number {
    return this.#movedSeq;
  }

  /** Has the next call begin where the store stands: it has less than was read. */
  forget(): void {
    this.#position = null;
  }

  /**
   * Reads on to the end seen at the call; answers how many records were accepted.
   *
   * Shape:  `onAnew` is called before it is read from its beginning a second time.
   * Errors: those of the log and of the store; nothing of an unfinished page is kept, and the next call reads it again. Failure(LOG_CUT)
   *         also where the log has lost what was read of it and has gone on.
   */
  async readOn(onAnew?: () => void): Promise<number> {
    const { log } = this.options;
    const from = this.#position ?? (await this.#stored(onAnew));
    let count = 0;
    try {
      let at = from;
      for await (const records of log.read(from)) {
        if (!(await this.#take(records, at))) return count;
        at = this.#position = log.position();
        this.#movedSeq = records.findLast(({ type }) => !READS.has(type))?.seq ?? this.#movedSeq;
        count += records.length;
      }
      // Void records at the end are not read again; what is kept stands before them.
      this.#position = log.position();
      if (isFirstReading(this.#known)) await this.#endFirstReading(this.#position);
      return count;
    } catch (cause) {
      this.#position = null;
      throw cause;
    }
  }

  async #stored(onAnew?: () => void): Promise<LogPosition> {
    const { store, topic, partition, log } = this.options;
    const stored = await store.position(topic, partition);
    this.#known = stored === null ? UNREAD : (stored.cuts ?? []);
    if (stored === null) {
      if (this.#movedSeq > 0) onAnew?.(); // its tables were made anew meanwhile
      return log.origin();
    }
    const position = { head: { seq: stored.seq, hash: stored.hash }, offset: stored.offset };
    if (await log.holds(position)) {
      this.#movedSeq = stored.seq;
      if (stored.cuts === null) await this.#lookUp(position);
      if (!this.#hasCaughtUp) await this.#catchUp(position);
      return position;
    }
    this.#known = await this.#consent(stored);
    onAnew?.();
    await store.beginAnew(topic, partition, stored, this.#placed(log.origin(), this.#known));
    return log.origin();
  }

  /** Kept at once, also where nothing new is read: once the record is gone nobody can tell what was read before it. */
  async #lookUp(at: LogPosition): Promise<void> {
    const { store, topic, partition } = this.options;
    this.#known = await this.#accepted.upTo(at);
    const to = this.#placed(at, this.#known);
    await store.take({ topic, partition, fromSeq: at.head.seq, to, changes: [], superseded: [], queued: [] });
  }

  /** Kept at once: what comes from here on is new. */
  async #endFirstReading(at: LogPosition): Promise<void> {
    const { store, topic, partition } = this.options;
    const known = afterFirstReading(this.#known);
    const to = this.#placed(at, known);
    const step = { topic, partition, fromSeq: at.head.seq, to, changes: [], superseded: [], queued: [] };
    if (await store.take(step)) this.#known = known;
    else this.#position = null;
  }

  /** What changed since it was looked at is left to its records; where somebody else has read on, the next call looks where that stands. */
  async #catchUp(at: LogPosition): Promise<void> {
    const { store, topic, partition, catchUp } = this.options;
    const found = await catchUp.of(topic, partition);
    const keys = [...new Set(found.flatMap(({ about }) => about?.key ?? []))];
    const items = new Map((await store.things(keys)).map((thing) => [keyOf(thing), thing.item] as const));
    const queued = found.filter(({ about, notice }) => {
      const item = items.get(about?.key ?? '');
      return item?.opening === about?.opening && item?.deadlineAt === notice.item?.deadlineAt;
    });
    const to = this.#placed(at, this.#known);
    this.#hasCaughtUp =
      queued.length === 0 ||
      (await store.take({ topic, partition, fromSeq: at.head.seq, to, changes: [], superseded: [], queued }));
  }

  async #consent(stored: ReadPosition): Promise<readonly KnownCut[]> {
    const { topic, partition } = this.options;
    const known = await this.#accepted.consentTo(stored);
    if (known === null)
      throw new Failure(
        'LOG_CUT',
        `${topic}/${String(partition)} no longer holds record ${String(stored.seq)}, which was read`,
      );
    return known;
  }

  #placed({ head: { seq, hash }, offset }: LogPosition, cuts: readonly KnownCut[]): ReadPosition {
    return { seq, hash, offset, cuts };
  }

  async #take(records: readonly PlacedRecord[], from: LogPosition): Promise<boolean> {
    const { store, topic, partition, log } = this.options;
    const to = log.position();
    const { known, ...step } = await this.#judged(records);
    const isOurs = await store.take({
      topic,
      partition,
      fromSeq: from.head.seq,
      to: this.#placed(to, known),
      ...step,
    });
    // Another process reads the same log for us: where it stands is read from the store.
    if (isOurs) this.#known = known;
    else this.#position = null;
    return isOurs;
  }

  async #judged(records: readonly PlacedRecord[]): Promise<Judged> {
    const { store, topic, partition, endpoints, now } = this.options;
    const keys = [...new Set(records.flatMap((record) => hear(topic, record).about))];
    const things = new Map((await store.things(keys)).map((thing): readonly [string, Thing] => [keyOf(thing), thing]));
    const page = new PageOfNews(now());
    const changes: KnownChange[] = [];
    let known = this.#known;
    for (const record of records) {
      known = knownAfter(known, record);
      const [isFirst, isReadAgain] = [isFirstReading(known), record.seq < readBefore(known)];
      const place = { topic, partition, seq: record.seq, at: record.decidedAt };
      const add = (news: News, before?: Thing, after?: Thing): void => {
        page.add(isFirst ? toldFirst(news, before, after) : isReadAgain ? toldAgain(news) : news);
      };
      for (const change of hear(topic, record).then((key) => things.get(key), place)) {
        if (change.op === 'tell') {
          add(tellingOf(change.thing, endpoints));
          continue;
        }
        const key = change.op === 'put' ? keyOf(change.thing) : change.key;
        const after = change.op === 'put' ? change.thing : undefined;
        const before = things.get(key);
        add(newsOf(before, after, endpoints, place), before, after);
        if (after === undefined) things.delete(key);
        else things.set(key, after);
        changes.push(change);
      }
    }
    return { known, changes, ...page.all() };
  }
}

/** News of a page: what was queued and nobody needs any more within the page was never queued. */
class PageOfNews {
  readonly #queued = new Map<string, Delivery>();
  readonly #superseded: Superseding[] = [];

  constructor(private readonly now: number) {}

  add({ queued, superseded }: News): void {
    for (const one of superseded) {
      for (const delivery of this.#queued.values()) if (isMeant(delivery, one)) this.#queued.delete(delivery.id);
      this.#superseded.push(one);
    }
    for (const delivery of queued) {
      const current = dueFrom(delivery, this.now);
      if (current !== null) this.#queued.set(current.id, current);
    }
  }

  all(): Pick<Taken, 'superseded' | 'queued'> {
    return { superseded: this.#superseded, queued: [...this.#queued.values()] };
  }
}

function isMeant({ about, notice }: Delivery, { key, opening, only }: Superseding): boolean {
  return (
    about?.key === key &&
    about.opening === opening &&
    (only === null ? notice.occasion !== 'ended' : notice.occasion === only)
  );
}

/**
 * What is read late is tried as long as any other; a reminder of a deadline that is over reminds of nothing. All but reminders are due at
 * once, also by this clock when it was ahead and is put right.
 */
function dueFrom(delivery: Delivery, now: number): Delivery | null {
  const {
    notice: { occasion, item },
  } = delivery;
  const isReminder = occasion === 'reminder';
  if (isReminder && item !== null && item.deadlineAt <= now) return null;
  const nextAt = isReminder ? Math.max(now, delivery.nextAt) : Math.min(now, delivery.nextAt);
  return { ...delivery, dueAt: Math.max(now, delivery.dueAt), nextAt, updatedAt: now };
}
