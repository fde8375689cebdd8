// Single reads by key, joined: what is asked for while a read is under way goes with the next one, all together.
//
// A caller that waits for its command asks many times a second. A thousand of them would each want a connection; joined they
// want one, however many they are.
//
// Invariants
//   J1. A read answers what was asked for before it began, never later: an answer is at least as new as its question.
//   J2. One read is under way at a time. One that fails fails those it was for, and nobody else.

/** Errors: whatever the read throws. */
export type ReadMany<Value> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

type Waiting<Value> = Map<string, PromiseWithResolvers<Value | null>>;

export class JoinedReads<Value> {
  #waiting: Waiting<Value> = new Map();
  #isReading = false;

  /** @param keysMax most keys of one read */
  constructor(
    private readonly readMany: ReadMany<Value>,
    private readonly keysMax = 1_000,
  ) {}

  /** The value under a key; null: there is none. Errors: those of the read. */
  read(key: string): Promise<Value | null> {
    const asked = this.#waiting.get(key) ?? Promise.withResolvers<Value | null>();
    this.#waiting.set(key, asked);
    if (!this.#isReading) void this.#readAll();
    return asked.promise;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#waiting.size > 0) await this.#readNext();
    this.#isReading = false;
  }

  async #readNext(): Promise<void> {
    const all = [...this.#waiting];
    const asked = all.slice(0, this.keysMax);
    this.#waiting = new Map(all.slice(this.keysMax));
    try {
      const found = await this.readMany(asked.map(([key]) => key));
      for (const [key, { resolve }] of asked) resolve(found.get(key) ?? null);
    } catch (cause) {
      for (const [, { reject }] of asked) reject(cause);
    }
  }
}
