// Reading again what moved: one reading of a thing at a time, and one more where it moved meanwhile.
//
// Invariants
//   R1. What moved after a reading began is read again once that reading ended.
//   R2. A reading under way is never broken off: where things move all the time and answers are slow, a screen would stand still.

export interface Reader {
  /** Resolves once the thing was read, or could not be. */
  readonly read: (key: string) => Promise<unknown>;
  /** Is somebody reading it already, perhaps from before it moved? */
  readonly isUnderWay: (key: string) => boolean;
  /** A thing that moves all the time is read this often. */
  readonly pause: () => Promise<unknown>;
}

export class Readings {
  readonly #underWay = new Set<string>();
  readonly #due = new Set<string>();

  constructor(private readonly reader: Reader) {}

  moved(key: string): void {
    this.#due.add(key);
    if (!this.#underWay.has(key)) void this.#readWhileDue(key);
  }

  async #readWhileDue(key: string): Promise<void> {
    this.#underWay.add(key);
    while (this.#due.delete(key)) {
      if (this.reader.isUnderWay(key)) this.#due.add(key);
      await Promise.all([this.reader.read(key), this.reader.pause()]);
    }
    this.#underWay.delete(key);
  }
}
