// Projects accepted batches in the background, in order, each in one fenced transaction (L7).
//
// Invariants
//   I1. What waits goes into one transaction, in order; the store keeps the last change of a row.
//   I2. After `fenced` nothing more is projected: the loop starts over from the store's head.
import type { Clock } from '@recourse/kernel';
import { BackgroundLoop } from './background.js';
import type { Change } from './service-core.js';
import type { PartitionStore, ProjectedHead } from './store.port.js';

interface Pending {
  readonly to: ProjectedHead;
  readonly changes: readonly Change[];
}
export interface ProjectedFrom {
  readonly seq: number;
  readonly hash: Buffer;
}

/** Rows of one transaction at the most; a batch is never split. */
const CHANGES_MAX = 10_000;
/** Rest with nothing to project; an enqueue ends it. */
const REST_MS = 60_000;

export class Projector {
  #pending: Pending[] = [];
  #from: ProjectedFrom | null = null;
  readonly #loop: BackgroundLoop;
  #idle: (() => void)[] = [];
  #busy = false;
  #fenced = false;
  #epoch = 0;
  projectedSeq = 0;

  constructor(
    private readonly store: PartitionStore,
    clock: Clock,
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
        this.on.error(cause);
        return 'retry';
      },
    });
  }

  /** Begins anew at the store's head. */
  reset(head: ProjectedHead | null): void {
    this.#epoch += 1;
    this.#pending = [];
    this.#fenced = false;
    this.#from = head === null ? null : { seq: head.seq, hash: head.hash };
    this.projectedSeq = head?.seq ?? 0;
    this.#loop.start();
  }

  enqueue(to: ProjectedHead, changes: readonly Change[]): void {
    this.#pending.push({ to, changes });
    this.#loop.wake();
  }

  get backlog(): number {
    return this.#pending.length;
  }

  /** Resolves when nothing is being written; a transaction under way ends first. */
  async quiet(): Promise<void> {
    this.#pending = [];
    if (!this.#busy) this.#release();
    else
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
  }

  /** Resolves when everything enqueued so far is projected, or the store was fenced. */
  async drained(): Promise<void> {
    while (this.#pending.length > 0 && !this.#fenced && !this.#loop.isStopped)
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
  }

  async stop(): Promise<void> {
    const stopped = this.#loop.stop();
    this.#release();
    await stopped;
  }

  async #projectNext(): Promise<number> {
    if (this.#pending.length === 0 || this.#fenced) return REST_MS;
    const epoch = this.#epoch;
    const taken = takeUpTo(this.#pending, CHANGES_MAX);
    const last = taken[taken.length - 1];
    if (last === undefined) return 0;
    this.#busy = true;
    try {
      const changes = taken.length === 1 ? last.changes : taken.flatMap((one) => one.changes);
      const result = await this.store.project(this.#from, last.to, changes);
      if (epoch === this.#epoch) this.#settle(result === 'projected', taken.length, last.to);
    } finally {
      this.#rest();
    }
    return 0;
  }

  #settle(isProjected: boolean, count: number, to: ProjectedHead): void {
    if (!isProjected) {
      this.#fenced = true;
      this.on.fenced();
      return;
    }
    this.#pending.splice(0, count);
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
