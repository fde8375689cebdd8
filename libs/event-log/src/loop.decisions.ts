// What the loop does after something happened: pure functions that the loop asks and obeys.
import type { FetchedBatch, SendOutcome } from '@recourse/kafka';
import { InvariantViolation } from '@recourse/kernel';
import type { StoodTime } from '@recourse/kernel';

/** What an append turned out to be (L5). */
export type AppendJudgement = 'accepted' | 'reread' | 'log_cut';

/**
 * Judges the outcome of one produce request to a log.
 *
 * Shape:  `expectedOffset` is the end of the log as the writer knows it.
 * Source: L5. Landed above the expected offset, somebody else wrote in between: whether ours was accepted only
 *         the tail can tell. Below it, the log lost acknowledged records.
 */
export function judgeAppend(expectedOffset: number, outcome: SendOutcome): AppendJudgement {
  if (outcome.kind === 'unknown') return 'reread';
  if (outcome.baseOffset === expectedOffset) return 'accepted';
  return outcome.baseOffset < expectedOffset ? 'log_cut' : 'reread';
}

/** What to do with a fetched batch (L5, L13). */
type Delivery =
  { readonly kind: 'take'; readonly skip: number } | { readonly kind: 'drop' } | { readonly kind: 'seek' };

/**
 * Says whether a batch continues at the position a reader expects.
 *
 * Shape:  `skip` leading records are below the position (another reader of the same partition asked for them). Offsets may
 *         have gaps: control records, what was aborted, batches that cannot be read.
 * Source: L13: a record below the cursor is dropped; a batch that starts above it is dropped and sought again.
 */
export function judgeDelivery(
  expectedOffset: number,
  { fetchedOffset, nextOffset, records }: Pick<FetchedBatch, 'fetchedOffset' | 'nextOffset' | 'records'>,
): Delivery {
  if (Math.min(fetchedOffset, records[0]?.offset ?? fetchedOffset) > expectedOffset) return { kind: 'seek' };
  if (nextOffset <= expectedOffset) return { kind: 'drop' };
  const first = records.findIndex(({ offset }) => offset >= expectedOffset);
  return { kind: 'take', skip: first === -1 ? records.length : first };
}

/** Limits of one batch (L4). */
export const BATCH_BYTES_MAX = 900_000;
export const BATCH_RECORDS_MAX = 1_000;

/** May a batch that holds nothing but Progress be written now (L3)? */
export function progressAloneIsDue(
  passed: { readonly meaningful: number; readonly sinceMs: number },
  lazyMs: number,
): boolean {
  return passed.meaningful > 0 && (passed.sinceMs >= lazyMs || passed.meaningful >= 10_000);
}

/** Record names that never cause a Progress (L3). */
export const SILENT_TYPES: ReadonlySet<string> = new Set(['Progress', 'SpreadThrough']);

/** How database time relates to the chain and to the clock of the service (L1). */
export type ClockJudgement =
  | { readonly kind: 'decide_at'; readonly now: number }
  | { readonly kind: 'behind'; readonly byMs: number }
  | { readonly kind: 'ahead'; readonly byMs: number };

/** What database time is compared with. */
interface ClockBounds {
  readonly headDecidedAt: number;
  /** Clock of the service itself. */
  readonly ownNow: number;
  /** How far behind the head it may be. */
  readonly marginMs: number;
  /** How far ahead of the service's own clock it may be. */
  readonly aheadMaxMs: number;
  /** What a person accepted of the time of this log; null where nobody had to. */
  readonly stood: StoodTime | null;
}

/**
 * Time of the next decision: never below the head's, and none at all while the clock is behind it by more than the margin,
 * or so far ahead of the service's own that one of the two must be wrong: what is decided can never be earlier again. Where a
 * person accepted that the head lies ahead, its time stands; a later jump, or a clock that went further back since, is not accepted with it.
 *
 * Units: epoch milliseconds, bounds in milliseconds.
 */
