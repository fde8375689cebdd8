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
