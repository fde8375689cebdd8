// What the notifier keeps: how far it has read, what waits, and what is on its way to whom. Lost, it is read anew from the logs.
import type { KnownCut } from '../rules/cut/cut.decisions.js';
import type { Delivery, DeliveryState } from '../rules/delivery/delivery.messages.js';
import type { AttemptVerdict } from '../rules/delivery/attempt.decisions.js';
import type { Superseding } from '../rules/delivery/occasion.decisions.js';
import type { ItemKind, Thing, KnownChange, WaitingThing } from '../rules/item/item.messages.js';

/** How far one partition of a log was read: the record accepted last and the offset after it. */
export interface ReadPosition {
  readonly seq: number;
  readonly hash: Buffer;
  readonly offset: number;
  /** Losses accepted in what was read, and the one by which it is read anew; oldest first. Null where a version read it that kept none. */
  readonly cuts: readonly KnownCut[] | null;
}

/** What reading on brought, to be kept together. */
export interface Taken {
  readonly topic: string;
  readonly partition: number;
  /** Seq this began at; 0 for nothing. */
  readonly fromSeq: number;
  readonly to: ReadPosition;
  readonly changes: readonly KnownChange[];
  /** Applied before `queued`. */
  readonly superseded: readonly Superseding[];
  readonly queued: readonly Delivery[];
}

export interface Claim {
  readonly endpoint: string;
  readonly now: number;
  /** When an attempt that brought nothing is given up. */ readonly until: number;
  readonly countMax: number;
}

export interface DeliveryQuery {
  readonly state?: DeliveryState | undefined;
  readonly endpoint?: string | undefined;
  /** Undefined for all. */
  readonly tenant?: string | undefined;
  readonly countMax: number;
  /** Id after which the page begins; the newest come first. */
  readonly after?: DeliveryPlace | undefined;
}

/** Things that wait for a person, asked for. */
export interface ItemQuery {
  readonly kind?: ItemKind | undefined;
  /** Undefined for all. */
  readonly tenant?: string | undefined;
  readonly countMax: number;
  /** After which the page begins; the soonest deadline comes first. */
  readonly after?: ItemPlace | undefined;
}

/** Where an item stands in a list. */
export interface ItemPlace {
  readonly deadlineAt: number;
  readonly key: string;
}

/** Where a delivery stands in a list. */
export interface DeliveryPlace {
  readonly updatedAt: number;
  readonly id: string;
}

/** What an endpoint has before it. */
export interface EndpointFigures {
  readonly name: string;
  /** Epoch milliseconds; null while it is on. */
  readonly offSince: number | null;
  readonly queued: number;
  /** First due of the oldest that is due and queued; null without one. */
  readonly oldestDueAt: number | null;
  readonly givenUp: number;
}

/**
 * Keeps the state of the notifier.
 *
 * Implementations MUST do each call whole or not at all, and keep what it did when the process is killed.
 * Errors: Failure(DATABASE_UNAVAILABLE).
 */
export interface NotifierStore {
  position(topic: string, partition: number): Promise<ReadPosition | null>;
  /** Seq of the record accepted last in each partition that was read, by `topic/partition`. */
  keptSeqs(): Promise<ReadonlyMap<string, number>>;
  /** The things with these keys, of those that are known. */
  things(keys: readonly string[]): Promise<readonly Thing[]>;
  /**
   * Keeps what reading on brought, cursor and deliveries together. False where the partition stands elsewhere than at `fromSeq`: somebody else has read on.
   *
   * Implementations MUST NOT queue an id a second time. What was superseded before it was ever tried MAY be forgotten.
   */
  take(taken: Taken): Promise<boolean>;
  /**
   * Sets a partition back to where it is read anew, and forgets what waits by its records, and what is queued or rests about that; what
   * was delivered or given up stays. Nothing happens where the partition stands elsewhere than at `from`.
   */
  beginAnew(topic: string, partition: number, from: ReadPosition, to: ReadPosition): Promise<void>;
  /** Begins attempts: deliveries of an endpoint that are due and queued, oldest first, each to one caller. None while the endpoint is off. */
  claim(claim: Claim): Promise<readonly Delivery[]>;
  /** Ends an attempt. Nothing happens when another one has begun since. */
  settle(delivery: Pick<Delivery, 'id' | 'attempts' | 'endpoint'>, verdict: AttemptVerdict, now: number): Promise<void>;
  queue(delivery: Delivery): Promise<void>;
  /** Of these ids those that are known, whatever became of them. */
  queuedOnce(ids: readonly string[]): Promise<readonly string[]>;
  find(id: string): Promise<Delivery | null>;
  list(query: DeliveryQuery): Promise<readonly Delivery[]>;
  /** Things that wait for a person, by deadline, then by key. */
  items(query: ItemQuery): Promise<readonly WaitingThing[]>;
  /** Has one that is queued or given up tried at once, and long enough anew. Null for one that is not. */
  retry(id: string, now: number): Promise<Delivery | null>;
  /** Turns an endpoint on; what is queued for it is tried long enough from now. */
  turnOn(endpoint: string, now: number): Promise<void>;
  /** Figures of every endpoint that was ever told something, or is off. Of one tenant they count what is told of that tenant alone. */
  figures(now: number, tenant?: string): Promise<readonly EndpointFigures[]>;
  /** Forgets what ended before an instant, but for what was told of a thing that still waits: nobody is told of that again. */
  prune(before: number): Promise<void>;
}