export function judgeClock(
  databaseNow: number,
  { headDecidedAt, ownNow, marginMs, aheadMaxMs, stood }: ClockBounds,
): ClockJudgement {
  if (databaseNow > ownNow + aheadMaxMs) return { kind: 'ahead', byMs: databaseNow - ownNow };
  const isAccepted = stood !== null && headDecidedAt <= stood.standsAt && databaseNow >= stood.trueNow - marginMs;
  if (databaseNow < headDecidedAt - marginMs && !isAccepted)
    return { kind: 'behind', byMs: headDecidedAt - databaseNow };
  return { kind: 'decide_at', now: Math.max(databaseNow, headDecidedAt) };
}

/**
 * How old what is known of the database clock may get while the next timer is so far away; milliseconds.
 *
 * A clock that was stepped forward is noticed before half of what was left has passed, within ten seconds in any case.
 */
export function clockAgeMs(untilNextMs: number): number {
  return Math.max(1_000, Math.min(10_000, untilNextMs / 2));
}

/** How a projected head relates to the log it was projected from (L8). */
type StoreJudgement = 'follows' | 'log_cut';

/**
 * Compares the end of the log with what was projected.
 *
 * Shape: `logEnd` is the offset the next record will get; `projectedOffset` the one after the last projected record.
 */
export function judgeStore(logEnd: number, projectedOffset: number): StoreJudgement {
  return logEnd < projectedOffset ? 'log_cut' : 'follows';
}

/** Back-off before trying again after the n-th failure in a row, milliseconds. */
export function backoffMs(failures: number): number {
  return Math.min(2_000, 20 * 2 ** Math.min(failures, 7));
}

/** Part of a batch that its inputs have however many timers are due: neither waits for the end of the other. */
const INPUTS_PART = 1 / 4;

/**
 * Inputs that a batch takes beside its timers.
 *
 * Shape:  what comes due has an instant, an input has none: behind a queue of inputs a window would end late.
 */
export function inputsBeside(timers: number, itemsMax: number): number {
  return Math.max(Math.ceil(itemsMax * INPUTS_PART), itemsMax - timers);
}

/** Items of a batch of `max` that others have beside what goes first: a quarter, and where one is all there is, every fourth. */
export function othersPart(max: number, passedOver: number): number {
  if (max === 1) return passedOver >= 1 / INPUTS_PART - 1 ? 1 : 0;
  return Math.max(1, Math.floor(max * INPUTS_PART));
}

// The life of a partition loop as a table.
//
//   starting      reads its own log's tail and the store
//   catching_up   decides, and sends nothing: its inputs are not read to the end seen at the start (L10)
//   open          decides and sends
//   halted        stopped by a bug of chain, cursor or fence, or by a log that lost records; a person acts

export const LOOP_PHASES = ['starting', 'catching_up', 'open', 'halted'] as const;
type LoopPhase = (typeof LOOP_PHASES)[number];

export const LOOP_EVENTS = ['Recovered', 'CaughtUp', 'Reset', 'Halted'] as const;
type LoopLifeEvent = (typeof LOOP_EVENTS)[number];

/** Phase after each event; `null` is history that cannot exist. */
export const LOOP_PHASE_AFTER = {
  starting: { Recovered: 'catching_up', CaughtUp: null, Reset: 'starting', Halted: 'halted' },
  catching_up: { Recovered: null, CaughtUp: 'open', Reset: 'starting', Halted: 'halted' },
  open: { Recovered: null, CaughtUp: null, Reset: 'starting', Halted: 'halted' },
  halted: { Recovered: null, CaughtUp: null, Reset: 'halted', Halted: 'halted' },
} as const satisfies Record<LoopPhase, Record<LoopLifeEvent, LoopPhase | null>>;

/** Where one loop stands. Whoever awaits remembers `epoch`: it grows with every reset. */
export class LoopLife {
  #phase: LoopPhase = 'starting';
  #epoch = 0;

  get phase(): LoopPhase {
    return this.#phase;
  }
  get epoch(): number {
    return this.#epoch;
  }

  /** Rows, head and cursors in memory are those of the log. */
  get isPositioned(): boolean {
    return this.#phase === 'catching_up' || this.#phase === 'open';
  }
  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** Errors: InvariantViolation for history that cannot exist. */
  move(event: LoopLifeEvent): void {
    const next = LOOP_PHASE_AFTER[this.#phase][event];
    if (next === null) throw new InvariantViolation('loop phases', `${event} in ${this.#phase}`, 'partition');
    this.#phase = next;
    if (event === 'Reset') this.#epoch += 1;
  }
}
