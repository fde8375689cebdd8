// Virtual time and the order of everything: each call of a port waits here until the driver completes it.
//
// Boundary: knows actors, operations and instants; what an operation means, or what goes wrong with it, is not its business.
//
// Invariants
//   S1. One operation is completed at a time, and everything that follows from it has run before the next one is chosen.
//   S2. Time moves only when nothing is ready.
//   S3. Nothing of a dead actor settles; nothing of a frozen one settles before it thaws.
import type { Random } from './random.js';

/** One incarnation of a process. */
export class SimActor {
  alive = true;
  frozen = false;
  readonly held: Operation[] = [];
  /** `skewMs`: how far its own clock is ahead of true time. */
  constructor(
    readonly name: string,
    readonly role: string,
    readonly skewMs = 0,
  ) {}
}

export type Stage = 'before' | 'after';

export interface Operation {
  readonly actor: SimActor;
  readonly kind: string;
  readonly stage: Stage;
  readonly go: () => void;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  cancelled: boolean;
  readonly fire: () => void;
}

/** Cancelled timers that are worth a sweep. */
const CANCELLED_MIN = 64;

/** Start of virtual time, epoch milliseconds. */
export const EPOCH = 1_800_000_000_000;

export class Scheduler {
  /** True time, epoch milliseconds. */
  now = EPOCH;
  /** Operations completed. */
  steps = 0;
  #ready: Operation[] = [];
  #timers: Timer[] = [];
  #order = 0;
  #cancelled = 0;
  /** May end an actor at this operation: true when it did. */
  interrupt: (operation: Operation) => boolean = () => false;

  constructor(readonly random: Random) {}

  /** Waits until the driver completes the operation. Never settles for an actor that dies first. */
  pass(actor: SimActor, kind: string, stage: Stage): Promise<void> {
    return new Promise((resolve) => {
      if (!actor.alive) return;
      this.#admit({ actor, kind, stage, go: resolve });
    });
  }

  /** Resolves after `ms` of virtual time, or when the signal fires or resolves. */
  sleep(actor: SimActor, ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (!actor.alive) return;
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const timer = this.at(this.now + Math.max(0, ms), () => {
        this.#ready.push({ actor, kind: 'sleep', stage: 'before', go: resolve });
      });
      const wake = (): void => {
        this.#cancel(timer);
        if (actor.alive) resolve();
      };
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Calls back at an instant. */
  at(at: number, fire: () => void): Timer {
    const timer: Timer = { at, order: (this.#order += 1), cancelled: false, fire };
    push(this.#timers, timer);
    return timer;
  }

  after(ms: number, fire: () => void): Timer {
    return this.at(this.now + ms, fire);
  }

  thaw(actor: SimActor): void {
    actor.frozen = false;
    for (const operation of actor.held.splice(0)) this.#ready.push(operation);
  }

  /** Completes operations and moves time until `isOver` says so; it is asked between two operations. */
  run(isOver: () => boolean, stepsMax: number): Promise<void> {
    const limit = this.steps + stepsMax;
    return new Promise((resolve, reject) => {
      // Microtasks are exhausted before the next turn of the event loop: everything that was settled has run by then.
      const turn = (): void => {
        try {
          if (isOver()) {
            resolve();
            return;
          }
          if (this.steps >= limit)
            throw new Error(
              `the run did not end within ${String(stepsMax)} operations; virtual time ${String(this.now - EPOCH)} ms`,
            );
          if (!this.#step()) throw new Error('nothing will ever happen again, and the run is not over');
          setImmediate(turn);
        } catch (cause) {
          reject(cause instanceof Error ? cause : new Error(String(cause)));
        }
      };
      setImmediate(turn);
    });
  }

  /** A timer that will not fire; when half of them will not, they are thrown out together. */
  #cancel(timer: Timer): void {
    if (timer.cancelled) return;
    timer.cancelled = true;
    this.#cancelled += 1;
    if (this.#cancelled < CANCELLED_MIN || 2 * this.#cancelled < this.#timers.length) return;
    this.#cancelled = 0;
    const left = this.#timers.filter(({ cancelled }) => !cancelled);
    this.#timers = [];
    for (const one of left) push(this.#timers, one);
  }

  #admit(operation: Operation): void {
    const delay = this.#delay();
    if (delay === 0) this.#ready.push(operation);
    else
      this.after(delay, () => {
        this.#ready.push(operation);
      });
  }

  #delay(): number {
    const dice = this.random.next();
    if (dice < 0.85) return 0;
    return dice < 0.99 ? 1 + this.random.below(12) : 20 + this.random.below(200);
  }

  #step(): boolean {
    for (;;) {
      const operation = this.#take();
      if (operation === undefined) {
        if (!this.#advance()) return false;
        continue;
      }
      const { actor } = operation;
      if (!actor.alive) continue;
      if (actor.frozen) {
        actor.held.push(operation);
        continue;
      }
      this.steps += 1;
      if (this.interrupt(operation)) return true;
      operation.go();
      return true;
    }
  }

  #take(): Operation | undefined {
    const count = this.#ready.length;
    if (count === 0) return undefined;
    const index = count === 1 ? 0 : this.random.below(count);
    const taken = this.#ready[index];
    const last = this.#ready.pop();
    if (index < count - 1 && last !== undefined) this.#ready[index] = last;
    return taken;
  }

  /** Moves to the next instant something is due at. */
  #advance(): boolean {
    let timer = pop(this.#timers);
    while (timer?.cancelled === true) timer = pop(this.#timers);
    if (timer === undefined) return false;
    if (timer.at > this.now) this.now = timer.at;
    timer.fire();
    return true;
  }
}

// A binary heap by instant, then order.

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Timer[], timer: Timer): void {
  let at = heap.length;
  heap.push(timer);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Timer; // the index is inside the heap
    if (!isBefore(timer, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = timer;
}

function pop(heap: Timer[]): Timer | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (top === undefined || last === undefined || heap.length === 0) return top;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child += 1; // both indexes are inside the heap
    if (!isBefore(heap[child] as Timer, last)) break;
    heap[at] = heap[child] as Timer;
    at = child;
  }
  heap[at] = last;
  return top;
}
