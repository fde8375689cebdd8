// What runs one at a time under a key: the tasks of a run, and the acting calls of a worker.
import type { LegRequested, LegStep } from '@recourse/messages';

// Runs tasks in order per key, several keys at once: one slow key stops only itself (P13).

type Task = () => Promise<void>;

export class KeyedQueue {
  private readonly waiting = new Map<string, Task[]>();
  private readonly ready: string[] = [];
  private running = 0;
  private count = 0;

  /** `concurrencyMax`: how many keys may run at once. */
  constructor(private readonly concurrencyMax: number) {}

  /** Tasks that wait or run. */
  get size(): number {
    return this.count;
  }

  /** Takes a task; it MUST NOT reject. */
  push(key: string, task: Task): void {
    this.count += 1;
    const queued = this.waiting.get(key);
    if (queued !== undefined) {
      queued.push(task);
      return;
    }
    this.waiting.set(key, [task]);
    this.ready.push(key);
    this.fill();
  }

  private fill(): void {
    while (this.running < this.concurrencyMax) {
      const key = this.ready.shift();
      if (key === undefined) return;
      this.running += 1;
      void this.runNext(key);
    }
  }

  private async runNext(key: string): Promise<void> {
    await this.waiting.get(key)?.[0]?.();
    this.running -= 1;
    this.count -= 1;
    const left = (this.waiting.get(key) ?? []).slice(1);
    if (left.length === 0) this.waiting.delete(key);
    else {
      this.waiting.set(key, left);
      this.ready.push(key);
    }
    this.fill();
  }
}

// Acting calls of one worker that have not come back, so that none is made beside them (C43).

/** Acting calls that have not come back, by tenant and key: one that was given up may still be running. */
export class CallsUnderWay {
  private readonly keys = new Set<string>();

  /** True while a call under the key of this step is running. */
  has(leg: LegRequested, step: LegStep): boolean {
    return this.keys.has(keyOf(leg, step));
  }

  /** Notes a call until it has come back, however late. */
  async during<Answer>(leg: LegRequested, step: LegStep, call: Promise<Answer>): Promise<Answer> {
    const key = keyOf(leg, step);
    this.keys.add(key);
    try {
      return await call;
    } finally {
      this.keys.delete(key);
    }
  }
}

function keyOf({ tenant }: LegRequested, { call: { adapter_id, idempotency_key } }: LegStep): string {
  return JSON.stringify([tenant, adapter_id, idempotency_key]);
}
