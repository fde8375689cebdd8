// Projects accepted batches in the background, in order, each in one fenced transaction (L7).
//
// Invariants
//   I1. What waits goes into one transaction, in order; the store keeps the last change of a row.
//   I3. What comes while nothing was written for a while is written at once; what comes just after rests a moment, so that rows
//       that change again are written once, and answers to commands share a transaction.
//   I2. After `fenced` nothing more is projected: the loop starts over from the store's head.
import type { Clock } from '@recourse/kernel';
import { BackgroundLoop } from './background.js';
import { COMMAND_KIND, READING_KIND } from './fold.js';
import type { Change } from './service-core.js';
import type { PartitionStore, ProjectedHead } from './store.port.js';

interface Pending {
  readonly to: ProjectedHead;
  readonly changes: readonly Change[];
  /** When it may rest no longer, monotonic milliseconds. */
  readonly dueAt: number;
  readonly isReading: boolean;
}
export interface ProjectedFrom {
  readonly seq: number;
  readonly hash: Buffer;
}

/** Rows of one transaction at the most; a batch is never split. */
const CHANGES_MAX = 10_000;
/** Changes that wait for more of their kind at the most; beyond, they are written at once. */
const RESTING_CHANGES_MAX = 4_000;
/** Least time between two transactions for what nobody waits for, milliseconds: below what people notice in a list. */
const OTHERS_EVERY_MS = 150;
/** The same for answers to commands: many who ask share one. */
const ANSWERS_EVERY_MS = 50;
/** Rest with nothing to project; an enqueue ends it. */
const REST_MS = 60_000;

export class Projector {
  #pending: Pending[] = [];
  /** Rows that wait to be written. */
  #changes = 0;
  #from: ProjectedFrom | null = null;
  readonly #loop: BackgroundLoop;
  #idle: (() => void)[] = [];
  #busy = false;
  #fenced = false;
  #epoch = 0;
  /** Somebody waits until everything is written. */
  #isAwaited = false;
  /** When the last transaction began, monotonic milliseconds. */
  #writtenAt = -Infinity;
  projectedSeq = 0;
  /** The same without readings: who looks again at what moved would make another by looking. */
  movedSeq = 0;
  /** Why the last transaction failed; null where it did not. */
  #trouble: unknown = null;

  constructor(
    private readonly store: PartitionStore,
    private readonly clock: Clock,
    private readonly on: {
      readonly projected: (seq: number) => void;
      readonly fenced: () => void;
      readonly error: (cause: unknown) => void;
    },
  ) {
    this.#loop = new BackgroundLoop({
      clock,
      turn: () => this.#projectNext(),
      onError: (cause) => {
        this.#trouble = cause;
        this.on.error(cause);
        return 'retry';
      },
    });
  }

  /** Begins anew at the store's head. */
  reset(head: ProjectedHead | null): void {
    this.#epoch += 1;
    this.#forget();
    this.#fenced = false;
    this.#trouble = null;
    this.#from = head === null ? null : { seq: head.seq, hash: head.hash };
    this.projectedSeq = this.movedSeq = head?.seq ?? 0;
    this.#loop.start();
  }

  /** An answer to a command takes with it what waits: who asked waits for the row. */
  enqueue(to: ProjectedHead, changes: readonly Change[]): void {
    const isAsked = changes.some((change) => change.op === 'put' && change.row.kind === COMMAND_KIND);
    const dueAt = this.#writtenAt + (isAsked ? ANSWERS_EVERY_MS : OTHERS_EVERY_MS);
    this.#pending.push({ to, changes, dueAt, isReading: isReading(changes) });
    this.#changes += changes.length;
    this.#loop.wake();
  }

  /** Why rows that wait could not be written; null where nothing failed since the last that were. */
  get trouble(): unknown {
    return this.#pending.length === 0 ? null : this.#trouble;
  }

  /** Rows that wait to be written, those of the transaction under way included. */
  get backlog(): number {
    return this.#changes;
  }

  /** Resolves when nothing is being written; a transaction under way ends first. */
  async quiet(): Promise<void> {
    this.#forget();
    if (!this.#busy) this.#release();
    else
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
  }

  /**
   * Resolves when everything enqueued so far is projected, or the store was fenced.
   *
   * Shape: with `rowsLeft`, as soon as no more rows than that wait: whoever goes on then works while they are written.
   */
  async drained(rowsLeft = 0): Promise<void> {
    const isTooMuch = (): boolean => this.#pending.length > 0 && (rowsLeft === 0 || this.#changes > rowsLeft);
    while (isTooMuch() && !this.#fenced && !this.#loop.isStopped) {
      this.#isAwaited = true;
      this.#loop.wake();
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
    }
  }

  async stop(): Promise<void> {
    const stopped = this.#loop.stop();
    this.#release();
    await stopped;
  }

  async #projectNext(): Promise<number> {
    const restMs = this.#restMs();
    if (restMs > 0) return restMs;
    const epoch = this.#epoch;
    const taken = takeUpTo(this.#pending, CHANGES_MAX);
    const last = taken[taken.length - 1];
    if (last === undefined) return 0;
    this.#busy = true;
    this.#writtenAt = this.clock.monotonic();
    try {
      const changes = taken.length === 1 ? last.changes : taken.flatMap((one) => one.changes);
      const result = await this.store.project(this.#from, last.to, changes);
      if (epoch === this.#epoch) this.#settle(result === 'projected', taken.length, last.to);
    } finally {
      this.#rest();
    }
    return 0;
  }

  /** How long nothing is to be written, milliseconds. */
  #restMs(): number {
    if (this.#pending.length === 0 || this.#fenced) return REST_MS;
    if (this.#isAwaited || this.#changes >= RESTING_CHANGES_MAX) return 0;
    const dueAt = Math.min(...this.#pending.map((one) => one.dueAt));
    return Math.max(0, dueAt - this.clock.monotonic());
  }

  #forget(): void {
    this.#pending = [];
    this.#changes = 0;
  }

  #settle(isProjected: boolean, count: number, to: ProjectedHead): void {
    if (!isProjected) {
      this.#fenced = true;
      this.on.fenced();
      return;
    }
    this.#trouble = null;
    for (const one of this.#pending.splice(0, count)) {
      this.#changes -= one.changes.length;
      if (!one.isReading) this.movedSeq = one.to.seq;
    }
    if (this.#pending.length === 0) this.#isAwaited = false;
    this.#from = { seq: to.seq, hash: to.hash };
    this.projectedSeq = to.seq;
    this.on.projected(to.seq);
  }

  #rest(): void {
    this.#busy = false;
    this.#release();
  }

  #release(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function takeUpTo(pending: readonly Pending[], max: number): readonly Pending[] {
  let sum = 0;
  const taken: Pending[] = [];
  for (const item of pending) {
    if (taken.length > 0 && sum + item.changes.length > max) break;
    taken.push(item);
    sum += item.changes.length;
  }
  return taken;
}

/** Are all these rows readings, and the answers to the commands that put them on record? */
function isReading(changes: readonly Change[]): boolean {
  const rows = changes.map((change) => (change.op === 'put' ? change.row : change.address));
  const readings = new Set(rows.flatMap(({ kind, key }) => (kind === READING_KIND ? [key] : [])));
  return (
    readings.size > 0 && rows.every(({ kind, key }) => [READING_KIND, COMMAND_KIND].includes(kind) && readings.has(key))
  );
}
