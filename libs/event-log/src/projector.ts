// Projects accepted batches in the background, in order, each in one fenced transaction (L7).
//
// Invariants
//   I1. What waits goes into one transaction, in order; the store keeps the last change of a row.
//   I2. After `fenced` nothing more is projected: the loop starts over from the store's head.
import { backoffMs } from './loop.decisions.js';
import { Wake } from './scheduler.js';
import type { Scheduler } from './scheduler.js';
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

export class Projector {
  #pending: Pending[] = [];
  #from: ProjectedFrom | null = null;
  #wake: Wake;
  #idle: (() => void)[] = [];
  #busy = false;
  #stopped = false;
  #fenced = false;
  #running: Promise<void> | null = null;
  #epoch = 0;
  projectedSeq = 0;
  transactions = 0;

  constructor(
    private readonly store: PartitionStore,
    private readonly scheduler: Scheduler,
    private readonly on: {
      readonly projected: (seq: number) => void;
      readonly fenced: () => void;
      readonly error: (cause: unknown) => void;
    },
  ) {
    this.#wake = new Wake(scheduler);
  }

  /** Begins anew at the store's head. */
  reset(head: ProjectedHead | null): void {
    this.#epoch += 1;
    this.#pending = [];
    this.#fenced = false;
    this.#from = head === null ? null : { seq: head.seq, hash: head.hash };
    this.projectedSeq = head?.seq ?? 0;
    this.#running ??= this.#run();
  }

  enqueue(to: ProjectedHead, changes: readonly Change[]): void {
    this.#pending.push({ to, changes });
    this.#wake.wake();
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
    while (this.#pending.length > 0 && !this.#fenced && !this.#stopped)
      await new Promise<void>((resolve) => {
        this.#idle.push(resolve);
      });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake.wake();
    this.#release();
    await this.#running;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopped) {
      if (this.#pending.length === 0 || this.#fenced) {
        await this.#wake.wait(60_000);
        continue;
      }
      const epoch = this.#epoch;
      const taken = takeUpTo(this.#pending, CHANGES_MAX);
      const last = taken[taken.length - 1];
      if (last === undefined) continue;
      this.#busy = true;
      try {
        const result = await this.store.project(
          this.#from,
          last.to,
          taken.length === 1 ? last.changes : taken.flatMap(({ changes }) => changes),
        );
        this.transactions += 1;
        failures = 0;
        if (epoch === this.#epoch) this.#settle(result === 'projected', taken.length, last.to);
      } catch (cause) {
        this.on.error(cause);
        failures += 1;
        this.#rest();
        await this.scheduler.sleep(backoffMs(failures));
      }
      this.#rest();
    }
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
